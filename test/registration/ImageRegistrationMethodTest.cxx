// SPDX-License-Identifier: Apache-2.0
// Tests GPUImageRegistrationMethodv4: registrations end as those of ITK's class with the same metrics, filters and optimizers, to the last
// bit, with its events; and what a program writes is seen, or refused.
#include "itkGPUImageRegistrationMethodv4.h"
#include "itkGPURegistrationFactory.h"

#include "GPURegistrationDetail/core/itkGPUConstantMemory.h"
#include "GPURegistrationDetail/core/itkGPUKey.h"

#include "RegistrationSetUp.h"
#include "TestDevices.h"
#include "TestImages.h"

#include "itkConjugateGradientLineSearchOptimizerv4.h"
#include "itkEuler3DTransform.h"
#include "itkImageMaskSpatialObject.h"
#include "itkMattesMutualInformationImageToImageMetricv4.h"
#include "itkMeanSquaresImageToImageMetricv4.h"
#include "itkObjectToObjectMultiMetricv4.h"

#include <algorithm>
#include <functional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace gpuregtest
{
namespace
{
using ImageType = itk::Image<double, 3>;
using TransformType = itk::Euler3DTransform<double>;
using ITKsType = itk::ImageRegistrationMethodv4<ImageType, ImageType, TransformType>;
using OursType = itk::GPUImageRegistrationMethodv4<ImageType, ImageType, TransformType>;
using Strategy = ITKsType::MetricSamplingStrategyEnum;
using MaskType = itk::ImageMaskSpatialObject<3>;
using ImageMetricType = itk::ImageToImageMetricv4<ImageType, ImageType, ImageType, double>;
using MattesType = itk::MattesMutualInformationImageToImageMetricv4<ImageType, ImageType>;
using MeanSquaresType = itk::MeanSquaresImageToImageMetricv4<ImageType, ImageType>;
using OptimizerType = itk::ConjugateGradientLineSearchOptimizerv4Template<double>;

/** Stands for the code of a program that observes a registration. It takes the method, the level, and the number of the event at that
 *  level: 0 when the level begins, and the number of the iteration from then on. */
using Action = std::function<void(ITKsType &, unsigned int, unsigned int)>;

struct Settings
{
  Strategy                                     strategy = Strategy::REGULAR;
  std::vector<std::pair<unsigned int, double>> levels{ { 2, 1.5 }, { 1, 0.0 } };
  bool                                         hasMasks = false;
  bool                                         hasTwoMetrics = false;
  unsigned int                                 updates = 1;
  Action                                       action;
  std::function<void(ITKsType &)>              betweenUpdates;
};

template <typename TVoxels>
void
Scale(TVoxels & image, double factor)
{
  using PixelType = typename TVoxels::PixelType;
  auto * const buffer = image.GetBufferPointer();
  const auto   count = image.GetBufferedRegion().GetNumberOfPixels();
  std::transform(buffer, buffer + count, buffer, [factor](auto value) {
    return static_cast<PixelType>(value * factor);
  });
}

class ImageRegistrationMethodTest : public DeviceTest
{
protected:
  ImageRegistrationMethodTest()
  {
    m_Grid.size.Fill(20);
    m_Grid.size[1] += 3;
    m_Grid.spacing[1] = 1.2;
    m_Grid.origin.Fill(-10.0);
    itk::GPUDevice::SetDefault(this->GetDevice());
    for (const std::string & name : itk::GPURegistrationFactory::GetClassNames())
    {
      if (name != "ImageRegistrationMethodv4")
      {
        itk::GPURegistrationFactory::RegisterClass(name);
      }
    }
  }
  ~ImageRegistrationMethodTest() override
  {
    itk::GPURegistrationFactory::UnRegisterAll();
    itk::GPUDevice::SetDefault(itk::GPUDevice::GetAvailable().front());
  }

  /** Makes images and masks again, since actions change them. */
  void
  MakeInputs()
  {
    std::tie(m_Fixed, m_Moving) = MakeImagePair<ImageType>(m_Grid, m_Grid, 31);
    m_MaskImage = MakeImage<MaskType::ImageType>(m_Grid, [](const auto & p) { return p[0] > -6 && p[1] < 8 ? 1 : 0; });
  }

  template <typename TMetric>
  typename TMetric::Pointer
  MakeMetric(bool hasMasks) const
  {
    const auto metric = TMetric::New();
    metric->SetUseFixedImageGradientFilter(false);
    metric->SetUseMovingImageGradientFilter(false);
    if (hasMasks)
    {
      const auto mask = MaskType::New();
      mask->SetImage(m_MaskImage);
      mask->Update();
      metric->SetFixedImageMask(mask);
    }
    return metric;
  }

  /** Registers with one of the two classes.
   *  \returns the parameters of each update, and what was seen at each event before: the level, the value and the position */
  template <typename TMethod>
  std::vector<double>
  Register(const Settings & settings)
  {
    MakeInputs();
    const auto mattes = MakeMetric<MattesType>(settings.hasMasks);
    mattes->SetNumberOfHistogramBins(20);
    const auto optimizer = OptimizerType::New();
    const auto scales = itk::RegistrationParameterScalesFromPhysicalShift<MattesType>::New();
    scales->SetMetric(mattes);
    optimizer->SetScalesEstimator(scales);
    optimizer->SetLowerLimit(0);
    optimizer->SetUpperLimit(2);
    optimizer->SetEpsilon(0.2);
    optimizer->SetDoEstimateLearningRateOnce(false);
    optimizer->SetDoEstimateLearningRateAtEachIteration(true);
    optimizer->SetMaximumStepSizeInPhysicalUnits(0.3);
    optimizer->SetNumberOfIterations(3);
    const auto transform = TransformType::New();
    transform->SetCenter(m_Grid.GetCentre());
    transform->SetRotation(0.03, -0.02, 0.04);

    const auto method = TMethod::New();
    SetUpRegistration(*method, m_Fixed, m_Moving, transform, mattes, settings.levels);
    method->SetMetricSamplingStrategy(settings.strategy);
    method->SetMetricSamplingPercentage(0.3);
    method->MetricSamplingReinitializeSeed(7);
    method->SetOptimizer(optimizer);
    if (settings.hasTwoMetrics)
    {
      const auto multi = ITKsType::MultiMetricType::New();
      multi->AddMetric(mattes);
      multi->AddMetric(MakeMetric<MeanSquaresType>(settings.hasMasks));
      method->SetMetric(multi);
      method->SetFixedImage(1, m_Fixed);
      method->SetMovingImage(1, m_Fixed);
    }

    std::vector<double> seen;
    unsigned int        event = 0;
    const auto          see = [&](double value) {
      seen.push_back(static_cast<double>(method->GetCurrentLevel()));
      seen.push_back(value);
      for (const double parameter : transform->GetParameters())
      {
        seen.push_back(parameter);
      }
      if (settings.action)
      {
        settings.action(*method, static_cast<unsigned int>(method->GetCurrentLevel()), event);
      }
      ++event;
    };
    method->AddObserver(itk::MultiResolutionIterationEvent(), [&](const itk::EventObject &) {
      event = 0;
      see(-1);
    });
    optimizer->AddObserver(itk::IterationEvent(),
                           [&](const itk::EventObject &) { see(optimizer->GetCurrentMetricValue()); });
    for (unsigned int update = 0; update < settings.updates; ++update)
    {
      if (update > 0)
      {
        settings.betweenUpdates(*method);
      }
      method->Update();
      const auto & parameters = transform->GetParameters();
      seen.insert(seen.end(), parameters.begin(), parameters.end());
      seen.push_back(mattes->GetValue());
    }
    return seen;
  }

  /** Registers with both classes, and compares. \returns ITK's result */
  std::vector<double>
  Compare(const Settings & settings)
  {
    const auto ours = Register<OursType>(settings);
    const auto itks = Register<ITKsType>(settings);
    EXPECT_EQ(ours, itks);
    return itks;
  }

  Grid<3>                      m_Grid;
  ImageType::Pointer           m_Fixed;
  ImageType::Pointer           m_Moving;
  MaskType::ImageType::Pointer m_MaskImage;
};

ImageMetricType &
GetImageMetric(ITKsType & method)
{
  return dynamic_cast<ImageMetricType &>(*method.GetModifiableMetric());
}
} // namespace

TEST_P(ImageRegistrationMethodTest, RegistersAsITKs)
{
  for (const Strategy strategy : { Strategy::NONE, Strategy::REGULAR, Strategy::RANDOM })
  {
    for (const bool hasMasks : { false, true })
    {
      SCOPED_TRACE(testing::Message() << "masks " << hasMasks);
      Settings settings;
      settings.strategy = strategy;
      settings.hasMasks = hasMasks;
      Compare(settings);
    }
  }
}

TEST_P(ImageRegistrationMethodTest, RegistersByTwoMetricsAsITKs)
{
  Settings settings;
  settings.hasTwoMetrics = true;
  Compare(settings);
}

/** A program fills its own images with other values, and changes no time stamp of theirs. */
TEST_P(ImageRegistrationMethodTest, SeesWhatTheProgramWritesBetweenTwoUpdates)
{
  Settings settings;
  settings.updates = 2;
  settings.betweenUpdates = [](ITKsType & method) { method.Modified(); };
  const auto unchanged = Compare(settings);
  settings.betweenUpdates = [this](ITKsType & method) {
    m_Moving->GetBufferPointer()[4000] *= 3;
    m_Fixed->GetBufferPointer()[4000] *= 3;
    method.Modified();
  };
  EXPECT_NE(Compare(settings), unchanged);
}

TEST_P(ImageRegistrationMethodTest, SeesWhatTheProgramWritesBetweenTwoLevels)
{
  for (const double sigma : { 0.0, 0.8 })
  {
    Settings settings;
    settings.levels = { { 2, 1.5 }, { 2, 1.5 }, { 1, sigma } };
    const auto unchanged = Compare(settings);
    settings.action = [this](ITKsType &, unsigned int level, unsigned int event) {
      if (event == 0 && level > 0)
      {
        m_Moving->GetBufferPointer()[4000] *= 3;
        m_Fixed->GetBufferPointer()[4000] *= 3;
      }
    };
    EXPECT_NE(Compare(settings), unchanged);
  }
}

/** Where the metric has the program's images themselves, it sees what an observer writes after an iteration. Where it has smoothed ones,
 *  ITK's does not see it either, until the next level. */
TEST_P(ImageRegistrationMethodTest, SeesWhatTheProgramWritesAfterAnIteration)
{
  for (const unsigned int when : { 0u, 1u })
  {
    Settings settings;
    settings.levels = { { 1, 1.5 }, { 1, 0.0 } };
    const auto unchanged = Compare(settings);
    settings.action = [this, when](ITKsType &, unsigned int level, unsigned int event) {
      if (level == when && event == 1)
      {
        Scale(*m_Moving, 1.3);
        m_Fixed->GetBufferPointer()[4000] *= 3;
      }
    };
    EXPECT_NE(Compare(settings), unchanged);
  }
}

/** A mask is the program's at each level. */
TEST_P(ImageRegistrationMethodTest, SeesWhatTheProgramWritesToAMask)
{
  Settings settings;
  settings.strategy = Strategy::NONE;
  settings.hasMasks = true;
  settings.levels = { { 1, 1.5 } };
  const auto unchanged = Compare(settings);
  settings.action = [this](ITKsType &, unsigned int, unsigned int event) {
    if (event == 1)
    {
      Scale(*m_MaskImage, 0);
      std::fill_n(m_MaskImage->GetBufferPointer(), 5000, 1);
    }
  };
  EXPECT_NE(Compare(settings), unchanged);
}

/** An observer gives the metric an image of the program's own in a level that has a smoothed one. */
TEST_P(ImageRegistrationMethodTest, SeesAnotherImageThatTheMetricIsGiven)
{
  Settings settings;
  settings.levels = { { 1, 1.5 } };
  const auto unchanged = Compare(settings);
  settings.action = [this](ITKsType & method, unsigned int, unsigned int event) {
    if (event == 1)
    {
      GetImageMetric(method).SetMovingImage(m_Moving);
      GetImageMetric(method).Initialize();
    }
    if (event == 2)
    {
      Scale(*m_Moving, 0.9);
    }
  };
  EXPECT_NE(Compare(settings), unchanged);
}

/** A program that casts constness away gets an error. */
TEST_P(ImageRegistrationMethodTest, RefusesChangesOfWhatIsConstant)
{
  const auto expectError = [this](const Action & action, unsigned int level) {
    Settings settings;
    settings.levels = { { 2, 1.5 }, { 1, 0.8 } };
    settings.action = [&](ITKsType & method, unsigned int at, unsigned int event) {
      if (at == level && event == 1)
      {
        action(method, at, event);
      }
    };
    try
    {
      Register<OursType>(settings);
      FAIL() << "no exception";
    }
    catch (const itk::ExceptionObject & error)
    {
      const std::string text = error.GetDescription();
      EXPECT_NE(text.find("of level " + std::to_string(level) + " were changed"), std::string::npos) << text;
    }
  };
  for (const unsigned int level : { 0u, 1u })
  {
    expectError(
      [](ITKsType & method, unsigned int, unsigned int) {
        const_cast<ImageType *>(GetImageMetric(method).GetFixedImage())->GetBufferPointer()[9] += 1;
      },
      level);
    expectError(
      [](ITKsType & method, unsigned int, unsigned int) {
        const_cast<ImageType *>(GetImageMetric(method).GetMovingImage())->GetBufferPointer()[9] += 1;
      },
      level);
    expectError(
      [](ITKsType & method, unsigned int, unsigned int) {
        const auto * const points = GetImageMetric(method).GetVirtualSampledPointSet()->GetPoints();
        const_cast<itk::Point<float, 3> &>(points->CastToSTLConstContainer()[3])[0] += 1;
      },
      level);
  }
}

/** Metrics need no proof of smoothed images and drawn points; they need one of the program's own images, and of everything after the
 *  registration. */
TEST_P(ImageRegistrationMethodTest, NamesTheConstantImage)
{
  using itk::GPURegistrationDetail::ConstantMemory;
  using itk::GPURegistrationDetail::GetBuffer;
  const auto countConstant = [](const ImageMetricType & metric) {
    const auto & points = metric.GetVirtualSampledPointSet()->GetPoints()->CastToSTLConstContainer();
    const std::vector<gpureg::MemoryRange> memory{ GetBuffer(*metric.GetFixedImage()),
                                                   GetBuffer(*metric.GetMovingImage()),
                                                   { points.data(), points.size() * sizeof(points.front()) } };
    return memory.size() - ConstantMemory::GetVariable(memory).size();
  };
  std::vector<std::vector<std::size_t>> counts(2);
  Settings                              settings;
  settings.action = [&](ITKsType & method, unsigned int level, unsigned int event) {
    if (event > 0)
    {
      counts[level].push_back(countConstant(GetImageMetric(method)));
    }
  };
  settings.updates = 2;
  std::size_t afterwards = 9;
  settings.betweenUpdates = [&](ITKsType & method) {
    afterwards = countConstant(GetImageMetric(method));
    method.Modified();
  };
  Register<OursType>(settings);
  EXPECT_EQ(counts[0], std::vector<std::size_t>(counts[0].size(), 3));
  EXPECT_EQ(counts[1], std::vector<std::size_t>(counts[1].size(), 1));
  EXPECT_GE(counts[0].size(), 2u);
  EXPECT_EQ(afterwards, 0u);
  counts = { {}, {} };
  Register<ITKsType>(settings);
  EXPECT_EQ(counts[0], std::vector<std::size_t>(counts[0].size(), 0));
}

/** An unmodified program gets the class, under the name of ITK's, and ITK's result. */
TEST_P(ImageRegistrationMethodTest, TheFactoryMakesIt)
{
  const auto itks = Register<ITKsType>({});
  itk::GPURegistrationFactory::RegisterAll();
  const auto method = ITKsType::New();
  EXPECT_STREQ(method->GetNameOfClass(), "ImageRegistrationMethodv4");
  std::ostringstream text;
  method->Print(text);
  EXPECT_NE(text.str().find("GPUOverride"), std::string::npos);
  EXPECT_NE(dynamic_cast<OursType *>(method.GetPointer()), nullptr);
  EXPECT_EQ(Register<ITKsType>({}), itks);
}

INSTANTIATE_TEST_SUITE_P(Devices, ImageRegistrationMethodTest, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace gpuregtest
