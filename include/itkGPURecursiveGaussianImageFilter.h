// SPDX-License-Identifier: Apache-2.0
#ifndef itkGPURecursiveGaussianImageFilter_h
#define itkGPURecursiveGaussianImageFilter_h

#include "GPURegistrationDetail/core/itkGPUMembers.h"
#include "GPURegistrationDetail/filter/itkGPUVolume.h"

#include "itkRecursiveGaussianImageFilter.h"

namespace itk
{

/** \class GPURecursiveGaussianImageFilter
 * \brief Convolves an image with a Gaussian, or with its first or second derivative, along one axis, on a GPU or
 * on host threads.
 *
 * A drop-in for itk::RecursiveGaussianImageFilter, from which it is derived: same interface, same result, to
 * rounding. Orders 0, 1 and 2, normalised across scale or not, in place or not, lines of any length from 4
 * voxels on. The recursion (Deriche 1993) runs in double; float images stay float between two filters, as ITK's.
 *
 * What the device does not do (dimensions other than 2 and 3, pixels of 64-bit integers, a device without
 * doubles) is computed by the parent class, and a warning says so once.
 *
 * Errors of a device, such as memory that is out, are itk::ExceptionObjects; the filter can be used again.
 *
 * \ingroup GPURegistration
 */
template <typename TInputImage, typename TOutputImage = TInputImage>
class ITK_TEMPLATE_EXPORT GPURecursiveGaussianImageFilter
  : public RecursiveGaussianImageFilter<TInputImage, TOutputImage>
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(GPURecursiveGaussianImageFilter);

  using Self = GPURecursiveGaussianImageFilter;
  using Superclass = RecursiveGaussianImageFilter<TInputImage, TOutputImage>;
  using Pointer = SmartPointer<Self>;
  using ConstPointer = SmartPointer<const Self>;

  itkNewMacro(Self);

  const char *
  GetNameOfClass() const override
  {
    return "GPURecursiveGaussianImageFilter";
  }

  itkGPUVolumeFilterMembersMacro(m_Engine);

protected:
  GPURecursiveGaussianImageFilter() = default;
  ~GPURecursiveGaussianImageFilter() override = default;

private:
  friend class GPUVolume::Engine;
  static constexpr bool IsOfKnownTypes = GPUVolume::AreOfKnownTypes<TInputImage, TOutputImage>;

  /** Float is enough where neither side keeps more, and where a double is not cut off to an integer. */
  static constexpr gpureg::Precision Precision = GPUVolume::FitsIntoFloat<GPUVolume::ComponentType<TInputImage>> &&
                                                     std::is_same<GPUVolume::ComponentType<TOutputImage>, float>::value
                                                   ? gpureg::Precision::Single
                                                   : gpureg::Precision::Double;

  void
  GenerateDataOnDevice();

  GPUVolume::Engine m_Engine;
};

} // namespace itk

#ifndef ITK_MANUAL_INSTANTIATION
#  include "itkGPURecursiveGaussianImageFilter.hxx"
#endif

#endif
