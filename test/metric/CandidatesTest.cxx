// SPDX-License-Identifier: Apache-2.0
// Tests that the values of many candidates in one call equal those that GetValue() gives one by one.
#include "EachMetric.h"
#include "Listening.h"
#include "TestDevices.h"
#include "TestImages.h"
#include "TestThreads.h"

#include "gpureg/runtime/Device.h"
#include "itkGPUError.h"

#include "itkAffineTransform.h"
#include "itkBSplineInterpolateImageFunction.h"
#include "itkCompositeTransform.h"
#include "itkEuler3DTransform.h"
#include "itkImageMaskSpatialObject.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

namespace gpuregtest
{
namespace
{
using ImageType = TestImage<float, 3>;
using TransformType = itk::AffineTransform<double, 3>;
using ParametersType = TransformType::ParametersType;

/** An affine transform that refuses some translations along x, either as parameters or when it maps points. */
class RefusingTransform : public TransformType
{
public:
  using Self = RefusingTransform;
  using Superclass = TransformType;
  using Pointer = itk::SmartPointer<Self>;
  using ParametersType = Superclass::ParametersType;
  using InputPointType = Superclass::InputPointType;
  using OutputPointType = Superclass::OutputPointType;
  itkNewMacro(Self);
  itkTypeMacro(RefusingTransform, itk::AffineTransform);

  static constexpr double       RefusedAsParameter = 4096;
  static constexpr double       RefusedForPoints = 8192;
  static constexpr const char * Words = "not this translation";

  void
  SetParameters(const ParametersType & parameters) override
  {
    if (parameters[9] == RefusedAsParameter)
    {
      throw itk::ExceptionObject(__FILE__, __LINE__, Words);
    }
    Superclass::SetParameters(parameters);
  }

  OutputPointType
  TransformPoint(const InputPointType & point) const override
  {
    if (this->GetTranslation()[0] == RefusedForPoints)
    {
      throw itk::ExceptionObject(__FILE__, __LINE__, Words);
    }
    return Superclass::TransformPoint(point);
  }
};

/** True if a metric's values do not depend on the number of candidates to the bit, as for a metric that counts whole samples. */
template <typename TMetric>
constexpr bool HasTheSameBits =
  std::is_same<TMetric, itk::GPUJointHistogramMutualInformationImageToImageMetricv4<ImageType, ImageType>>::value;

class Candidates : public DeviceTest
{
protected:
  Candidates()
  {
    this->MakeImages({ { 31, 26, 19 } });
  }

  void
  MakeImages(const itk::Size<3> & size)
  {
    Grid<3> grid;
    grid.size = size;
    grid.spacing[0] = 1.3;
    grid.origin.Fill(-500);
    Grid<3> movingGrid = grid;
    movingGrid.size = { { 29, 30, 17 } };
    std::tie(m_Fixed, m_Moving) = MakeImagePair<ImageType>(grid, movingGrid, 5);
  }

  template <typename TMetric>
  void
  SetUp(TMetric & metric) const
  {
    metric.SetDevice(this->GetDevice());
    metric.SetFixedImage(m_Fixed);
    metric.SetMovingImage(m_Moving);
    metric.SetMovingTransform(m_Transform);
  }

  /** Returns a mask of all voxels except those in one of the image's corners. */
  static itk::ImageMaskSpatialObject<3>::Pointer
  MakeMask(const ImageType & image)
  {
    using MaskImageType = itk::Image<unsigned char, 3>;
    const auto maskImage = MaskImageType::New();
    maskImage->CopyInformation(&image);
    maskImage->SetRegions(image.GetBufferedRegion());
    maskImage->Allocate();
    itk::ImageRegionIteratorWithIndex<MaskImageType> voxel(maskImage, maskImage->GetBufferedRegion());
    for (; !voxel.IsAtEnd(); ++voxel)
    {
      const auto & index = voxel.GetIndex();
      voxel.Set(index[0] < 9 && index[1] < 11 && index[2] < 9 ? 0 : 1);
    }
    const auto mask = itk::ImageMaskSpatialObject<3>::New();
    mask->SetImage(maskImage);
    mask->Update();
    return mask;
  }

  /** Returns candidates about the middle of the images; the last one leads out of the moving image. */
  std::vector<ParametersType>
  MakeCandidates(std::size_t count) const
  {
    TransformType::InputPointType centre;
    m_Fixed->TransformIndexToPhysicalPoint({ { 15, 13, 9 } }, centre);
    m_Transform->SetCenter(centre);
    Random                      random(11);
    std::vector<ParametersType> candidates;
    for (std::size_t n = 0; n < count; ++n)
    {
      ParametersType parameters = m_Transform->GetParameters();
      for (unsigned int p = 0; p < parameters.GetSize(); ++p)
      {
        parameters[p] += (p < 9 ? 0.2 : 4.0) * Uniform(random, -1, 1);
      }
      candidates.push_back(parameters);
    }
    candidates.back()[9] += 1e6;
    return candidates;
  }

  /** Expects one call to give the values of many calls, and to change nothing else. */
  template <typename TMetric>
  static void
  ExpectAsOneByOne(TMetric & metric, const std::vector<ParametersType> & candidates)
  {
    auto &               transform = *metric.GetModifiableMovingTransform();
    const ParametersType before = transform.GetParameters();
    const auto           value = metric.GetValue();
    const auto           points = metric.GetNumberOfValidPoints();
    const auto           values = metric.GetValues(candidates);
    EXPECT_EQ(transform.GetParameters(), before);
    EXPECT_EQ(metric.GetCurrentValue(), value);
    EXPECT_EQ(metric.GetNumberOfValidPoints(), points);
    EXPECT_EQ(values, metric.GetValues(candidates)) << "bit for bit";
    vnl_matrix<double> rows(static_cast<unsigned int>(candidates.size()), candidates.front().GetSize());
    for (unsigned int n = 0; n < rows.rows(); ++n)
    {
      rows.set_row(n, candidates[n]);
    }
    const vnl_vector<double> ofRows = metric.GetValuesOfRows(rows);
    EXPECT_TRUE(std::equal(values.begin(), values.end(), ofRows.begin(), ofRows.end())) << "bit for bit";
    ASSERT_EQ(values.size(), candidates.size());
    EXPECT_EQ(values.back(), std::numeric_limits<double>::max());
    for (std::size_t n = 0; n < candidates.size(); ++n)
    {
      ExpectAsByItself(metric, candidates, values, n);
    }
    transform.SetParameters(before);
  }

  /** Compares a candidate's value with GetValue(), and leaves the candidate's parameters in the transform. */
  template <typename TMetric>
  static void
  ExpectAsByItself(TMetric &                           metric,
                   const std::vector<ParametersType> & candidates,
                   const std::vector<double> &         values,
                   std::size_t                         n)
  {
    metric.GetModifiableMovingTransform()->SetParameters(candidates[n]);
    if (HasTheSameBits<TMetric>)
    {
      EXPECT_EQ(values[n], metric.GetValue()) << "candidate " << n;
    }
    // Some metrics throw an exception if nothing overlaps.
    else if (n + 1 < candidates.size())
    {
      const double wanted = metric.GetValue();
      EXPECT_NEAR(values[n], wanted, 1e-6 * std::abs(wanted) + 1e-9) << "candidate " << n;
    }
  }

  /** Expects candidates of several batches to have their own values: those at the beginning, at the end and around these places. */
  template <typename TMetric>
  static void
  ExpectAsSomeOneByOne(TMetric &                           metric,
                       const std::vector<ParametersType> & candidates,
                       const std::vector<std::size_t> &    places)
  {
    SCOPED_TRACE(metric.GetNameOfClass());
    const ParametersType before = metric.GetModifiableMovingTransform()->GetParameters();
    const auto           values = metric.GetValues(candidates);
    ASSERT_EQ(values.size(), candidates.size());
    EXPECT_EQ(std::count(values.begin(), values.end(), std::numeric_limits<double>::max()), 1) << "of the last";
    EXPECT_EQ(values.back(), std::numeric_limits<double>::max());
    ExpectAsByItself(metric, candidates, values, 0);
    for (const std::size_t place : places)
    {
      ExpectAsByItself(metric, candidates, values, place - 1);
      ExpectAsByItself(metric, candidates, values, place);
      ExpectAsByItself(metric, candidates, values, place + 1);
    }
    ExpectAsByItself(metric, candidates, values, candidates.size() - 2);
    ExpectAsByItself(metric, candidates, values, candidates.size() - 1);
    metric.GetModifiableMovingTransform()->SetParameters(before);
  }

  ImageType::Pointer           m_Fixed;
  ImageType::Pointer           m_Moving;
  const TransformType::Pointer m_Transform = TransformType::New();
};

TEST_P(Candidates, HaveTheValuesThatEachHasByItself)
{
  const PlatformThreads platformThreads;
  const auto            candidates = this->MakeCandidates(40);
  ForEachMetric<ImageType>([&](const auto & metric, const char * name) {
    SCOPED_TRACE(name);
    this->SetUp(*metric);
    metric->Initialize();
    ExpectAsOneByOne(*metric, candidates);
    EXPECT_TRUE(metric->GetValues({}).empty());
    const auto values = metric->GetValues(candidates);
    for (const unsigned int threads : { 1u, 2u, 7u })
    {
      PlatformThreads::Set(*metric, threads);
      EXPECT_EQ(metric->GetValues(candidates), values) << threads << " threads";
    }
  });
}

/** Several batches, of which the last one is smaller, for each way to sum a batch. */
TEST_P(Candidates, FillSeveralBatches)
{
  const auto candidates = this->MakeCandidates(1101);
  const auto check = [&](const auto & metric) {
    this->SetUp(*metric);
    metric->Initialize();
    ExpectAsSomeOneByOne(*metric, candidates, { 256, 276, 552, 828 });
  };
  check(itk::CudaMattesNMI<ImageType, ImageType>::New());
  check(itk::CudaCorrelationRatioMetric<ImageType, ImageType>::New());
  check(itk::GPUJointHistogramMutualInformationImageToImageMetricv4<ImageType, ImageType>::New());
  check(itk::GPUCorrelationImageToImageMetricv4<ImageType, ImageType>::New());
  check(itk::GPUANTSNeighborhoodCorrelationImageToImageMetricv4<ImageType, ImageType>::New());
}

/** Neighborhoods that fit into a tile, several candidates in one launch; and neighborhoods that fit into no tile, one candidate after
 *  the other. */
TEST_P(Candidates, OfNeighborhoodsOfAnySize)
{
  using MetricType = itk::GPUANTSNeighborhoodCorrelationImageToImageMetricv4<ImageType, ImageType>;
  const auto candidates = this->MakeCandidates(25);
  const bool isHost = this->GetDevice().GetName() == "host";
  for (const MetricType::RadiusType & radius : { MetricType::RadiusType{ { 0, 0, 0 } },
                                                 MetricType::RadiusType{ { 1, 3, 2 } },
                                                 MetricType::RadiusType{ { 4, 4, 4 } },
                                                 MetricType::RadiusType{ { 2, 40, 2 } } })
  {
    SCOPED_TRACE(radius);
    const auto metric = MetricType::New();
    this->SetUp(*metric);
    metric->SetRadius(radius);
    metric->Initialize();
    ExpectAsOneByOne(*metric, candidates);
    metric->GetValues(candidates);
    if (!isHost && radius[1] <= 4 && gpureg::HasDoubles(this->GetDevice().GetName()))
    {
      EXPECT_EQ(metric->GetEvaluationStatistics().launches, 3) << "of all of them";
    }
  }
}

/** A moving mask needs other kernels; outside of a fixed mask, voxels have no value. */
TEST_P(Candidates, OfNeighborhoodsInMasks)
{
  using MetricType = itk::GPUANTSNeighborhoodCorrelationImageToImageMetricv4<ImageType, ImageType>;
  this->MakeImages({ { 18, 16, 12 } });
  const auto candidates = this->MakeCandidates(6);
  const auto fixedMask = MakeMask(*m_Fixed);
  const auto movingMask = MakeMask(*m_Moving);
  for (const MetricType::RadiusType & radius :
       { MetricType::RadiusType{ { 1, 3, 2 } }, MetricType::RadiusType{ { 2, 40, 2 } } })
  {
    itk::SizeValueType pointsWithoutMask = 0;
    for (const int masks : { 0, 1, 2, 3 })
    {
      SCOPED_TRACE(radius);
      SCOPED_TRACE("masks: " + std::to_string(masks));
      const auto metric = MetricType::New();
      this->SetUp(*metric);
      metric->SetRadius(radius);
      metric->SetFixedImageMask((masks & 1) != 0 ? fixedMask.GetPointer() : nullptr);
      metric->SetMovingImageMask((masks & 2) != 0 ? movingMask.GetPointer() : nullptr);
      metric->Initialize();
      ExpectAsOneByOne(*metric, candidates);
      metric->GetValue();
      const itk::SizeValueType points = metric->GetNumberOfValidPoints();
      pointsWithoutMask = masks == 0 ? points : pointsWithoutMask;
      EXPECT_EQ(points < pointsWithoutMask, masks != 0);
      EXPECT_GT(points, 1000u);
    }
  }
}

TEST_P(Candidates, OfNeighborhoodsInAPlane)
{
  using PlaneType = TestImage<float, 2>;
  using PlaneMapType = itk::AffineTransform<double, 2>;
  Grid<2> grid;
  grid.size = { { 41, 34 } };
  grid.spacing[1] = 0.8;
  const auto                  images = MakeImagePair<PlaneType>(grid, grid, 5);
  const auto                  transform = PlaneMapType::New();
  Random                      random(11);
  std::vector<ParametersType> candidates;
  transform->SetCenter(grid.GetCentre());
  for (std::size_t n = 0; n < 9; ++n)
  {
    candidates.push_back(transform->GetParameters());
    for (unsigned int p = 0; p < 6; ++p)
    {
      candidates.back()[p] += (p < 4 ? 0.2 : 4.0) * Uniform(random, -1, 1);
    }
  }
  candidates.back()[4] += 1e6;
  const auto metric = itk::GPUANTSNeighborhoodCorrelationImageToImageMetricv4<PlaneType, PlaneType>::New();
  metric->SetDevice(this->GetDevice());
  metric->SetFixedImage(images.first);
  metric->SetMovingImage(images.second);
  metric->SetMovingTransform(transform);
  metric->SetRadius({ { 2, 3 } });
  metric->Initialize();
  ExpectAsOneByOne(*metric, candidates);
}

/** From the fewest bins possible to more than any device's local memory holds: 120 bins fill an H200's. The device computes values as
 *  long as they fit into its local memory; otherwise the histograms are downloaded. */
TEST_P(Candidates, OfJointHistogramsOfFewAndManyBins)
{
  using MetricType = itk::GPUJointHistogramMutualInformationImageToImageMetricv4<ImageType, ImageType>;
  const auto         candidates = this->MakeCandidates(9);
  const std::int64_t summaries = 32 * static_cast<std::int64_t>(candidates.size());
  const bool         isHost = this->GetDevice().GetName() == "host";
  // PoCL reports a part of a processor's caches as local memory, which may hold all of these.
  const bool isCuda = this->GetDevice().GetName().compare(0, 4, "cuda") == 0;
  for (const unsigned int bins : { 6, 20, 64, 120, 121, 300 })
  {
    // How far a Gaussian reaches does not depend on how many bins there are.
    for (const double variance : bins == 20 ? std::vector<double>{ 0.0, 1.5, 40.0 } : std::vector<double>{ 1.5 })
    {
      SCOPED_TRACE(std::to_string(bins) + " bins, variance " + std::to_string(variance));
      const auto metric = MetricType::New();
      this->SetUp(*metric);
      metric->SetNumberOfHistogramBins(bins);
      metric->SetVarianceForJointPDFSmoothing(variance);
      metric->Initialize();
      ExpectAsOneByOne(*metric, candidates);
      metric->GetValues(candidates);
      const std::int64_t down = metric->GetEvaluationStatistics().bytesDown;
      if (!isHost && bins <= 20 && gpureg::HasDoubles(this->GetDevice().GetName()))
      {
        EXPECT_EQ(down, summaries);
      }
      else if (isCuda && bins == 300)
      {
        EXPECT_GT(down, summaries);
      }
    }
  }
}

/** Histograms that are downloaded, of images of integers on a device and of floats: several copies for a batch, each within a bound of
 *  memory. */
TEST_P(Candidates, OfJointHistogramsInSeveralCopies)
{
  for (const itk::SizeValueType slices : { 19, 45 })
  {
    this->MakeImages({ { 31, 26, slices } });
    const auto metric = itk::GPUJointHistogramMutualInformationImageToImageMetricv4<ImageType, ImageType>::New();
    this->SetUp(*metric);
    metric->SetNumberOfHistogramBins(260);
    const auto many = this->MakeCandidates(300);
    metric->Initialize();
    ExpectAsSomeOneByOne(*metric, many, { 198, 256 });
    metric->SetNumberOfHistogramBins(400);
    metric->SetVarianceForJointPDFSmoothing(0);
    const auto some = this->MakeCandidates(40);
    EXPECT_THROW(metric->GetValues(some), itk::GPUBadInputError) << "not initialised with so many bins";
    metric->Initialize();
    ExpectAsSomeOneByOne(*metric, some, { 3, 9, 26 });
  }
}

TEST_P(Candidates, OfMoreSamplesThanAreFixedPoint)
{
  this->MakeImages({ { 37, 34, 27 } });
  const auto candidates = this->MakeCandidates(30);
  ForEachMetric<ImageType>([&](const auto & metric, const char * name) {
    SCOPED_TRACE(name);
    this->SetUp(*metric);
    metric->Initialize();
    ExpectAsSomeOneByOne(*metric, candidates, { 10, 20 });
  });
}

TEST_P(Candidates, OfPointsAndMasks)
{
  const auto candidates = this->MakeCandidates(10);
  const auto mask = MakeMask(*m_Moving);
  ForEachMetric<ImageType>([&](const auto & metric, const char * name) {
    SCOPED_TRACE(name);
    using MetricType = std::decay_t<decltype(*metric)>;
    const auto points = MetricType::FixedSampledPointSetType::New();
    for (unsigned int n = 0; n < 700; ++n)
    {
      typename MetricType::FixedSampledPointSetType::PointType point;
      const auto                                               index = static_cast<itk::IndexValueType>(n);
      m_Fixed->TransformIndexToPhysicalPoint({ { 2 + index % 27, 2 + index % 23, 2 + index % 16 } }, point);
      point[0] += 0.001 * n;
      points->SetPoint(n, point);
    }
    this->SetUp(*metric);
    metric->SetMovingImageMask(mask);
    metric->SetFixedSampledPointSet(points);
    metric->SetUseSampledPointSet(true);
    metric->Initialize();
    ExpectAsOneByOne(*metric, candidates);
  });
}

TEST_P(Candidates, OfMoreBinsThanLocalMemoryHolds)
{
  const auto metric = itk::CudaMattesNMI<ImageType, ImageType>::New();
  this->SetUp(*metric);
  metric->SetNumberOfHistogramBins(250);
  const auto candidates = this->MakeCandidates(5);
  metric->Initialize();
  ExpectAsOneByOne(*metric, candidates);
}

TEST_P(Candidates, OfASampleThatWeighsLessNearTheBorder)
{
  const auto metric = itk::CudaCorrelationRatioMetric<ImageType, ImageType>::New();
  this->SetUp(*metric);
  metric->SetBorderWeightDistance(6);
  const auto candidates = this->MakeCandidates(20);
  metric->Initialize();
  ExpectAsOneByOne(*metric, candidates);
}

/** A composite's optimized parameters. */
TEST_P(Candidates, OfACompositeTransform)
{
  using CompositeType = itk::CompositeTransform<double, 3>;
  const auto composite = CompositeType::New();
  const auto before = itk::Euler3DTransform<double>::New();
  before->SetCenter(m_Transform->GetCenter());
  before->SetRotation(0.02, -0.03, 0.01);
  const auto candidates = this->MakeCandidates(6);
  composite->AddTransform(before);
  composite->AddTransform(m_Transform);
  composite->SetOnlyMostRecentTransformToOptimizeOn();
  const auto metric = itk::GPUMeanSquaresImageToImageMetricv4<ImageType, ImageType>::New();
  this->SetUp(*metric);
  metric->SetMovingTransform(composite);
  metric->Initialize();
  ExpectAsOneByOne(*metric, candidates);
}

/** A metric that no device computes is evaluated by ITK, one candidate at a time. */
TEST_P(Candidates, OfWhatADeviceDoesNotCompute)
{
  Listening  listening;
  const auto candidates = this->MakeCandidates(3);
  ForEachMetric<ImageType>([&](const auto & metric, const char * name) {
    SCOPED_TRACE(name);
    this->SetUp(*metric);
    metric->SetUseMovingImageGradientFilter(false);
    metric->SetMovingInterpolator(itk::BSplineInterpolateImageFunction<ImageType, double>::New());
    dynamic_cast<itk::BSplineInterpolateImageFunction<ImageType, double> &>(*metric->GetModifiableMovingInterpolator())
      .SetSplineOrder(1);
    metric->Initialize();
    ExpectAsOneByOne(*metric, candidates);
  });
}

TEST_P(Candidates, OfAnotherNumberOfParametersAreRefused)
{
  const auto metric = itk::CudaMattesNMI<ImageType, ImageType>::New();
  this->SetUp(*metric);
  auto candidates = this->MakeCandidates(3);
  EXPECT_THROW(metric->GetValues(candidates), itk::GPUBadInputError) << "not initialised yet";
  metric->Initialize();
  candidates[1].SetSize(6);
  try
  {
    metric->GetValues(candidates);
    ADD_FAILURE() << "no exception";
  }
  catch (const itk::GPUBadInputError & error)
  {
    EXPECT_NE(std::string(error.GetDescription()).find("Candidate 1 has 6 parameters"), std::string::npos)
      << error.GetDescription();
  }
  candidates.erase(candidates.begin() + 1);
  ExpectAsOneByOne(*metric, candidates);
}

/** An exception of the transform reaches the caller of GetValues(), for a candidate at any place; afterwards the metric works. */
TEST_P(Candidates, AreRefusedByTheTransform)
{
  this->MakeImages({ { 16, 14, 10 } });
  const auto       good = this->MakeCandidates(20);
  const auto       transform = RefusingTransform::New();
  constexpr double refused[] = { RefusingTransform::RefusedAsParameter, RefusingTransform::RefusedForPoints };
  transform->SetCenter(m_Transform->GetCenter());
  const ParametersType before = transform->GetParameters();
  const auto           check = [&](const auto & metric, std::size_t count) {
    SCOPED_TRACE(metric->GetNameOfClass());
    this->SetUp(*metric);
    metric->SetMovingTransform(transform);
    metric->Initialize();
    for (const std::size_t bad : { std::size_t{ 0 }, count * 7 / 10 })
    {
      for (const double translation : refused)
      {
        auto candidates = this->MakeCandidates(count);
        candidates[bad][9] = translation;
        try
        {
          metric->GetValues(candidates);
          ADD_FAILURE() << "no exception of candidate " << bad << " by " << translation;
        }
        catch (const itk::ExceptionObject & error)
        {
          EXPECT_STREQ(error.GetDescription(), RefusingTransform::Words);
        }
        EXPECT_EQ(transform->GetParameters(), before);
      }
    }
    ExpectAsOneByOne(*metric, good);
  };
  check(itk::CudaMattesNMI<ImageType, ImageType>::New(), 1000);
  check(itk::CudaCorrelationRatioMetric<ImageType, ImageType>::New(), 1000);
  check(itk::GPUJointHistogramMutualInformationImageToImageMetricv4<ImageType, ImageType>::New(), 1000);
  check(itk::GPUMeanSquaresImageToImageMetricv4<ImageType, ImageType>::New(), 1000);
  check(itk::GPUANTSNeighborhoodCorrelationImageToImageMetricv4<ImageType, ImageType>::New(), 10);
}

INSTANTIATE_TEST_SUITE_P(Devices, Candidates, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace
} // namespace gpuregtest
