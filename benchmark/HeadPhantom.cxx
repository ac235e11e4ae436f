// SPDX-License-Identifier: Apache-2.0
#include "HeadPhantom.h"

#include "itkImageRegionIteratorWithIndex.h"
#include "itkMultiThreaderBase.h"

#include <algorithm>
#include <cmath>

namespace bench
{
namespace
{

/** Intensities from the head's surface inwards. */
struct HeadShells
{
  double scalp, skull, fluid, grey, white, nuclei;
};

HeadShells
GetShells(Contrast contrast)
{
  return contrast == Contrast::T1 ? HeadShells{ 190, 25, 40, 110, 165, 130 } : HeadShells{ 90, 15, 235, 135, 85, 105 };
}

/** Returns 0 below edge and 1 above, with a smooth transition over `width` to each side, as from partial volumes. */
double
Step(double value, double edge, double width)
{
  const double t = std::min(1.0, std::max(0.0, (value - edge) / (2 * width) + 0.5));
  return t * t * (3 - 2 * t);
}

/** Returns a point's depth in the head: 0 at its centre, 1 on its skin; folded like a cortex.
 *  \param p in units of the head's half axes. */
double
GetFoldedDepth(const std::array<double, 3> & p)
{
  const double radius = std::sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);
  const double folds = std::sin(17 * p[0] + 5 * p[2]) * std::sin(15 * p[1] - 4 * p[0]) * std::cos(13 * p[2] + 3 * p[1]);
  // There are folds only between grey and white matter; the skin is smooth.
  return radius + 0.06 * folds * Step(radius, 0.25, 0.2) * (1 - Step(radius, 0.8, 0.05));
}

constexpr double BrainSurface = 0.82;

/** Returns the head's intensity at a point in units of its half axes. */
double
GetHeadIntensity(const std::array<double, 3> & p, const HeadShells & shells)
{
  const double depth = GetFoldedDepth(p);
  const double edge = 0.008;
  double       value = shells.white;
  value += (shells.grey - shells.white) * Step(depth, 0.66, edge);
  value += (shells.fluid - shells.grey) * Step(depth, BrainSurface, edge);
  value += (shells.skull - shells.fluid) * Step(depth, 0.86, edge);
  value += (shells.scalp - shells.skull) * Step(depth, 0.93, edge);
  // Two ventricles and, below them, two nuclei, left and right of the middle.
  const auto blob = [&](double x, double y, double z, double a, double b, double c) {
    const double u = (std::abs(p[0]) - x) / a;
    const double v = (p[1] - y) / b;
    const double w = (p[2] - z) / c;
    return 1 - Step(std::sqrt(u * u + v * v + w * w), 1, 0.1);
  };
  value += (shells.nuclei - value) * blob(0.25, 0.1, -0.1, 0.12, 0.2, 0.14);
  value += (shells.fluid - value) * blob(0.13, -0.05, 0.12, 0.08, 0.35, 0.13);
  // The fissure between the hemispheres, and the cleft above the cerebellum: without them the head would be nearly symmetric under
  // rotations.
  const auto cleft = [&](double distance) {
    return (1 - Step(std::abs(distance), 0.03, 0.015)) * Step(depth, 0.35, 0.05) *
           (1 - Step(depth, BrainSurface, edge));
  };
  value += (shells.fluid - value) * std::max(cleft(p[0]), p[1] > 0.1 ? cleft(p[2] + 0.4 - 0.5 * p[1]) : 0.0);
  // Slow shading and fine texture, then air.
  value *= 1 + 0.08 * std::sin(1.7 * p[0] + 0.6) * std::cos(1.3 * p[1]) +
           0.03 * std::sin(41 * p[0]) * std::sin(37 * p[1] + 29 * p[2]);
  return value * (1 - Step(depth, 1, edge));
}

} // namespace

double
GetNormalNoise(std::uint64_t seed, std::uint64_t counter)
{
  const auto uniform = [&](std::uint64_t stream) {
    std::uint64_t z = (seed * 0x2545F4914F6CDD1Dull) ^ ((2 * counter + stream + 1) * 0x9E3779B97F4A7C15ull);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    z ^= z >> 31;
    return (static_cast<double>(z >> 11) + 0.5) * 0x1p-53;
  };
  return std::sqrt(-2 * std::log(uniform(0))) * std::cos(2 * 3.14159265358979323846 * uniform(1));
}

template <unsigned int VDimension>
typename itk::Image<float, VDimension>::Pointer
MakeHead(const HeadScan<VDimension> & scan)
{
  using ImageType = typename HeadScan<VDimension>::ImageType;
  const auto image = ImageType::New();
  image->SetRegions(scan.size);
  typename ImageType::PointType origin;
  for (unsigned int d = 0; d < VDimension; ++d)
  {
    origin[d] = -0.5 * static_cast<double>(scan.size[d] - 1);
  }
  image->SetOrigin(origin);
  image->Allocate();

  const HeadShells shells = GetShells(scan.contrast);
  const double     noise = 4;
  itk::MultiThreaderBase::New()->ParallelizeImageRegion<VDimension>(
    image->GetLargestPossibleRegion(),
    [&](const typename ImageType::RegionType & region) {
      for (itk::ImageRegionIteratorWithIndex<ImageType> it(image, region); !it.IsAtEnd(); ++it)
      {
        typename ImageType::PointType point;
        image->TransformIndexToPhysicalPoint(it.GetIndex(), point);
        point = scan.toRest(point);
        std::array<double, 3> p{ 0, 0, 0 };
        for (unsigned int d = 0; d < VDimension; ++d)
        {
          p[d] = point[d] / (HalfAxes[d] * static_cast<double>(scan.size[d]));
        }
        if (scan.stripped && GetFoldedDepth(p) > BrainSurface)
        {
          it.Set(0);
          continue;
        }
        // Magnitudes, as from a scanner: noise in the air is positive.
        const auto counter = static_cast<std::uint64_t>(image->ComputeOffset(it.GetIndex()));
        it.Set(static_cast<float>(std::abs(GetHeadIntensity(p, shells) + noise * GetNormalNoise(scan.seed, counter))));
      }
    },
    nullptr);
  return image;
}

template itk::Image<float, 2>::Pointer
MakeHead<2>(const HeadScan<2> &);
template itk::Image<float, 3>::Pointer
MakeHead<3>(const HeadScan<3> &);

} // namespace bench
