// SPDX-License-Identifier: Apache-2.0
#ifndef itkGPUSmoothingRecursiveGaussianImageFilter_h
#define itkGPUSmoothingRecursiveGaussianImageFilter_h

#include "GPURegistrationDetail/core/itkGPUMembers.h"
#include "GPURegistrationDetail/filter/itkGPUVolume.h"

#include "itkSmoothingRecursiveGaussianImageFilter.h"

namespace itk
{

/** \class GPUSmoothingRecursiveGaussianImageFilter
 * \brief Smooths an image with a Gaussian along every axis, on a GPU or on host threads.
 *
 * A drop-in for itk::SmoothingRecursiveGaussianImageFilter, from which it is derived: same interface, same
 * result, to rounding; in place or not. The image stays on the device from one axis to the next, as float where
 * ITK keeps it as float; the recursions (Deriche 1993) run in double.
 *
 * What the device does not do (dimensions other than 2 and 3, pixels of 64-bit integers, a device without
 * doubles) is computed by the parent class, and a warning says so once.
 *
 * Errors of a device, such as memory that is out, are itk::ExceptionObjects; the filter can be used again.
 *
 * \ingroup GPURegistration
 */
template <typename TInputImage, typename TOutputImage = TInputImage>
class ITK_TEMPLATE_EXPORT GPUSmoothingRecursiveGaussianImageFilter
  : public SmoothingRecursiveGaussianImageFilter<TInputImage, TOutputImage>
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(GPUSmoothingRecursiveGaussianImageFilter);

  using Self = GPUSmoothingRecursiveGaussianImageFilter;
  using Superclass = SmoothingRecursiveGaussianImageFilter<TInputImage, TOutputImage>;
  using Pointer = SmartPointer<Self>;
  using ConstPointer = SmartPointer<const Self>;

  itkNewMacro(Self);

  const char *
  GetNameOfClass() const override
  {
    return "GPUSmoothingRecursiveGaussianImageFilter";
  }

  itkGPUVolumeFilterMembersMacro(m_Engine);

protected:
  GPUSmoothingRecursiveGaussianImageFilter() = default;
  ~GPUSmoothingRecursiveGaussianImageFilter() override = default;

private:
  friend class GPUVolume::Engine;
  static constexpr bool IsOfKnownTypes = GPUVolume::AreOfKnownTypes<TInputImage, TOutputImage>;

  using InternalComponentType = GPUVolume::ComponentType<typename Superclass::RealImageType>;

  /** As the parent keeps the image between two axes; but not less than the input, unless it is cut off to integers in
   * the end: what rounding has put just below one is that one to ITK's floats. */
  static constexpr gpureg::Precision Precision = std::is_same<InternalComponentType, float>::value &&
                                                     (GPUVolume::FitsIntoFloat<GPUVolume::ComponentType<TInputImage>> ||
                                                      std::is_integral<GPUVolume::ComponentType<TOutputImage>>::value)
                                                   ? gpureg::Precision::Single
                                                   : gpureg::Precision::Double;

  void
  GenerateDataOnDevice();

  GPUVolume::Engine m_Engine;
};

} // namespace itk

#ifndef ITK_MANUAL_INSTANTIATION
#  include "itkGPUSmoothingRecursiveGaussianImageFilter.hxx"
#endif

#endif
