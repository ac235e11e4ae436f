// SPDX-License-Identifier: Apache-2.0
// Compares the volume filters with ITK's in random set-ups: sizes, spacings, sigmas, orders, factors, schedules. GPUREG_TEST_SEED=(a case's
// seed) GPUREG_TEST_CASES=1 repeats a case.
#include "PyramidRounding.h"
#include "RandomGrid.h"
#include "TestSeeds.h"
#include "VolumeFilterCase.h"

#include "itkGPUBSplineDecompositionImageFilter.h"
#include "itkGPUMultiResolutionPyramidImageFilter.h"
#include "itkGPURecursiveGaussianImageFilter.h"
#include "itkGPURecursiveMultiResolutionPyramidImageFilter.h"
#include "itkGPUShrinkImageFilter.h"
#include "itkGPUSmoothingRecursiveGaussianImageFilter.h"

#include <atomic>

namespace gpuregtest
{
namespace
{

/** The range of the waves that are filtered. */
constexpr double InputRange = 1100.0;

/** Returns the same voxels in the simplest geometry, in which every point is an integer index. */
template <typename TImage>
typename TImage::Pointer
MoveToTheOrigin(const TImage & image)
{
  auto moved = TImage::New();
  moved->SetRegions(image.GetBufferedRegion());
  moved->Allocate();
  std::copy_n(image.GetBufferPointer(), image.GetBufferedRegion().GetNumberOfPixels(), moved->GetBufferPointer());
  return moved;
}

class VolumeFilterFuzz : public DeviceTest
{
protected:
  /** Configures both filters identically, and checks their outputs. Inputs that ITK refuses must be refused by ours, too, unless it may
   *  accept more. Outputs must be equal to the bit for any number of threads. Returns true if there was something to compare. */
  template <typename TReference, typename TFilter, typename TConfigure, typename TCheck>
  bool
  Compare(const typename TFilter::InputImageType & input,
          const TConfigure &                       configure,
          const TCheck &                           check,
          bool                                     mayDoMore = false)
  {
    using ImageType = typename TFilter::OutputImageType;
    auto reference = TReference::New();
    configure(*reference);
    reference->SetInput(&input);
    const bool isRefused = this->IsRefused(*reference);

    std::vector<typename ImageType::Pointer> once;
    for (const unsigned int threads : { 2u, 1u, 7u })
    {
      auto filter = TFilter::New();
      filter->SetDevice(this->GetDevice());
      configure(*filter);
      filter->SetInput(&input);
      filter->SetNumberOfWorkUnits(threads);
      const bool isRefusedToo = this->IsRefused(*filter);
      EXPECT_TRUE(isRefusedToo == isRefused || (isRefused && mayDoMore)) << filter->GetNameOfClass();
      if (isRefused || isRefusedToo)
      {
        continue;
      }
      if (once.empty())
      {
        SCOPED_TRACE(filter->GetNameOfClass());
        check(*reference, *filter);
      }
      for (unsigned int n = 0; n < filter->GetNumberOfIndexedOutputs(); ++n)
      {
        if (n == once.size())
        {
          once.push_back(filter->GetOutput(n));
        }
        EXPECT_TRUE(HaveSameBits(*once[n], *filter->GetOutput(n)))
          << filter->GetNameOfClass() << " on " << threads << " threads";
      }
    }
    return !isRefused;
  }

  /** Returns a check that an output's nRMSE is at most `tolerance`. If the tolerance is not 0, integers may differ by one. */
  static auto
  MakeNrmseCheck(double tolerance, double range = InputRange)
  {
    return [=](auto & reference, auto & filter) {
      const auto & expected = *reference.GetOutput();
      const bool   isInteger = std::is_integral<std::decay_t<decltype(expected.GetPixel({}))>>::value;
      EXPECT_LE(GetNrmse(expected, *filter.GetOutput(), isInteger && tolerance > 0, range), tolerance);
    };
  }

  /** The settings of a pyramid's levels. */
  struct PyramidSetUp
  {
    itk::Array2D<unsigned int> schedule;
    bool                       shrinks;
    double                     error;
  };

  /** Compares every level with ITK's, within the bounds of rounding. A level of a recursive pyramid is made from the one before, with
   *  its errors, which smoothing and interpolation do not enlarge. */
  template <typename TPyramid, typename TFilter>
  static void
  CheckLevels(TPyramid &                                reference,
              TFilter &                                 filter,
              const typename TPyramid::InputImageType & input,
              const PyramidSetUp &                      setUp)
  {
    using ImageType = typename TPyramid::OutputImageType;
    constexpr unsigned int Dimension = ImageType::ImageDimension;
    using RecursiveType = itk::RecursiveMultiResolutionPyramidImageFilter<ImageType, ImageType>;
    constexpr bool IsRecursive = std::is_same<TPyramid, RecursiveType>::value;
    const auto     levels = static_cast<unsigned int>(setUp.schedule.rows());
    double         tolerance = 0;
    for (unsigned int level = levels; level-- > 0;)
    {
      const bool                isFromBefore = IsRecursive && level + 1 < levels;
      const ImageType &         image = isFromBefore ? *reference.GetOutput(level + 1) : input;
      const ImageType &         expected = *reference.GetOutput(level);
      PyramidFactors<Dimension> factors;
      bool                      isCopy = IsRecursive;
      for (unsigned int d = 0; d < Dimension; ++d)
      {
        factors[d] = setUp.schedule[level][d] / (isFromBefore ? setUp.schedule[level + 1][d] : 1);
        isCopy = isCopy && factors[d] == 1;
      }
      tolerance = isFromBefore ? tolerance : 0;
      if constexpr (std::is_integral<typename ImageType::PixelType>::value)
      {
        // Truncated integers show the last bit of the values from which they are made. Ours equal ITK's unless ITK's rounding moves each
        // row differently: then a level may add a difference of one.
        tolerance += isCopy || setUp.shrinks || AreRowsEqual<Dimension>(image, expected) ? 0 : 1;
      }
      else
      {
        tolerance += isCopy ? 0 : ComputeLevelTolerance(image, expected, factors, !setUp.shrinks);
      }
      EXPECT_EQ(CountFurtherApart(expected, *filter.GetOutput(level), tolerance), 0u)
        << "further apart than " << tolerance << ", level " << level;
    }
  }

  template <typename TFilter>
  static bool
  IsRefused(TFilter & filter)
  {
    try
    {
      filter.Update();
      return false;
    }
    catch (const itk::ExceptionObject &)
    {
      return true;
    }
  }

  template <typename TImage>
  void
  CompareGaussian(const TImage & input, Random & random)
  {
    const bool isInteger = std::is_integral<typename TImage::PixelType>::value;
    // From a fraction of a voxel to most of the image.
    const unsigned int axis = Draw(random, TImage::ImageDimension);
    const double       sigma = input.GetSpacing()[axis] * std::pow(10.0, Uniform(random, -0.4, 1.4));
    // A derivative's sign is lost if the derivative is truncated to an unsigned integer.
    const auto order = static_cast<itk::GaussianOrderEnum>(isInteger ? 0 : Draw(random, 3));
    const bool normalizes = Chance(random, 2);
    SCOPED_TRACE("sigma " + std::to_string(sigma) + ", axis " + std::to_string(axis) + ", order " +
                 std::to_string(static_cast<int>(order)) + (normalizes ? ", normalised" : ""));
    m_Compared += this->Compare<itk::RecursiveGaussianImageFilter<TImage, TImage>,
                                itk::GPURecursiveGaussianImageFilter<TImage, TImage>>(
      input,
      [&](auto & filter) {
        filter.SetSigma(sigma);
        filter.SetDirection(axis);
        filter.SetOrder(order);
        filter.SetNormalizeAcrossScale(normalizes);
      },
      // The error of a derivative is relative to its own range.
      MakeNrmseCheck(1e-6, order == itk::GaussianOrderEnum::ZeroOrder ? InputRange : 0));
    m_Compared += this->Compare<itk::SmoothingRecursiveGaussianImageFilter<TImage, TImage>,
                                itk::GPUSmoothingRecursiveGaussianImageFilter<TImage, TImage>>(
      input,
      [&](auto & filter) {
        filter.SetSigma(sigma);
        filter.SetNormalizeAcrossScale(normalizes);
      },
      MakeNrmseCheck(1e-6));
  }

  template <typename TImage>
  void
  CompareDecomposition(const TImage & input, Random & random)
  {
    const unsigned int order = Draw(random, 6);
    SCOPED_TRACE("B-spline order " + std::to_string(order));
    m_Compared += this->Compare<itk::BSplineDecompositionImageFilter<TImage, TImage>,
                                itk::GPUBSplineDecompositionImageFilter<TImage, TImage>>(
      input, [&](auto & filter) { filter.SetSplineOrder(order); }, MakeNrmseCheck(1e-6));
  }

  template <typename TImage>
  void
  CompareShrink(const TImage & input, Random & random)
  {
    typename itk::ShrinkImageFilter<TImage, TImage>::ShrinkFactorsType factors;
    for (auto & factor : factors)
    {
      factor = 1 + Draw(random, 7);
    }
    SCOPED_TRACE("factors " + ::testing::PrintToString(factors));
    m_Compared += this->Compare<itk::ShrinkImageFilter<TImage, TImage>, itk::GPUShrinkImageFilter<TImage, TImage>>(
      input, [&](auto & filter) { filter.SetShrinkFactors(factors); }, MakeNrmseCheck(0.0));
  }

  /** ITK's pyramids interpolate at rounded positions: start indices and factors are chosen such that none lies exactly on the edge of
   *  the image. Where ITK's own filters disagree, ours may give either result. */
  template <typename TImage>
  void
  ComparePyramids(Grid<TImage::ImageDimension> grid, std::uint64_t seed, Random & random)
  {
    for (unsigned int d = 0; d < TImage::ImageDimension; ++d)
    {
      grid.start[d] = 48 * (static_cast<int>(Draw(random, 5)) - 2);
    }
    const auto                 input = MakeWaves<TImage>(grid, seed);
    itk::Array2D<unsigned int> schedule(1 + Draw(random, 4), TImage::ImageDimension);
    for (unsigned int d = 0; d < schedule.cols(); ++d)
    {
      const auto   most = static_cast<unsigned int>(grid.size[d]);
      unsigned int factor = std::min(1 + Draw(random, 3), most);
      for (unsigned int level = schedule.rows(); level-- > 0; factor *= 2 * factor <= most ? 1 + Draw(random, 2) : 1)
      {
        schedule[level][d] = factor;
      }
    }
    PyramidSetUp setUp;
    setUp.schedule = schedule;
    setUp.shrinks = Chance(random, 2);
    setUp.error = Chance(random, 2) ? 0.1 : 0.003;
    std::ostringstream words;
    words << (setUp.shrinks ? "shrinks, " : "interpolates, ") << "error " << setUp.error << ", schedule\n"
          << schedule << Describe(grid);
    SCOPED_TRACE(words.str());
    this->ComparePyramid<itk::MultiResolutionPyramidImageFilter<TImage, TImage>,
                         itk::GPUMultiResolutionPyramidImageFilter<TImage, TImage>>(*input, setUp);
    this->ComparePyramid<itk::RecursiveMultiResolutionPyramidImageFilter<TImage, TImage>,
                         itk::GPURecursiveMultiResolutionPyramidImageFilter<TImage, TImage>>(*input, setUp);
  }

  /** Compares our levels with ITK's. Levels of real numbers are also compared with levels of the same voxels at the origin, since our
   *  levels do not depend on ITK's rounding of points. */
  template <typename TReference, typename TFilter>
  void
  ComparePyramid(const typename TReference::InputImageType & input, const PyramidSetUp & setUp)
  {
    using PixelType = typename TReference::InputImageType::PixelType;
    const auto configure = [&](auto & filter) {
      filter.SetNumberOfLevels(static_cast<unsigned int>(setUp.schedule.rows()));
      filter.SetSchedule(setUp.schedule);
      filter.SetUseShrinkImageFilter(setUp.shrinks);
      filter.SetMaximumError(setUp.error);
    };
    const auto check = [&](TReference & reference, TFilter & filter) {
      CheckLevels(reference, filter, input, setUp);
      if (std::is_floating_point<PixelType>::value && !setUp.shrinks)
      {
        SCOPED_TRACE("at the origin");
        const auto moved = MoveToTheOrigin(input);
        auto       there = TReference::New();
        configure(*there);
        there->SetInput(moved);
        there->Update();
        CheckLevels(*there, filter, *moved, setUp);
      }
    };
    m_Compared += this->Compare<TReference, TFilter>(input, configure, check, true);
  }

  template <typename TImage>
  void
  Run(std::uint64_t seed)
  {
    Random random(seed);
    auto   grid = DrawGrid<TImage::ImageDimension>(random, 4000);
    SCOPED_TRACE(std::string(typeid(TImage).name()) + " " + Describe(grid));
    const auto input = MakeWaves<TImage>(grid, seed);
    this->CompareGaussian(*input, random);
    this->CompareShrink(*input, random);
    if constexpr (std::is_floating_point<typename TImage::PixelType>::value)
    {
      this->CompareDecomposition(*input, random);
    }
    this->ComparePyramids<TImage>(grid, seed, random);
  }

  void
  RunRandomCase(std::uint64_t seed)
  {
    switch (seed % 5)
    {
      case 0:
        this->Run<itk::Image<float, 2>>(seed);
        break;
      case 1:
        this->Run<itk::Image<float, 3>>(seed);
        break;
      case 2:
        this->Run<itk::Image<short, 2>>(seed);
        break;
      case 3:
        this->Run<itk::Image<short, 3>>(seed);
        break;
      default:
        this->Run<itk::Image<double, 3>>(seed);
    }
  }

  std::atomic<std::uint64_t> m_Compared{ 0 };
};

TEST_P(VolumeFilterFuzz, RandomSetUps)
{
  const std::uint64_t count = ForEachSeed(
    1993, 200, [this](std::uint64_t seed) { this->RunRandomCase(seed); }, GetCaseThreads());
  std::cout << m_Compared << " comparisons" << std::endl;
  // With few cases, all may have been left out.
  if (count >= 20)
  {
    EXPECT_GE(m_Compared, 3 * count) << "too many of the drawn cases are refused";
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, VolumeFilterFuzz, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace
} // namespace gpuregtest
