// SPDX-License-Identifier: Apache-2.0
// Makes two images that SyN registers, and its settings.
#ifndef SyNCase_h
#define SyNCase_h

#include "TestImages.h"

#include "gpureg/registration/diffeomorphic/DiffeomorphicRegistration.h"

#include "itkAffineTransform.h"
#include "itkDisplacementFieldTransform.h"
#include "itkSyNImageRegistrationMethod.h"

#include <cmath>

namespace gpuregtest
{

constexpr gpureg::SimilarityKind AllKinds[] = {
  gpureg::SimilarityKind::NeighborhoodCorrelation, gpureg::SimilarityKind::MeanSquares,
  gpureg::SimilarityKind::MattesMutualInformation, gpureg::SimilarityKind::NormalizedMutualInformation,
  gpureg::SimilarityKind::CorrelationRatio,        gpureg::SimilarityKind::Demons
};

/** Two images to register, and the settings of ITK's class. */
template <unsigned int VDimension, typename TPixel = float>
struct SyNCase
{
  using ImageType = itk::Image<TPixel, VDimension>;
  using MaskType = itk::Image<unsigned char, VDimension>;
  using TransformType = itk::DisplacementFieldTransform<double, VDimension>;
  using AffineType = itk::AffineTransform<double, VDimension>;
  using MethodType = itk::SyNImageRegistrationMethod<ImageType, ImageType, TransformType>;

  typename ImageType::Pointer fixed;
  typename ImageType::Pointer moving;
  // Null for none.
  typename MaskType::Pointer   fixedMask;
  typename MaskType::Pointer   movingMask;
  typename AffineType::Pointer initial;
  typename AffineType::Pointer fixedInitial;
  /** The settings of both registrations. A level's voxels are shrunk by the same factor along each axis. */
  gpureg::DiffeomorphicSettings settings;
};

/** Returns settings with ITK's words: one level that is not shrunk. */
inline gpureg::DiffeomorphicSettings
MakeSyNSettings(gpureg::SimilarityKind kind, int iterations)
{
  gpureg::DiffeomorphicSettings settings;
  settings.scheme = gpureg::DiffeomorphicScheme::SyN;
  settings.iterations = { iterations };
  settings.updateSigma = std::sqrt(3.0);
  settings.fieldSigma = 0;
  settings.step = 0.25;
  settings.similarity = { kind, 32, 2 };
  settings.flat = gpureg::GetFlatNeighborhoodsOfITK<float, float, double>();
  settings.convergenceWindow = 0;
  // No outliers are looked for, as ITK looks for none.
  settings.fixedRange = settings.movingRange = gpureg::ValueRange{ -1e6, 1e6 };
  return settings;
}

/** Returns a grid of odd sizes, anisotropic and oblique. */
template <unsigned int VDimension>
Grid<VDimension>
MakeGrid()
{
  Grid<VDimension> grid;
  for (unsigned int d = 0; d < VDimension; ++d)
  {
    grid.size[d] = VDimension == 2 ? 35 - 4 * d : 23 - 2 * d;
    grid.spacing[d] = 1.0 + 0.25 * d;
    grid.origin[d] = 30.0 - 50.0 * d;
  }
  grid.direction = MakeRotation<VDimension>(0.3);
  return grid;
}

/** Two images of one object, the moving one deformed by some voxels, in flat surroundings. */
template <unsigned int VDimension>
SyNCase<VDimension>
MakeCase(gpureg::SimilarityKind kind, int iterations, const Grid<VDimension> & grid = MakeGrid<VDimension>())
{
  using ImageType = typename SyNCase<VDimension>::ImageType;
  Random               random(5);
  const auto           centre = grid.GetCentre();
  const double         radius = VDimension == 2 ? 14.0 : 9.0;
  const SmoothFunction texture(random, 7.0, 25.0);
  const auto getValue = [&](const auto & q) { return q * q < radius * radius ? 100.0 + 60.0 * texture(q) : 0.0; };
  SyNCase<VDimension> its;
  its.fixed = MakeImage<ImageType>(grid, [&](const auto & p) { return getValue(p - centre); });
  Grid<VDimension> movingGrid = grid;
  // A mask's nearest voxel is never a tie.
  movingGrid.size[0] += 4;
  movingGrid.spacing[1] *= 0.9;
  movingGrid.SetCentre(centre);
  const bool   areOfOneUnit = kind == gpureg::SimilarityKind::MeanSquares || kind == gpureg::SimilarityKind::Demons;
  const double scale = areOfOneUnit ? 1.0 : 0.8;
  its.moving = MakeImage<ImageType>(movingGrid, [&](const auto & p) {
    auto q = p - centre;
    q[0] += 1.5 * std::sin(0.2 * q[1]) + 0.4;
    q[1] -= 1.2 * std::cos(0.17 * q[0]);
    return scale * getValue(q);
  });
  its.settings = MakeSyNSettings(kind, iterations);
  return its;
}

/** Leaves out a part of each image. */
template <unsigned int VDimension, typename TPixel>
void
AddMasks(SyNCase<VDimension, TPixel> & its, const Grid<VDimension> & grid = MakeGrid<VDimension>())
{
  using MaskType = typename SyNCase<VDimension, TPixel>::MaskType;
  const auto centre = grid.GetCentre();
  its.fixedMask = MaskType::New();
  its.movingMask = MaskType::New();
  const auto fill = [&](const auto & image, auto & mask, double side) {
    mask.CopyInformation(&image);
    mask.SetRegions(image.GetBufferedRegion());
    mask.Allocate();
    for (itk::ImageRegionIteratorWithIndex<MaskType> it(&mask, mask.GetBufferedRegion()); !it.IsAtEnd(); ++it)
    {
      const auto q = mask.template TransformIndexToPhysicalPoint<double>(it.GetIndex()) - centre;
      it.Set(side * q[0] + 0.3 * q[1] < 5.3 ? 1 : 0);
    }
  };
  fill(*its.fixed, *its.fixedMask, 1);
  fill(*its.moving, *its.movingMask, -1);
}

} // namespace gpuregtest

#endif
