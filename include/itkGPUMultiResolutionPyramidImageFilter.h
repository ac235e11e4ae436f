// SPDX-License-Identifier: Apache-2.0
#ifndef itkGPUMultiResolutionPyramidImageFilter_h
#define itkGPUMultiResolutionPyramidImageFilter_h

#include "GPURegistrationDetail/core/itkGPUMembers.h"
#include "GPURegistrationDetail/filter/itkGPUPyramidGenerator.h"

#include "itkMultiResolutionPyramidImageFilter.h"

namespace itk
{

/** \class GPUMultiResolutionPyramidImageFilter
 * \brief Makes a pyramid of smoothed and shrunken images, on a GPU or on host threads.
 *
 * The class replaces itk::MultiResolutionPyramidImageFilter, from which it is derived: it has the same interface, and the same result
 * up to rounding, by itk::ShrinkImageFilter or by linear interpolation. One convolution per axis smooths and shrinks, and computes only
 * the voxels that a level has. The image stays on the device from the first level to the last.
 *
 * The filter always makes all levels, whole, from the whole input. Between two axes pixels have the type in which ITK stores them
 * there, the level's own; sums are double. If the image's axes are not those of space, ITK's rounding decides voxel by voxel whether a
 * voxel on the very edge of the input is still inside; this class decides once for all voxels that have the same index along an axis.
 *
 * The parent class computes what the device cannot (dimensions other than 2 and 3, levels of 64-bit integers or bools, a device without
 * double precision), and the object warns once.
 *
 * A device's errors, such as too little memory, are itk::ExceptionObjects; the filter can be used again.
 *
 * \ingroup GPURegistration
 */
template <typename TInputImage, typename TOutputImage>
class ITK_TEMPLATE_EXPORT GPUMultiResolutionPyramidImageFilter
  : public MultiResolutionPyramidImageFilter<TInputImage, TOutputImage>
{
public:
  itkGPUClassMacro(GPUMultiResolutionPyramidImageFilter, MultiResolutionPyramidImageFilter<TInputImage, TOutputImage>);

  itkGPUVolumeFilterMembersMacro(GPUMultiResolutionPyramidImageFilter,
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
#  include "itkGPUMultiResolutionPyramidImageFilter.hxx"
#endif

#endif
