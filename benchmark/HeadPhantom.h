// SPDX-License-Identifier: Apache-2.0
// Heads for measurements, from formulas and a seed: the same on every machine.
#ifndef HeadPhantom_h
#define HeadPhantom_h

#include "itkImage.h"

#include <array>
#include <cstdint>
#include <functional>

namespace bench
{

enum class Contrast
{
  T1,
  T2
};

/** A head's half axes as fractions of its image's extent: narrow, long and high. */
constexpr std::array<double, 3> HalfAxes{ 0.38, 0.46, 0.43 };

/** Returns a standard normal number for a (seed, counter), by splitmix64's mixing and the Box-Muller transform. */
double
GetNormalNoise(std::uint64_t seed, std::uint64_t counter);

/** The settings of a synthetic scan. */
template <unsigned int VDimension>
struct HeadScan
{
  using ImageType = itk::Image<float, VDimension>;
  using PointType = typename ImageType::PointType;

  itk::Size<VDimension> size;
  Contrast              contrast = Contrast::T1;
  /** True for the brain alone, with exactly 0 outside of it; otherwise there is noise in the air, too. */
  bool          stripped = false;
  std::uint64_t seed = 1;
  /** Maps a point of the image to the head at rest: the inverse of the head's motion. */
  std::function<PointType(const PointType &)> toRest = [](const PointType & point) { return point; };
};

/** Returns an image of 1 mm voxels around a head whose centre is the grid's, in 2 or 3 dimensions. */
template <unsigned int VDimension>
typename itk::Image<float, VDimension>::Pointer
MakeHead(const HeadScan<VDimension> & scan);

} // namespace bench

#endif
