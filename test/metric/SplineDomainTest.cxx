// SPDX-License-Identifier: Apache-2.0
// Tests B-splines whose domain is the image, as in nearly every program: the outermost voxels lie on the ends of the valid region. Compares
// metrics and the resampler with ITK's own classes on each device, at all voxels.
#include "InclusiveSpline.h"
#include "TestAnswer.h"
#include "TestDevices.h"
#include "TestImages.h"
#include "TestSeeds.h"

#include "itkCorrelationImageToImageMetricv4.h"
#include "itkGPUCorrelationImageToImageMetricv4.h"
#include "itkGPUMeanSquaresImageToImageMetricv4.h"
#include "itkGPUResampleImageFilter.h"
#include "itkMeanSquaresImageToImageMetricv4.h"

#include "itkBSplineTransformParametersAdaptor.h"
#include "itkCompositeTransform.h"
#include "itkTranslationTransform.h"

#include <random>
#include <string>
#include <tuple>

namespace gpuregtest
{

namespace
{
/** Returns a grid of random size, spacing, origin and direction; its start index is not 0. */
template <unsigned int VDimension>
Grid<VDimension>
DrawGrid(Random & random)
{
  const auto       draw = [&random](int low, int high) { return low + static_cast<int>(random() % (high - low + 1)); };
  Grid<VDimension> grid;
  const double     unit = std::array<double, 4>{ 0.05, 0.7, 2.0, 25.0 }[static_cast<std::size_t>(draw(0, 3))];
  const double     far = std::array<double, 3>{ 0.0, 200.0, 1e5 }[static_cast<std::size_t>(draw(0, 2))];
  for (unsigned int d = 0; d < VDimension; ++d)
  {
    grid.size[d] = static_cast<itk::SizeValueType>(VDimension == 2 ? draw(20, 61) : draw(9, 20));
    grid.start[d] = draw(-7, 7);
    grid.spacing[d] = unit * Uniform(random, 0.7, 1.5);
    grid.origin[d] = Uniform(random, -far, far);
  }
  switch (draw(0, 2))
  {
    case 0:
      grid.direction = MakeRotation<VDimension>(Uniform(random, -3.0, 3.0));
      break;
    case 1:
      // Axes are reversed and permuted.
      grid.direction.Fill(0.0);
      for (unsigned int d = 0; d < VDimension; ++d)
      {
        grid.direction[d][(d + 1) % VDimension] = draw(0, 1) ? 1.0 : -1.0;
      }
      break;
    default:
      break;
  }
  return grid;
}

/** Returns a grid, and so a spline, whose numbers are exact in doubles: then ITK's own lower end is inside. */
template <unsigned int VDimension>
Grid<VDimension>
DrawRoundGrid(Random & random)
{
  Grid<VDimension> grid;
  for (unsigned int d = 0; d < VDimension; ++d)
  {
    grid.size[d] = VDimension == 2 ? 33 : 9 + 8 * (random() % 2);
    grid.start[d] = static_cast<itk::IndexValueType>(random() % 5);
    grid.spacing[d] = std::array<double, 3>{ 0.5, 1.0, 2.0 }[random() % 3];
    grid.origin[d] = static_cast<double>(random() % 64) - 32.0;
  }
  return grid;
}

/** Returns a spline with random coefficients of up to a voxel, whose domain is the image and whose mesh was refined by ITK's adaptor. */
template <unsigned int VDimension, unsigned int VOrder>
typename itk::BSplineTransform<double, VDimension, VOrder>::Pointer
DrawSpline(Random & random, const itk::ImageBase<VDimension> & image, bool isRound)
{
  using SplineType = itk::BSplineTransform<double, VDimension, VOrder>;
  const auto                                  region = image.GetBufferedRegion();
  typename SplineType::OriginType             origin;
  typename SplineType::PhysicalDimensionsType dimensions;
  typename SplineType::MeshSizeType           mesh, fineMesh;
  image.TransformIndexToPhysicalPoint(region.GetIndex(), origin);
  for (unsigned int d = 0; d < VDimension; ++d)
  {
    dimensions[d] = image.GetSpacing()[d] * (static_cast<double>(region.GetSize(d)) - 1.0);
    mesh[d] = isRound ? 1 << random() % 2 : 1 + random() % 4;
    fineMesh[d] = isRound ? 2 * mesh[d] : mesh[d] + random() % 4;
  }
  const auto spline = SplineType::New();
  spline->SetTransformDomainOrigin(origin);
  spline->SetTransformDomainDirection(image.GetDirection());
  spline->SetTransformDomainPhysicalDimensions(dimensions);
  spline->SetTransformDomainMeshSize(mesh);

  const auto adaptor = itk::BSplineTransformParametersAdaptor<SplineType>::New();
  adaptor->SetTransform(spline);
  adaptor->SetRequiredTransformDomainOrigin(origin);
  adaptor->SetRequiredTransformDomainDirection(image.GetDirection());
  adaptor->SetRequiredTransformDomainPhysicalDimensions(dimensions);
  adaptor->SetRequiredTransformDomainMeshSize(fineMesh);
  adaptor->AdaptTransformParameters();

  auto parameters = spline->GetParameters();
  for (auto & parameter : parameters)
  {
    parameter = Uniform(random, -1.0, 1.0) * image.GetSpacing()[0];
  }
  spline->SetParametersByValue(parameters);
  return spline;
}

/** The ways in which a metric gets the spline. */
enum class Place
{
  Alone,
  InComposite, // as itk::ImageRegistrationMethodv4 passes it
  BehindAnother,
  Count
};

template <unsigned int VDimension>
typename itk::Transform<double, VDimension, VDimension>::Pointer
MakeTransform(Place place, const itk::Transform<double, VDimension, VDimension> & one, double shift)
{
  const auto spline = const_cast<itk::Transform<double, VDimension, VDimension> *>(&one);
  if (place == Place::Alone)
  {
    return spline;
  }
  const auto composite = itk::CompositeTransform<double, VDimension>::New();
  if (place == Place::BehindAnother)
  {
    const auto translation = itk::TranslationTransform<double, VDimension>::New();
    auto       offset = translation->GetOffset();
    offset.Fill(shift);
    translation->SetOffset(offset);
    composite->AddTransform(translation);
  }
  composite->AddTransform(spline);
  composite->SetOnlyMostRecentTransformToOptimizeOn();
  return composite.GetPointer();
}

template <typename TMetric>
Answer
Ask(TMetric &                                 metric,
    const typename TMetric::FixedImageType &  fixed,
    const typename TMetric::MovingImageType & moving,
    typename TMetric::MovingTransformType &   transform)
{
  metric.SetFixedImage(&fixed);
  metric.SetMovingImage(&moving);
  metric.SetVirtualDomainFromImage(&fixed);
  metric.SetMovingTransform(&transform);
  metric.SetUseFixedImageGradientFilter(false);
  metric.SetUseMovingImageGradientFilter(false);
  return InitializeAndAsk(metric);
}

/** Two images on one grid, a spline whose domain is that grid, and the spline that ITK's classes get as the reference: the same one if
 *  numbers are exact. */
template <unsigned int VDimension, unsigned int VOrder, typename TPixel = float>
struct SplineProblem
{
  using ImageType = itk::Image<TPixel, VDimension>;
  using SplineType = itk::BSplineTransform<double, VDimension, VOrder>;

  explicit SplineProblem(std::uint64_t seed)
  {
    Random     random(seed);
    const bool isRound = seed % 3 == 0;
    grid = isRound ? DrawRoundGrid<VDimension>(random) : DrawGrid<VDimension>(random);
    std::tie(fixed, moving) = MakeImagePair<ImageType>(grid, grid, seed);
    spline = DrawSpline<VDimension, VOrder>(random, *fixed, isRound);
    reference = spline;
    if (!isRound)
    {
      reference = InclusiveSpline<VDimension, VOrder>::Make(*spline);
    }
    draw = random();
  }

  Grid<VDimension>             grid;
  typename ImageType::Pointer  fixed;
  typename ImageType::Pointer  moving;
  typename SplineType::Pointer spline;
  typename SplineType::Pointer reference;
  /** A random number for other choices. */
  std::uint64_t draw = 0;
};

class SplineDomainTest : public DeviceTest
{
protected:
  template <template <typename...> class TOurs,
            template <typename...>
            class TReference,
            unsigned int VDimension,
            unsigned int VOrder,
            typename TPixel>
  void
  CheckMetric(std::uint64_t seed)
  {
    using ImageType = itk::Image<TPixel, VDimension>;
    SCOPED_TRACE(std::to_string(VDimension) + "D, order " + std::to_string(VOrder));
    const SplineProblem<VDimension, VOrder, TPixel> problem(seed);
    const auto place = static_cast<Place>(problem.draw % static_cast<unsigned int>(Place::Count));

    const auto reference = TReference<ImageType, ImageType>::New();
    const auto ours = TOurs<ImageType, ImageType>::New();
    ours->SetDevice(this->GetDevice());
    const double shift = 0.3 * problem.grid.spacing[0];
    const auto   expected =
      Ask(*reference, *problem.fixed, *problem.moving, *MakeTransform<VDimension>(place, *problem.reference, shift));
    const auto found =
      Ask(*ours, *problem.fixed, *problem.moving, *MakeTransform<VDimension>(place, *problem.spline, shift));
    EXPECT_EQ(found.validPoints, expected.validPoints);
    EXPECT_NEAR(found.value, expected.value, 1e-6 * std::abs(expected.value));
    EXPECT_NEAR(found.valueAlone, expected.value, 1e-6 * std::abs(expected.value));
    EXPECT_LT(GetRelativeError(found.derivative, expected.derivative), 1e-5);
    EXPECT_TRUE(ours->GetEvaluationStatistics().launches > 0 || this->GetDevice().GetName() == "host");
  }

  /** Compares a metric. \tparam TPixel the images' pixels; those of double are moved in fixed point */
  template <template <typename...> class TOurs, template <typename...> class TReference, typename TPixel = float>
  void
  CheckMetricOfEachOrder(std::uint64_t seed)
  {
    this->CheckMetric<TOurs, TReference, 2, 1, TPixel>(seed);
    this->CheckMetric<TOurs, TReference, 2, 2, TPixel>(seed);
    this->CheckMetric<TOurs, TReference, 2, 3, TPixel>(seed);
    this->CheckMetric<TOurs, TReference, 3, 1, TPixel>(seed);
    this->CheckMetric<TOurs, TReference, 3, 2, TPixel>(seed);
    this->CheckMetric<TOurs, TReference, 3, 3, TPixel>(seed);
  }

  /** Compares the resampler; image and output have the same grid, and one output is a first or last plane alone. */
  template <unsigned int VDimension, unsigned int VOrder>
  void
  CheckResampler(std::uint64_t seed)
  {
    using ImageType = itk::Image<float, VDimension>;
    SCOPED_TRACE(std::to_string(VDimension) + "D, order " + std::to_string(VOrder));
    const SplineProblem<VDimension, VOrder> problem(seed);
    const auto                              reference = itk::ResampleImageFilter<ImageType, ImageType>::New();
    const auto                              filter = itk::GPUResampleImageFilter<ImageType, ImageType>::New();
    filter->SetDevice(this->GetDevice());
    for (auto * const resample :
         { reference.GetPointer(), static_cast<itk::ResampleImageFilter<ImageType, ImageType> *>(filter) })
    {
      resample->SetInput(problem.moving);
      resample->SetDefaultPixelValue(-1000.0f);
      resample->SetOutputParametersFromImage(problem.fixed);
      resample->SetOutputStartIndex(problem.grid.start);
    }
    reference->SetTransform(problem.reference);
    filter->SetTransform(problem.spline);
    reference->UpdateLargestPossibleRegion();
    filter->UpdateLargestPossibleRegion();
    ExpectSame(*filter->GetOutput(), *reference->GetOutput(), problem.grid);
    // The last plane along an axis alone, as a streaming pipeline requests it.
    const unsigned int axis = problem.draw % VDimension;
    auto               region = problem.fixed->GetBufferedRegion();
    region.SetIndex(axis, region.GetUpperIndex()[axis]);
    region.SetSize(axis, 1);
    filter->Modified();
    filter->GetOutput()->SetRequestedRegion(region);
    filter->Update();
    ExpectSame(*filter->GetOutput(), *reference->GetOutput(), problem.grid);
  }

  /** Compares a metric over the first image's buffered region. */
  template <unsigned int VDimension>
  static void
  ExpectSame(const itk::Image<float, VDimension> & image,
             const itk::Image<float, VDimension> & expected,
             const Grid<VDimension> &              grid)
  {
    int wrong = 0;
    for (itk::ImageRegionConstIteratorWithIndex<itk::Image<float, VDimension>> it(&image, image.GetBufferedRegion());
         !it.IsAtEnd();
         ++it)
    {
      const bool isWrong = !(std::abs(it.Get() - expected.GetPixel(it.GetIndex())) < 2e-3);
      if (isWrong && wrong == 0)
      {
        ADD_FAILURE() << it.Get() << " at " << it.GetIndex() << " of " << grid.size << " from " << grid.start
                      << ", not " << expected.GetPixel(it.GetIndex());
      }
      wrong += isWrong;
    }
    EXPECT_EQ(wrong, 0);
  }
};
} // namespace

TEST_P(SplineDomainTest, MeanSquares)
{
  ForEachSeed(1, 6, [this](std::uint64_t seed) {
    this->CheckMetricOfEachOrder<itk::GPUMeanSquaresImageToImageMetricv4, itk::MeanSquaresImageToImageMetricv4>(seed);
  });
}

TEST_P(SplineDomainTest, MeanSquaresInFixedPoint)
{
  ForEachSeed(500, 3, [this](std::uint64_t seed) {
    this->CheckMetricOfEachOrder<itk::GPUMeanSquaresImageToImageMetricv4, itk::MeanSquaresImageToImageMetricv4, double>(
      seed);
  });
}

TEST_P(SplineDomainTest, Correlation)
{
  ForEachSeed(1000, 3, [this](std::uint64_t seed) {
    this->CheckMetricOfEachOrder<itk::GPUCorrelationImageToImageMetricv4, itk::CorrelationImageToImageMetricv4>(seed);
  });
}

TEST_P(SplineDomainTest, Resampling)
{
  ForEachSeed(2000, 9, [this](std::uint64_t seed) {
    this->CheckResampler<2, 1>(seed);
    this->CheckResampler<2, 2>(seed);
    this->CheckResampler<2, 3>(seed);
    this->CheckResampler<3, 1>(seed);
    this->CheckResampler<3, 2>(seed);
    this->CheckResampler<3, 3>(seed);
  });
}

INSTANTIATE_TEST_SUITE_P(Devices, SplineDomainTest, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace gpuregtest
