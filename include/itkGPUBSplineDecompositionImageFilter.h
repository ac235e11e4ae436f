// SPDX-License-Identifier: Apache-2.0
#ifndef itkGPUBSplineDecompositionImageFilter_h
#define itkGPUBSplineDecompositionImageFilter_h

#include "GPURegistrationDetail/core/itkGPUMembers.h"
#include "GPURegistrationDetail/filter/itkGPUVolume.h"

#include "itkBSplineDecompositionImageFilter.h"

namespace itk
{

/** \class GPUBSplineDecompositionImageFilter
 * \brief Computes an image's B-spline coefficients, on a GPU or on host threads.
 *
 * The class replaces itk::BSplineDecompositionImageFilter, from which it is derived: it has the same interface, and the same result up
 * to rounding. Spline orders are 0 to 5; lines have any length.
 *
 * The parent class computes what the device cannot (dimensions other than 2 and 3, coefficients other than float and double, pixels of
 * 64-bit integers, a device without double precision), and the object warns once.
 *
 * A device's errors, such as too little memory, are itk::ExceptionObjects; the filter can be used again.
 *
 * \ingroup GPURegistration
 */
template <typename TInputImage, typename TOutputImage>
class ITK_TEMPLATE_EXPORT GPUBSplineDecompositionImageFilter
  : public BSplineDecompositionImageFilter<TInputImage, TOutputImage>
{
public:
  itkGPUClassMacro(GPUBSplineDecompositionImageFilter, BSplineDecompositionImageFilter<TInputImage, TOutputImage>);

  itkGPUVolumeFilterMembersMacro(GPUBSplineDecompositionImageFilter,
                                 m_Engine,
                                 "Images of these types are not decomposed on a device.",
                                 "Filter a smaller image.");

private:
  static constexpr bool IsOfKnownTypes = GPUVolume::AreOfKnownTypes<TInputImage, TOutputImage> &&
                                         std::is_floating_point<GPUVolume::ComponentType<TOutputImage>>::value;

  /** Computes in single precision if a float holds every value of the input and the output. */
  static constexpr gpureg::Precision Precision = GPUVolume::FitsIntoFloat<GPUVolume::ComponentType<TInputImage>> &&
                                                     GPUVolume::FitsIntoFloat<GPUVolume::ComponentType<TOutputImage>>
                                                   ? gpureg::Precision::Single
                                                   : gpureg::Precision::Double;
};

} // namespace itk

#ifndef ITK_MANUAL_INSTANTIATION
#  include "itkGPUBSplineDecompositionImageFilter.hxx"
#endif

#endif
