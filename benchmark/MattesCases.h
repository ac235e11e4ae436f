// SPDX-License-Identifier: Apache-2.0
// The cases for which the metrics are measured.
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

  /** Returns the bytes of both images, as floats. */
  double
  GetVolumeBytes() const
  {
    return 4.0 * static_cast<double>(fixed->GetLargestPossibleRegion().GetNumberOfPixels() +
                                     moving->GetLargestPossibleRegion().GetNumberOfPixels());
  }

  /** Returns the bytes that the passes must read and write if every sample moves each of its data once, in any layout on a device. */
  double
  GetLeastTraffic(bool withDerivative) const;

private:
  /** Returns the interpolator of the spline's order. */
  typename itk::InterpolateImageFunction<ImageType, double>::Pointer
  MakeInterpolator() const;
};

// These are instantiated for the dimensions that programs use: heads in two and three, the rest in three.

/** Returns a small affine motion about the origin; `amount` 1 is the motion of the moving heads. */
template <unsigned int VDimension>
typename itk::AffineTransform<double, VDimension>::Pointer
MakeMotion(double amount);

/** Returns a case of a fixed head in T2 and the same head, moved, in T1 as the moving image, each with its own noise; the transform is
 *  three fifths of the way to the truth. */
template <unsigned int VDimension>
MattesCase<VDimension>
MakeHeadCase(const itk::Size<VDimension> & size, bool stripped);

/** Returns a case of an image of the program's user, and the same image in another contrast, moved and noisy. */
MattesCase<3>
MakeFileCase(const std::string & fileName);

/** Returns a point near the centre of every n-th voxel, slightly shifted, as in ITK's regular sampling. */
template <unsigned int VDimension>
typename MattesCase<VDimension>::PointSetType::Pointer
MakePoints(const itk::Image<float, VDimension> & image, itk::SizeValueType count);

/** Returns a mask of the head without its surroundings: an ellipsoid about the origin. */
template <unsigned int VDimension>
typename MattesCase<VDimension>::MaskType::Pointer
MakeMask(const itk::Image<float, VDimension> & image);

/** Returns a smooth displacement field of a few mm on the image's own grid. */
template <unsigned int VDimension>
typename itk::DisplacementFieldTransform<double, VDimension>::Pointer
MakeField(const itk::Image<float, VDimension> & image);

} // namespace bench

#endif
