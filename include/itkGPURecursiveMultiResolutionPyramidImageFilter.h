// SPDX-License-Identifier: Apache-2.0
#ifndef itkGPURecursiveMultiResolutionPyramidImageFilter_h
#define itkGPURecursiveMultiResolutionPyramidImageFilter_h

#include "GPURegistrationDetail/itkGPUPyramidGenerator.h"

#include "itkRecursiveMultiResolutionPyramidImageFilter.h"

namespace itk
{

/** \class GPURecursiveMultiResolutionPyramidImageFilter
 * \brief Makes a pyramid in which each level is made of the one before, on a GPU or on
 * host threads.
 *
 * A drop-in for itk::RecursiveMultiResolutionPyramidImageFilter, from which it is derived: same interface, same
 * result, to rounding, by itk::ShrinkImageFilter or by linear interpolation. Each level is made of the one before,
 * which is still on the device.
 *
 * All levels are made, whatever is requested of them, of all of the input. Between two axes
 * pixels are what ITK keeps there, the level's own type; sums are double. For voxels on the very edge of an oblique
 * input see GPUMultiResolutionPyramidImageFilter.
 *
 * What the device does not do (dimensions other than 2 and 3, levels of 64-bit integers or bools, a device without
 * doubles) is computed by the parent class, and a warning says so once.
 *
 * Errors of a device, such as memory that is out, are itk::ExceptionObjects; the filter can be used again.
 *
 * \ingroup GPURegistration
 */
template <typename TInputImage, typename TOutputImage>
class ITK_TEMPLATE_EXPORT GPURecursiveMultiResolutionPyramidImageFilter
  : public RecursiveMultiResolutionPyramidImageFilter<TInputImage, TOutputImage>
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(GPURecursiveMultiResolutionPyramidImageFilter);

  using Self = GPURecursiveMultiResolutionPyramidImageFilter;
  using Superclass = RecursiveMultiResolutionPyramidImageFilter<TInputImage, TOutputImage>;
  using Pointer = SmartPointer<Self>;
  using ConstPointer = SmartPointer<const Self>;

  itkNewMacro(Self);

  const char *
  GetNameOfClass() const override
  {
    return "GPURecursiveMultiResolutionPyramidImageFilter";
  }

  /** Where to compute. Default: GPUDevice::GetDefault(), asked when the filter is made. */
  void
  SetDevice(const GPUDevice & device)
  {
    m_Engine.SetDevice(*this, device);
  }
  const GPUDevice &
  GetDevice() const
  {
    return m_Engine.GetDevice();
  }

#ifndef ITK_WRAPPING_PARSER
  /** Launches, copies and times of the last update on the device. */
  gpureg::EvaluationStatistics
  GetEvaluationStatistics() const
  {
    return m_Engine.GetStatistics();
  }

  /** Kernel times are measured from the next update on. */
  void
  SetMeasuresKernelTime(bool on)
  {
    m_Engine.SetMeasuresKernelTime(on);
  }
#endif

protected:
  GPURecursiveMultiResolutionPyramidImageFilter() = default;
  ~GPURecursiveMultiResolutionPyramidImageFilter() override = default;

  /** See GPUStandIn. */
  void
  StandInForParent()
  {
    m_Engine.StandInForParent();
  }

  void
  PrintSelf(std::ostream & os, Indent indent) const override
  {
    Superclass::PrintSelf(os, indent);
    m_Engine.Print(os, indent);
  }

  void
  GenerateInputRequestedRegion() override;

  void
  GenerateData() override;

private:
  using GeneratorType = GPUPyramidGenerator<TInputImage, TOutputImage>;

  GPUVolume::Engine m_Engine;
};

} // namespace itk

#ifndef ITK_MANUAL_INSTANTIATION
#  include "itkGPURecursiveMultiResolutionPyramidImageFilter.hxx"
#endif

#endif
