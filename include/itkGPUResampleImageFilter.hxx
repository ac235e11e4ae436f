// SPDX-License-Identifier: Apache-2.0
#ifndef itkGPUResampleImageFilter_hxx
#define itkGPUResampleImageFilter_hxx

#include "itkGPUResampleImageFilter.h"

#include "GPURegistrationDetail/core/itkGPUIsExactly.h"
#include "GPURegistrationDetail/core/itkGPUKey.h"
#include "GPURegistrationDetail/core/itkGPUOutputMemory.h"
#include "GPURegistrationDetail/core/itkGPURegistrationGeometry.h"
#include "GPURegistrationDetail/core/itkGPURegistrationThreads.h"
#include "GPURegistrationDetail/transform/itkGPUSampledTransform.h"
#include "GPURegistrationDetail/transform/itkGPUTransformChain.h"

#include "itkBSplineInterpolateImageFunction.h"
#include "itkImageAlgorithm.h"
#include "itkNearestNeighborExtrapolateImageFunction.h"
#include "itkNearestNeighborInterpolateImageFunction.h"

#include <algorithm>
#include <cmath>
#include <cstring>

// Begins the definition of a member of GPUResampleImageFilter; all members have the same four template parameters.
#define itkGPUResampleTemplate                   \
  template <typename TInputImage,                \
            typename TOutputImage,               \
            typename TInterpolatorPrecisionType, \
            typename TTransformPrecisionType>
#define itkGPUResampleClass \
  GPUResampleImageFilter<TInputImage, TOutputImage, TInterpolatorPrecisionType, TTransformPrecisionType>

namespace itk
{

namespace GPURegistrationDetail
{
/** Clamps and truncates a value as itk::ResampleImageFilter::CastComponentWithBoundsChecking does. A NaN, whose cast to an integer is
 * undefined, becomes 0. */
template <typename TComponent>
TComponent
CastWithBoundsChecking(double value)
{
  if constexpr (std::is_same<TComponent, double>::value)
  {
    return value;
  }
  else
  {
    if (std::is_integral<TComponent>::value && std::isnan(value))
    {
      return TComponent();
    }
    constexpr auto least = NumericTraits<TComponent>::NonpositiveMin();
    constexpr auto most = NumericTraits<TComponent>::max();
    return value <= static_cast<double>(least)  ? least
           : value >= static_cast<double>(most) ? most
                                                : static_cast<TComponent>(value);
  }
}

/** Returns a NaN with bits that no computation gives: it marks a voxel outside the input. */
inline double
GetOutsideMark()
{
  constexpr std::uint64_t bits = 0x7FF84F5554534944;
  double                  mark;
  std::memcpy(&mark, &bits, sizeof(mark));
  return mark;
}

inline bool
IsOutsideMark(double value)
{
  const double mark = GetOutsideMark();
  return std::memcmp(&value, &mark, sizeof(mark)) == 0;
}
} // namespace GPURegistrationDetail

/** Requests the input region. The parent's version would have a B-spline interpolator compute its coefficients. */
itkGPUResampleTemplate
void
itkGPUResampleClass::GenerateInputRequestedRegion()
{
  // The parent would follow null pointers.
  if (!this->GetTransform())
  {
    GPURegistrationDetail::ThrowBadInput(*this, "There is no transform. Set one.");
  }
  if (!this->GetInterpolator())
  {
    GPURegistrationDetail::ThrowBadInput(*this, "There is no interpolator. Set one.");
  }
  gpureg::ResampleRequest request;
  if (!this->FindUnsupportedFeature().empty() || !this->ChooseInterpolation(request) ||
      request.interpolation != gpureg::Interpolation::BSpline)
  {
    Superclass::GenerateInputRequestedRegion();
    return;
  }
  auto * const input = const_cast<TInputImage *>(this->GetInput());
  // Each coefficient depends on all voxels. The parent's region of the input, with a border of a few voxels, would be accurate to the
  // interpolator's precision, but would not give the bits of the result for the whole image.
  input->SetRequestedRegionToLargestPossibleRegion();
}

itkGPUResampleTemplate
void
itkGPUResampleClass::GenerateData()
{
  const auto onDevice = [this] {
    if constexpr (IsOfKnownTypes)
    {
      this->GenerateDataOnDevice();
    }
  };
  const auto findUnsupported = [this] {
    const std::string unsupported = this->FindUnsupportedFeature();
    return unsupported.empty() ? this->FindMissingDoubles() : unsupported;
  };
  const auto onParent = [this] {
    m_Statistics = {};
    Superclass::GenerateData();
  };
  if (this->IsLeftToITKOnTheHost())
  {
    onParent();
    return;
  }
  m_Use.Compute(*this, "Resample a smaller region, or stream the output.", findUnsupported, onDevice, onParent);
}

/** Returns true if the host could resample the image, but would have to sample the transform, while interpolation costs next to nothing.
 * Nearly all of the work is then the transform's own, which ITK's class does without an intermediate field, in less time and memory.
 * Returns false for a transform that ITK's class would wrongly take for linear: see GPURegistrationGeometry::IsLinear(). */
itkGPUResampleTemplate
bool
itkGPUResampleClass::IsLeftToITKOnTheHost() const
{
  if constexpr (IsOfKnownTypes)
  {
    gpureg::ResampleRequest request;
    gpureg::TransformChain  chain;
    return this->GetDevice().IsHost() && this->FindUnsupportedFeature().empty() && this->ChooseInterpolation(request) &&
           request.interpolation != gpureg::Interpolation::BSpline &&
           this->GetTransform()->GetTransformCategory() != TransformBaseType::TransformCategoryEnum::Linear &&
           !GPUTransformChain::Append<TTransformPrecisionType, Dimension>(*this->GetTransform(), chain);
  }
  return false;
}

/** Returns a sentence that says why the device cannot resample the image; empty if it can. */
itkGPUResampleTemplate
std::string
itkGPUResampleClass::FindUnsupportedFeature() const
{
  if (!IsOfKnownTypes)
  {
    return "Images of these types are not resampled on a device.";
  }
  if (dynamic_cast<const SpecialCoordinatesImage<typename TInputImage::PixelType, TInputImage::ImageDimension> *>(
        this->GetInput()) ||
      dynamic_cast<const SpecialCoordinatesImage<typename TOutputImage::PixelType, Dimension> *>(this->GetOutput()))
  {
    return "Images of special coordinates are not resampled on a device.";
  }
  gpureg::ResampleRequest request;
  if (!this->ChooseInterpolation(request))
  {
    return std::string("The interpolator ") + this->GetInterpolator()->GetNameOfClass() + " is not known to a device.";
  }
  using NearestType = NearestNeighborExtrapolateImageFunction<TInputImage, TInterpolatorPrecisionType>;
  if (this->GetExtrapolator() && !GPURegistrationDetail::IsExactly<NearestType>(this->GetExtrapolator()))
  {
    return std::string("The extrapolator ") + this->GetExtrapolator()->GetNameOfClass() + " is not known to a device.";
  }
  return {};
}

/** Sets the request's interpolation. Returns false if the device has no such interpolator. */
itkGPUResampleTemplate
bool
itkGPUResampleClass::ChooseInterpolation(gpureg::ResampleRequest & request) const
{
  using GPURegistrationDetail::IsExactly;
  const auto * const interpolator = this->GetInterpolator();
  if (IsExactly<LinearInterpolateImageFunction<TInputImage, TInterpolatorPrecisionType>>(interpolator))
  {
    request.interpolation = gpureg::Interpolation::Linear;
    return true;
  }
  if (IsExactly<NearestNeighborInterpolateImageFunction<TInputImage, TInterpolatorPrecisionType>>(interpolator))
  {
    request.interpolation = gpureg::Interpolation::Nearest;
    return true;
  }
  if constexpr (std::is_arithmetic<typename TInputImage::PixelType>::value)
  {
    const auto isSpline = [&](auto coefficient) {
      using SplineType =
        BSplineInterpolateImageFunction<TInputImage, TInterpolatorPrecisionType, decltype(coefficient)>;
      if (!IsExactly<SplineType>(interpolator))
      {
        return false;
      }
      request.interpolation = gpureg::Interpolation::BSpline;
      request.splineOrder = static_cast<int>(static_cast<const SplineType *>(interpolator)->GetSplineOrder());
      return true;
    };
    return isSpline(double{}) || isSpline(float{});
  }
  return false;
}

/** Returns a sentence if the device lacks the double precision that the pixel type or the interpolator needs; else an empty string. */
itkGPUResampleTemplate
std::string
itkGPUResampleClass::FindMissingDoubles() const
{
  gpureg::ResampleRequest request;
  this->ChooseInterpolation(request);
  const bool wantsDoubles = Precision == gpureg::Precision::Double ||
                            (request.interpolation == gpureg::Interpolation::BSpline && request.splineOrder > 1);
  if (wantsDoubles && !gpureg::HasDoubles(this->GetDevice().GetName()))
  {
    return this->GetDevice().GetName() + " has no doubles, which this pixel type or interpolator wants.";
  }
  return {};
}

itkGPUResampleTemplate
void
itkGPUResampleClass::GenerateDataOnDevice()
{
  this->UpdateProgress(0.0f);
  this->AllocateOutputs();
  TOutputImage * const output = this->GetOutput();
  const auto &         region = output->GetBufferedRegion();
  if (region.GetNumberOfPixels() == 0)
  {
    return;
  }
  const auto threads = GPURegistrationDetail::MakeParallelFor(this->GetNumberOfWorkUnits());
  GPURegistrationDetail::PrepareForWriting(*output, threads);
  gpureg::ResampleRequest request;
  this->ChooseInterpolation(request);
  request.size = GPURegistrationGeometry::SizeOf(region.GetSize());
  const auto & whole = output->GetLargestPossibleRegion();
  const auto & wholeInput = this->GetInput()->GetLargestPossibleRegion();
  request.outputToPoint = GPURegistrationGeometry::GetIndexToPointMap(*output, whole);
  request.firstOutput = GPURegistrationGeometry::GetOffset(whole, region);
  request.transform = this->MakeChain();
  request.pointToInput = GPURegistrationGeometry::GetPointToIndexMap(*this->GetInput(), wholeInput);
  request.firstInput = GPURegistrationGeometry::GetOffset(wholeInput, this->GetInput()->GetBufferedRegion());
  request.extrapolates = this->GetExtrapolator() != nullptr;
  const auto   components = static_cast<std::int64_t>(output->GetNumberOfComponentsPerPixel());
  auto * const pixels = reinterpret_cast<OutputComponentType *>(output->GetBufferPointer());
  const std::vector<OutputComponentType> outside = this->GetOutside();
  using RealType = std::conditional_t<Precision == gpureg::Precision::Single, float, double>;
  constexpr bool isCast = !std::is_same<OutputComponentType, RealType>::value;
  static_assert(!isCast || Precision == gpureg::Precision::Double, "a float does not hold the mark");
  // The default value is not cast: it may have more digits than a double, or be infinite.
  if (isCast)
  {
    request.outside.assign(outside.size(), GPURegistrationDetail::GetOutsideMark());
  }
  else
  {
    request.outside.assign(outside.begin(), outside.end());
  }
  request.output = [=, &outside](std::int64_t first, std::int64_t count, const void * in) {
    const auto * const    values = static_cast<const RealType *>(in);
    OutputComponentType * out = pixels + first * components;
    if constexpr (!isCast)
    {
      std::copy_n(values, count * components, out);
      return;
    }
    for (std::int64_t i = 0; i < count * components; ++i)
    {
      const auto value = static_cast<double>(values[i]);
      out[i] = GPURegistrationDetail::IsOutsideMark(value)
                 ? outside[static_cast<std::size_t>(i % components)]
                 : GPURegistrationDetail::CastWithBoundsChecking<OutputComponentType>(value);
    }
  };
  request.memory = isCast ? nullptr : pixels;
  request.progress = [this](double done) { GPURegistrationDetail::ReportProgress(*this, static_cast<float>(done)); };
  const gpureg::ResampleInput input = this->MakeInput(request);
  m_User.Run(this->GetDevice().GetName(), input.source.key, [&](gpureg::Resampler & resampler) {
    resampler.SetTiming(m_Use.GetMeasuresKernelTime());
    resampler.SetMaximumDeviceMemory(m_MaximumDeviceMemory);
    resampler.Resample(input, request, threads);
    m_Statistics = resampler.GetStatistics();
  });
  // The parent's function disconnects the input from the interpolator and the extrapolator, which would keep it alive.
  this->AfterThreadedGenerateData();
}

itkGPUResampleTemplate
gpureg::ResampleInput
itkGPUResampleClass::MakeInput(const gpureg::ResampleRequest & request) const
{
  using RealType = std::conditional_t<Precision == gpureg::Precision::Single, float, double>;
  const TInputImage * const image = this->GetInput();
  gpureg::ResampleInput     input;
  input.size = GPURegistrationGeometry::SizeOf(image->GetBufferedRegion().GetSize());
  input.components = static_cast<int>(image->GetNumberOfComponentsPerPixel());
  input.precision = Precision;
  if (m_InputOnDevice != nullptr && m_InputOnDevice->GetPrecision() == Precision &&
      m_InputOnDevice->GetDeviceName() == this->GetDevice().GetName())
  {
    input.image = m_InputOnDevice;
  }
  input.splineOrder = request.interpolation == gpureg::Interpolation::BSpline ? request.splineOrder : 0;
  input.source = GPURegistrationDetail::MakeSource(*image);
  input.source.isKeyTrusted = m_Use.TrustsTimeStamps();
  input.isOfIntegers = std::is_integral<InputComponentType>::value;
  const auto * const values = reinterpret_cast<const InputComponentType *>(image->GetBufferPointer());
  input.memory = std::is_same<InputComponentType, RealType>::value ? values : nullptr;
  input.values = [values, components = input.components](std::int64_t first, std::int64_t count, void * out) {
    auto * const reals = static_cast<RealType *>(out);
    for (std::int64_t i = 0; i < count * components; ++i)
    {
      reals[i] = static_cast<RealType>(values[first * components + i]);
    }
  };
  return input;
}

itkGPUResampleTemplate
gpureg::TransformChain
itkGPUResampleClass::MakeChain() const
{
  const auto &           transform = *this->GetTransform();
  gpureg::TransformChain chain;
  chain.dimension = static_cast<int>(Dimension);
  if (!GPUTransformChain::Append<TTransformPrecisionType, Dimension>(transform, chain))
  {
    itkDebugMacro("The transform " << transform.GetNameOfClass() << " is sampled on the output's grid.");
    chain = GPUTransformChain::Sample<TTransformPrecisionType>(transform, *this->GetOutput());
  }
  for (gpureg::ChainStep & step : chain.steps)
  {
    step.grid.source.isKeyTrusted = m_Use.TrustsTimeStamps();
  }
  return chain;
}

itkGPUResampleTemplate
auto
itkGPUResampleClass::GetOutside() const -> std::vector<OutputComponentType>
{
  using ConvertType = DefaultConvertPixelTraits<typename TOutputImage::PixelType>;
  std::vector<OutputComponentType> outside(this->GetInput()->GetNumberOfComponentsPerPixel(), OutputComponentType{});
  const auto &                     value = this->GetDefaultPixelValue();
  // The parent's default, a vector without components, means 0.
  const auto given = std::min<std::size_t>(ConvertType::GetNumberOfComponents(value), outside.size());
  for (std::size_t c = 0; c < given; ++c)
  {
    outside[c] = static_cast<OutputComponentType>(ConvertType::GetNthComponent(static_cast<int>(c), value));
  }
  return outside;
}

itkGPUResampleTemplate
void
itkGPUResampleClass::PrintSelf(std::ostream & os, Indent indent) const
{
  Superclass::PrintSelf(os, indent);
  m_Use.Print(os, indent);
  os << indent << "TrustsTimeStamps: " << (m_Use.TrustsTimeStamps() ? "On" : "Off") << std::endl;
  os << indent << "MaximumDeviceMemory: " << m_MaximumDeviceMemory << std::endl;
}

} // namespace itk

#undef itkGPUResampleTemplate
#undef itkGPUResampleClass

#endif
