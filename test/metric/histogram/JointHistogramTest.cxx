// SPDX-License-Identifier: Apache-2.0
// Tests of the joint histogram's mutual information besides the grid of set-ups: values on the edges of bins, access to the joint density,
// more bins than a device supports, bad input, and repeated bits.
#include "Listening.h"
#include "MetricProblem.h"
#include "TestDevices.h"
#include "TestThreads.h"

#include "itkGPUError.h"
#include "itkGPUJointHistogramMutualInformationImageToImageMetricv4.h"
#include "itkIdentityTransform.h"

#include <cmath>
#include <limits>
#include <sstream>

namespace gpuregtest
{

namespace
{
template <typename TPixel, unsigned int VDimension>
struct JointProblem : MetricProblem<TPixel, VDimension>
{
  using ImageType = typename MetricProblem<TPixel, VDimension>::ImageType;
  using ItkMetricType = itk::JointHistogramMutualInformationImageToImageMetricv4<ImageType, ImageType>;
  using MetricType = itk::GPUJointHistogramMutualInformationImageToImageMetricv4<ImageType, ImageType>;

  using MetricProblem<TPixel, VDimension>::MetricProblem;

  typename MetricType::Pointer
  MakeMetric(const itk::GPUDevice & device) const
  {
    const auto metric = MetricType::New();
    metric->SetDevice(device);
    this->GiveTo(*metric);
    metric->SetNumberOfHistogramBins(bins);
    return metric;
  }

  typename ItkMetricType::Pointer
  MakeITKs() const
  {
    const auto metric = ItkMetricType::New();
    this->GiveTo(*metric);
    metric->SetNumberOfHistogramBins(bins);
    return metric;
  }

  unsigned int bins = 20;
};

void
ExpectSame(const Answer & ours, const Answer & itks)
{
  EXPECT_EQ(ours.validPoints, itks.validPoints);
  EXPECT_NEAR(ours.value, itks.value, 1e-5 * std::abs(itks.value));
  EXPECT_NEAR(ours.valueAlone, itks.valueAlone, 1e-5 * std::abs(itks.valueAlone));
  EXPECT_LE(GetRelativeError(ours.derivative, itks.derivative), 1e-4);
}

class JointHistogramTest : public DeviceTest
{};
} // namespace

/** If integers from 0 to 30 are divided into 20 bins, every odd one is half-way between two bins, where ITK's rounding decides for each
 *  in its own way; nearly all samples are such. For images of doubles the rounding of a sample's position decides. */
TEST_P(JointHistogramTest, ValuesHalfWayBetweenBinsAreCountedAsITKDoes)
{
  const auto check = [this](auto dimension) {
    using PixelType = float;
    JointProblem<PixelType, dimension> problem(31);
    for (auto * const image : { problem.fixed.GetPointer(), problem.moving.GetPointer() })
    {
      PixelType * const buffer = image->GetBufferPointer();
      const auto        count = image->GetBufferedRegion().GetNumberOfPixels();
      for (itk::SizeValueType n = 0; n < count; ++n)
      {
        buffer[n] = static_cast<PixelType>(2 * (static_cast<int>(std::abs(buffer[n])) % 15) + 1);
      }
      buffer[0] = 0;
      buffer[1] = 30;
      image->SetOrigin(problem.fixed->GetOrigin());
      image->SetSpacing(problem.fixed->GetSpacing());
      image->SetDirection(problem.fixed->GetDirection());
    }
    typename decltype(problem)::ImageType::RegionType region = problem.fixed->GetBufferedRegion();
    problem.moving->SetRegions(region);
    problem.transform = itk::IdentityTransform<double, dimension>::New();
    const auto ours = problem.MakeMetric(this->GetDevice());
    const auto itks = problem.MakeITKs();
    ours->Initialize();
    itks->Initialize();
    EXPECT_NEAR(ours->GetValue(), itks->GetValue(), 1e-12);
    EXPECT_EQ(ours->GetNumberOfValidPoints(), itks->GetNumberOfValidPoints());
    // The joint density equals ITK's, too.
    for (itk::ImageRegionConstIteratorWithIndex<typename decltype(problem)::MetricType::JointPDFType> it(
           itks->GetJointPDF(), itks->GetJointPDF()->GetBufferedRegion());
         !it.IsAtEnd();
         ++it)
    {
      ASSERT_NEAR(ours->GetJointPDF()->GetPixel(it.GetIndex()), it.Get(), 1e-9) << it.GetIndex();
    }
    EXPECT_EQ(ours->GetJointPDF()->GetOrigin(), itks->GetJointPDF()->GetOrigin());
    EXPECT_EQ(ours->GetJointPDF()->GetSpacing(), itks->GetJointPDF()->GetSpacing());
  };
  check(std::integral_constant<unsigned int, 2>{});
  check(std::integral_constant<unsigned int, 3>{});
}

TEST_P(JointHistogramTest, MoreBinsThanADeviceHasAreITKs)
{
  Listening              listening;
  JointProblem<float, 2> problem(4);
  problem.bins = 1030;
  const auto ours = problem.MakeMetric(this->GetDevice());
  const auto itks = problem.MakeITKs();
  ExpectSame(InitializeAndAsk(*ours), InitializeAndAsk(*itks));
  EXPECT_EQ(listening.window->Count("more than 1024 bins"), 1u);
}

TEST_P(JointHistogramTest, RepeatsItself)
{
  const PlatformThreads platformThreads;
  for (const bool few : { false, true })
  {
    JointProblem<float, 3> problem(9);
    if (few)
    {
      AddRandomPoints(problem, 3000, 2);
    }
    const auto evaluate = [&](unsigned int threads) {
      const auto metric = problem.MakeMetric(this->GetDevice());
      PlatformThreads::Set(*metric, threads);
      return InitializeAndAsk(*metric);
    };
    const Answer first = evaluate(1);
    for (const unsigned int threads : { 1u, 2u, 7u })
    {
      const Answer answer = evaluate(threads);
      EXPECT_EQ(answer.value, first.value);
      EXPECT_EQ(answer.valueAlone, first.valueAlone);
      EXPECT_EQ(answer.derivative, first.derivative);
    }
  }
}

TEST_P(JointHistogramTest, BadInputIsNamed)
{
  JointProblem<float, 2> problem(3);
  const auto             metric = problem.MakeMetric(this->GetDevice());
  EXPECT_THROW(metric->GetValue(), itk::GPUBadInputError) << "not initialized";
  // ITK itself makes 5 of a smaller number.
  for (const unsigned int bins : { 0u, 1u, 5u })
  {
    metric->SetNumberOfHistogramBins(bins);
    EXPECT_THROW(metric->Initialize(), itk::GPUBadInputError) << bins;
  }
  metric->SetNumberOfHistogramBins(20);
  metric->SetVarianceForJointPDFSmoothing(std::numeric_limits<double>::quiet_NaN());
  EXPECT_THROW(metric->Initialize(), itk::GPUBadInputError);
  metric->SetVarianceForJointPDFSmoothing(1.5);

  const auto constant = decltype(problem)::ImageType::New();
  constant->CopyInformation(problem.moving);
  constant->SetRegions(problem.moving->GetBufferedRegion());
  constant->Allocate();
  constant->FillBuffer(4.0f);
  metric->SetMovingImage(constant);
  EXPECT_THROW(metric->Initialize(), itk::GPUBadInputError);
  EXPECT_THROW(metric->GetValue(), itk::GPUBadInputError);
  metric->SetMovingImage(problem.moving);
  metric->SetFixedImage(constant);
  EXPECT_THROW(metric->Initialize(), itk::GPUBadInputError);
  metric->SetFixedImage(problem.fixed);
  ExpectSame(InitializeAndAsk(*metric), InitializeAndAsk(*problem.MakeITKs()));
  metric->SetNumberOfHistogramBins(24);
  EXPECT_THROW(metric->GetValue(), itk::GPUBadInputError);
}

TEST_P(JointHistogramTest, PrintsWhatItIs)
{
  JointProblem<float, 2> problem(3);
  const auto             metric = problem.MakeMetric(this->GetDevice());
  metric->Initialize();
  std::ostringstream text;
  metric->Print(text);
  for (const char * const name :
       { "NumberOfHistogramBins", "VarianceForJointPDFSmoothing", "FixedRange", "MovingRange" })
  {
    EXPECT_NE(text.str().find(name), std::string::npos) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, JointHistogramTest, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace gpuregtest
