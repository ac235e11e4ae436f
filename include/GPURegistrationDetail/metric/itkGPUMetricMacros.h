// SPDX-License-Identifier: Apache-2.0
// Declares what the classes of all metrics have in common word for word.
#ifndef itkGPUMetricMacros_h
#define itkGPUMetricMacros_h

#include "GPURegistrationDetail/core/itkGPUMembers.h"
#include "GPURegistrationDetail/metric/itkGPUMetricCandidates.h"

#include <vector>

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
  friend class GPURegistrationDetail::MetricFixedGrid<Self>;       \
  friend class GPURegistrationDetail::MetricFixedSamples<Self>;    \
  friend class GPURegistrationDetail::MetricGradient<Self>;        \
  friend class GPURegistrationDetail::WithoutGradientFilter<Self>; \
  friend class GPURegistrationDetail::MetricCandidates<Self>;      \
  friend class GPURegistrationDetail::MetricDerivative<Self>;      \
  friend class GPURegistrationDetail::MetricImages<Self>;          \
  friend class GPURegistrationDetail::MetricInput<Self>;           \
  friend class GPURegistrationDetail::MetricMapping<Self>;         \
  friend class GPURegistrationDetail::MetricSources<Self>;         \
  friend class GPURegistrationDetail::MetricThroughITK<Self>

#endif
