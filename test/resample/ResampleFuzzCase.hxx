// SPDX-License-Identifier: Apache-2.0
// A random case of the resampler. ResampleFuzzCase2D.cxx and 3D compile one dimension each.
#ifndef ResampleFuzzCase_hxx
#define ResampleFuzzCase_hxx

#include "ResampleFuzzCase.h"

#include "RandomTransform.h"

#include "itkGPUDevice.h"
#include "itkImageRegionConstIteratorWithIndex.h"
#include "itkNearestNeighborExtrapolateImageFunction.h"
#include "itkRGBPixel.h"
#include "itkVector.h"

#include <cstring>
#include <limits>
#include <type_traits>

namespace gpuregtest
{

/** The random settings of a case, without the pixel type. */
template <unsigned int VDimension>
struct ResampleFuzzSetUp
{
  Grid<VDimension>             input;
  Grid<VDimension>             output;
  RandomTransform<VDimension>  transform;
  std::string                  interpolation;
  bool                         extrapolates = false;
  double                       low = 0; // of the input's values
  double                       high = 0;
  double                       noise = 0; // relative to their range
  double                       outside = 0;
  itk::ImageRegion<VDimension> requested;
  unsigned int                 splitAxis = 0;
};

/** Returns the smallest number of voxels along an axis, besides a single one, for which ITK's B-spline interpolator mirrors correctly;
 *  with fewer it reads outside of its buffer. */
constexpr itk::SizeValueType
GetFewestVoxels(unsigned int splineOrder)
{
  return splineOrder / 2 + 1 + splineOrder % 2;
}

template <typename TImage>
class ResampleFuzz
{
public:
  static constexpr unsigned int Dimension = TImage::ImageDimension;
  using PixelType = typename TImage::PixelType;
  using ComponentType = typename itk::NumericTraits<PixelType>::ValueType;
  using RealImageType = itk::Image<typename itk::NumericTraits<PixelType>::RealType, Dimension>;
  using RegionType = typename TImage::RegionType;
  using SetUpType = ResampleFuzzSetUp<Dimension>;

  static constexpr int  Components = sizeof(PixelType) / sizeof(ComponentType);
  static constexpr bool IsInteger = std::is_integral<ComponentType>::value;

  ResampleFuzz(const SetUpType & setUp, Random & random)
    : m_SetUp(setUp)
    , m_Input(TImage::New())
  {
    setUp.input.ApplyTo(*m_Input);
    m_Input->Allocate();
    auto * const values = reinterpret_cast<ComponentType *>(m_Input->GetBufferPointer());
    const auto   count = m_Input->GetBufferedRegion().GetNumberOfPixels() * Components;
    for (itk::SizeValueType i = 0; i < count; ++i)
    {
      const double wave = 0.5 + 0.5 * (1.0 - setUp.noise) * std::sin(0.3 * static_cast<double>(i));
      const double value = wave + Uniform(random, -0.5, 0.5) * setUp.noise;
      values[i] = static_cast<ComponentType>(setUp.low + (setUp.high - setUp.low) * value);
    }
  }

  void
  Run(const std::string & deviceName, ResampleFuzzResult & result) const
  {
    auto filter = itk::GPUResampleImageFilter<TImage, TImage>::New();
    filter->SetDevice(itk::GPUDevice::FromName(deviceName));
    const auto image = this->Update(*filter, m_SetUp.requested, 2);
    const bool isOnDevice = filter->GetEvaluationStatistics().launches > 0;
    const bool isSpline = m_SetUp.interpolation != "nearest" && m_SetUp.interpolation != "linear";
    const bool isLeftToITK = filter->GetDevice().IsHost() && m_SetUp.transform.isSampled && !isSpline;
    result.isWhereItShouldBe = isOnDevice != isLeftToITK;
    this->CompareWithITK(*image, result);

    const auto expectSame = [&](const RegionType & region, unsigned int threads, const std::string & what) {
      if (result.otherBits.empty() && !AreSameBits(*this->Update(*filter, region, threads), *image, region))
      {
        result.otherBits = what;
      }
    };
    for (const unsigned int threads : { 1u, 2u, 7u })
    {
      expectSame(m_SetUp.requested, threads, std::to_string(threads) + " work units");
    }
    RegionType         part = m_SetUp.requested;
    const unsigned int axis = m_SetUp.splitAxis;
    const auto         half = part.GetSize(axis) / 2;
    if (half > 0)
    {
      part.SetSize(axis, half);
      expectSame(part, 2, "the first part of axis " + std::to_string(axis));
      part.SetIndex(axis, part.GetIndex(axis) + static_cast<itk::IndexValueType>(half));
      part.SetSize(axis, m_SetUp.requested.GetSize(axis) - half);
      expectSame(part, 2, "the last part of axis " + std::to_string(axis));
    }
    const std::size_t voxels = m_Input->GetBufferedRegion().GetNumberOfPixels() + m_SetUp.requested.GetNumberOfPixels();
    for (const std::size_t share : { 2, 6 })
    {
      const std::size_t bytes = voxels * sizeof(double) * Components / share;
      filter->SetMaximumDeviceMemory(bytes);
      try
      {
        expectSame(m_SetUp.requested, 2, "at most " + std::to_string(bytes) + " bytes");
        ++result.bounded;
      }
      catch (const itk::ExceptionObject & error)
      {
        const bool isTooLittle =
          std::string(error.GetDescription()).find("too little device memory") != std::string::npos;
        result.otherBits = isTooLittle ? result.otherBits : error.GetDescription();
      }
    }
  }

private:
  template <typename TOutput>
  typename TOutput::Pointer
  Update(itk::ResampleImageFilter<TImage, TOutput> & filter, const RegionType & region, unsigned int threads) const
  {
    filter.SetInput(m_Input);
    filter.SetTransform(m_SetUp.transform.transform);
    filter.SetInterpolator(MakeInterpolator<TImage>(m_SetUp.interpolation));
    filter.SetSize(m_SetUp.output.size);
    filter.SetOutputStartIndex(m_SetUp.output.start);
    filter.SetOutputSpacing(m_SetUp.output.spacing);
    filter.SetOutputOrigin(m_SetUp.output.origin);
    filter.SetOutputDirection(m_SetUp.output.direction);
    typename TOutput::PixelType outside;
    for (int c = 0; c < Components; ++c)
    {
      itk::DefaultConvertPixelTraits<typename TOutput::PixelType>::SetNthComponent(
        c, outside, static_cast<ComponentType>(m_SetUp.outside + 10.0 * c));
    }
    filter.SetDefaultPixelValue(outside);
    filter.SetExtrapolator(m_SetUp.extrapolates ? itk::NearestNeighborExtrapolateImageFunction<TImage, double>::New()
                                                : nullptr);
    filter.SetNumberOfWorkUnits(threads);
    filter.UpdateOutputInformation();
    filter.GetOutput()->SetRequestedRegion(region);
    filter.Update();
    const typename TOutput::Pointer output = filter.GetOutput();
    output->DisconnectPipeline();
    EXPECT_EQ(output->GetBufferedRegion(), region);
    return output;
  }

  /** Returns true if rounding decides about a voxel of the output: its position is at the edge of the input, half-way between two voxels
   *  for nearest neighbours, or at a discontinuity of the transform. */
  bool
  IsATie(const typename TImage::PointType & point, bool & isInside) const
  {
    constexpr double Near = 1e-4; // voxels
    const auto       there = m_SetUp.transform.transform->TransformPoint(point);
    const auto       index = m_Input->template TransformPhysicalPointToContinuousIndex<double>(there);
    const auto       region = m_Input->GetBufferedRegion();
    bool             isTie = false, isHalfWay = false;
    isInside = true;
    for (unsigned int d = 0; d < Dimension; ++d)
    {
      const double relative = index[d] - static_cast<double>(region.GetIndex(d)) + 0.5;
      const double size = static_cast<double>(region.GetSize(d));
      isInside = isInside && relative >= 0.0 && relative < size;
      isTie = isTie || std::min(std::abs(relative), std::abs(relative - size)) < Near;
      isHalfWay = isHalfWay || std::abs(relative - std::round(relative)) < Near;
    }
    const bool isOfNearest = m_SetUp.interpolation == "nearest" || m_SetUp.interpolation == "bspline0" || !isInside;
    return isTie || (isHalfWay && isOfNearest && (isInside || m_SetUp.extrapolates)) ||
           m_SetUp.transform.JumpsNear(point);
  }

  void
  CompareWithITK(const TImage & image, ResampleFuzzResult & result) const
  {
    const auto & region = m_SetUp.requested;
    auto         reference = itk::ResampleImageFilter<TImage, TImage>::New();
    const auto   expected = this->Update(*reference, region, 2);
    // Integers are truncated; the values before truncation show where rounding decides.
    typename RealImageType::Pointer exact;
    if constexpr (IsInteger)
    {
      auto real = itk::ResampleImageFilter<TImage, RealImageType>::New();
      exact = this->Update(*real, region, 2);
    }
    const bool   isExact = m_SetUp.interpolation == "nearest";
    const double range = m_SetUp.high - m_SetUp.low;
    double       squares = 0;
    for (itk::ImageRegionConstIteratorWithIndex<TImage> it(expected, region); !it.IsAtEnd(); ++it)
    {
      typename TImage::PointType point;
      bool                       isInside = false;
      expected->TransformIndexToPhysicalPoint(it.GetIndex(), point);
      const bool isTie = this->IsATie(point, isInside);
      ++result.voxels;
      result.inside += isInside;
      if (isTie)
      {
        continue;
      }
      ++result.compared;
      for (int c = 0; c < Components; ++c)
      {
        const double wanted = static_cast<double>(GetComponent(*expected, it.GetIndex(), c));
        double       apart = std::abs(static_cast<double>(GetComponent(image, it.GetIndex(), c)) - wanted);
        if constexpr (IsInteger)
        {
          const double uncut = reinterpret_cast<const double *>(&exact->GetPixel(it.GetIndex()))[c];
          const bool   mayBeNext = isInside && !isExact && std::abs(uncut - std::round(uncut)) < 1e-5 * range;
          apart = apart == 1.0 && mayBeNext ? 0.0 : apart;
        }
        squares += apart * apart / (range * range);
        // A NaN does not enter the largest difference, but the sum.
        result.largest = std::max(result.largest, apart / range);
      }
    }
    result.nrmse = std::sqrt(squares / std::max(result.compared * Components, 1));
  }

  static ComponentType
  GetComponent(const TImage & image, const typename TImage::IndexType & index, int c)
  {
    return reinterpret_cast<const ComponentType *>(&image.GetPixel(index))[c];
  }

  static bool
  AreSameBits(const TImage & part, const TImage & whole, const RegionType & region)
  {
    bool areSame = true;
    for (itk::ImageRegionConstIteratorWithIndex<TImage> it(&part, region); !it.IsAtEnd(); ++it)
    {
      areSame = areSame && std::memcmp(&it.Value(), &whole.GetPixel(it.GetIndex()), sizeof(PixelType)) == 0;
    }
    return areSame;
  }

  const SetUpType &        m_SetUp;
  typename TImage::Pointer m_Input;
};

template <unsigned int VDimension>
ResampleFuzzSetUp<VDimension>
DrawResampleSetUp(Random & random, bool isScalar)
{
  constexpr itk::SizeValueType  MostVoxels = 4000;
  ResampleFuzzSetUp<VDimension> setUp;
  setUp.input = DrawGrid<VDimension>(random, MostVoxels);
  const unsigned int interpolation = Draw(random, isScalar ? 8 : 2);
  setUp.interpolation =
    interpolation < 2 ? (interpolation == 0 ? "nearest" : "linear") : "bspline" + std::to_string(interpolation - 2);
  if (interpolation >= 2)
  {
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      if (setUp.input.size[d] == 1)
      {
        // ITK's interpolator takes a single voxel to have the index 0.
        setUp.input.start[d] = 0;
      }
      else
      {
        setUp.input.size[d] = std::max(setUp.input.size[d], GetFewestVoxels(interpolation - 2));
      }
    }
  }
  setUp.output = DrawGridNear<VDimension>(setUp.input, random, MostVoxels);
  setUp.transform = TransformDrawer<VDimension>(setUp.output, random).Draw(Draw(random, 5));
  setUp.extrapolates = Chance(random, 4);
  setUp.noise = Chance(random, 2) ? 1.0 : 0.1;
  setUp.requested = itk::ImageRegion<VDimension>(setUp.output.start, setUp.output.size);
  for (unsigned int d = 0; d < VDimension && Chance(random, 3); ++d)
  {
    const auto skipped = Draw(random, static_cast<unsigned int>(setUp.output.size[d]));
    setUp.requested.SetIndex(d, setUp.output.start[d] + skipped);
    setUp.requested.SetSize(d, 1 + Draw(random, static_cast<unsigned int>(setUp.output.size[d]) - skipped));
  }
  setUp.splitAxis = Draw(random, VDimension);
  return setUp;
}

template <unsigned int VDimension>
ResampleFuzzResult
RunResampleFuzzCase(std::uint64_t seed, const std::string & deviceName)
{
  Random             random(seed);
  const unsigned int pixel = Draw(random, 7);
  auto               setUp = DrawResampleSetUp<VDimension>(random, pixel < 5);
  ResampleFuzzResult result;
  const auto         run = [&](auto zero, const char * name, double low, double high, double outside) {
    setUp.low = low;
    setUp.high = high;
    setUp.outside = outside;
    std::ostringstream words;
    words << VDimension << "D " << name << ", " << setUp.interpolation << (setUp.extrapolates ? ", extrapolated" : "")
          << ",\ninput " << Describe(setUp.input) << ",\noutput " << Describe(setUp.output) << ",\nrequested "
          << setUp.requested.GetIndex() << ' ' << setUp.requested.GetSize() << ",\n"
          << setUp.transform.words;
    result.words = words.str();
    ResampleFuzz<itk::Image<decltype(zero), VDimension>>(setUp, random).Run(deviceName, result);
  };
  switch (pixel)
  {
    case 0:
      run(float{}, "float", -1000, 1000, 77.25);
      break;
    case 1:
      run(double{}, "double", 1e5, 1e5 + 10, 77.25);
      break;
    case 2:
      run(static_cast<unsigned char>(0), "unsigned char", 0, 255, 77);
      break;
    case 3:
      run(short{}, "short", -1000, 1000, -77);
      break;
    case 4:
      run(std::int64_t{}, "int64", -1e12, 1e12, 77);
      break;
    case 5:
      run(itk::RGBPixel<unsigned char>(), "RGB", 0, 255, 77);
      break;
    default:
      run(itk::Vector<float, 3>(), "Vector", -10, 10, -0.75);
  }
  return result;
}

} // namespace gpuregtest

#endif
