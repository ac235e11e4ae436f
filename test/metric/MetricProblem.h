// SPDX-License-Identifier: Apache-2.0
// A problem for a metric: a test changes what it tests, and a definition in double precision is evaluated for the same problem.
#ifndef MetricProblem_h
#define MetricProblem_h

#include "RandomGrid.h"
#include "TestAnswer.h"
#include "TestImages.h"
#include "TestSplines.h"

#include "itkAffineTransform.h"
#include "itkCompositeTransform.h"
#include "itkDisplacementFieldTransform.h"
#include "itkImageMaskSpatialObject.h"
#include "itkImageRegionIteratorWithIndex.h"
#include "itkLinearInterpolateImageFunction.h"

#include <cmath>
#include <cstdint>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

namespace gpuregtest
{

/** A problem, with everything that a case may change. */
template <typename TPixel, unsigned int VDimension>
struct MetricProblem
{
  using ImageType = itk::Image<TPixel, VDimension>;
  using TransformType = itk::Transform<double, VDimension, VDimension>;
  using InterpolatorType = itk::InterpolateImageFunction<ImageType, double>;
  using MaskType = itk::ImageMaskSpatialObject<VDimension>;
  using PointType = typename ImageType::PointType;

  explicit MetricProblem(std::uint64_t seed)
  {
    Grid<VDimension> grid;
    grid.size.Fill(VDimension == 3 ? 37 : 230);
    grid.size[1] -= 5;
    grid.spacing[0] = 1.7;
    grid.origin.Fill(-31.0);
    grid.direction = MakeRotation<VDimension>(0.3);
    Grid<VDimension> movingGrid = grid;
    movingGrid.direction = MakeRotation<VDimension>(-0.2);
    movingGrid.spacing[1] = 0.9;
    movingGrid.start.Fill(3);
    movingGrid.SetCentre(grid.GetCentre());
    std::tie(fixed, moving) = MakeImagePair<ImageType>(grid, movingGrid, seed);
    const auto affine = itk::AffineTransform<double, VDimension>::New();
    affine->SetCenter(grid.GetCentre());
    auto   parameters = affine->GetParameters();
    Random random(seed + 1);
    for (unsigned int p = 0; p < parameters.size(); ++p)
    {
      parameters[p] += Uniform(random, -0.06, 0.06) * (p < VDimension * VDimension ? 1.0 : 20.0);
    }
    affine->SetParameters(parameters);
    transform = affine;
    interpolator = itk::LinearInterpolateImageFunction<ImageType, double>::New();
  }

  /** Sets up a metric for the problem. */
  template <typename TMetric>
  void
  GiveTo(TMetric & metric) const
  {
    metric.SetFixedImage(fixed);
    metric.SetMovingImage(moving);
    metric.SetMovingTransform(transform);
    metric.SetMovingInterpolator(interpolator);
    metric.SetFixedImageMask(fixedMask);
    metric.SetMovingImageMask(movingMask);
    if (!points.empty())
    {
      const auto set = TMetric::FixedSampledPointSetType::New();
      for (std::size_t n = 0; n < points.size(); ++n)
      {
        set->SetPoint(static_cast<itk::IdentifierType>(n), points[n]);
      }
      metric.SetFixedSampledPointSet(set);
      metric.SetUseSampledPointSet(true);
    }
  }

  /** Calls visit(point) for each sample. */
  template <typename TVisit>
  void
  ForEachPoint(const TVisit & visit) const
  {
    for (itk::ImageRegionIteratorWithIndex<ImageType> it(fixed, fixed->GetBufferedRegion());
         points.empty() && !it.IsAtEnd();
         ++it)
    {
      PointType point;
      fixed->TransformIndexToPhysicalPoint(it.GetIndex(), point);
      visit(point);
    }
    for (const PointType & point : points)
    {
      visit(point);
    }
  }

  bool
  IsInsideMoving(const PointType & moved) const
  {
    typename ImageType::IndexType index;
    return moving->TransformPhysicalPointToIndex(moved, index);
  }

  bool
  IsInsideMasks(const PointType & point, const PointType & moved) const
  {
    return (!fixedMask || fixedMask->IsInsideInWorldSpace(point)) &&
           (!movingMask || movingMask->IsInsideInWorldSpace(moved));
  }

  typename ImageType::Pointer        fixed;
  typename ImageType::Pointer        moving;
  typename TransformType::Pointer    transform;
  typename InterpolatorType::Pointer interpolator;
  typename MaskType::Pointer         fixedMask;
  typename MaskType::Pointer         movingMask;
  std::vector<PointType>             points;
};

/** Selects `count` voxels of the fixed image as points, some of them several times. */
template <typename TPixel, unsigned int VDimension>
void
AddRandomPoints(MetricProblem<TPixel, VDimension> & problem, int count, std::uint64_t seed)
{
  Random     random(seed);
  const auto region = problem.fixed->GetBufferedRegion();
  for (int n = 0; n < count; ++n)
  {
    auto index = region.GetIndex();
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      index[d] += Draw(random, static_cast<unsigned int>(region.GetSize(d)));
    }
    typename MetricProblem<TPixel, VDimension>::PointType point;
    problem.fixed->TransformIndexToPhysicalPoint(index, point);
    problem.points.push_back(point);
  }
}

template <unsigned int VDimension>
typename itk::ImageMaskSpatialObject<VDimension>::Pointer
MakeMask(const itk::ImageBase<VDimension> & like)
{
  using MaskType = itk::ImageMaskSpatialObject<VDimension>;
  const auto image = MaskType::ImageType::New();
  image->CopyInformation(&like);
  image->SetRegions(like.GetLargestPossibleRegion());
  image->Allocate();
  const auto start = like.GetLargestPossibleRegion().GetIndex();
  for (itk::ImageRegionIteratorWithIndex<typename MaskType::ImageType> it(image, image->GetBufferedRegion());
       !it.IsAtEnd();
       ++it)
  {
    it.Set(it.GetIndex()[0] - start[0] > 7 && it.GetIndex()[1] - start[1] < 25);
  }
  const auto mask = MaskType::New();
  mask->SetImage(image);
  mask->Update();
  return mask;
}

template <unsigned int VDimension>
typename itk::DisplacementFieldTransform<double, VDimension>::Pointer
MakeField(const itk::ImageBase<VDimension> & like)
{
  using FieldTransformType = itk::DisplacementFieldTransform<double, VDimension>;
  using FieldType = typename FieldTransformType::DisplacementFieldType;
  const auto field = FieldType::New();
  field->CopyInformation(&like);
  field->SetRegions(like.GetLargestPossibleRegion());
  field->Allocate();
  for (itk::ImageRegionIteratorWithIndex<FieldType> it(field, field->GetBufferedRegion()); !it.IsAtEnd(); ++it)
  {
    typename FieldType::PixelType vector;
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      vector[d] = 1.3 * std::sin(0.11 * static_cast<double>(it.GetIndex()[d]) + d);
    }
    it.Set(vector);
  }
  const auto transform = FieldTransformType::New();
  transform->SetDisplacementField(field);
  return transform;
}

/** Returns a smooth field around an image, with indices from 0 on: ITK's derivative reads fields with other indices outside of their
 *  buffers. */
template <unsigned int VDimension>
typename itk::DisplacementFieldTransform<double, VDimension>::Pointer
MakeFieldAround(const itk::ImageBase<VDimension> & image)
{
  using TransformType = itk::DisplacementFieldTransform<double, VDimension>;
  const auto field = TransformType::DisplacementFieldType::New();
  auto       region = image.GetLargestPossibleRegion();
  region.PadByRadius(20);
  typename TransformType::InputPointType origin;
  image.TransformIndexToPhysicalPoint(region.GetIndex(), origin);
  region.SetIndex({});
  field->CopyInformation(&image);
  field->SetOrigin(origin);
  field->SetRegions(region);
  field->Allocate();
  for (itk::ImageRegionIteratorWithIndex<typename TransformType::DisplacementFieldType> it(field, region);
       !it.IsAtEnd();
       ++it)
  {
    typename TransformType::OutputVectorType moved;
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      moved[d] = image.GetSpacing()[d] * std::sin(0.2 * static_cast<double>(it.GetIndex()[0]) +
                                                  0.3 * static_cast<double>(it.GetIndex()[1]) + d);
    }
    it.Set(moved);
  }
  const auto transform = TransformType::New();
  transform->SetDisplacementField(field);
  return transform;
}

/** Returns a composite of transforms, in the order of application, of which one is optimized. */
template <unsigned int VDimension>
typename itk::CompositeTransform<double, VDimension>::Pointer
MakeChain(const std::vector<typename itk::Transform<double, VDimension, VDimension>::Pointer> & transforms,
          std::size_t                                                                           optimized)
{
  const auto composite = itk::CompositeTransform<double, VDimension>::New();
  for (std::size_t n = transforms.size(); n-- > 0;)
  {
    composite->AddTransform(transforms[n]);
    composite->SetNthTransformToOptimize(transforms.size() - 1 - n, n == optimized);
  }
  return composite;
}

/** Calls expect(change) for several chains of grids around a problem's transform; change(problem) puts the transform among them. */
template <typename TExpect>
void
ForEachChainOfGrids(const TExpect & expect)
{
  for (const bool hasFieldBehind : { true, false })
  {
    for (const bool hasSplineBefore : { true, false })
    {
      SCOPED_TRACE(::testing::Message() << (hasSplineBefore ? "behind a B-spline" : "")
                                        << (hasFieldBehind ? " before a field" : ""));
      if (!hasFieldBehind && !hasSplineBefore)
      {
        continue;
      }
      expect([hasFieldBehind, hasSplineBefore](auto & problem) {
        constexpr unsigned int Dimension = std::decay_t<decltype(problem)>::ImageType::ImageDimension;
        std::vector<typename itk::Transform<double, Dimension, Dimension>::Pointer> chain{ problem.transform };
        if (hasSplineBefore)
        {
          chain.insert(chain.begin(), MakeRandomSpline<3>(*problem.fixed, 2, 1.0, 4).GetPointer());
        }
        if (hasFieldBehind)
        {
          chain.push_back(MakeFieldAround<Dimension>(*problem.moving).GetPointer());
        }
        problem.transform = MakeChain<Dimension>(chain, hasSplineBefore ? 1 : 0);
      });
    }
  }
}

/** Calls check(pixel, dimension) for images of floats and of doubles, in two and in three dimensions. */
template <typename TCheck>
void
ForEachImageType(const TCheck & check)
{
  const auto inDimension = [&check](auto dimension) {
    const std::string name = std::to_string(dimension) + "D, ";
    {
      SCOPED_TRACE(name + "float");
      check(float{}, dimension);
    }
    {
      SCOPED_TRACE(name + "double");
      check(double{}, dimension);
    }
  };
  inDimension(std::integral_constant<unsigned int, 2>{});
  inDimension(std::integral_constant<unsigned int, 3>{});
}

} // namespace gpuregtest

#endif
