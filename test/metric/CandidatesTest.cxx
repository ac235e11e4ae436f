// SPDX-License-Identifier: Apache-2.0
// The values of many candidates in one call: those that GetValue() gives one by one.
#include "EachMetric.h"
#include "Listening.h"
#include "TestDevices.h"
#include "TestImages.h"

#include "itkGPUError.h"

#include "itkAffineTransform.h"
#include "itkBSplineInterpolateImageFunction.h"
#include "itkCompositeTransform.h"
#include "itkEuler3DTransform.h"
#include "itkImageMaskSpatialObject.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
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

class Candidates : public DeviceTest
{
protected:
  Candidates()
  {
    Grid<3> grid;
    grid.size = { { 31, 26, 19 } };
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

  /** About the images' middle; the last one leads out of the moving image. */
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

  /** Whether one call gives what many give; and leaves all as it was. */
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
    for (std::size_t n = 0; n + 1 < candidates.size(); ++n)
    {
      transform.SetParameters(candidates[n]);
      const double wanted = metric.GetValue();
      EXPECT_NEAR(values[n], wanted, 1e-6 * std::abs(wanted) + 1e-9) << "candidate " << n;
    }
    transform.SetParameters(before);
  }

  ImageType::Pointer           m_Fixed;
  ImageType::Pointer           m_Moving;
  const TransformType::Pointer m_Transform = TransformType::New();
};

TEST_P(Candidates, HaveTheValuesThatEachHasByItself)
{
  const auto candidates = this->MakeCandidates(40);
  ForEachMetric<ImageType>([&](const auto & metric, const char * name) {
    SCOPED_TRACE(name);
    this->SetUp(*metric);
    metric->Initialize();
    ExpectAsOneByOne(*metric, candidates);
    EXPECT_TRUE(metric->GetValues({}).empty());
  });
}

/** Several portions, the last of which is short; by each way to sum a batch up. */
TEST_P(Candidates, AreManyMoreThanOnePortion)
{
  const auto candidates = this->MakeCandidates(1101);
  const auto check = [&](const auto & metric) {
    SCOPED_TRACE(metric->GetNameOfClass());
    this->SetUp(*metric);
    metric->Initialize();
    const auto values = metric->GetValues(candidates);
    ASSERT_EQ(values.size(), candidates.size());
    EXPECT_EQ(values.back(), std::numeric_limits<double>::max());
    for (const std::size_t n : { 0, 1, 255, 256, 275, 276, 277, 551, 552, 827, 828, 829, 1099 })
    {
      metric->GetModifiableMovingTransform()->SetParameters(candidates[n]);
      const double wanted = metric->GetValue();
      EXPECT_NEAR(values[n], wanted, 1e-6 * std::abs(wanted) + 1e-9) << "candidate " << n;
    }
  };
  check(itk::CudaMattesNMI<ImageType, ImageType>::New());
  check(itk::CudaCorrelationRatioMetric<ImageType, ImageType>::New());
  check(itk::GPUCorrelationImageToImageMetricv4<ImageType, ImageType>::New());
}

TEST_P(Candidates, OfPointsAndMasks)
{
  const auto candidates = this->MakeCandidates(10);
  const auto mask = itk::ImageMaskSpatialObject<3>::New();
  const auto maskImage = itk::Image<unsigned char, 3>::New();
  maskImage->CopyInformation(m_Moving);
  maskImage->SetRegions(m_Moving->GetBufferedRegion());
  maskImage->Allocate();
  maskImage->FillBuffer(1);
  for (itk::IndexValueType x = 0; x < 9; ++x)
  {
    maskImage->SetPixel({ { x, 10, 8 } }, 0);
  }
  mask->SetImage(maskImage);
  mask->Update();
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

/** Of a composite the parameters that are optimised. */
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

/** One that is not computed on a device goes through ITK, one by one. */
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

INSTANTIATE_TEST_SUITE_P(Devices, Candidates, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace
} // namespace gpuregtest
