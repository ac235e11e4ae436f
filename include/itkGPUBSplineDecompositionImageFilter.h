// SPDX-License-Identifier: Apache-2.0
#ifndef itkGPUBSplineDecompositionImageFilter_h
#define itkGPUBSplineDecompositionImageFilter_h

#include "GPURegistrationDetail/core/itkGPUMembers.h"
#include "GPURegistrationDetail/filter/itkGPUVolume.h"

#include "itkBSplineDecompositionImageFilter.h"

namespace itk
{

/** \class GPUBSplineDecompositionImageFilter
 * \brief From an image to its B-spline coefficients, on a GPU or on host threads.
 *
 * A drop-in for itk::BSplineDecompositionImageFilter, from which it is derived: same interface, same result, to
 * rounding. Orders 0 to 5, lines of any length.
 *
 * What the device does not do (dimensions other than 2 and 3, coefficients other than float and double, pixels of
 * 64-bit integers, a device without doubles) is computed by the parent class, and a warning says so once.
 *
 * Errors of a device, such as memory that is out, are itk::ExceptionObjects; the filter can be used again.
 *
 * \ingroup GPURegistration
 */
template <typename TInputImage, typename TOutputImage>
class ITK_TEMPLATE_EXPORT GPUBSplineDecompositionImageFilter
  : public BSplineDecompositionImageFilter<TInputImage, TOutputImage>
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(GPUBSplineDecompositionImageFilter);

  using Self = GPUBSplineDecompositionImageFilter;
  using Superclass = BSplineDecompositionImageFilter<TInputImage, TOutputImage>;
  using Pointer = SmartPointer<Self>;
  using ConstPointer = SmartPointer<const Self>;

  itkNewMacro(Self);

  const char *
  GetNameOfClass() const override
  {
    return "GPUBSplineDecompositionImageFilter";
  }

  itkGPUVolumeFilterMembersMacro(m_Engine);

protected:
  GPUBSplineDecompositionImageFilter() = default;
  ~GPUBSplineDecompositionImageFilter() override = default;

private:
  friend class GPUVolume::Engine;
  static constexpr bool IsOfKnownTypes = GPUVolume::AreOfKnownTypes<TInputImage, TOutputImage> &&
                                         std::is_floating_point<GPUVolume::ComponentType<TOutputImage>>::value;

  /** Float is enough where neither side keeps more. */
  static constexpr gpureg::Precision Precision = GPUVolume::FitsIntoFloat<GPUVolume::ComponentType<TInputImage>> &&
                                                     GPUVolume::FitsIntoFloat<GPUVolume::ComponentType<TOutputImage>>
                                                   ? gpureg::Precision::Single
                                                   : gpureg::Precision::Double;

  void
  GenerateDataOnDevice();

  GPUVolume::Engine m_Engine;
};

} // namespace itk

#ifndef ITK_MANUAL_INSTANTIATION
#  include "itkGPUBSplineDecompositionImageFilter.hxx"
#endif

#endif
