// SPDX-License-Identifier: Apache-2.0
#include "MetricCore.h"

namespace gpureg
{

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
  m_Core->samples.SetFixed(samples, parallelFor);
}

void
Metric::SetMovingImage(const MovingImage & image, const ParallelFor & parallelFor)
{
  m_Core->samples.SetMoving(image, m_Core->readsQuads, parallelFor);
}

void
Metric::ReleaseForces()
{
  m_Core->queue->GiveStagingBack();
}

void
Metric::SetTiming(bool on)
{
  m_Core->isTimed = on;
}

EvaluationStatistics
Metric::GetStatistics() const
{
  EvaluationStatistics statistics = m_Core->queue->statistics;
  statistics.deviceBytes += m_Core->samples.GetDeviceBytes();
  for (const MemoryPointer * array : m_Core->ownArrays)
  {
    statistics.deviceBytes += static_cast<std::int64_t>(SizeOf(*array));
  }
  return statistics;
}

} // namespace gpureg
