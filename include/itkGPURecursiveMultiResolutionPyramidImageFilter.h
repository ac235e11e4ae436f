// SPDX-License-Identifier: Apache-2.0
#ifndef itkGPURecursiveMultiResolutionPyramidImageFilter_h
#define itkGPURecursiveMultiResolutionPyramidImageFilter_h

#include "GPURegistrationDetail/core/itkGPUMembers.h"
#include "GPURegistrationDetail/filter/itkGPUPyramidGenerator.h"

#include "itkRecursiveMultiResolutionPyramidImageFilter.h"

namespace itk
{

/** \class GPURecursiveMultiResolutionPyramidImageFilter
 * \brief Makes a pyramid in which each level is made from the level before, on a GPU or on host threads.
 *
 * The class replaces itk::RecursiveMultiResolutionPyramidImageFilter, from which it is derived: it has the same interface, and the same
 * result up to rounding, by itk::ShrinkImageFilter or by linear interpolation. Each level is made from the level before, which is still
 * on the device.
 *
 * The filter always makes all levels, whole, from the whole input. Between two axes pixels have the type in which ITK stores them
 * there, the level's own; sums are double. For voxels on the very edge of an oblique input see GPUMultiResolutionPyramidImageFilter.
 *
 * The parent class computes what the device cannot (dimensions other than 2 and 3, levels of 64-bit integers or bools, a device without
 * double precision), and the object warns once.
 *
 * A device's errors, such as too little memory, are itk::ExceptionObjects; the filter can be used again.
 *
 * \ingroup GPURegistration
 */
template <typename TInputImage, typename TOutputImage>
class ITK_TEMPLATE_EXPORT GPURecursiveMultiResolutionPyramidImageFilter
  : public RecursiveMultiResolutionPyramidImageFilter<TInputImage, TOutputImage>
{
public:
  itkGPUClassMacro(GPURecursiveMultiResolutionPyramidImageFilter,
                   RecursiveMultiResolutionPyramidImageFilter<TInputImage, TOutputImage>);

  itkGPUVolumeFilterMembersMacro(GPURecursiveMultiResolutionPyramidImageFilter,
                                 m_Engine,
                                 "Pyramids of these images are not made on a device.",
                                 "Filter a smaller image.");

protected:
  void
  GenerateInputRequestedRegion() override;

private:
  using GeneratorType = GPUPyramidGenerator<TInputImage, TOutputImage>;
  static constexpr bool IsOfKnownTypes = GeneratorType::IsOfKnownTypes;
};

} // namespace itk

#ifndef ITK_MANUAL_INSTANTIATION
#  include "itkGPURecursiveMultiResolutionPyramidImageFilter.hxx"
#endif

#endif
