// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaCorrelationRatioMetric_h
#define itkCudaCorrelationRatioMetric_h

#include "GPURegistrationDetail/metric/itkGPUBorderWeight.h"
#include "GPURegistrationDetail/core/itkGPUMembers.h"
#include "GPURegistrationDetail/metric/itkGPUMetricAdapter.h"
#include "GPURegistrationDetail/metric/itkGPUMetricMacros.h"
#include "itkGPUDevice.h"

#include "gpureg/metric/histogram/CorrelationRatioMetric.h"

#include "itkDefaultImageToImageMetricTraitsv4.h"
#include "itkImageToImageMetricv4.h"

#include <utility>

namespace itk
{

/** \class CudaCorrelationRatioMetric
 * \brief Computes the correlation ratio of the moving image given the fixed image's bins, on a GPU or on host threads.
 *
 * Use this metric in an itk::ImageRegistrationMethodv4, or wherever an itk::ImageToImageMetricv4 fits. The value is 1 - η(moving |
 * fixed) (Roche 1998; Li 2015, equations 1 to 3): the part of the moving values' variance that the fixed values do not explain. It is
 * between 0, where the moving values are a function of the fixed bins, and 1, and falls as the images align, whatever their contrasts.
 * With A = Σ_i Σ (Y - m_i)² the squared deviations of the moving values Y from the means m_i of their bins, and B = Σ (Y - m)² those
 * from the mean m of all values, the value is A/B. The derivative is that of -value with respect to the moving transform's parameters:
 * ∂(A/B)/∂Y = (2/B)·[(Y - m_i) - (A/B)(Y - m)].
 *
 * A border weight distance gives each sample near the edge of the moving image's buffer a weight w <= 1 in these sums and means (FLIRT;
 * Li 2015, section 5.3), so that the value does not jump when samples leave the image. The derivative then includes that of the weight:
 * ∂(A/B)/∂Y is w times the expression above, and ∂(A/B)/∂w = (1/B)·[(Y - m_i)² - (A/B)(Y - m)²].
 *
 * A fixed value f belongs to bin min(bins - 1, floor(bins·(f - min)/(max - min))), where min and max are the range of the fixed image's
 * buffered region inside its mask.
 *
 * CudaMattesNMI says which transforms, interpolators, masks and samplings the device computes, and what it guarantees on residency,
 * repeatability and errors; all of that holds for this metric, too. A device sums in fixed point. If the sampled moving values vary by
 * less than some hundredths of the whole image's range (some thousandths, for a whole head), a fixed-point sum would not give the value
 * to 1e-6; then the host computes it through ITK's classes, and the object warns once.
 *
 * \tparam TFixedImage, TMovingImage images of float or double, of 2 or 3 dimensions.
 *
 * \sa CudaMattesNMI, GPUDevice
 * \ingroup GPURegistration
 */
template <typename TFixedImage,
          typename TMovingImage,
          typename TVirtualImage = TFixedImage,
          typename TInternalComputationValueType = double,
          typename TMetricTraits =
            DefaultImageToImageMetricTraitsv4<TFixedImage, TMovingImage, TVirtualImage, TInternalComputationValueType>>
class ITK_TEMPLATE_EXPORT CudaCorrelationRatioMetric
  : public ImageToImageMetricv4<TFixedImage, TMovingImage, TVirtualImage, TInternalComputationValueType, TMetricTraits>
{
public:
  itkGPUMetricClassMacro(CudaCorrelationRatioMetric, ImageToImageMetricv4);

  static constexpr SizeValueType LeastBins = gpureg::CorrelationRatioMetric::LeastBins;
  static constexpr SizeValueType MostBins = gpureg::CorrelationRatioMetric::MostBins;
  static constexpr SizeValueType DefaultBins = gpureg::Describe(gpureg::SimilarityKind::CorrelationRatio).bins.usual;

  /** Sets the number of bins for the fixed image: 2 to 4096, 256 by default. Call Initialize() after a change. */
  itkSetMacro(NumberOfHistogramBins, SizeValueType);
  itkGetConstMacro(NumberOfHistogramBins, SizeValueType);

  /** Sets the distance in mm from the edge of the moving image's buffer below which samples lose weight. Along each axis of the buffer
   * the weight falls linearly from 1, at this distance, to 0, at the edge; a sample's weight is the product over the axes. 0, the
   * default, gives every sample the weight 1. The number of valid points counts samples, whatever their weights.
   * \throws GPUBadInputError if millimetres is negative or not finite. */
  void
  SetBorderWeightDistance(double millimetres);
  itkGetConstMacro(BorderWeightDistance, double);

#ifndef ITK_WRAPPING_PARSER
  /** Sets how a device sums N, Σ Y and Σ Y² of each bin (Li 2015, table 1): GlobalAtomic, GlobalMerge, SharedAtomic, SharedMerge (the
   * default), SharedWarp or ConflictFree. All schemes give the same value, to the bit, in different times. ConflictFree sorts the
   * samples by their bins, and stores the sorted samples until fixed image, mask, bins or domain change. GlobalMerge has one histogram
   * per group of threads; the paper has one per thread, for which two of its GPUs run out of memory: see
   * gpureg::CorrelationRatioScheme. The host ignores the scheme: it has one plain loop.
   * \throws GPUBadInputError if scheme is none of the six. */
  using SchemeEnum = gpureg::CorrelationRatioScheme;
  void
  SetScheme(SchemeEnum scheme);
  itkGetConstMacro(Scheme, SchemeEnum);
#endif
  /** Sets the scheme by its name, such as "ConflictFree".
   * \throws GPUBadInputError if no scheme has this name. */
  void
  SetScheme(const std::string & name);
  std::string
  GetSchemeName() const;

  /** Sets how many samples of one bin a group of ConflictFree sums at most (Li 2015, section 5.1). Default: 768.
   * \throws GPUBadInputError if samples is less than 1. */
  void
  SetWorkloadLimit(int samples);
  itkGetConstMacro(WorkloadLimit, int);

#ifndef ITK_WRAPPING_PARSER
  /** Sets how many groups a scheme launches, and how many lanes a group has (Li 2015, section 4.2: thread blocks, and threads per
   * block). The default, {}, is the fastest shape that was measured. The shape changes only the time, and nothing on the host. Fewer
   * groups are launched if the samples cannot be cut into that many chunks. An OpenCL device has a fixed number of lanes: with another
   * number, Initialize() and evaluations throw GPUUnsupportedError.
   * \throws GPUBadInputError if shape is not valid (gpureg::LaunchShape::IsValid()). */
  void
  SetLaunchShape(const gpureg::LaunchShape & shape);
  itkGetConstReferenceMacro(LaunchShape, gpureg::LaunchShape);
  /** Returns the launch shape of the last evaluation; zeros before the first evaluation, and on the host. */
  gpureg::LaunchShape
  GetUsedLaunchShape() const;
#endif

  /** Declares SetDevice(), SetTrustsTimeStamps(), GetValues() and the other members that all metrics of this module share: see
   * CudaMattesNMI. */
  itkGPUMetricMembersMacro(m_Use, m_Adapter);

  void
  Initialize() override;

protected:
  CudaCorrelationRatioMetric();
  ~CudaCorrelationRatioMetric() override = default;

  void
  PrintSelf(std::ostream & os, Indent indent) const override;

  itkGPUMetricIterationMacro(m_Adapter);

  void
  GetValueAndDerivativeExecute() const override;

private:
  itkGPUMetricFriendsMacro(gpureg::CorrelationRatioMetric);
  using BorderWeightType = GPURegistrationDetail::BorderWeight<ImageDimension>;

  SizeValueType
  ComputeBin(double fixedValue) const;
  void
  ComputeFixedRange();
  void
  UpdateEngine(bool isInitializing) const;
  void
  EvaluateOnDevice(GPURegistrationDetail::MetricRoute route) const;
  void
  EvaluateThroughITK() const;
  void
  StoreValue(double within, double all, double count) const;

  GPURegistrationDetail::DeviceUse                                                   m_Use;
  mutable GPURegistrationDetail::MetricAdapter<Self, gpureg::CorrelationRatioMetric> m_Adapter{ *this };
  SizeValueType                  m_NumberOfHistogramBins{ DefaultBins };
  SizeValueType                  m_InitializedBins{ 0 };
  double                         m_BorderWeightDistance{ 0 };
  int                            m_WorkloadLimit{ gpureg::CorrelationRatioMetric::DefaultWorkloadLimit };
  gpureg::LaunchShape            m_LaunchShape;
  gpureg::CorrelationRatioScheme m_Scheme{ gpureg::CorrelationRatioScheme::SharedMerge };
  std::pair<double, double>      m_FixedRange{ 0.0, 1.0 };
};

} // namespace itk

#ifndef ITK_MANUAL_INSTANTIATION
#  include "itkCudaCorrelationRatioMetric.hxx"
#endif

#endif
