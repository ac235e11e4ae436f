// SPDX-License-Identifier: Apache-2.0
#ifndef itkGPUShrinkImageFilter_h
#define itkGPUShrinkImageFilter_h

#include "GPURegistrationDetail/core/itkGPUMembers.h"
#include "GPURegistrationDetail/filter/itkGPUVolume.h"

#include "itkShrinkImageFilter.h"

namespace itk
{

/** \class GPUShrinkImageFilter
 * \brief Keeps one of so many pixels along each axis, on a GPU or on host threads.
 *
 * A drop-in for itk::ShrinkImageFilter, from which it is derived: same interface, same pixels, same geometry.
 * Only the rows that are kept go to a GPU, which takes their pixels out. By itself that is not worth the
 * way there: the class is there so that a pipeline can be moved as a whole. A pyramid
 * (GPUMultiResolutionPyramidImageFilter) shrinks what lies on the device already. The host's threads take pixels
 * from one image to the other.
 *
 * What the device does not do (dimensions other than 2 and 3, pixels of 64-bit integers, a device without
 * doubles) is computed by the parent class, and a warning says so once.
 *
 * Errors of a device, such as memory that is out, are itk::ExceptionObjects; the filter can be used again.
 *
 * \ingroup GPURegistration
 */
template <typename TInputImage, typename TOutputImage>
class ITK_TEMPLATE_EXPORT GPUShrinkImageFilter : public ShrinkImageFilter<TInputImage, TOutputImage>
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(GPUShrinkImageFilter);

  using Self = GPUShrinkImageFilter;
  using Superclass = ShrinkImageFilter<TInputImage, TOutputImage>;
  using Pointer = SmartPointer<Self>;
  using ConstPointer = SmartPointer<const Self>;

  itkNewMacro(Self);

  const char *
  GetNameOfClass() const override
  {
    return "GPUShrinkImageFilter";
  }

  itkGPUVolumeFilterMembersMacro(m_Engine);

protected:
  GPUShrinkImageFilter() = default;
  ~GPUShrinkImageFilter() override = default;

private:
  friend class GPUVolume::Engine;
  static constexpr bool IsOfKnownTypes = GPUVolume::AreOfKnownTypes<TInputImage, TOutputImage>;

  /** No digit is lost. */
  static constexpr gpureg::Precision Precision = GPUVolume::FitsIntoFloat<GPUVolume::ComponentType<TInputImage>>
                                                   ? gpureg::Precision::Single
                                                   : gpureg::Precision::Double;

  void
  GenerateDataOnDevice();
  std::int64_t
  FindKeptRow(const typename TInputImage::IndexType & first, std::int64_t row) const;
  void
  TakeOnHost(const typename TInputImage::IndexType & first);
  void
  TakeOnGPU(const typename TInputImage::IndexType & first);
  gpureg::VolumeInput
  MakeInputOfKeptRows(const typename TInputImage::IndexType & first) const;

  GPUVolume::Engine m_Engine;
};

} // namespace itk

#ifndef ITK_MANUAL_INSTANTIATION
#  include "itkGPUShrinkImageFilter.hxx"
#endif

#endif
