// SPDX-License-Identifier: Apache-2.0
#ifndef itkGPUResampleImageFilter_h
#define itkGPUResampleImageFilter_h

#include "itkGPUDevice.h"
#include "GPURegistrationDetail/core/itkGPUMembers.h"
#include "GPURegistrationDetail/core/itkGPUPixelComponents.h"

#include "gpureg/resample/Resampler.h"

#include "itkResampleImageFilter.h"

#include <cstdint>
#include <string>
#include <vector>

namespace itk
{

/** \class GPUResampleImageFilter
 * \brief Resamples an image through any transform, on a GPU or on host threads.
 *
 * The class replaces itk::ResampleImageFilter, from which it is derived: it has the same interface, and the same result up to rounding.
 * One launch per output tile computes the whole chain of transforms and the interpolation (after Shamonin 2014, section 3.2, which has
 * a launch and a field for each transform). Linear maps between two transforms of the chain are merged into them.
 *
 * The device computes:
 * - images of two and three dimensions, of any scalar type, and of vectors, colours and the like;
 * - every linear transform, B-splines of order 0 to 3 (BSplineTransform, BSplineDeformableTransform), displacement fields, velocity
 *   fields by the displacement fields that they were integrated to, and CompositeTransforms of them, in any order and nesting. For any
 *   other transform, ITK's threads map the points of the output's grid, and upload their displacements to the device. On the host, with
 *   nearest neighbour and linear interpolation, the parent class does all of this work on the same threads, in less time and memory;
 * - nearest neighbour, linear, and for scalars B-spline interpolation of order 0 to 5;
 * - the nearest-neighbour extrapolator.
 *
 * The parent class computes everything else (another interpolator or extrapolator, four dimensions, special coordinates), and the
 * object warns once.
 *
 * Float images are resampled to float images in single precision, all others in double precision. Positions are in fixed point, to
 * 2^-32 voxel, so that large images, large origins and oblique directions cost no precision. Integers are clamped and truncated as in
 * ITK.
 *
 * The input may stay on the device until another input is set, or it is modified. So may a B-spline's coefficients, a displacement
 * field, and, if the device has memory for all of them, the displacements of a kernel transform (such as the thin-plate spline). Any
 * other transform maps its points again each time. All filters of a process share a few engines per device, so that only the filters
 * that were updated last find their input there: gpureg::SetIdleMemoryLimit() limits how much stays. Data that the device's memory
 * does not hold is uploaded in input slabs, see SetMaximumDeviceMemory().
 *
 * \code
 * auto resample = itk::GPUResampleImageFilter<ImageType, ImageType>::New();
 * resample->SetInput(moving);
 * resample->SetTransform(registration->GetTransform());
 * resample->SetReferenceImage(fixed);
 * resample->UseReferenceImageOn();
 * resample->Update();
 * \endcode
 *
 * A device's errors, such as too little memory, are itk::ExceptionObjects; the filter can be used again.
 *
 * \ingroup GPURegistration
 */
template <typename TInputImage,
          typename TOutputImage,
          typename TInterpolatorPrecisionType = double,
          typename TTransformPrecisionType = TInterpolatorPrecisionType>
class ITK_TEMPLATE_EXPORT GPUResampleImageFilter
  : public ResampleImageFilter<TInputImage, TOutputImage, TInterpolatorPrecisionType, TTransformPrecisionType>
{
public:
  itkGPUClassMacro(GPUResampleImageFilter,
                   ResampleImageFilter<TInputImage, TOutputImage, TInterpolatorPrecisionType, TTransformPrecisionType>);

  static constexpr unsigned int Dimension = TOutputImage::ImageDimension;

  itkGPUDeviceMembersMacro(m_Use, m_Statistics);

  /** Declares SetTrustsTimeStamps(), which concerns the time stamps of the input, the transform, its field and its coefficients. */
  itkGPUTimeStampMembersMacro(m_Use);

  /** Limits the memory in bytes that the filter uses on its device; 0, the default, for 9/10 of the free memory. If the input, the
   *  output and the transform need more, the filter computes output tiles from input slabs, with the same result to the bit. If the
   *  limit is too small for one slab, Update() throws an exception that says how much it needs. */
  void
  SetMaximumDeviceMemory(SizeValueType bytes)
  {
    m_MaximumDeviceMemory = bytes;
  }
  SizeValueType
  GetMaximumDeviceMemory() const
  {
    return m_MaximumDeviceMemory;
  }

#ifndef ITK_WRAPPING_PARSER
  /** Gives the filter the input's pixels on its device, so that they are not uploaded; only for floats that are resampled as floats.
   *  The caller must not release or change image before the output has been made. Null, the default: the pixels are uploaded. */
  void
  SetInputOnDevice(const gpureg::DeviceImage * image)
  {
    m_InputOnDevice = image;
  }
#endif

protected:
  GPUResampleImageFilter() = default;
  ~GPUResampleImageFilter() override = default;

  /** Makes this object replace ITK's class: see GPUOverride. */
  void
  OverrideParent()
  {
    m_Use.OverrideParent();
  }

  void
  PrintSelf(std::ostream & os, Indent indent) const override;

  void
  GenerateInputRequestedRegion() override;

  void
  GenerateData() override;

private:
  using TransformBaseType = Transform<TTransformPrecisionType, Dimension, Dimension>;
  using InputComponentType = typename NumericTraits<typename TInputImage::PixelType>::ValueType;
  using OutputComponentType = typename NumericTraits<typename TOutputImage::PixelType>::ValueType;

  /** True if the engine can resample images of these types. */
  static constexpr bool IsOfKnownTypes = TInputImage::ImageDimension == Dimension &&
                                         (Dimension == 2 || Dimension == 3) &&
                                         GPURegistrationDetail::HaveSameComponents<TInputImage, TOutputImage> &&
                                         GPURegistrationDetail::IsComputedInDouble<InputComponentType> &&
                                         GPURegistrationDetail::IsComputedInDouble<OutputComponentType>;

  /** Computes in single precision if both images are of floats. Integers need doubles, however few digits they have: a float may round
   * up to a whole number what ITK truncates to the number below. */
  static constexpr gpureg::Precision Precision =
    std::is_same<InputComponentType, float>::value && std::is_same<OutputComponentType, float>::value
      ? gpureg::Precision::Single
      : gpureg::Precision::Double;

  bool
  IsLeftToITKOnTheHost() const;
  std::string
  FindUnsupportedFeature() const;
  std::string
  FindMissingDoubles() const;
  bool
  ChooseInterpolation(gpureg::ResampleRequest & request) const;
  void
  GenerateDataOnDevice();
  gpureg::ResampleInput
  MakeInput(const gpureg::ResampleRequest & request) const;
  gpureg::TransformChain
  MakeChain() const;
  /** Returns the components of the default pixel value. */
  std::vector<OutputComponentType>
  GetOutside() const;

  GPURegistrationDetail::DeviceUse      m_Use;
  gpureg::EngineUser<gpureg::Resampler> m_User;
  gpureg::EvaluationStatistics          m_Statistics;
  const gpureg::DeviceImage *           m_InputOnDevice{ nullptr };
  SizeValueType                         m_MaximumDeviceMemory{ 0 };
};

} // namespace itk

#ifndef ITK_MANUAL_INSTANTIATION
#  include "itkGPUResampleImageFilter.hxx"
#endif

#endif
