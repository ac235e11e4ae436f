// SPDX-License-Identifier: Apache-2.0
#include "engine/transform/ControlVectors.h"
#include "engine/metric/MetricCore.h"

#include "gpureg/image/DeviceImage.h"
#include "gpureg/core/Error.h"
#include "engine/runtime/Transfer.h"

namespace gpureg
{

namespace
{
/** \throws BadInputError if there is an image that is not on the metric's device */
void
CheckIsThere(const DeviceImage * image, const std::string & deviceName)
{
  if (image != nullptr && image->GetDeviceName() != deviceName)
  {
    throw BadInputError("the image is loaded on " + image->GetDeviceName() + ", and the metric is on " + deviceName);
  }
}
} // namespace

Metric::Metric(const std::string & deviceName)
  : m_Core(std::make_unique<MetricCore>(deviceName))
{}

Metric::~Metric()
{
  FreeUnlessForked(m_Core);
}

const std::string &
Metric::GetDeviceName() const
{
  return m_Core->backend->GetDescription().name;
}

Precision
Metric::GetPrecision() const
{
  return m_Core->samples.GetFixed().precision;
}

void
Metric::SetFixedSamples(const FixedSamples & samples, const ParallelFor & parallelFor)
{
  CheckIsThere(samples.sampled ? samples.sampled->image : nullptr, this->GetDeviceName());
  m_Core->samples.SetFixed(samples, parallelFor);
}

void
Metric::SetMovingImage(const MovingImage & image, const ParallelFor & parallelFor)
{
  CheckIsThere(image.image, this->GetDeviceName());
  m_Core->samples.SetMoving(image, m_Core->readsQuads, parallelFor);
}

void
Metric::TakeForces(const std::function<void(std::int64_t, std::int64_t, const float *)> & take,
                   const ParallelFor &                                                    parallelFor)
{
  const Memory * const forces = m_Core->ComputeForces();
  if (forces == nullptr)
  {
    throw BadInputError("the last evaluation kept no forces: ask it for those of each sample");
  }
  if (m_Core->samples.IsEmpty())
  {
    return;
  }
  m_Core->Continue(parallelFor, [&] {
    constexpr std::size_t bytes = 3 * sizeof(float);
    DownloadArray(*m_Core->queue,
                  *forces,
                  bytes,
                  static_cast<std::int64_t>(forces->GetSize() / bytes),
                  [&take](std::int64_t first, std::int64_t count, const void * in) {
                    take(first, count, static_cast<const float *>(in));
                  });
  });
}

std::vector<std::array<float, 3>>
Metric::InterpolateForcesAdjointly(const ParallelFor & parallelFor)
{
  return m_Core->Continue(parallelFor, [&] {
    Queue &              queue = *m_Core->queue;
    const Memory * const forces = m_Core->ComputeForces();
    bool                 hasSpline = false;
    if (forces != nullptr)
    {
      Enqueue(queue, m_Core->isTimed, [&] {
        hasSpline = m_Core->samples.GetForces().ApplyAdjoint(*forces, m_Core->controlForces);
      });
    }
    if (!hasSpline)
    {
      throw BadInputError("the last evaluation kept no forces of samples that a spline moves: ask one by a spline for "
                          "those of each sample");
    }
    return DownloadControlVectors<float>(queue,
                                         *m_Core->controlForces,
                                         static_cast<std::int64_t>(m_Core->controlForces->GetSize() /
                                                                   sizeof(kernels::float4)));
  });
}

ForceResult
Metric::SumForces(const ParallelFor & parallelFor)
{
  const Memory * const forces = m_Core->ComputeForces();
  if (forces == nullptr)
  {
    throw BadInputError("the last evaluation kept no forces: ask one for those of each sample");
  }
  return m_Core->Continue(parallelFor, [&] {
    Enqueue(*m_Core->queue, m_Core->isTimed, [&] { m_Core->samples.GetForces().Sum(*forces); });
    return m_Core->samples.GetForces().DownloadSums();
  });
}

void
Metric::SetTiming(bool on)
{
  m_Core->isTimed = on;
}

EvaluationStatistics
Metric::GetStatistics() const
{
  EvaluationStatistics statistics = m_Core->queue->GetStatistics();
  statistics.deviceBytes += m_Core->samples.GetDeviceBytes();
  for (const MemoryPointer * array : m_Core->ownArrays)
  {
    statistics.deviceBytes += static_cast<std::int64_t>(SizeOf(*array));
  }
  return statistics;
}

} // namespace gpureg
