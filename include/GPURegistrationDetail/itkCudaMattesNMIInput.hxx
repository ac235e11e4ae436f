// SPDX-License-Identifier: Apache-2.0
// CudaMattesNMI's input: what ITK's objects hold, checked and handed to the engine.
#ifndef itkCudaMattesNMIInput_hxx
#define itkCudaMattesNMIInput_hxx

#include "itkBSplineInterpolateImageFunction.h"
#include "itkCentralDifferenceImageFunction.h"
#include "GPURegistrationDetail/itkGPUIsExactly.h"
#include "GPURegistrationDetail/itkGPUKey.h"
#include "GPURegistrationDetail/itkGPUTransformChain.h"
#include "itkImageMaskSpatialObject.h"
#include "itkLinearInterpolateImageFunction.h"
#include "itkNearestNeighborInterpolateImageFunction.h"
#include "itkVectorInterpolateImageFunction.h"
#include "itkVectorLinearInterpolateImageFunction.h"

#include <cmath>
#include <limits>
#include <type_traits>
#include <typeinfo>

namespace itk
{

namespace GPURegistrationDetail
{
/** So many voxels are few enough to be computed precisely; points always are. */
constexpr SizeValueType FewSamples = 32768;

/** Bins that the Parzen windows need beyond the range of values, on either side. */
constexpr int BinPadding = 2;
} // namespace GPURegistrationDetail

itkCudaMattesNMITemplate
void
itkCudaMattesNMIClass::Initialize()
{
  m_IsInitialized = false;
  // As ITK does, but before the gradient filter, which an infinity would end the process in.
  if (this->m_FixedImage.IsNotNull() && this->m_MovingImage.IsNotNull())
  {
    if (this->m_FixedImage->GetSource())
    {
      this->m_FixedImage->GetSource()->Update();
    }
    if (this->m_MovingImage->GetSource())
    {
      this->m_MovingImage->GetSource()->Update();
    }
    this->CheckIsFinite(this->m_FixedImage.GetPointer(), "fixed");
    this->CheckIsFinite(this->m_MovingImage.GetPointer(), "moving");
  }
  if (this->GetGradientSourceIncludesFixed() || !this->GetGradientSourceIncludesMoving())
  {
    GPURegistrationDetail::ThrowBadInput(*this,
                                         "The gradient source is to be the moving image only. Call "
                                         "SetGradientSource(GRADIENT_SOURCE_MOVING), the default.");
  }
  if (this->m_UseSampledPointSet && (this->m_UseVirtualSampledPointSet ? this->m_VirtualSampledPointSet.IsNull()
                                                                       : this->m_FixedSampledPointSet.IsNull()))
  {
    GPURegistrationDetail::ThrowBadInput(
      *this,
      "UseSampledPointSet is on but there is no ",
      this->m_UseVirtualSampledPointSet ? "virtual" : "fixed",
      " sampled point set. Set one, or turn UseSampledPointSet off to sample every voxel.");
  }
  // Not the Mattes metric's own Initialize(): that one looks for the intensity ranges on one thread.
  ImageMetricType::Initialize();
  this->ComputeIntensityRanges();
  m_InitializedBins = this->GetNumberOfHistogramBins();
  m_IsInitialized = true;
  // The fixed side is made anew: it is soon made, and what it depends on has many places to change in.
  m_ResidentFixed.Forget();
  if (this->FindWhatTheDeviceLacks().empty())
  {
    try
    {
      this->UpdateEngine(true);
    }
    catch (const gpureg::Error & error)
    {
      m_IsInitialized = false;
      GPURegistrationDetail::ThrowGPUError(error, GPURegistrationDetail::NameObject(*this) + error.what());
    }
    catch (const std::bad_alloc &)
    {
      m_IsInitialized = false;
      itkSpecializedMessageExceptionMacro(GPUOutOfMemoryError,
                                          << GPURegistrationDetail::NameObject(*this)
                                          << "Out of host memory. Use smaller images or fewer histogram bins.");
    }
  }
}

itkCudaMattesNMITemplate
template <typename TImage>
void
itkCudaMattesNMIClass::CheckIsFinite(const TImage * image, const char * role) const
{
  const auto         count = static_cast<std::int64_t>(image->GetBufferedRegion().GetNumberOfPixels());
  const auto * const buffer = image->GetBufferPointer();
  if (count == 0 || buffer == nullptr)
  {
    GPURegistrationDetail::ThrowBadInput(
      *this, "The ", role, " image is empty: its buffered region is ", image->GetBufferedRegion());
  }
  const std::int64_t        perTask = std::int64_t{ 1 } << 18;
  const std::int64_t        tasks = (count + perTask - 1) / perTask;
  std::vector<std::int64_t> found(tasks, 0);
  this->GetParallelFor()(tasks, [&](std::int64_t task) {
    const std::int64_t end = std::min(count, (task + 1) * perTask);
    std::int64_t       bad = 0;
    for (std::int64_t i = task * perTask; i < end; ++i)
    {
      bad += !std::isfinite(buffer[i]);
    }
    found[task] = bad;
  });
  std::int64_t bad = 0;
  for (const std::int64_t part : found)
  {
    bad += part;
  }
  if (bad != 0)
  {
    std::int64_t first = 0;
    while (std::isfinite(buffer[first]))
    {
      ++first;
    }
    GPURegistrationDetail::ThrowBadInput(
      *this,
      "The ",
      role,
      " image has ",
      bad,
      " of ",
      count,
      " values that are NaN or infinite, the first at index ",
      image->ComputeIndex(first),
      ". Replace them before registering, for instance by 0, and leave them out with a mask.");
  }
}

/** Smallest and largest value in the buffer, where the mask is if there is one. */
itkCudaMattesNMITemplate
template <typename TImage, typename TMask>
std::pair<double, double>
itkCudaMattesNMIClass::ComputeRange(const TImage * image, const TMask * mask) const
{
  const auto                count = static_cast<std::int64_t>(image->GetBufferedRegion().GetNumberOfPixels());
  const auto * const        buffer = image->GetBufferPointer();
  const std::int64_t        perTask = std::int64_t{ 1 } << 16;
  const std::int64_t        tasks = (count + perTask - 1) / perTask;
  std::pair<double, double> range{ std::numeric_limits<double>::max(), std::numeric_limits<double>::lowest() };
  std::vector<std::pair<double, double>> ranges(tasks, range);
  this->GetParallelFor()(tasks, [&](std::int64_t task) {
    auto               minimum = std::numeric_limits<typename TImage::PixelType>::max();
    auto               maximum = std::numeric_limits<typename TImage::PixelType>::lowest();
    bool               any = false;
    const std::int64_t end = std::min(count, (task + 1) * perTask);
    for (std::int64_t i = task * perTask; i < end; ++i)
    {
      if (mask != nullptr)
      {
        typename TImage::PointType point;
        image->TransformIndexToPhysicalPoint(image->ComputeIndex(i), point);
        if (!mask->IsInsideInWorldSpace(point))
        {
          continue;
        }
      }
      any = true;
      minimum = std::min(minimum, buffer[i]);
      maximum = std::max(maximum, buffer[i]);
    }
    if (any)
    {
      ranges[task] = { minimum, maximum };
    }
  });
  for (const auto & part : ranges)
  {
    range.first = std::min(range.first, part.first);
    range.second = std::max(range.second, part.second);
  }
  return range;
}

itkCudaMattesNMITemplate
void
itkCudaMattesNMIClass::CheckRange(const char * role, double minimum, double maximum) const
{
  if (minimum > maximum)
  {
    GPURegistrationDetail::ThrowBadInput(*this,
                                         "Nothing of the ",
                                         role,
                                         " image is sampled: its mask or its sampled point set selects no voxel of it. "
                                         "Check that they lie in the same physical space.");
  }
  if (minimum == maximum)
  {
    GPURegistrationDetail::ThrowBadInput(*this,
                                         "The ",
                                         role,
                                         " image is constant where it is sampled: every value is ",
                                         minimum,
                                         ". Mutual information needs an image that varies.");
  }
}

/** Where the joint histogram begins and how wide its bins are, as the Mattes metric has it: the fixed
 * range over the mask, or over the voxels nearest to the sampled points, masks aside; the moving range
 * over its mask. */
itkCudaMattesNMITemplate
void
itkCudaMattesNMIClass::ComputeIntensityRanges()
{
  std::pair<double, double> fixed{ std::numeric_limits<double>::max(), std::numeric_limits<double>::lowest() };
  if (this->m_UseSampledPointSet)
  {
    const auto include = [&](const typename TFixedImage::PointType & point) {
      typename TFixedImage::IndexType index;
      if (this->m_FixedImage->TransformPhysicalPointToIndex(point, index))
      {
        const double value = this->m_FixedImage->GetPixel(index);
        fixed.first = std::min(fixed.first, value);
        fixed.second = std::max(fixed.second, value);
      }
    };
    if (this->m_UseVirtualSampledPointSet)
    {
      for (const auto & point : this->m_VirtualSampledPointSet->GetPoints()->CastToSTLConstContainer())
      {
        typename Superclass::FixedTransformType::InputPointType virtualPoint;
        virtualPoint.CastFrom(point);
        typename TFixedImage::PointType fixedPoint;
        fixedPoint.CastFrom(this->m_FixedTransform->TransformPoint(virtualPoint));
        include(fixedPoint);
      }
    }
    else
    {
      for (const auto & point : this->m_FixedSampledPointSet->GetPoints()->CastToSTLConstContainer())
      {
        include(point);
      }
    }
  }
  else
  {
    fixed = this->ComputeRange(this->m_FixedImage.GetPointer(), this->m_FixedImageMask.GetPointer());
  }
  const auto moving = this->ComputeRange(this->m_MovingImage.GetPointer(), this->m_MovingImageMask.GetPointer());
  using PDFValueType = typename Superclass::PDFValueType;
  this->CheckRange("fixed", static_cast<PDFValueType>(fixed.first), static_cast<PDFValueType>(fixed.second));
  this->CheckRange("moving", static_cast<PDFValueType>(moving.first), static_cast<PDFValueType>(moving.second));

  using GPURegistrationDetail::BinPadding;
  const auto innerBins = static_cast<PDFValueType>(this->m_NumberOfHistogramBins - 2 * BinPadding);
  this->m_FixedImageTrueMin = static_cast<PDFValueType>(fixed.first);
  this->m_FixedImageTrueMax = static_cast<PDFValueType>(fixed.second);
  this->m_MovingImageTrueMin = static_cast<PDFValueType>(moving.first);
  this->m_MovingImageTrueMax = static_cast<PDFValueType>(moving.second);
  this->m_FixedImageBinSize = (this->m_FixedImageTrueMax - this->m_FixedImageTrueMin) / innerBins;
  this->m_MovingImageBinSize = (this->m_MovingImageTrueMax - this->m_MovingImageTrueMin) / innerBins;
  this->m_FixedImageNormalizedMin = this->m_FixedImageTrueMin / this->m_FixedImageBinSize - PDFValueType{ BinPadding };
  this->m_MovingImageNormalizedMin =
    this->m_MovingImageTrueMin / this->m_MovingImageBinSize - PDFValueType{ BinPadding };
}

namespace GPURegistrationDetail
{
/** Reaches a B-spline interpolator's coefficients, which it has computed already. */
template <typename TInterpolator>
struct BSplineAccess : public TInterpolator
{
  static const typename TInterpolator::CoefficientImageType *
  GetCoefficients(const TInterpolator & interpolator)
  {
    return (interpolator.*(&BSplineAccess::m_Coefficients)).GetPointer();
  }
};

/** Copies a scalar image as the engine wants it: (v - minimum)/binSize, or v - minimum in double precision. */
template <typename TImage>
gpureg::Filler
MakeValueFiller(const TImage * image, gpureg::Precision precision, double minimum, double binSize)
{
  const auto * const buffer = image->GetBufferPointer();
  if (precision == gpureg::Precision::Double)
  {
    return [buffer, minimum](std::int64_t first, std::int64_t count, void * out) {
      std::transform(buffer + first, buffer + first + count, static_cast<double *>(out), [minimum](auto value) {
        return static_cast<double>(value) - minimum;
      });
    };
  }
  return [buffer, minimum, binSize](std::int64_t first, std::int64_t count, void * out) {
    auto * const values = static_cast<float *>(out);
    for (std::int64_t i = 0; i < count; ++i)
    {
      values[i] = static_cast<float>((buffer[first + i] - minimum) / binSize);
    }
  };
}
} // namespace GPURegistrationDetail

/** Calls visit with the moving interpolator if it is exactly one of ITK's B-spline interpolators. */
itkCudaMattesNMITemplate
template <typename TVisitor>
bool
itkCudaMattesNMIClass::VisitSplineInterpolator(const TVisitor & visit) const
{
  using GPURegistrationDetail::IsExactly;
  using CoordinateType = typename Superclass::CoordinateRepresentationType;
  using DoubleType = BSplineInterpolateImageFunction<TMovingImage, CoordinateType, double>;
  using FloatType = BSplineInterpolateImageFunction<TMovingImage, CoordinateType, float>;
  const auto * const interpolator = this->m_MovingInterpolator.GetPointer();
  if (IsExactly<DoubleType>(interpolator))
  {
    visit(static_cast<const DoubleType &>(*interpolator));
    return true;
  }
  if (IsExactly<FloatType>(interpolator))
  {
    visit(static_cast<const FloatType &>(*interpolator));
    return true;
  }
  return false;
}

namespace GPURegistrationDetail
{
/** Adds a mask, whose voxels count; false if it is of another kind, of which it is not known where it lies. */
template <unsigned int VDimension>
bool
AddMaskToSource(gpureg::Source & source, const SpatialObject<VDimension> * mask)
{
  AddToKey(source.key, mask);
  if (const auto * const imageMask = dynamic_cast<const ImageMaskSpatialObject<VDimension> *>(mask))
  {
    AddToKey(source.key, imageMask->GetImage());
    AddToKey(source.key, imageMask->GetObjectToWorldTransform());
    source.memory.push_back(GetBuffer(*imageMask->GetImage()));
    return true;
  }
  return mask == nullptr;
}

/** Adds what a transform is made from; false if that is not known of its kind. */
template <typename TScalar, unsigned int VDimension>
bool
AddTransformToSource(gpureg::Source & source, const Transform<TScalar, VDimension, VDimension> & transform)
{
  gpureg::TransformChain chain;
  if (!GPUTransformChain::Append<TScalar, VDimension>(transform, chain))
  {
    return false;
  }
  AddToKey(source.key, chain.first);
  for (const gpureg::ChainStep & step : chain.steps)
  {
    AddToKey(source.key, step.map);
    source.memory.insert(source.memory.end(), step.grid.source.memory.begin(), step.grid.source.memory.end());
  }
  return true;
}
} // namespace GPURegistrationDetail

itkCudaMattesNMITemplate
gpureg::Source
itkCudaMattesNMIClass::GetFixedSource() const
{
  using namespace GPURegistrationDetail;
  gpureg::Source source;
  source.isKeyTrusted = m_Use.TrustsTimeStamps();
  AddToKey(source.key, this->m_FixedImage.GetPointer());
  AddToKey(source.key, this->m_FixedInterpolator.GetPointer());
  AddToKey(source.key, this->GetVirtualImage());
  AddToKey(source.key, static_cast<double>(this->m_FixedImageTrueMin));
  AddToKey(source.key, static_cast<double>(this->m_FixedImageBinSize));
  source.memory.push_back(GetBuffer(*this->m_FixedImage));
  bool isKnown = AddMaskToSource<ImageDimension>(source, this->m_FixedImageMask.GetPointer());
  AddTransformToKey(source.key, this->m_FixedTransform.GetPointer());
  if (!source.isKeyTrusted)
  {
    isKnown = AddTransformToSource(source, *this->m_FixedTransform) && isKnown;
  }
  if (this->m_UseSampledPointSet)
  {
    const auto * const points = this->m_VirtualSampledPointSet->GetPoints();
    const auto &       container = points->CastToSTLConstContainer();
    AddToKey(source.key, points);
    source.memory.push_back({ container.data(), container.size() * sizeof(container.front()) });
  }
  if (!source.isKeyTrusted && !isKnown)
  {
    source.key.clear();
  }
  return source;
}

itkCudaMattesNMITemplate
gpureg::Source
itkCudaMattesNMIClass::GetMovingSource() const
{
  using namespace GPURegistrationDetail;
  gpureg::Source source;
  source.isKeyTrusted = m_Use.TrustsTimeStamps();
  AddToKey(source.key, this->m_MovingImage.GetPointer());
  source.memory.push_back(GetBuffer(*this->m_MovingImage));
  AddMaskToSource<ImageDimension>(source, this->m_MovingImageMask.GetPointer());
  AddToKey(source.key, this->m_MovingInterpolator.GetPointer());
  this->VisitSplineInterpolator([&source](const auto & interpolator) {
    using InterpolatorType = std::decay_t<decltype(interpolator)>;
    const auto * const coefficients = BSplineAccess<InterpolatorType>::GetCoefficients(interpolator);
    AddToKey(source.key, coefficients);
    AddToKey(source.key, static_cast<double>(interpolator.GetSplineOrder()));
    if (coefficients != nullptr)
    {
      source.memory.push_back(GetBuffer(*coefficients));
    }
  });
  AddToKey(source.key, this->m_UseMovingImageGradientFilter ? this->m_MovingImageGradientImage.GetPointer() : nullptr);
  AddToKey(source.key, static_cast<double>(m_Engine->GetPrecision() == gpureg::Precision::Double));
  AddToKey(source.key, static_cast<double>(this->m_MovingImageTrueMin));
  AddToKey(source.key, static_cast<double>(this->m_MovingImageBinSize));
  return source;
}

/** Makes the engine if the device or the bins have changed, and sends it what has changed since.
 * \param isInitializing whether the moving image's range and gradient are those of its voxels now. */
itkCudaMattesNMITemplate
void
itkCudaMattesNMIClass::UpdateEngine(bool isInitializing) const
{
  const auto bins =
    static_cast<int>(std::min<SizeValueType>(this->GetNumberOfHistogramBins(), NumericTraits<int>::max()));
  const std::string & device = m_Use.GetDevice().GetName();
  if (!m_Engine || m_Engine->GetDeviceName() != device || m_Engine->GetNumberOfBins() != bins)
  {
    m_Engine.reset();
    m_ResidentFixed.Forget();
    m_ResidentMoving.Forget();
    m_Engine = std::make_unique<gpureg::MattesMetric>(device, bins);
  }
  const auto compare = [&](const gpureg::ResidentSource & resident, const gpureg::Source & source) {
    auto compared = resident.Compare(source, this->GetParallelFor());
    // Here also where the key is new, for the next evaluation is sure to compare with it.
    if (!source.isKeyTrusted && !compared.hash)
    {
      compared.hash = gpureg::HashContent(source.memory, this->GetParallelFor());
    }
    return compared;
  };
  const gpureg::Source fixed = this->GetFixedSource();
  if (const auto compared = compare(m_ResidentFixed, fixed); !compared.isSame)
  {
    m_ResidentFixed.Forget();
    this->SendFixedSide();
    m_ResidentFixed.Remember(fixed, compared);
  }
  const gpureg::Source moving = this->GetMovingSource();
  const auto           compared = compare(m_ResidentMoving, moving);
  if (isInitializing)
  {
    m_InitialMovingHash = compared.hash;
  }
  if (!compared.isSame)
  {
    m_ResidentMoving.Forget();
    this->SendMovingSide(compared.hash != m_InitialMovingHash);
    m_ResidentMoving.Remember(moving, compared);
  }
}

/** Whether every virtual voxel is a voxel of the fixed image, so that no interpolation is needed. Only
 * for float: in double, ITK's own rounding of the point decides which side of a bin's edge a value is. */
itkCudaMattesNMITemplate
bool
itkCudaMattesNMIClass::FixedGridIsVirtualGrid() const
{
  namespace Geometry = GPURegistrationGeometry;
  using GPURegistrationDetail::IsExactly;
  using CoordinateType = typename Superclass::CoordinateRepresentationType;
  if (!std::is_same<typename TFixedImage::PixelType, float>::value || this->m_UseSampledPointSet ||
      this->m_FixedImageMask.IsNotNull() || !Geometry::IsLinear(*this->m_FixedTransform) ||
      !(IsExactly<LinearInterpolateImageFunction<TFixedImage, CoordinateType>>(this->m_FixedInterpolator) ||
        IsExactly<NearestNeighborInterpolateImageFunction<TFixedImage, CoordinateType>>(this->m_FixedInterpolator)))
  {
    return false;
  }
  const TVirtualImage &  virtualImage = *this->GetVirtualImage();
  const gpureg::IndexMap map =
    Geometry::FitIndexMap<ImageDimension>(virtualImage, [&](const Geometry::IndexArray & index) {
      typename Superclass::FixedTransformType::InputPointType point;
      point.CastFrom(Geometry::IndexToPoint<ImageDimension>(virtualImage, index));
      Point<double, ImageDimension> moved;
      moved.CastFrom(this->m_FixedTransform->TransformPoint(point));
      return Geometry::PointToIndex<ImageDimension>(*this->m_FixedImage, moved);
    });
  double error = 0;
  for (unsigned int r = 0; r < ImageDimension; ++r)
  {
    error = std::max(error, std::abs(map.offset[r]));
    for (unsigned int c = 0; c < ImageDimension; ++c)
    {
      error = std::max(error,
                       std::abs(map.matrix[3 * r + c] - (r == c ? 1.0 : 0.0)) *
                         static_cast<double>(this->GetVirtualRegion().GetSize(c)));
    }
  }
  return error < 1e-9 && this->GetVirtualRegion().GetSize() == this->m_FixedImage->GetBufferedRegion().GetSize();
}

itkCudaMattesNMITemplate
void
itkCudaMattesNMIClass::SendFixedSide() const
{
  namespace Geometry = GPURegistrationGeometry;
  constexpr std::uint16_t invalid = 0xFFFF;
  const TVirtualImage &   virtualImage = *this->GetVirtualImage();
  gpureg::MattesFixedSide side;
  side.virtualSize = Geometry::SizeOf<ImageDimension>(this->GetVirtualRegion().GetSize());
  if (this->m_UseSampledPointSet || this->GetVirtualRegion().GetNumberOfPixels() <= GPURegistrationDetail::FewSamples)
  {
    side.precision = gpureg::Precision::Double;
  }

  const auto binOf = [this](const VirtualPointType & virtualPoint) {
    typename Superclass::FixedImagePointType fixedPoint;
    typename Superclass::FixedImagePixelType value;
    return this->TransformAndEvaluateFixedPoint(virtualPoint, fixedPoint, value)
             ? static_cast<std::uint16_t>(this->ComputeSingleFixedImageParzenWindowIndex(value))
             : invalid;
  };
  if (this->m_UseSampledPointSet)
  {
    const auto * const points = this->m_VirtualSampledPointSet->GetPoints();
    side.pointCount = static_cast<std::int64_t>(points->Size());
    side.bins = [points, binOf](std::int64_t first, std::int64_t count, void * out) {
      for (std::int64_t i = 0; i < count; ++i)
      {
        static_cast<std::uint16_t *>(out)[i] = binOf(points->ElementAt(first + i));
      }
    };
    side.points = [points, &virtualImage](std::int64_t first, std::int64_t count, void * out) {
      for (std::int64_t i = 0; i < count; ++i)
      {
        Point<double, ImageDimension> point;
        point.CastFrom(points->ElementAt(first + i));
        const auto index = Geometry::PointToIndex<ImageDimension>(virtualImage, point);
        std::copy(index.begin(), index.end(), static_cast<double *>(out) + 3 * i);
      }
    };
  }
  else if (this->FixedGridIsVirtualGrid())
  {
    const auto * const buffer = this->m_FixedImage->GetBufferPointer();
    side.bins = [this, buffer](std::int64_t first, std::int64_t count, void * out) {
      for (std::int64_t i = 0; i < count; ++i)
      {
        static_cast<std::uint16_t *>(out)[i] =
          static_cast<std::uint16_t>(this->ComputeSingleFixedImageParzenWindowIndex(buffer[first + i]));
      }
    };
  }
  else
  {
    side.bins = [&virtualImage, binOf](std::int64_t first, std::int64_t count, void * out) {
      for (std::int64_t i = 0; i < count; ++i)
      {
        VirtualPointType point;
        virtualImage.TransformIndexToPhysicalPoint(virtualImage.ComputeIndex(first + i), point);
        static_cast<std::uint16_t *>(out)[i] = binOf(point);
      }
    };
  }
  m_Engine->SetFixedSide(side, this->GetParallelFor());
}

/** \param mayLeaveRange whether the voxels are no longer those that the histogram's range is of. */
itkCudaMattesNMITemplate
void
itkCudaMattesNMIClass::SendMovingSide(bool mayLeaveRange) const
{
  namespace Geometry = GPURegistrationGeometry;
  using namespace GPURegistrationDetail;
  using CoordinateType = typename Superclass::CoordinateRepresentationType;
  const TMovingImage &     image = *this->m_MovingImage;
  const double             minimum = this->m_MovingImageTrueMin;
  const double             binSize = this->m_MovingImageBinSize;
  gpureg::MattesMovingSide side;
  side.size = Geometry::SizeOf<ImageDimension>(image.GetBufferedRegion().GetSize());
  side.precision = m_Engine->GetPrecision();
  side.values = MakeValueFiller(&image, side.precision, minimum, binSize);
  side.checksRange = mayLeaveRange;

  if (IsExactly<NearestNeighborInterpolateImageFunction<TMovingImage, CoordinateType>>(this->m_MovingInterpolator))
  {
    side.splineOrder = 0;
  }
  this->VisitSplineInterpolator([&](const auto & interpolator) {
    using InterpolatorType = std::decay_t<decltype(interpolator)>;
    side.splineOrder = static_cast<int>(interpolator.GetSplineOrder());
    if (side.splineOrder > 1)
    {
      side.coefficients = MakeValueFiller(BSplineAccess<InterpolatorType>::GetCoefficients(interpolator),
                                          side.precision,
                                          minimum,
                                          binSize);
      side.checksRange = true;
    }
  });
  // ITK rounds a value to the pixel type before it asks whether it is in the range.
  using PixelType = typename TMovingImage::PixelType;
  const auto halfDigit = [](double value) {
    const auto pixel = static_cast<PixelType>(value);
    return 0.5 * (static_cast<double>(std::nextafter(std::abs(pixel), std::numeric_limits<PixelType>::max())) -
                  static_cast<double>(std::abs(pixel)));
  };
  const double maximum = this->m_MovingImageTrueMax;
  side.minimum = minimum;
  side.range = maximum - minimum;
  side.largest = side.range;
  if (this->m_MovingImageMask.IsNotNull() || mayLeaveRange)
  {
    const auto all = this->ComputeRange(&image, decltype(this->m_MovingImageMask.GetPointer()){});
    side.largest = std::max(all.second - minimum, minimum - all.first);
  }
  side.roundsToFloat = std::is_same<PixelType, float>::value;
  const auto innerBins = static_cast<double>(this->GetNumberOfHistogramBins() - 2 * GPURegistrationDetail::BinPadding);
  side.slackBelow = halfDigit(minimum) / binSize;
  side.slackAbove = (maximum + halfDigit(maximum) - minimum) / binSize - innerBins;

  this->SetGradient(side);
  this->SetMask(side);
  m_Engine->SetMovingSide(side, this->GetParallelFor());
}

/** The gradient image, or what central differences need. */
itkCudaMattesNMITemplate
void
itkCudaMattesNMIClass::SetGradient(gpureg::MattesMovingSide & side) const
{
  if (this->m_UseMovingImageGradientFilter)
  {
    const auto * const gradient = this->m_MovingImageGradientImage->GetBufferPointer();
    const double       binSize = this->m_MovingImageBinSize;
    side.gradient = [gradient, binSize](std::int64_t first, std::int64_t count, void * out) {
      auto * const vectors = static_cast<float *>(out);
      for (std::int64_t i = 0; i < count; ++i)
      {
        for (unsigned int d = 0; d < 3; ++d)
        {
          // Far from any edge a recursive Gaussian leaves denormal numbers, which processors compute slowly.
          const double component = d < ImageDimension ? gradient[first + i][d] / binSize : 0.0;
          vectors[3 * i + d] = std::abs(component) > 1e-20 ? static_cast<float>(component) : 0.0f;
        }
      }
    };
  }
  else
  {
    const TMovingImage &        image = *this->m_MovingImage;
    const std::array<double, 9> toIndex = GPURegistrationGeometry::GetVectorToIndexMatrix<ImageDimension>(image);
    for (unsigned int d = 0; d < ImageDimension; ++d)
    {
      const double spacing = image.GetSpacing()[d];
      side.inverseSpacing[d] = 1.0 / spacing;
      for (unsigned int r = 0; r < ImageDimension; ++r)
      {
        side.differenceStep[3 * r + d] = 0.5 * spacing * toIndex[3 * r + d];
      }
    }
  }
}

itkCudaMattesNMITemplate
void
itkCudaMattesNMIClass::SetMask(gpureg::MattesMovingSide & side) const
{
  namespace Geometry = GPURegistrationGeometry;
  using MaskType = ImageMaskSpatialObject<ImageDimension>;
  if (const auto * const mask = dynamic_cast<const MaskType *>(this->m_MovingImageMask.GetPointer()))
  {
    const auto & maskImage = *mask->GetImage();
    side.checksRange = true;
    side.maskSize = Geometry::SizeOf<ImageDimension>(maskImage.GetBufferedRegion().GetSize());
    side.mask = [mask, &maskImage](std::int64_t first, std::int64_t count, void * out) {
      for (std::int64_t i = 0; i < count; ++i)
      {
        typename MaskType::PointType point;
        maskImage.TransformIndexToPhysicalPoint(maskImage.ComputeIndex(first + i), point);
        static_cast<std::uint8_t *>(out)[i] = mask->IsInsideInObjectSpace(point) ? 1 : 0;
      }
    };
    const TMovingImage & image = *this->m_MovingImage;
    side.toMask = Geometry::FitIndexMap<ImageDimension>(image, [&](const Geometry::IndexArray & index) {
      return Geometry::PointToIndex<ImageDimension>(maskImage,
                                                    mask->GetObjectToWorldTransformInverse()->TransformPoint(
                                                      Geometry::IndexToPoint<ImageDimension>(image, index)));
    });
  }
}

/** Names what of the input has no counterpart on the device; empty if there is nothing. */
itkCudaMattesNMITemplate
std::string
itkCudaMattesNMIClass::FindWhatTheDeviceLacks() const
{
  using GPURegistrationDetail::IsExactly;
  using CoordinateType = typename Superclass::CoordinateRepresentationType;
  const auto * const interpolator = this->m_MovingInterpolator.GetPointer();
  unsigned int       order = 0;
  const bool         isSpline =
    this->VisitSplineInterpolator([&order](const auto & spline) { order = spline.GetSplineOrder(); });
  if (isSpline && order == 1)
  {
    // It mirrors at the edge, where linear interpolation repeats the last voxel.
    return std::string("The moving interpolator ") + interpolator->GetNameOfClass() + " of order 1";
  }
  if (!isSpline && !IsExactly<LinearInterpolateImageFunction<TMovingImage, CoordinateType>>(interpolator) &&
      !IsExactly<NearestNeighborInterpolateImageFunction<TMovingImage, CoordinateType>>(interpolator))
  {
    return std::string("The moving interpolator ") + interpolator->GetNameOfClass();
  }
  if (this->m_MovingImageMask.IsNotNull() &&
      !IsExactly<ImageMaskSpatialObject<ImageDimension>>(this->m_MovingImageMask))
  {
    return std::string("The moving mask ") + this->m_MovingImageMask->GetNameOfClass();
  }
  if (this->m_UseMovingImageGradientFilter)
  {
    if (this->m_MovingImageGradientImage.IsNull() ||
        this->m_MovingImageGradientImage->GetBufferedRegion() != this->m_MovingImage->GetBufferedRegion())
    {
      return "A moving gradient image of another region than the moving image";
    }
  }
  else if (!IsExactly<typename Superclass::DefaultMovingImageGradientCalculator>(
             this->m_MovingImageGradientCalculator) ||
           !this->m_DefaultMovingImageGradientCalculator->GetUseImageDirection() ||
           this->m_MovingImageGradientCalculator.GetPointer() !=
             this->m_DefaultMovingImageGradientCalculator.GetPointer())
  {
    return std::string("The moving gradient calculator ") + this->m_MovingImageGradientCalculator->GetNameOfClass();
  }
  return "";
}

itkCudaMattesNMITemplate
typename itkCudaMattesNMIClass::Route
itkCudaMattesNMIClass::ChooseRoute() const
{
  using CompositeType = CompositeTransform<typename Superclass::CoordinateRepresentationType, ImageDimension>;
  const MovingTransformType * const transform = this->m_MovingTransform.GetPointer();
  const auto * const                composite = dynamic_cast<const CompositeType *>(transform);
  const auto                        count = composite != nullptr ? composite->GetNumberOfTransforms() : 1;
  if (GPURegistrationGeometry::IsLinear(*transform))
  {
    return Route::Linear;
  }
  bool restIsLinear = true;
  for (SizeValueType n = 0; n < count; ++n)
  {
    const auto * const part = composite != nullptr ? composite->GetNthTransformConstPointer(n) : transform;
    const bool         isOptimized = composite == nullptr || composite->GetNthTransformToOptimize(n);
    if (isOptimized && part->GetTransformCategory() == MovingTransformType::TransformCategoryEnum::BSpline)
    {
      GPURegistrationDetail::ThrowUnsupported(
        *this,
        "The moving transform ",
        part->GetNameOfClass(),
        " has B-spline parameters, which CudaMattesNMI does not optimise yet. Use "
        "itk::MattesMutualInformationImageToImageMetricv4 for it, or a displacement field.");
    }
    restIsLinear = restIsLinear && (n + 1 == count || GPURegistrationGeometry::IsLinear(*part));
  }
  const auto * const field = this->GetMovingDisplacementFieldTransform();
  if (this->HasLocalSupport() && restIsLinear && field != nullptr)
  {
    using FieldType = typename std::decay_t<decltype(*field)>::DisplacementFieldType;
    using ScalarType = typename Superclass::CoordinateRepresentationType;
    const auto * const interpolator = field->GetInterpolator();
    if (interpolator != nullptr &&
        typeid(*interpolator) == typeid(VectorLinearInterpolateImageFunction<FieldType, ScalarType>))
    {
      return Route::DisplacementField;
    }
  }
  return Route::ThroughITK;
}

} // namespace itk

#endif
