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
 * \brief The correlation ratio of the moving image by the fixed image's bins, on a GPU or on host threads.
 *
 * For an itk::ImageRegistrationMethodv4 and everything else that takes an itk::ImageToImageMetricv4. The value is
 * 1 - η(moving | fixed) (Roche 1998; Li 2015, equations 1 to 3): the part of the moving values' variance that the fixed
 * values do not explain, from 0 (the moving values are a function of the fixed bins) to 1. It falls as the images align,
 * whatever their contrasts. With A = Σ_i Σ (Y - m_i)² of the moving values Y from their bins' means, and B = Σ (Y - m)²
 * from the mean of all, the value is A/B, and the derivative that of -value by the moving transform's parameters:
 * ∂(A/B)/∂Y = (2/B)·[(Y - m_i) - (A/B)(Y - m)].
 *
 * With a border weight distance each sample weighs w <= 1 in these sums and means, near the edge of the moving image's buffer
 * (FLIRT; Li 2015, section 5.3), so that the value does not jump where samples leave it. The derivative has the weight's own
 * then, too: ∂(A/B)/∂Y is w times the above, and ∂(A/B)/∂w = (1/B)·[(Y - m_i)² - (A/B)(Y - m)²].
 *
 * A fixed value f is in bin min(bins - 1, floor(bins·(f - min)/(max - min))), the range being that of the fixed image's
 * buffered region inside of its mask.
 *
 * Which transforms, interpolators, masks and samplings are computed on the device, and what else CudaMattesNMI says of
 * residency, repeatability and errors, holds here, too. Sums on a device are in fixed point: where the sampled moving
 * values vary by less than some hundredths of the whole image's range (some thousandths, of a whole head), so that the value
 * would not be known to 1e-6, the host computes it through ITK's classes, and a warning says so once.
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
  ITK_DISALLOW_COPY_AND_MOVE(CudaCorrelationRatioMetric);

  using Self = CudaCorrelationRatioMetric;
  using Superclass =
    ImageToImageMetricv4<TFixedImage, TMovingImage, TVirtualImage, TInternalComputationValueType, TMetricTraits>;
  using Pointer = SmartPointer<Self>;
  using ConstPointer = SmartPointer<const Self>;

  using MeasureType = typename Superclass::MeasureType;
  using MovingTransformType = typename Superclass::MovingTransformType;

  itkNewMacro(Self);

  const char *
  GetNameOfClass() const override
  {
    return "CudaCorrelationRatioMetric";
  }

  static constexpr unsigned int ImageDimension = TFixedImage::ImageDimension;
  static_assert(ImageDimension == 2 || ImageDimension == 3,
                "CudaCorrelationRatioMetric: images have 2 or 3 dimensions");
  static_assert(TMovingImage::ImageDimension == ImageDimension && TVirtualImage::ImageDimension == ImageDimension,
                "CudaCorrelationRatioMetric: fixed, moving and virtual image have the same dimension");

  static constexpr SizeValueType LeastBins = gpureg::CorrelationRatioMetric::LeastBins;
  static constexpr SizeValueType MostBins = gpureg::CorrelationRatioMetric::MostBins;

  /** Of the fixed image: 2 to 4096, 256 by default. Call Initialize() after a change. */
  itkSetMacro(NumberOfHistogramBins, SizeValueType);
  itkGetConstMacro(NumberOfHistogramBins, SizeValueType);

  /** In mm: within it of the edge of the moving image's buffer, along each of its axes, a sample weighs linearly less, from 1
   * down to 0 at the edge; the product over the axes. 0, the default: every sample weighs 1. The number of valid points counts
   * samples, whatever they weigh.
   * \throws GPUBadInputError if it is negative or not finite. */
  void
  SetBorderWeightDistance(double millimetres);
  itkGetConstMacro(BorderWeightDistance, double);

#ifndef ITK_WRAPPING_PARSER
  /** How a device sums N, Σ Y and Σ Y² of each bin (Li 2015, table 1): GlobalAtomic, GlobalMerge, SharedAtomic, SharedMerge,
   * SharedWarp or ConflictFree. SharedMerge by default. The value is the same to the bit of all of them; they differ in time.
   * ConflictFree sorts the samples by their bins, and keeps that until fixed image, mask, bins or domain change. GlobalMerge
   * has a histogram for each group of threads, where the paper's has one for each thread, of which two of its GPUs run out of
   * memory: see gpureg::CorrelationRatioScheme. On the host there is one plain loop, whatever is set.
   * \throws GPUBadInputError for a value that is none of them. */
  using SchemeEnum = gpureg::CorrelationRatioScheme;
  void
  SetScheme(SchemeEnum scheme);
  itkGetConstMacro(Scheme, SchemeEnum);
#endif
  /** The same by its name, such as "ConflictFree".
   * \throws GPUBadInputError for a name that is none of these. */
  void
  SetScheme(const std::string & name);
  std::string
  GetSchemeName() const;

  /** Of ConflictFree: a group goes through so many samples of one bin at most (Li 2015, section 5.1). 768 by default.
   * \throws GPUBadInputError if it is less than 1. */
  void
  SetWorkloadLimit(int samples);
  itkGetConstMacro(WorkloadLimit, int);

#ifndef ITK_WRAPPING_PARSER
  /** How many groups a scheme launches, and of how many lanes (Li 2015, section 4.2: thread blocks, and threads of each). As it is
   * by default, {}, it is as fast as was found; it changes the time alone, and nothing on the host. Fewer groups are launched
   * where the samples cannot be cut into so many chunks. Lanes of an OpenCL device are fixed: with others, Initialize() and
   * evaluations throw GPUUnsupportedError.
   * \throws GPUBadInputError unless it is valid. */
  void
  SetLaunchShape(const gpureg::LaunchShape & shape);
  itkGetConstReferenceMacro(LaunchShape, gpureg::LaunchShape);
  /** What the last evaluation was launched with; zeros before, and on the host. */
  gpureg::LaunchShape
  GetUsedLaunchShape() const;
#endif

  /** See CudaMattesNMI. */
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
  FindBin(double fixedValue) const;
  void
  FindFixedRange();
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
  SizeValueType                                                                      m_NumberOfHistogramBins{ 256 };
  SizeValueType                                                                      m_InitializedBins{ 0 };
  double                                                                             m_BorderWeightDistance{ 0 };
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
