// SPDX-License-Identifier: Apache-2.0
#include "FreeFormDraws.h"

#include "gpureg/RandomPosition.h"

#include "LevelSamples.h"

#include "Prelude.h"
#include "InvalidSample.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace gpureg
{

void
FreeFormDraws::SetImage(
  Queue & queue, const ImageLevel & fixed, const ImageLevel * mask, std::uint64_t seed, std::uint32_t series)
{
  m_Size = fixed.GetSize();
  m_Values = BringValues(queue, fixed);
  m_Mask = mask != nullptr ? BringValues(queue, *mask) : std::vector<double>{};
  m_Seed = seed;
  m_Series = series;
}

FixedSamples
FreeFormDraws::Draw(const FixedSamples & all, std::int64_t count, std::uint32_t iteration)
{
  m_Voxels.resize(static_cast<std::size_t>(count));
  for (std::int64_t n = 0; n < count; ++n)
  {
    const auto   position = DrawPosition({ m_Seed, m_Series, iteration, static_cast<std::uint32_t>(n) }, m_Size);
    std::int64_t voxel = 0;
    for (std::size_t d = 3; d-- > 0;)
    {
      const auto index = static_cast<int>(std::lround(position[d]));
      voxel = voxel * m_Size[d] + std::clamp(index, 0, m_Size[d] - 1);
    }
    m_Voxels[static_cast<std::size_t>(n)] = voxel;
  }
  FixedSamples       drawn = all;
  const SampledImage sampled = *all.sampled;
  drawn.sampled.reset();
  drawn.pointCount = count;
  drawn.points = [this](std::int64_t first, std::int64_t number, void * out) {
    auto * point = static_cast<double *>(out);
    for (std::int64_t n = first; n < first + number; ++n, point += 3)
    {
      const std::int64_t voxel = m_Voxels[static_cast<std::size_t>(n)];
      const std::int64_t row = voxel / m_Size[0];
      point[0] = static_cast<double>(voxel % m_Size[0]);
      point[1] = static_cast<double>(row % m_Size[1]);
      point[2] = static_cast<double>(row / m_Size[1]);
    }
  };
  if (sampled.bins)
  {
    m_Edges = sampled.bins->edges;
    drawn.bins = [this, firstBin = sampled.bins->first](std::int64_t first, std::int64_t number, void * out) {
      auto * bin = static_cast<std::uint16_t *>(out);
      for (std::int64_t n = first; n < first + number; ++n, ++bin)
      {
        const std::int64_t voxel = m_Voxels[static_cast<std::size_t>(n)];
        const auto edge = std::upper_bound(m_Edges.begin(), m_Edges.end(), m_Values[static_cast<std::size_t>(voxel)]);
        *bin = static_cast<std::uint16_t>(IsInside(voxel) ? firstBin + (edge - m_Edges.begin())
                                                          : std::ptrdiff_t{ kernels::InvalidBin });
      }
    };
  }
  if (sampled.wantsValues)
  {
    drawn.values = [this, minimum = sampled.minimum](std::int64_t first, std::int64_t number, void * out) {
      auto * value = static_cast<double *>(out);
      for (std::int64_t n = first; n < first + number; ++n, ++value)
      {
        const std::int64_t voxel = m_Voxels[static_cast<std::size_t>(n)];
        *value = IsInside(voxel) ? m_Values[static_cast<std::size_t>(voxel)] - minimum : NoFixedValue;
      }
    };
  }
  return drawn;
}

} // namespace gpureg
