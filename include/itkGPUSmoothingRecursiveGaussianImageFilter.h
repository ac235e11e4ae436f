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
 * The class replaces itk::SmoothingRecursiveGaussianImageFilter, from which it is derived: it has the same interface, and the same
 * result up to rounding, in place or not. The image stays on the device from one axis to the next, as float if ITK stores it as float;
 * the recursions (Deriche 1993) run in double precision.
 *
 * The parent class computes what the device cannot (dimensions other than 2 and 3, pixels of 64-bit integers, a device without double
 * precision), and the object warns once.
 *
 * A device's errors, such as too little memory, are itk::ExceptionObjects; the filter can be used again.
 *
 * \ingroup GPURegistration
 */
template <typename TInputImage, typename TOutputImage = TInputImage>
class ITK_TEMPLATE_EXPORT GPUSmoothingRecursiveGaussianImageFilter
  : public SmoothingRecursiveGaussianImageFilter<TInputImage, TOutputImage>
{
public:
  itkGPUClassMacro(GPUSmoothingRecursiveGaussianImageFilter,
                   SmoothingRecursiveGaussianImageFilter<TInputImage, TOutputImage>);

  itkGPUVolumeFilterMembersMacro(GPUSmoothingRecursiveGaussianImageFilter,
                                 m_Engine,
                                 "Images of these types are not smoothed on a device.",
                                 "Filter a smaller image.");

private:
  static constexpr bool IsOfKnownTypes = GPUVolume::AreOfKnownTypes<TInputImage, TOutputImage>;

  using InternalComponentType = GPUVolume::ComponentType<typename Superclass::RealImageType>;

  /** Stores the image between two axes in the precision that the parent class uses, and in no less than the input's precision. An
   * integer output keeps the parent's floats, which round a value just below a whole number up to that number before it is truncated. */
  static constexpr gpureg::Precision Precision = std::is_same<InternalComponentType, float>::value &&
                                                     (GPUVolume::FitsIntoFloat<GPUVolume::ComponentType<TInputImage>> ||
                                                      std::is_integral<GPUVolume::ComponentType<TOutputImage>>::value)
                                                   ? gpureg::Precision::Single
                                                   : gpureg::Precision::Double;
};

} // namespace itk

#ifndef ITK_MANUAL_INSTANTIATION
#  include "itkGPUSmoothingRecursiveGaussianImageFilter.hxx"
#endif

#endif
