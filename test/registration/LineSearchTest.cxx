// SPDX-License-Identifier: Apache-2.0
// Tests ITK's optimizers that search along a line with this module's factories: metrics learn when no code of the program runs, and notice
// what the program writes when it does.
#include "itkGPURegistrationFactory.h"

#include "GPURegistrationDetail/core/itkGPUUndisturbed.h"

#include "OverriddenMetrics.h"
#include "TestDevices.h"
#include "TestImages.h"

#include "itkConjugateGradientLineSearchOptimizerv4.h"
#include "itkImageRegionIterator.h"

#include <cstdint>
#include <set>
#include <tuple>
#include <vector>

namespace gpuregtest
{

namespace
{
using namespace overridden;
using itk::GPURegistrationDetail::Undisturbed;
using OptimizerType = itk::ConjugateGradientLineSearchOptimizerv4Template<double>;

/** Records the time of each evaluation. */
class RecordingMetric : public itk::MeanSquaresImageToImageMetricv4<ImageType, ImageType>
{
public:
  using Self = RecordingMetric;
  using Superclass = itk::MeanSquaresImageToImageMetricv4<ImageType, ImageType>;
  using Pointer = itk::SmartPointer<Self>;
  itkFactorylessNewMacro(Self);

  MeasureType
  GetValue() const override
  {
    ofValues.push_back(Undisturbed::GetCurrent());
    return Superclass::GetValue();
  }
  void
  GetValueAndDerivative(MeasureType & value, DerivativeType & derivative) const override
  {
    ofDerivatives.push_back(Undisturbed::GetCurrent());
    Superclass::GetValueAndDerivative(value, derivative);
  }

  mutable std::vector<std::uint64_t> ofValues;
  mutable std::vector<std::uint64_t> ofDerivatives;
};

class LineSearchTest : public DeviceTest
{
protected:
  LineSearchTest()
  {
    Grid<3> grid;
    grid.size.Fill(24);
    std::tie(m_Fixed, m_Moving) = MakeImagePair<ImageType>(grid, grid, 7);
    itk::GPUDevice::SetDefault(this->GetDevice());
    itk::GPURegistrationFactory::RegisterAll();
  }
  ~LineSearchTest() override
  {
    itk::GPURegistrationFactory::UnRegisterAll();
    itk::GPUDevice::SetDefault(itk::GPUDevice::GetAvailable().front());
  }

  OptimizerType::Pointer
  MakeOptimizer(MetricType & metric) const
  {
    metric.SetFixedImage(m_Fixed);
    metric.SetMovingImage(m_Moving);
    metric.SetMovingTransform(MakeRigid(0.05));
    metric.Initialize();
    const auto                optimizer = OptimizerType::New();
    OptimizerType::ScalesType scales(6);
    scales.Fill(1.0);
    for (unsigned int angle = 0; angle < 3; ++angle)
    {
      scales[angle] = 400.0;
    }
    optimizer->SetScales(scales);
    optimizer->SetMetric(&metric);
    optimizer->SetLearningRate(0.002);
    optimizer->SetDoEstimateLearningRateOnce(false);
    optimizer->SetUpperLimit(2);
    optimizer->SetEpsilon(0.05);
    optimizer->SetNumberOfIterations(4);
    return optimizer;
  }

  ImageType::Pointer m_Fixed;
  ImageType::Pointer m_Moving;
};
} // namespace

TEST_P(LineSearchTest, SaysWhenNoCodeOfTheProgramRuns)
{
  const auto                 metric = RecordingMetric::New();
  const auto                 optimizer = MakeOptimizer(*metric);
  std::vector<std::uint64_t> ofObserver;
  std::vector<std::size_t>   counts;
  optimizer->AddObserver(itk::IterationEvent(), [&](const itk::EventObject &) {
    ofObserver.push_back(Undisturbed::GetCurrent());
    counts.push_back(metric->ofValues.size());
  });
  optimizer->StartOptimization();
  EXPECT_EQ(ofObserver, std::vector<std::uint64_t>(4, 0));
  // Each iteration has a time of its own, from the observers of the one before on; the first one from its search on.
  ASSERT_EQ(metric->ofDerivatives.size(), 4u);
  EXPECT_EQ(metric->ofDerivatives[0], 0u);
  std::set<std::uint64_t> times;
  std::size_t             begin = 0;
  for (const std::size_t end : counts)
  {
    ASSERT_GT(end, begin + 2);
    const std::set<std::uint64_t> ofSearch(metric->ofValues.begin() + begin, metric->ofValues.begin() + end);
    EXPECT_EQ(ofSearch.size(), 1u);
    EXPECT_EQ(ofSearch.count(0), 0u);
    if (!times.empty())
    {
      EXPECT_EQ(metric->ofDerivatives[times.size()], *ofSearch.begin());
    }
    times.insert(*ofSearch.begin());
    begin = end;
  }
  EXPECT_EQ(times.size(), 4u);
  EXPECT_EQ(Undisturbed::GetCurrent(), 0u);
}

TEST_P(LineSearchTest, WithoutItsObserverItReportsNothing)
{
  const auto metric = RecordingMetric::New();
  const auto optimizer = MakeOptimizer(*metric);
  optimizer->RemoveAllObservers();
  optimizer->StartOptimization();
  EXPECT_GT(metric->ofValues.size(), 8u);
  EXPECT_EQ(metric->ofValues, std::vector<std::uint64_t>(metric->ofValues.size(), 0));
  EXPECT_EQ(metric->ofDerivatives, std::vector<std::uint64_t>(metric->ofDerivatives.size(), 0));
}

/** The program's observers write to the moving image in place: that of the optimizer after each step, where another evaluates the metric,
 *  too; and that of the transform, which runs during a search. */
TEST_P(LineSearchTest, MetricsSeeWhatObserversWrite)
{
  const auto write = [this](float factor) {
    for (itk::ImageRegionIterator<ImageType> it(m_Moving, m_Moving->GetBufferedRegion()); !it.IsAtEnd(); ++it)
    {
      it.Value() *= factor;
    }
  };
  for (const bool isOfTransform : { false, true })
  {
    const auto run = [&] {
      const auto          metric = MakeMetric(Kind::MeanSquares);
      const auto          optimizer = MakeOptimizer(*metric);
      std::vector<double> values;
      if (isOfTransform)
      {
        metric->GetModifiableMovingTransform()->AddObserver(itk::ModifiedEvent(),
                                                            [&](const itk::EventObject &) { write(1.001f); });
      }
      optimizer->AddObserver(itk::IterationEvent(), [&](const itk::EventObject &) {
        write(0.98f);
        values.push_back(metric->GetValue());
        write(0.98f);
      });
      optimizer->StartOptimization();
      const auto parameters = optimizer->GetCurrentPosition();
      values.insert(values.end(), parameters.begin(), parameters.end());
      return values;
    };
    const auto image = m_Moving;
    const auto copy = ImageType::New();
    copy->CopyInformation(image);
    copy->SetRegions(image->GetBufferedRegion());
    copy->Allocate();
    std::copy_n(image->GetBufferPointer(), image->GetBufferedRegion().GetNumberOfPixels(), copy->GetBufferPointer());
    const auto ours = run();
    itk::GPURegistrationFactory::UnRegisterAll();
    m_Moving = copy;
    const auto itks = run();
    itk::GPURegistrationFactory::RegisterAll();
    ASSERT_EQ(ours.size(), itks.size());
    for (std::size_t n = 0; n < ours.size(); ++n)
    {
      EXPECT_NEAR(ours[n], itks[n], 1e-5 * std::abs(itks[n])) << n;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, LineSearchTest, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace gpuregtest
