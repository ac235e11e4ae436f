// SPDX-License-Identifier: Apache-2.0
// Describes what a metric's samples and moving image on the device are made from, to detect changes of ITK's objects.
#ifndef itkGPUMetricSources_h
#define itkGPUMetricSources_h

#include "GPURegistrationDetail/core/itkGPUIsExactly.h"
#include "GPURegistrationDetail/core/itkGPUKey.h"
#include "GPURegistrationDetail/transform/itkGPUTransformChain.h"

#include "gpureg/image/Source.h"

#include "itkBSplineInterpolateImageFunction.h"
#include "itkImageMaskSpatialObject.h"

#include <type_traits>

namespace itk
{
namespace GPURegistrationDetail
{

/** Adds a mask, with its voxels, to a source. Returns false for a mask of another class, whose memory is unknown. */
template <unsigned int VDimension>
bool
AddMaskToSource(gpureg::Source & source, const SpatialObject<VDimension> * mask)
{
  AddToKey(source.key, mask);
  if (const auto * const imageMask = dynamic_cast<const ImageMaskSpatialObject<VDimension> *>(mask))
  {
    AddToKey(source.key, imageMask->GetImage());
    AddToKey(source.key, imageMask->GetObjectToWorldTransform());
    source.memory.push_back(GetBuffer(*imageMask->GetImage()));
    return IsExactly<ImageMaskSpatialObject<VDimension>>(mask);
  }
  return mask == nullptr;
}

/** Adds to a source what a transform is made from. Returns false if that is unknown for its class. */
template <typename TScalar, unsigned int VDimension>
bool
AddTransformToSource(gpureg::Source & source, const Transform<TScalar, VDimension, VDimension> & transform)
{
  gpureg::TransformChain chain;
  if (!GPUTransformChain::Append<TScalar, VDimension>(transform, chain))
  {
    return false;
  }
  AddToKey(source.key, chain.first);
  for (const gpureg::ChainStep & step : chain.steps)
  {
    AddToKey(source.key, step.map);
    source.memory.insert(source.memory.end(), step.grid.source.memory.begin(), step.grid.source.memory.end());
  }
  return true;
}

/** Gives access to the coefficients that a B-spline interpolator has computed. */
template <typename TInterpolator>
struct BSplineAccess : public TInterpolator
{
  static const typename TInterpolator::CoefficientImageType *
  GetCoefficients(const TInterpolator & interpolator)
  {
    return (interpolator.*(&BSplineAccess::m_Coefficients)).GetPointer();
  }
};

/** Calls visit with an interpolator of TImage if it is exactly one of ITK's B-spline interpolators. */
template <typename TImage, typename TCoordinate, typename TVisitor>
bool
VisitSplineInterpolator(const InterpolateImageFunction<TImage, TCoordinate> * interpolator, const TVisitor & visit)
{
  using DoubleType = BSplineInterpolateImageFunction<TImage, TCoordinate, double>;
  using FloatType = BSplineInterpolateImageFunction<TImage, TCoordinate, float>;
  if (IsExactly<DoubleType>(interpolator))
  {
    visit(static_cast<const DoubleType &>(*interpolator));
    return true;
  }
  if (IsExactly<FloatType>(interpolator))
  {
    visit(static_cast<const FloatType &>(*interpolator));
    return true;
  }
  return false;
}

/** Describes the sources of a metric's samples and moving image. The metric names this class a friend. */
template <typename TMetric>
class MetricSources
{
public:
  explicit MetricSources(const TMetric & metric)
    : m_Metric(metric)
  {}

  /** Returns the source of the samples, without the sampled points, and of the fixed image's gradient image if that is uploaded. */
  gpureg::Source
  GetFixedSource(bool sendsGradient) const
  {
    gpureg::Source source;
    source.isKeyTrusted = m_Metric.m_Use.TrustsTimeStamps();
    AddToKey(source.key, m_Metric.m_FixedImage.GetPointer());
    AddToKey(source.key, m_Metric.m_FixedInterpolator.GetPointer());
    AddToKey(source.key, m_Metric.GetVirtualImage());
    AddToKey(source.key, sendsGradient ? m_Metric.m_FixedImageGradientImage.GetPointer() : nullptr);
    source.memory.push_back(GetBuffer(*m_Metric.m_FixedImage));
    bool isKnown = AddMaskToSource<ImageDimension>(source, m_Metric.m_FixedImageMask.GetPointer());
    AddTransformToKey(source.key, m_Metric.m_FixedTransform.GetPointer());
    if (!source.isKeyTrusted)
    {
      isKnown = AddTransformToSource(source, *m_Metric.m_FixedTransform) && isKnown;
    }
    if (!source.isKeyTrusted && !isKnown)
    {
      source.key.clear();
    }
    return source;
  }

  /** Returns the source of the sampled points, which an optimizer may draw again while the images stay. */
  gpureg::Source
  GetPointsSource() const
  {
    gpureg::Source source;
    source.isKeyTrusted = m_Metric.m_Use.TrustsTimeStamps();
    AddToKey(source.key, static_cast<double>(m_Metric.m_UseSampledPointSet));
    if (m_Metric.m_UseSampledPointSet)
    {
      const auto * const points = m_Metric.m_VirtualSampledPointSet->GetPoints();
      const auto &       container = points->CastToSTLConstContainer();
      AddToKey(source.key, points);
      source.memory.push_back({ container.data(), container.size() * sizeof(container.front()) });
    }
    return source;
  }

  /** Returns the source of the moving image, its mask and interpolator, and of its gradient image if that is uploaded. */
  gpureg::Source
  GetMovingSource(bool sendsGradient) const
  {
    gpureg::Source source;
    source.isKeyTrusted = m_Metric.m_Use.TrustsTimeStamps();
    AddToKey(source.key, m_Metric.m_MovingImage.GetPointer());
    source.memory.push_back(GetBuffer(*m_Metric.m_MovingImage));
    AddMaskToSource<ImageDimension>(source, m_Metric.m_MovingImageMask.GetPointer());
    AddToKey(source.key, m_Metric.m_MovingInterpolator.GetPointer());
    VisitSplineInterpolator(m_Metric.m_MovingInterpolator.GetPointer(), [&source](const auto & interpolator) {
      using InterpolatorType = std::decay_t<decltype(interpolator)>;
      const auto * const coefficients = BSplineAccess<InterpolatorType>::GetCoefficients(interpolator);
      AddToKey(source.key, coefficients);
      AddToKey(source.key, static_cast<double>(interpolator.GetSplineOrder()));
      if (coefficients != nullptr)
      {
        source.memory.push_back(GetBuffer(*coefficients));
      }
    });
    // An image is made without a gradient where the gradient is the fixed image's alone.
    AddToKey(source.key, static_cast<double>(m_Metric.GetGradientSourceIncludesMoving()));
    AddToKey(source.key, static_cast<double>(m_Metric.m_UseMovingImageGradientFilter));
    AddToKey(source.key,
             m_Metric.m_UseMovingImageGradientFilter && sendsGradient ? m_Metric.m_MovingImageGradientImage.GetPointer()
                                                                      : nullptr);
    return source;
  }

private:
  static constexpr unsigned int ImageDimension = TMetric::ImageDimension;

  const TMetric & m_Metric;
};

} // namespace GPURegistrationDetail
} // namespace itk

#endif
