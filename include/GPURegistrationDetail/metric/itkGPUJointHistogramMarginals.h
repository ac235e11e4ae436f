// SPDX-License-Identifier: Apache-2.0
// Determines, by evaluating it, whether ITK's joint histogram metric swaps its two marginals.
#ifndef itkGPUJointHistogramMarginals_h
#define itkGPUJointHistogramMarginals_h

#include "itkIdentityTransform.h"
#include "itkImageRegionIteratorWithIndex.h"

namespace itk
{
namespace GPURegistrationDetail
{

/** Returns true if the metric swaps the marginal densities of the fixed and the moving image, as ITK's releases up to 5.4 do. The version
 *  number does not decide it, since ITK 6 was corrected between two of its previews. Instead the function evaluates the metric for two
 *  images of 2 × 2 voxels: a quarter of the fixed image's voxels, and half of the moving image's, are 0.
 *  \tparam TMetric itk::JointHistogramMutualInformationImageToImageMetricv4. */
template <typename TMetric>
bool
SwapsMarginals()
{
  // A factory might answer New().
  class Probe : public TMetric
  {};
  static const bool swaps = [] {
    using ImageType = typename TMetric::FixedImageType;
    using TransformType =
      IdentityTransform<typename TMetric::MovingTransformType::ScalarType, ImageType::ImageDimension>;
    const auto makeImage = [](const auto & valueAt) {
      const auto                   image = ImageType::New();
      typename ImageType::SizeType size;
      size.Fill(2);
      image->SetRegions(size);
      image->Allocate();
      for (ImageRegionIteratorWithIndex<ImageType> it(image, image->GetBufferedRegion()); !it.IsAtEnd(); ++it)
      {
        it.Set(static_cast<typename ImageType::PixelType>(valueAt(it.GetIndex())));
      }
      return image;
    };
    const SmartPointer<Probe> metric = new Probe;
    metric->UnRegister();
    metric->SetFixedImage(makeImage([](const auto & index) { return index[0] + index[1] > 0 ? 1 : 0; }));
    metric->SetMovingImage(makeImage([](const auto & index) { return index[0]; }));
    metric->SetMovingTransform(TransformType::New());
    metric->SetUseFixedImageGradientFilter(false);
    metric->SetUseMovingImageGradientFilter(false);
    metric->SetNumberOfHistogramBins(6);
    metric->SetVarianceForJointPDFSmoothing(0);
    metric->SetMaximumNumberOfWorkUnits(1);
    metric->Initialize();
    // The mutual information is 0.311 bits; with the marginals swapped the sum is 0.708.
    return metric->GetValue() < -0.5;
  }();
  return swaps;
}

} // namespace GPURegistrationDetail
} // namespace itk

#endif
