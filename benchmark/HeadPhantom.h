// SPDX-License-Identifier: Apache-2.0
// Heads to measure with, made of formulas and a seed: the same on every machine.
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

/** Of a head, as shares of its image's extent: narrow, long and high. */
constexpr std::array<double, 3> HalfAxes{ 0.38, 0.46, 0.43 };

/** A standard normal number for each (seed, counter), by splitmix64's mixing and Box and Muller's transform. */
double
GetNormalNoise(std::uint64_t seed, std::uint64_t counter);

/** What to image, and how. */
template <unsigned int VDimension>
struct HeadScan
{
  using ImageType = itk::Image<float, VDimension>;
  using PointType = typename ImageType::PointType;

  itk::Size<VDimension> size;
  Contrast              contrast = Contrast::T1;
  /** The brain alone, exactly 0 outside of it; else there is noise in the air, too. */
  bool          stripped = false;
  std::uint64_t seed = 1;
  /** Where a point of this image lies in the head at rest: the inverse of how the head has moved. */
  std::function<PointType(const PointType &)> toRest = [](const PointType & point) { return point; };
};

/** An image of 1 mm voxels around a head whose centre is the grid's. Of 2 or 3 dimensions. */
template <unsigned int VDimension>
typename itk::Image<float, VDimension>::Pointer
MakeHead(const HeadScan<VDimension> & scan);

} // namespace bench

#endif
