// SPDX-License-Identifier: Apache-2.0
// The filters of volumes beside ITK's, in random set-ups: sizes, spacings, sigmas, orders, factors, schedules.
// GPUREG_TEST_SEED=(that of a case) GPUREG_TEST_CASES=1 makes one again.
#include "RandomGrid.h"
#include "TestSeeds.h"
#include "VolumeFilterCase.h"

#include "itkGPUBSplineDecompositionImageFilter.h"
#include "itkGPUMultiResolutionPyramidImageFilter.h"
#include "itkGPURecursiveGaussianImageFilter.h"
#include "itkGPURecursiveMultiResolutionPyramidImageFilter.h"
#include "itkGPUShrinkImageFilter.h"
#include "itkGPUSmoothingRecursiveGaussianImageFilter.h"

namespace gpuregtest
{
namespace
{

/** Of the waves that are filtered. */
constexpr double InputRange = 1100.0;

/** Whether a grid's axes are those of space, in any order and direction. */
template <unsigned int VDimension>
bool
IsAlongAxes(const Grid<VDimension> & grid)
{
  for (unsigned int r = 0; r < VDimension; ++r)
  {
    for (unsigned int c = 0; c < VDimension; ++c)
    {
      if (grid.direction[r][c] != 0 && std::abs(grid.direction[r][c]) != 1)
      {
        return false;
      }
    }
  }
  return true;
}

class VolumeFilterFuzz : public DeviceTest
{
protected:
  /** Configures both filters alike, and compares all outputs; what ITK refuses, ours is to refuse, too, unless it may
   *  do more. The same bits on any number of threads. Returns whether there was something to compare. */
  template <typename TReference, typename TFilter, typename TConfigure>
  bool
  Compare(const typename TFilter::InputImageType & input,
          const TConfigure &                       configure,
          double                                   tolerance,
          double                                   range = InputRange,
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
      for (unsigned int n = 0; n < filter->GetNumberOfIndexedOutputs() && !isRefused && !isRefusedToo; ++n)
      {
        const typename ImageType::Pointer output = filter->GetOutput(n);
        if (threads == 2)
        {
          const bool isInteger = std::is_integral<typename ImageType::PixelType>::value;
          EXPECT_LE(GetNrmse(*reference->GetOutput(n), *output, isInteger && tolerance > 0, range), tolerance)
            << filter->GetNameOfClass() << ", output " << n;
          once.push_back(output);
        }
        else
        {
          EXPECT_TRUE(HaveSameBits(*once[n], *output)) << filter->GetNameOfClass() << " on " << threads << " threads";
        }
      }
    }
    return !isRefused;
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
    // A derivative's sign, cut off to an unsigned integer, means nothing.
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
      1e-5,
      // A derivative is measured by itself.
      order == itk::GaussianOrderEnum::ZeroOrder ? InputRange : 0);
    m_Compared += this->Compare<itk::SmoothingRecursiveGaussianImageFilter<TImage, TImage>,
                                itk::GPUSmoothingRecursiveGaussianImageFilter<TImage, TImage>>(
      input,
      [&](auto & filter) {
        filter.SetSigma(sigma);
        filter.SetNormalizeAcrossScale(normalizes);
      },
      1e-5);
  }

  template <typename TImage>
  void
  CompareDecomposition(const TImage & input, Random & random)
  {
    const unsigned int order = Draw(random, 6);
    SCOPED_TRACE("B-spline order " + std::to_string(order));
    m_Compared += this->Compare<itk::BSplineDecompositionImageFilter<TImage, TImage>,
                                itk::GPUBSplineDecompositionImageFilter<TImage, TImage>>(
      input, [&](auto & filter) { filter.SetSplineOrder(order); }, 1e-5);
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
      input, [&](auto & filter) { filter.SetShrinkFactors(factors); }, 0.0);
  }

  /** ITK's pyramids interpolate where its rounding puts a voxel: start indices and factors are such that none is put on
   *  the very edge of the image. What ITK's own filters cannot agree about, ours may do. */
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
    const bool         shrinks = Chance(random, 2);
    const double       error = Chance(random, 2) ? 0.1 : 0.003;
    std::ostringstream words;
    words << (shrinks ? "shrinks, " : "interpolates, ") << "error " << error << ", schedule\n"
          << schedule << Describe(grid);
    SCOPED_TRACE(words.str());
    const auto configure = [&](auto & filter) {
      filter.SetNumberOfLevels(schedule.rows());
      filter.SetSchedule(schedule);
      filter.SetUseShrinkImageFilter(shrinks);
      filter.SetMaximumError(error);
    };
    // Integers are cut off, and show the last bit of what they are made from: where the axes are those of space ours is
    // ITK's, elsewhere a level is made from integers of which some are one apart.
    const bool   isInteger = std::is_integral<typename TImage::PixelType>::value;
    const bool   isFloat = std::is_same<typename TImage::PixelType, float>::value;
    const double tolerance = isInteger ? (IsAlongAxes(grid) ? 0.0 : 2e-3) : (isFloat ? 5e-7 : 1e-13);
    m_Compared += this->Compare<itk::MultiResolutionPyramidImageFilter<TImage, TImage>,
                                itk::GPUMultiResolutionPyramidImageFilter<TImage, TImage>>(
      *input, configure, tolerance, InputRange, true);
    m_Compared += this->Compare<itk::RecursiveMultiResolutionPyramidImageFilter<TImage, TImage>,
                                itk::GPURecursiveMultiResolutionPyramidImageFilter<TImage, TImage>>(
      *input, configure, tolerance, InputRange, true);
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

  std::uint64_t m_Compared = 0;
};

TEST_P(VolumeFilterFuzz, RandomSetUps)
{
  const std::uint64_t count = ForEachSeed(1993, 200, [&](std::uint64_t seed) {
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
  });
  std::cout << m_Compared << " comparisons" << std::endl;
  // Of a few cases, it may be all.
  if (count >= 20)
  {
    EXPECT_GE(m_Compared, 3 * count) << "too much of what was drawn is refused";
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, VolumeFilterFuzz, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace
} // namespace gpuregtest
