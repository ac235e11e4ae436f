// SPDX-License-Identifier: Apache-2.0
// What the classes of all metrics declare word for word.
#ifndef itkGPUMetricMacros_h
#define itkGPUMetricMacros_h

#include "GPURegistrationDetail/core/itkGPUMembers.h"
#include "GPURegistrationDetail/metric/itkGPUMetricCandidates.h"

#include <vector>

/** The head of a metric's GetValues(). */
#define itkGPUMetricGetValuesMacro(metric)                     \
  itkGPUMetricTemplate                                         \
  std::vector<typename metric::MeasureType> metric::GetValues( \
    const std::vector<typename metric::MovingTransformType::ParametersType> & candidates) const

/** Before one definition of a member of a metric: all of them have the same five parameters. */
#define itkGPUMetricTemplate                        \
  template <typename TFixedImage,                   \
            typename TMovingImage,                  \
            typename TVirtualImage,                 \
            typename TInternalComputationValueType, \
            typename TMetricTraits>

/** Candidates in a std::vector are not for Python: their type is not wrapped. */
#ifdef ITK_WRAPPING_PARSER
#  define itkGPUMetricCandidateVectorsMacro()
#else
#  define itkGPUMetricCandidateVectorsMacro()                                                                                \
    /** The value of each of many parameters of the moving transform, those of a linear one in one go on the device: as    \
     * GetValue() gives them, to 1e-6. One that leaves no sample valid has the largest value there is. The transform and   \
     * GetCurrentValue() stay as they are. To be called after Initialize().                                                \
     * \throws GPUBadInputError for parameters of another number than the transform's. */ \
    std::vector<typename Superclass::MeasureType> GetValues(                                                                 \
      const std::vector<typename Superclass::MovingTransformType::ParametersType> & candidates) const;
#endif

#define itkGPUMetricCandidatesMacro()                                                                                      \
  itkGPUMetricCandidateVectorsMacro() /** GetValues() of a matrix that has a candidate in each row, as Python has them. */ \
    vnl_vector<double>                                                                                                     \
    GetValuesOfRows(const vnl_matrix<double> & candidates) const                                                           \
  {                                                                                                                        \
    return GPURegistrationDetail::EvaluateRows(*this, candidates);                                                         \
  }

/** The getter of the same name that ITK has where it keeps what it had before. */
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

/** Getters of an image that ITK's metrics make at Initialize(). A device makes its own, so here it is made when it is asked for. */
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

/** Public members of a metric whose adapter is a MetricAdapter or a PairAdapter. */
// clang-format off
#define itkGPUMetricMembersMacro(use, adapter)                        \
  itkGPUDeviceMembersMacro(use, adapter.GetStatistics())              \
  itkGPUTimeStampMembersMacro(use);                                \
  itkGPUMetricCandidatesMacro()                                    \
  itkGPUMetricGradientGettersMacro(adapter, MovingImageGradientImage) \
  itkGPUMetricGradientGettersMacro(adapter, FixedImageGradientImage)
// clang-format on

/** A protected member of a metric whose parent's own does no more than ImageToImageMetricv4's. */
#define itkGPUMetricIterationMacro(adapter)    \
  void InitializeForIteration() const override \
  {                                            \
    adapter.InitializeForIteration();          \
  }                                            \
  ITK_MACROEND_NOOP_STATEMENT

/** In a metric that has a MetricAdapter. */
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
