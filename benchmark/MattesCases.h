// SPDX-License-Identifier: Apache-2.0
// What the metric is measured on.
#ifndef MattesCases_h
#define MattesCases_h

#include "BrainPhantom.h"
#include "Head.h"
#include "HeadPhantom.h"
#include "VolumeMetrics.h"

#include "itkANTSNeighborhoodCorrelationImageToImageMetricv4.h"
#include "itkAffineTransform.h"
#include "itkBSplineInterpolateImageFunction.h"
#include "itkDisplacementFieldTransform.h"
#include "itkImageMaskSpatialObject.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <type_traits>

namespace bench
{

template <unsigned int VDimension>
struct MattesCase
{
  using ImageType = itk::Image<float, VDimension>;
  using MetricType = itk::MattesMutualInformationImageToImageMetricv4<ImageType, ImageType>;
  using TransformType = itk::Transform<double, VDimension, VDimension>;
  using MaskType = itk::ImageMaskSpatialObject<VDimension>;
  using PointSetType = typename MetricType::VirtualPointSetType;

  std::string                     description;
  typename ImageType::Pointer     fixed;
  typename ImageType::Pointer     moving;
  typename TransformType::Pointer transform;
  typename MaskType::Pointer      movingMask;
  typename PointSetType::Pointer  points;
  unsigned int                    splineOrder = 1;
  unsigned int                    bins = 50;
  unsigned int                    radius = 2; // of a neighborhood correlation

  /** Sets a metric up for everything but Initialize(). */
  template <typename TMetric>
  void
  Configure(TMetric & metric, unsigned int threads) const
  {
    metric.SetFixedImage(fixed);
    metric.SetMovingImage(moving);
    metric.SetMovingTransform(transform);
    if constexpr (std::is_base_of<MetricType, TMetric>::value)
    {
      metric.SetNumberOfHistogramBins(bins);
    }
    if constexpr (std::is_base_of<itk::ANTSNeighborhoodCorrelationImageToImageMetricv4<ImageType, ImageType>,
                                  TMetric>::value)
    {
      typename TMetric::RadiusType size;
      size.Fill(radius);
      metric.SetRadius(size);
    }
    metric.SetMaximumNumberOfWorkUnits(threads);
    if (movingMask.IsNotNull())
    {
      metric.SetMovingImageMask(movingMask);
    }
    if (points.IsNotNull())
    {
      metric.SetVirtualSampledPointSet(points);
      metric.SetUseVirtualSampledPointSet(true);
      metric.SetUseSampledPointSet(true);
    }
    if (splineOrder > 1)
    {
      const auto interpolator = itk::BSplineInterpolateImageFunction<ImageType, double>::New();
      interpolator->SetSplineOrder(splineOrder);
      metric.SetMovingInterpolator(interpolator);
    }
  }

  /** Of both images, as float. */
  double
  GetVolumeBytes() const
  {
    return 4.0 * static_cast<double>(fixed->GetLargestPossibleRegion().GetNumberOfPixels() +
                                     moving->GetLargestPossibleRegion().GetNumberOfPixels());
  }

  /** Bytes that the passes must read and write if every sample moves each thing that it needs once, however a device
   * lays it out. */
  double
  GetLeastTraffic(bool withDerivative) const
  {
    const bool isField =
      transform->GetTransformCategory() == itk::TransformBaseTemplateEnums::TransformCategory::DisplacementField;
    const bool hasMask = movingMask.IsNotNull();
    const bool hasPoints = points.IsNotNull();
    const auto samples = static_cast<double>(hasPoints ? points->GetNumberOfPoints()
                                                       : fixed->GetLargestPossibleRegion().GetNumberOfPixels());
    const bool readsValueApart = hasMask || splineOrder > 1;
    const int  perPass = 2 + (hasMask ? 1 : 0) + (hasPoints ? 12 : 0) + (isField ? 12 : 0);
    const int  first = perPass + 4;
    const int  second = perPass + 16 + (readsValueApart ? 4 : 0) + (isField ? 12 : 0);
    return samples * (withDerivative ? first + second : first);
  }
};

/** A small affine motion about the origin; `amount` 1 is how the moving heads have moved. */
template <unsigned int VDimension>
typename itk::AffineTransform<double, VDimension>::Pointer
MakeMotion(double amount)
{
  using TransformType = itk::AffineTransform<double, VDimension>;
  const auto                               motion = TransformType::New();
  typename TransformType::OutputVectorType shift;
  const double                             shifts[] = { 2.5, -1.8, 1.2 };
  for (unsigned int d = 0; d < VDimension; ++d)
  {
    shift[d] = amount * shifts[d];
  }
  motion->Scale(1 + 0.02 * amount);
  motion->Rotate(0, 1, 0.06 * amount);
  motion->Translate(shift);
  return motion;
}

template <unsigned int VDimension>
int
GetPercentageOfZeros(const itk::Image<float, VDimension> & image)
{
  const auto          count = image.GetBufferedRegion().GetNumberOfPixels();
  const float * const values = image.GetBufferPointer();
  return static_cast<int>(100 * std::count(values, values + count, 0.0f) / static_cast<std::ptrdiff_t>(count));
}

/** A T2 head fixed, the same head in T1 and moved as moving image, each with its own noise; the
 *  transform three fifths of the way to the truth. */
template <unsigned int VDimension>
MattesCase<VDimension>
MakeHeadCase(const itk::Size<VDimension> & size, bool stripped)
{
  MattesCase<VDimension> result;
  HeadScan<VDimension>   scan;
  scan.size = size;
  scan.stripped = stripped;
  scan.contrast = Contrast::T2;
  scan.seed = 1;
  result.fixed = MakeHead(scan);
  const auto back = MakeMotion<VDimension>(1)->GetInverseTransform();
  scan.contrast = Contrast::T1;
  scan.seed = 2;
  scan.toRest = [back](const auto & point) { return back->TransformPoint(point); };
  result.moving = MakeHead(scan);
  result.transform = MakeMotion<VDimension>(0.6);
  result.description = std::to_string(GetPercentageOfZeros(*result.fixed)) + "% and " +
                       std::to_string(GetPercentageOfZeros(*result.moving)) + "% of voxels 0, " +
                       (stripped ? "skull-stripped heads" : "noisy heads");
  return result;
}

/** An image of the program's user, and itself in another contrast, moved and noisy. */
inline MattesCase<3>
MakeFileCase(const std::string & fileName)
{
  MattesCase<3> result;
  result.fixed = example::ReadVolume(fileName);
  const auto truth = example::MakeTruth(example::GetCentre(example::FindHead(result.fixed)), 1);
  result.moving = example::MakeMovingImage(result.fixed, truth, 1);
  // Not at the truth, where the derivative is next to nothing and a relative difference says as little.
  const auto                                        transform = truth->Clone();
  itk::AffineTransform<double, 3>::OutputVectorType aside;
  aside.Fill(1.0);
  transform->Translate(aside);
  result.transform = transform;
  result.description = fileName + " and the same in another contrast, moved";
  return result;
}

/** Every n-th voxel's place, a little aside from its centre, as ITK's regular sampling has it. */
template <unsigned int VDimension>
typename MattesCase<VDimension>::PointSetType::Pointer
MakePoints(const itk::Image<float, VDimension> & image, itk::SizeValueType count)
{
  using PointSetType = typename MattesCase<VDimension>::PointSetType;
  const auto points = PointSetType::New();
  const auto voxels = image.GetLargestPossibleRegion().GetNumberOfPixels();
  for (itk::SizeValueType n = 0; n < count; ++n)
  {
    typename PointSetType::PointType point;
    image.TransformIndexToPhysicalPoint(image.ComputeIndex(static_cast<itk::OffsetValueType>(n * voxels / count)),
                                        point);
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      point[d] += 0.1 * GetNormalNoise(4, VDimension * n + d);
    }
    points->SetPoint(n, point);
  }
  return points;
}

/** The head without its surroundings: an ellipsoid about the origin. */
template <unsigned int VDimension>
typename MattesCase<VDimension>::MaskType::Pointer
MakeMask(const itk::Image<float, VDimension> & image)
{
  using MaskImageType = typename MattesCase<VDimension>::MaskType::ImageType;
  const auto maskImage = MaskImageType::New();
  maskImage->CopyInformation(&image);
  maskImage->SetRegions(image.GetLargestPossibleRegion());
  maskImage->Allocate();
  for (itk::ImageRegionIteratorWithIndex<MaskImageType> it(maskImage, maskImage->GetLargestPossibleRegion());
       !it.IsAtEnd();
       ++it)
  {
    typename MaskImageType::PointType point;
    maskImage->TransformIndexToPhysicalPoint(it.GetIndex(), point);
    double radius = 0;
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      const double p = point[d] / (HalfAxes[d] * static_cast<double>(image.GetLargestPossibleRegion().GetSize(d)));
      radius += p * p;
    }
    it.Set(radius < 1 ? 1 : 0);
  }
  const auto mask = MattesCase<VDimension>::MaskType::New();
  mask->SetImage(maskImage);
  mask->Update();
  return mask;
}

/** A smooth displacement field of a few mm on the image's own grid. */
template <unsigned int VDimension>
typename itk::DisplacementFieldTransform<double, VDimension>::Pointer
MakeField(const itk::Image<float, VDimension> & image)
{
  using TransformType = itk::DisplacementFieldTransform<double, VDimension>;
  using FieldType = typename TransformType::DisplacementFieldType;
  const auto field = FieldType::New();
  field->CopyInformation(&image);
  field->SetRegions(image.GetLargestPossibleRegion());
  field->Allocate();
  for (itk::ImageRegionIteratorWithIndex<FieldType> it(field, field->GetLargestPossibleRegion()); !it.IsAtEnd(); ++it)
  {
    typename FieldType::PointType point;
    field->TransformIndexToPhysicalPoint(it.GetIndex(), point);
    typename FieldType::PixelType displacement;
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      displacement[d] = 2 * std::sin(0.05 * point[d]) + std::cos(0.04 * point[(d + 1) % VDimension] + 0.3 * d);
    }
    it.Set(displacement);
  }
  const auto transform = TransformType::New();
  transform->SetDisplacementField(field);
  return transform;
}

} // namespace bench

#endif
