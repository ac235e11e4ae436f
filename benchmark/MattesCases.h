// SPDX-License-Identifier: Apache-2.0
// What the metric is measured on.
#ifndef MattesCases_h
#define MattesCases_h

#include "VolumeMetrics.h"

#include "itkANTSNeighborhoodCorrelationImageToImageMetricv4.h"
#include "itkAffineTransform.h"
#include "itkDisplacementFieldTransform.h"
#include "itkImageMaskSpatialObject.h"

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
      metric.SetMovingInterpolator(this->MakeInterpolator());
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
  GetLeastTraffic(bool withDerivative) const;

private:
  /** Of the order of the spline. */
  typename itk::InterpolateImageFunction<ImageType, double>::Pointer
  MakeInterpolator() const;
};

// These are there for the dimensions that programs have: heads in two and three, the rest in three.

/** A small affine motion about the origin; `amount` 1 is how the moving heads have moved. */
template <unsigned int VDimension>
typename itk::AffineTransform<double, VDimension>::Pointer
MakeMotion(double amount);

/** A T2 head fixed, the same head in T1 and moved as moving image, each with its own noise; the
 *  transform three fifths of the way to the truth. */
template <unsigned int VDimension>
MattesCase<VDimension>
MakeHeadCase(const itk::Size<VDimension> & size, bool stripped);

/** An image of the program's user, and itself in another contrast, moved and noisy. */
MattesCase<3>
MakeFileCase(const std::string & fileName);

/** Every n-th voxel's place, a little aside from its centre, as ITK's regular sampling has it. */
template <unsigned int VDimension>
typename MattesCase<VDimension>::PointSetType::Pointer
MakePoints(const itk::Image<float, VDimension> & image, itk::SizeValueType count);

/** The head without its surroundings: an ellipsoid about the origin. */
template <unsigned int VDimension>
typename MattesCase<VDimension>::MaskType::Pointer
MakeMask(const itk::Image<float, VDimension> & image);

/** A smooth displacement field of a few mm on the image's own grid. */
template <unsigned int VDimension>
typename itk::DisplacementFieldTransform<double, VDimension>::Pointer
MakeField(const itk::Image<float, VDimension> & image);

} // namespace bench

#endif
