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
 * A drop-in for itk::ResampleImageFilter, from which it is derived: same interface, same result, to
 * rounding. The whole chain of transforms and the interpolation are one launch for each piece of the
 * output (after Shamonin 2014, section 3.2, which has a launch and a field for each transform); whatever is
 * linear between two parts of the chain is folded into them.
 *
 * What runs on the device:
 * - images of two and three dimensions, of any scalar type, and of vectors, colours and the like;
 * - every linear transform, B-splines of order 0 to 3 (BSplineTransform, BSplineDeformableTransform),
 *   displacement fields, velocity fields by what they were integrated to, and CompositeTransforms of them, in any
 *   order and nesting. ITK's threads ask any other transform for the points of the output's grid, and what they are
 *   moved by goes to the device. On the host, with nearest neighbour and linear interpolation, the same threads do
 *   all of that in the parent class, in less time and memory;
 * - nearest neighbour, linear, and for scalars B-spline interpolation of order 0 to 5;
 * - the nearest-neighbour extrapolator.
 *
 * What does not (another interpolator or extrapolator, four dimensions, special coordinates) is computed by
 * the parent class, and a warning says so once.
 *
 * From float to float is computed in float, all else in double. Positions are kept in fixed point, to 2^-32
 * voxel, so that large images, large origins and oblique directions cost no precision. Integers are
 * clamped and cut off as ITK does.
 *
 * The input may stay on the device until another one is set, or it is modified; so may a B-spline's coefficients, a
 * displacement field, and, if there is room for all of it, what a kernel transform (such as the thin-plate spline) moves
 * points by. Any other transform is asked for its points each time. All filters of a process share a few engines a device,
 * so that of many filters those that were updated last find their input there: gpureg::SetIdleMemoryLimit() bounds what
 * stays. What the device has no room for is sent in slabs, see SetMaximumDeviceMemory.
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
 * Errors of a device, such as memory that is out, are itk::ExceptionObjects; the filter can be used again.
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
  ITK_DISALLOW_COPY_AND_MOVE(GPUResampleImageFilter);

  using Self = GPUResampleImageFilter;
  using Superclass =
    ResampleImageFilter<TInputImage, TOutputImage, TInterpolatorPrecisionType, TTransformPrecisionType>;
  using Pointer = SmartPointer<Self>;
  using ConstPointer = SmartPointer<const Self>;

  itkNewMacro(Self);

  const char *
  GetNameOfClass() const override
  {
    return "GPUResampleImageFilter";
  }

  static constexpr unsigned int Dimension = TOutputImage::ImageDimension;

  itkGPUDeviceMembersMacro(m_Use, m_Statistics);

  /** Of the input, the transform, its field and its coefficients. */
  itkGPUTimeStampMembersMacro(m_Use);

  /** Bounds what the filter holds on its device, in bytes; 0, the default, for 9/10 of what is free there. Where the
   *  input, the output and the transform are more, the output is made in pieces, from slabs of the input. The result
   *  is the same to the bit. Too little for one slab is an exception that says how much it would take. */
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
  /** The input's pixels, of floats that are resampled as floats, where they are on the filter's device already: then they are not sent.
   *  Whoever sets it keeps it there until the output has been made. Null, the default: there is none. */
  void
  SetInputOnDevice(const gpureg::DeviceImage * image)
  {
    m_InputOnDevice = image;
  }
#endif

protected:
  GPUResampleImageFilter() = default;
  ~GPUResampleImageFilter() override = default;

  /** See GPUStandIn. */
  void
  StandInForParent()
  {
    m_Use.StandInForParent();
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

  /** Whether the types are such that the engine can resample them. */
  static constexpr bool IsOfKnownTypes = TInputImage::ImageDimension == Dimension &&
                                         (Dimension == 2 || Dimension == 3) &&
                                         GPURegistrationDetail::HaveSameComponents<TInputImage, TOutputImage> &&
                                         GPURegistrationDetail::IsComputedInDouble<InputComponentType> &&
                                         GPURegistrationDetail::IsComputedInDouble<OutputComponentType>;

  /** Float is enough where neither side keeps more. Not for integers, however few their digits: what a float rounds up
   * to one is cut off to the one below in ITK. */
  static constexpr gpureg::Precision Precision =
    std::is_same<InputComponentType, float>::value && std::is_same<OutputComponentType, float>::value
      ? gpureg::Precision::Single
      : gpureg::Precision::Double;

  bool
  IsLeftToITKOnTheHost() const;
  std::string
  FindWhatTheDeviceLacks() const;
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
  /** The default pixel value's components. */
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
