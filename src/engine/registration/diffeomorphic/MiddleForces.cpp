// SPDX-License-Identifier: Apache-2.0
#include "engine/registration/diffeomorphic/MiddleForces.h"

#include "kernels/core/Evaluated.h"

#include "gpureg/core/Error.h"

#include <algorithm>
#include <cmath>

namespace gpureg
{

void
MiddleForces::BeginLevel(const DiffeomorphicSettings & settings,
                         int                           number,
                         int                           dimension,
                         const MiddleImage &           fixed,
                         const MiddleImage &           moving)
{
  m_Number = number;
  m_Dimension = dimension;
  if (!m_Similarity || !(m_SimilaritySettings == settings.similarity))
  {
    m_Similarity.reset();
    m_Core = std::make_unique<MetricCore>(m_Workspace.backend, m_Workspace.queue);
    m_Similarity = MakeLevelSimilarity(*m_Core, settings.similarity, {}, LevelForces::OfITK);
    m_SimilaritySettings = settings.similarity;
  }
  const ImageSummary & f = fixed.GetResampled().summary;
  const ImageSummary & m = moving.GetResampled().summary;
  const double         range = std::max(f.maximum, m.maximum) - std::min(f.minimum, m.minimum);
  const auto &         description = m_Similarity->GetDescription();
  m_CostUnit = description.sign * (description.values == ValueForm::OneUnit ? range * range : 1.0);
  const int iterations = std::max(1, settings.iterations[static_cast<std::size_t>(number)]);
  Reserve(*m_Workspace.queue, m_Values, 2 * sizeof(float) * static_cast<std::size_t>(iterations));
}

void
MiddleForces::Enqueue(const LevelImage & fixed, const LevelImage & moving, std::int64_t slot)
{
  m_Similarity->SetImages(fixed, moving, m_Dimension, m_Number, m_Workspace.queue->GetParallelFor());
  m_Similarity->Prepare(m_Mapping);
  m_Core->samples.Move();
  m_Similarity->EnqueueForces();
  m_Workspace.reducer.Sum(
    m_Similarity->GetEvaluated(), m_Similarity->GetEvaluatedPlace() + kernels::EvaluatedValue, 1, *m_Values, slot);
}

std::vector<double>
MiddleForces::DownloadCosts(int count)
{
  std::vector<float> values(2 * static_cast<std::size_t>(count));
  if (count > 0)
  {
    m_Workspace.queue->Download(values.data(), *m_Values, sizeof(float) * values.size());
  }
  std::vector<double> costs;
  for (std::size_t n = 0; n < values.size(); n += 2)
  {
    const double both = static_cast<double>(values[n]) + values[n + 1];
    if (!std::isfinite(both))
    {
      throw BadInputError("the deformation has grown beyond all numbers: take a shorter step, or a larger updateSigma");
    }
    if (values[n] <= GPUREG_NO_EVALUATED_VALUE || values[n + 1] <= GPUREG_NO_EVALUATED_VALUE)
    {
      throw BadInputError("no voxel of the fixed image lies in the moving image, or all of them are outside of a mask: "
                          "begin with a transform that brings them together");
    }
    costs.push_back(0.5 * m_CostUnit * both);
  }
  return costs;
}

std::size_t
MiddleForces::GetDeviceBytes() const
{
  std::size_t bytes = SizeOf(m_Values);
  if (m_Core)
  {
    bytes += static_cast<std::size_t>(m_Core->samples.GetDeviceBytes());
    for (const MemoryPointer * array : m_Core->ownArrays)
    {
      bytes += SizeOf(*array);
    }
  }
  return bytes;
}

} // namespace gpureg
