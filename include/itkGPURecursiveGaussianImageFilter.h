// SPDX-License-Identifier: Apache-2.0
#ifndef itkGPURecursiveGaussianImageFilter_h
#define itkGPURecursiveGaussianImageFilter_h

#include "GPURegistrationDetail/core/itkGPUMembers.h"
#include "GPURegistrationDetail/filter/itkGPUVolume.h"

#include "itkRecursiveGaussianImageFilter.h"

namespace itk
{

/** \class GPURecursiveGaussianImageFilter
 * \brief Convolves an image with a Gaussian, or with its first or second derivative, along one axis, on a GPU or on host threads.
 *
 * The class replaces itk::RecursiveGaussianImageFilter, from which it is derived: it has the same interface, and the same result up to
 * rounding. Orders are 0, 1 and 2, normalised across scale or not, in place or not; lines have 4 voxels or more. The recursion (Deriche
 * 1993) runs in double precision; float images stay float between two filters, as in ITK.
 *
 * The parent class computes what the device cannot (dimensions other than 2 and 3, pixels of 64-bit integers, a device without double
 * precision), and the object warns once.
 *
 * A device's errors, such as too little memory, are itk::ExceptionObjects; the filter can be used again.
 *
 * \ingroup GPURegistration
 */
template <typename TInputImage, typename TOutputImage = TInputImage>
class ITK_TEMPLATE_EXPORT GPURecursiveGaussianImageFilter
  : public RecursiveGaussianImageFilter<TInputImage, TOutputImage>
{
public:
  itkGPUClassMacro(GPURecursiveGaussianImageFilter, RecursiveGaussianImageFilter<TInputImage, TOutputImage>);

  itkGPUVolumeFilterMembersMacro(GPURecursiveGaussianImageFilter,
                                 m_Engine,
                                 "Images of these types are not smoothed on a device.",
                                 "Filter a smaller region, or stream the output.");

private:
  static constexpr bool IsOfKnownTypes = GPUVolume::AreOfKnownTypes<TInputImage, TOutputImage>;

  /** Computes in single precision if a float holds every value of the input and the output is of floats: an integer output truncates,
   * and needs doubles. */
  static constexpr gpureg::Precision Precision = GPUVolume::FitsIntoFloat<GPUVolume::ComponentType<TInputImage>> &&
                                                     std::is_same<GPUVolume::ComponentType<TOutputImage>, float>::value
                                                   ? gpureg::Precision::Single
                                                   : gpureg::Precision::Double;
};

} // namespace itk

#ifndef ITK_MANUAL_INSTANTIATION
#  include "itkGPURecursiveGaussianImageFilter.hxx"
#endif

#endif
