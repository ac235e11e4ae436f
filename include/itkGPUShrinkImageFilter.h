// SPDX-License-Identifier: Apache-2.0
#ifndef itkGPUShrinkImageFilter_h
#define itkGPUShrinkImageFilter_h

#include "GPURegistrationDetail/core/itkGPUMembers.h"
#include "GPURegistrationDetail/filter/itkGPUVolume.h"

#include "itkShrinkImageFilter.h"

namespace itk
{

/** \class GPUShrinkImageFilter
 * \brief Keeps one of every few pixels along each axis, on a GPU or on host threads.
 *
 * The class replaces itk::ShrinkImageFilter, from which it is derived: it has the same interface, and gives the same pixels and
 * geometry. Only the rows that are kept are uploaded to a GPU, which picks their pixels. A GPU alone gains no time by that, because of
 * the transfers: the class lets a whole pipeline move to a device. A pyramid (GPUMultiResolutionPyramidImageFilter) shrinks images that
 * are on the device already. The host's threads copy pixels from one image to the other, which takes a seventh of the time of a GPU with
 * its transfers: an override of itk::ShrinkImageFilter lets them do so on every device.
 *
 * The parent class computes what the device cannot (dimensions other than 2 and 3, pixels of 64-bit integers, a device without double
 * precision), and the object warns once.
 *
 * A device's errors, such as too little memory, are itk::ExceptionObjects; the filter can be used again.
 *
 * \ingroup GPURegistration
 */
template <typename TInputImage, typename TOutputImage>
class ITK_TEMPLATE_EXPORT GPUShrinkImageFilter : public ShrinkImageFilter<TInputImage, TOutputImage>
{
public:
  itkGPUClassMacro(GPUShrinkImageFilter, ShrinkImageFilter<TInputImage, TOutputImage>);

  itkGPUVolumeFilterMembersMacro(GPUShrinkImageFilter,
                                 m_Engine,
                                 "Images of these types are not shrunk on a device.",
                                 "Shrink a smaller region, or stream the output.");

private:
  static constexpr bool IsOfKnownTypes = GPUVolume::AreOfKnownTypes<TInputImage, TOutputImage>;

  /** Stores pixels in single precision if a float holds every value of the input: no digit is lost. */
  static constexpr gpureg::Precision Precision = GPUVolume::FitsIntoFloat<GPUVolume::ComponentType<TInputImage>>
                                                   ? gpureg::Precision::Single
                                                   : gpureg::Precision::Double;
  std::int64_t
  ComputeOffsetOfRow(const typename TInputImage::IndexType & first, std::int64_t row) const;
  void
  TakeOnHost(const typename TInputImage::IndexType & first);
  void
  TakeOnGPU(const typename TInputImage::IndexType & first);
  gpureg::VolumeInput
  MakeInputOfReadRows(const typename TInputImage::IndexType & first) const;
};

} // namespace itk

#ifndef ITK_MANUAL_INSTANTIATION
#  include "itkGPUShrinkImageFilter.hxx"
#endif

#endif
