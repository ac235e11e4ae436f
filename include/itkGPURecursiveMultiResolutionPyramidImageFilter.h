// SPDX-License-Identifier: Apache-2.0
#ifndef itkGPURecursiveMultiResolutionPyramidImageFilter_h
#define itkGPURecursiveMultiResolutionPyramidImageFilter_h

#include "GPURegistrationDetail/core/itkGPUMembers.h"
#include "GPURegistrationDetail/filter/itkGPUPyramidGenerator.h"

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

  itkGPUVolumeFilterMembersMacro(m_Engine);

protected:
  GPURecursiveMultiResolutionPyramidImageFilter() = default;
  ~GPURecursiveMultiResolutionPyramidImageFilter() override = default;

  void
  GenerateInputRequestedRegion() override;

private:
  friend class GPUVolume::Engine;
  using GeneratorType = GPUPyramidGenerator<TInputImage, TOutputImage>;
  static constexpr bool IsOfKnownTypes = GeneratorType::IsOfKnownTypes;

  void
  GenerateDataOnDevice();

  GPUVolume::Engine m_Engine;
};

} // namespace itk

#ifndef ITK_MANUAL_INSTANTIATION
#  include "itkGPURecursiveMultiResolutionPyramidImageFilter.hxx"
#endif

#endif
