// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_FreeFormDraws_h
#define gpureg_FreeFormDraws_h

#include "gpureg/Samples.h"

#include "ImageLevel.h"

#include <cstdint>
#include <vector>

namespace gpureg
{

/** Random voxels of a level's fixed image, drawn anew for each iteration: the same for the same seed, level and iteration, on every
 *  device. The host has the image's values, and hands out those that are drawn. */
class FreeFormDraws
{
public:
  /** Of no image: nothing is drawn. */
  FreeFormDraws() = default;

  /** Brings a level's fixed image to the host.
   *  \param mask null for none \param series of the seed's random numbers, another one for each level. */
  void
  SetImage(Queue & queue, const ImageLevel & fixed, const ImageLevel * mask, std::uint64_t seed, std::uint32_t series);

  /** What samples are given of so many voxels: `all`, which take everything from the image on the device, but for these voxels alone.
   *  It refers to this object, until it draws again. */
  FixedSamples
  Draw(const FixedSamples & all, std::int64_t count, std::uint32_t iteration);

private:
  bool
  IsInside(std::int64_t voxel) const
  {
    return m_Mask.empty() || m_Mask[static_cast<std::size_t>(voxel)] >= 0.5;
  }

  Size                      m_Size{};
  std::vector<double>       m_Values;
  std::vector<double>       m_Mask;
  std::uint64_t             m_Seed = 0;
  std::uint32_t             m_Series = 0;
  std::vector<std::int64_t> m_Voxels;
  std::vector<double>       m_Edges;
};

} // namespace gpureg

#endif
