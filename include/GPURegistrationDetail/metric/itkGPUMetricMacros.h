// SPDX-License-Identifier: Apache-2.0
// Declares what the classes of all metrics have in common word for word.
#ifndef itkGPUMetricMacros_h
#define itkGPUMetricMacros_h

#include "GPURegistrationDetail/core/itkGPUMembers.h"
#include "GPURegistrationDetail/metric/itkGPUMetricCandidates.h"

#include <vector>

/** Names a metric's class, or its parent, with the five template parameters that all metrics have. */
#define itkGPUMetricOf(metric) \
  metric<TFixedImage, TMovingImage, TVirtualImage, TInternalComputationValueType, TMetricTraits>

/** Declares what each metric declares about itself: see itkGPUClassMacro. It is a metric of scalar images of 2 or 3 dimensions. Public. */
#define itkGPUMetricClassMacro(metric, parent)                                                                     \
  itkGPUClassMacro(metric, itkGPUMetricOf(parent));                                                                \
  using MeasureType = typename Superclass::MeasureType;                                                            \
  using MovingTransformType = typename Superclass::MovingTransformType;                                            \
  static constexpr unsigned int ImageDimension = TFixedImage::ImageDimension;                                      \
  static_assert(ImageDimension == 2 || ImageDimension == 3, #metric ": images have 2 or 3 dimensions");            \
  static_assert(TMovingImage::ImageDimension == ImageDimension && TVirtualImage::ImageDimension == ImageDimension, \
                #metric ": fixed, moving and virtual image have the same dimension")

/** Begins the definition of a metric's GetValues(). */
#define itkGPUMetricGetValuesMacro(metric)                     \
  itkGPUMetricTemplate                                         \
  std::vector<typename metric::MeasureType> metric::GetValues( \
    const std::vector<typename metric::MovingTransformType::ParametersType> & candidates) const

/** Begins the definition of a member of a metric; all members have the same five template parameters. */
#define itkGPUMetricTemplate                        \
  template <typename TFixedImage,                   \
            typename TMovingImage,                  \
            typename TVirtualImage,                 \
            typename TInternalComputationValueType, \
            typename TMetricTraits>

/** Declares GetValues() with a std::vector of candidates, except for Python, where its type is not wrapped. */
#ifdef ITK_WRAPPING_PARSER
#  define itkGPUMetricCandidateVectorsMacro()
#else
#  define itkGPUMetricCandidateVectorsMacro()                                                                                  \
    /** Returns the metric's value for each of many candidate parameters of the moving transform, good to 1e-6. For a        \
     * linear transform the device computes them in batches. A candidate for which no sample is valid gets the largest       \
     * number. The transform and GetCurrentValue() do not change. Call Initialize() before.                                  \
     * \throws GPUBadInputError if a candidate does not have as many parameters as the transform. */ \
    std::vector<typename Superclass::MeasureType> GetValues(                                                                   \
      const std::vector<typename Superclass::MovingTransformType::ParametersType> & candidates) const;
#endif

#define itkGPUMetricCandidatesMacro()                                                                 \
  itkGPUMetricCandidateVectorsMacro() /** Returns GetValues() of the rows of a matrix, for Python. */ \
    vnl_vector<double>                                                                                \
    GetValuesOfRows(const vnl_matrix<double> & candidates) const                                      \
  {                                                                                                   \
    return GPURegistrationDetail::EvaluateRows(*this, candidates);                                    \
  }

/** Declares the older getter, Get##name() without const, if ITK still has it. */
#ifdef ITK_FUTURE_LEGACY_REMOVE
#  define itkGPUMetricOldGetterMacro(adapter, name)
#else
#  define itkGPUMetricOldGetterMacro(adapter, name)        \
    typename Superclass::name##Type * Get##name() override \
    {                                                      \
      adapter.MakeGradientImages();                        \
      return Superclass::Get##name();                      \
    }
#endif

/** Declares the getters of a gradient image that ITK's metrics make at Initialize(). A device computes its own gradient, so that the
 * image is made when a getter is called. */
#define itkGPUMetricGradientGettersMacro(adapter, name)              \
  typename Superclass::name##Type * GetModifiable##name() override   \
  {                                                                  \
    adapter.MakeGradientImages();                                    \
    return Superclass::GetModifiable##name();                        \
  }                                                                  \
  const typename Superclass::name##Type * Get##name() const override \
  {                                                                  \
    adapter.MakeGradientImages();                                    \
    return Superclass::Get##name();                                  \
  }                                                                  \
  itkGPUMetricOldGetterMacro(adapter, name)

/** Declares the public members of a metric whose adapter is a MetricAdapter or a PairAdapter. */
// clang-format off
#define itkGPUMetricMembersMacro(use, adapter)                        \
  itkGPUDeviceMembersMacro(use, adapter.GetStatistics())              \
  itkGPUTimeStampMembersMacro(use);                                \
  itkGPUMetricCandidatesMacro()                                    \
  itkGPUMetricGradientGettersMacro(adapter, MovingImageGradientImage) \
  itkGPUMetricGradientGettersMacro(adapter, FixedImageGradientImage)
// clang-format on

/** Declares OverrideParent() of a metric that can replace ITK's class: see GPUOverride. Protected. */
#define itkGPUMetricOverrideMacro(use) \
  void OverrideParent()                \
  {                                    \
    use.OverrideParent();              \
  }                                    \
  ITK_MACROEND_NOOP_STATEMENT

/** Declares PrintSelf() of a metric that has no settings of its own. Protected. */
#define itkGPUMetricPrintMacro(adapter)                           \
  void PrintSelf(std::ostream & os, Indent indent) const override \
  {                                                               \
    Superclass::PrintSelf(os, indent);                            \
    adapter.Print(os, indent);                                    \
  }                                                               \
  ITK_MACROEND_NOOP_STATEMENT

/** Declares InitializeForIteration() of a metric whose parent's version does no more than that of ImageToImageMetricv4. Protected. */
#define itkGPUMetricIterationMacro(adapter)    \
  void InitializeForIteration() const override \
  {                                            \
    adapter.InitializeForIteration();          \
  }                                            \
  ITK_MACROEND_NOOP_STATEMENT

/** Declares the friends of a metric that has a MetricAdapter. */
#define itkGPUMetricFriendsMacro(engine)                           \
  friend class GPURegistrationDetail::MetricAdapter<Self, engine>; \
  friend class GPURegistrationDetail::MetricFallback<Self>;        \
  friend class GPURegistrationDetail::MetricFixedGrid<Self>;       \
  friend class GPURegistrationDetail::MetricFixedSamples<Self>;    \
  friend class GPURegistrationDetail::MetricGradient<Self>;        \
  friend class GPURegistrationDetail::WithoutGradientFilter<Self>; \
  friend class GPURegistrationDetail::MetricCandidates<Self>;      \
  friend class GPURegistrationDetail::MetricChecks<Self>;          \
  friend class GPURegistrationDetail::MetricDerivative<Self>;      \
  friend class GPURegistrationDetail::MetricImages<Self>;          \
  friend class GPURegistrationDetail::MetricInput<Self>;           \
  friend class GPURegistrationDetail::MetricMapping<Self>;         \
  friend class GPURegistrationDetail::MetricMovingImage<Self>;     \
  friend class GPURegistrationDetail::MetricSources<Self>;         \
  friend class GPURegistrationDetail::MetricThroughITK<Self>

#endif
