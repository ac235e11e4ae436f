// SPDX-License-Identifier: Apache-2.0
#ifndef itkGPUMultiResolutionPyramidImageFilter_h
#define itkGPUMultiResolutionPyramidImageFilter_h

#include "GPURegistrationDetail/core/itkGPUMembers.h"
#include "GPURegistrationDetail/filter/itkGPUPyramidGenerator.h"

#include "itkMultiResolutionPyramidImageFilter.h"

namespace itk
{

/** \class GPUMultiResolutionPyramidImageFilter
 * \brief Makes a pyramid of smoothed and shrunken images, on a GPU or on
 * host threads.
 *
 * A drop-in for itk::MultiResolutionPyramidImageFilter, from which it is derived: same interface, same
 * result, to rounding, by itk::ShrinkImageFilter or by linear interpolation. Smoothing and shrinking are one
 * convolution an axis, computed where a level has voxels, and the image stays on the device from the first level
 * to the last.
 *
 * All levels are made, whatever is requested of them, of all of the input. Between two axes
 * pixels are what ITK keeps there, the level's own type; sums are double. Where the axes are not those of space, ITK's
 * rounding decides for each voxel on the very edge of the input whether it is still inside; here it does so once for
 * all that have the same index along an axis.
 *
 * What the device does not do (dimensions other than 2 and 3, levels of 64-bit integers or bools, a device without
 * doubles) is computed by the parent class, and a warning says so once.
 *
 * Errors of a device, such as memory that is out, are itk::ExceptionObjects; the filter can be used again.
 *
 * \ingroup GPURegistration
 */
template <typename TInputImage, typename TOutputImage>
class ITK_TEMPLATE_EXPORT GPUMultiResolutionPyramidImageFilter
  : public MultiResolutionPyramidImageFilter<TInputImage, TOutputImage>
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(GPUMultiResolutionPyramidImageFilter);

  using Self = GPUMultiResolutionPyramidImageFilter;
  using Superclass = MultiResolutionPyramidImageFilter<TInputImage, TOutputImage>;
  using Pointer = SmartPointer<Self>;
  using ConstPointer = SmartPointer<const Self>;

  itkNewMacro(Self);

  const char *
  GetNameOfClass() const override
  {
    return "GPUMultiResolutionPyramidImageFilter";
  }

  itkGPUVolumeFilterMembersMacro(m_Engine);

protected:
  GPUMultiResolutionPyramidImageFilter() = default;
  ~GPUMultiResolutionPyramidImageFilter() override = default;

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
#  include "itkGPUMultiResolutionPyramidImageFilter.hxx"
#endif

#endif
