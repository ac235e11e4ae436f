// SPDX-License-Identifier: Apache-2.0
// Tests metrics that override ITK's in a program that does not know them: they give ITK's numbers, notice the same changes, and work
// wherever ITK's work.
#include "itkGPURegistrationFactory.h"

#include "itkCompositeTransform.h"
#include "itkImageRegionIterator.h"
#include "itkImageRegistrationMethodv4.h"
#include "itkRegularStepGradientDescentOptimizerv4.h"
#include "itkTranslationTransform.h"

#include "Listening.h"
#include "RefilledInPlace.h"
#include "RegistrationSetUp.h"
#include "OverriddenMetrics.h"
#include "TestAnswer.h"
#include "TestDevices.h"
#include "TestImages.h"

#include "gpureg/runtime/Device.h"
#include "engine/runtime/Transfer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <iterator>
#include <limits>
#include <string>
#include <tuple>

namespace gpuregtest
{
namespace
{
using namespace overridden;

/** Two images, and overrides of ITK's metrics on the device that UseDevice() names. */
class MetricOverrideTest : public ::testing::Test
{
protected:
  MetricOverrideTest()
  {
    MakeImages(33);
    itk::GPURegistrationFactory::RegisterAll();
  }
  ~MetricOverrideTest() override
  {
    itk::GPURegistrationFactory::UnRegisterAll();
    itk::GPUDevice::SetDefault(itk::GPUDevice::GetAvailable().front());
  }

  static void
  UseDevice(const std::string & name)
  {
    itk::GPUDevice::SetDefault(itk::GPUDevice::FromName(name));
  }

  /** Makes images of the same objects with this number of voxels along each axis. */
  void
  MakeImages(itk::SizeValueType size)
  {
    Random  random(7);
    Grid<3> grid;
    grid.size.Fill(size);
    grid.spacing.Fill(1.1);
    std::tie(m_Fixed, m_Moving) = MakeImagePair<ImageType>(grid, grid, random());
  }

  /** Makes ITK's own metric while overrides are registered. */
  static MetricType::Pointer
  MakeITKs(Kind kind)
  {
    itk::GPURegistrationFactory::UnRegisterAll();
    auto metric = MakeMetric(kind);
    itk::GPURegistrationFactory::RegisterAll();
    EXPECT_FALSE(IsOurs(*metric));
    return metric;
  }

  void
  SetUp(MetricType & metric, TransformType & transform) const
  {
    metric.SetFixedImage(m_Fixed);
    metric.SetMovingImage(m_Moving);
    metric.SetMovingTransform(&transform);
  }

  /** An override and ITK's own metric with the same set-up. */
  struct Pair
  {
    MetricType::Pointer ours;
    MetricType::Pointer itks;
  };

  Pair
  MakePair(Kind kind, TransformType & transform) const
  {
    const Pair pair{ MakeMetric(kind), MakeITKs(kind) };
    EXPECT_TRUE(IsOurs(*pair.ours));
    EXPECT_STREQ(pair.ours->GetNameOfClass(), pair.itks->GetNameOfClass());
    SetUp(*pair.ours, transform);
    SetUp(*pair.itks, transform);
    return pair;
  }

  /** Returns a B-spline that moves nothing. */
  TransformType::Pointer
  MakeSpline() const
  {
    return MakeSplineOver<3>(*m_Fixed, 2).GetPointer();
  }

  static void
  ExpectSame(const Answer & ours, const Answer & itks)
  {
    EXPECT_EQ(ours.validPoints, itks.validPoints);
    EXPECT_NEAR(ours.value, itks.value, 1e-5 * std::abs(itks.value));
    ASSERT_EQ(ours.derivative.size(), itks.derivative.size());
    if (GetNorm(itks.derivative) > 0)
    {
      EXPECT_LE(GetRelativeError(ours.derivative, itks.derivative), 1e-4);
    }
    else
    {
      EXPECT_EQ(GetNorm(ours.derivative), 0.0);
    }
  }

  static void
  ExpectInitializedSame(const Pair & pair)
  {
    pair.itks->Initialize();
    ASSERT_NO_THROW(pair.ours->Initialize());
    ASSERT_NO_THROW(ExpectSame(Evaluate(*pair.ours), Evaluate(*pair.itks)));
  }

  /** Overwrites a part of the metrics' transforms in place several times, and compares the metrics after each time. */
  template <typename TPart>
  static void
  ExpectSameOfRefilled(const Pair & pair, TPart & part, bool hasDerivative)
  {
    RefillTransform(part, 0.5);
    pair.itks->Initialize();
    ASSERT_NO_THROW(pair.ours->Initialize());
    const auto stamp = part.GetMTime();
    double     sizeBefore = 0.5;
    double     before = 0;
    // Some values repeat often enough for the data on a device to be used again.
    for (const double size : { 0.5, 0.5, 0.5, -0.8, -0.8, -0.8, 0.3 })
    {
      RefillTransform(part, size);
      const double itks = pair.itks->GetValue();
      ASSERT_NO_THROW(EXPECT_NEAR(pair.ours->GetValue(), itks, 1e-5 * std::abs(itks)) << size);
      if (hasDerivative)
      {
        ASSERT_NO_THROW(ExpectSame(Evaluate(*pair.ours), Evaluate(*pair.itks)));
      }
      if (size != sizeBefore)
      {
        EXPECT_GT(std::abs(itks - before), 1e-4 * std::abs(itks)) << "an outdated transform would not show";
      }
      sizeBefore = size;
      before = itks;
    }
    EXPECT_EQ(part.GetMTime(), stamp);
  }

  ImageType::Pointer m_Fixed;
  ImageType::Pointer m_Moving;
};

/** A test that runs once on each device. */
class MetricOverride
  : public MetricOverrideTest
  , public ::testing::WithParamInterface<std::string>
{
protected:
  MetricOverride()
  {
    UseDevice(GetParam());
  }
  ~MetricOverride() override
  {
    gpureg::SetMemoryLimit(GetParam(), 0);
  }

  itk::GPUDevice
  GetDevice() const
  {
    return itk::GPUDevice::FromName(GetParam());
  }
};

TEST_P(MetricOverride, GivesITKsNumbers)
{
  Listening listening;
  for (const Kind kind : ForLinear)
  {
    ExpectInitializedSame(MakePair(kind, *MakeRigid(0.05)));
  }
  for (const Kind kind :
       { Kind::MeanSquares, Kind::JointHistogram, Kind::Mattes, Kind::Demons, Kind::NeighborhoodCorrelation })
  {
    ExpectInitializedSame(MakePair(kind, *MakeField(*m_Fixed)));
  }
  EXPECT_EQ(listening.window->said.size(), 0u) << listening.window->said.front();
}

/** Values stay in their range, outside of which Mattes' metric would exclude them; demons use a field. */
TEST_P(MetricOverride, SeesValuesThatAreHalvedInPlace)
{
  for (const Kind kind : { Kind::Mattes, Kind::Demons })
  {
    const Pair pair = MakePair(kind, *MakeTransformFor(kind, *m_Fixed));
    ExpectInitializedSame(pair);
    for (ImageType * const image : { m_Moving.GetPointer(), m_Fixed.GetPointer() })
    {
      const float middle = image->GetPixel({ { 16, 16, 16 } });
      for (itk::ImageRegionIterator<ImageType> it(image, image->GetBufferedRegion()); !it.IsAtEnd(); ++it)
      {
        it.Value() = 0.5f * (it.Value() + middle);
      }
      ExpectSame(Evaluate(*pair.ours), Evaluate(*pair.itks));
    }
    ExpectInitializedSame(pair);
  }
}

TEST_P(MetricOverride, SeesImagesThatAreRefilledInPlace)
{
  for (const Kind kind : { Kind::MeanSquares, Kind::Correlation, Kind::NeighborhoodCorrelation })
  {
    const Pair pair = MakePair(kind, *MakeRigid(0.05));
    ExpectInitializedSame(pair);
    for (ImageType * const image : { m_Moving.GetPointer(), m_Fixed.GetPointer() })
    {
      // By more than the previous range of the values.
      for (itk::ImageRegionIterator<ImageType> it(image, image->GetBufferedRegion()); !it.IsAtEnd(); ++it)
      {
        it.Value() = 40000.0f + 300.0f * it.Value() + 5.0f * static_cast<float>(it.GetIndex()[0] % 3);
      }
      ExpectSame(Evaluate(*pair.ours), Evaluate(*pair.itks));
    }
  }
}

/** A rigid transform is optimized, and a spline or a field that is not optimized is applied before or after it. A device computes all
 *  values and derivatives, except for derivatives before a spline, which ITK does not have. */
TEST_P(MetricOverride, SeesPartsOfACompositeThatAreRefilledInPlace)
{
  this->MakeImages(17);
  const auto spline = MakeSplineOver<3>(*m_Fixed, 2);
  const auto field = MakeFieldOver(*m_Fixed);
  const auto compose = [](TransformType & first, bool isFirstOptimized, TransformType & second) {
    const auto composite = itk::CompositeTransform<double, 3>::New();
    // The transform that was added last is applied first.
    composite->AddTransform(&second);
    composite->AddTransform(&first);
    composite->SetNthTransformToOptimize(0, !isFirstOptimized);
    composite->SetNthTransformToOptimize(1, isFirstOptimized);
    return composite;
  };
  const auto rigid = MakeRigid(0.05);
  for (const Kind kind : ForLinear)
  {
    Listening listening;
    ExpectSameOfRefilled(MakePair(kind, *compose(*spline, false, *rigid)), *spline, true);
    ExpectSameOfRefilled(MakePair(kind, *compose(*field, false, *rigid)), *field, true);
    ExpectSameOfRefilled(MakePair(kind, *compose(*rigid, true, *spline)), *spline, false);
    ExpectSameOfRefilled(MakePair(kind, *compose(*rigid, true, *field)), *field, true);
    EXPECT_EQ(listening.window->said.size(), 0u) << "a device computes: " << listening.window->said.front();
  }
}

/** A spline or a field that is optimized, followed by a field that is not. */
TEST_P(MetricOverride, SeesAFieldBehindWhatIsOptimizedThatIsRefilledInPlace)
{
  this->MakeImages(17);
  const auto behind = MakeFieldOver(*m_Fixed);
  for (const TransformType::Pointer & optimized : { MakeSpline(), MakeField(*m_Fixed) })
  {
    const auto composite = itk::CompositeTransform<double, 3>::New();
    composite->AddTransform(behind);
    composite->AddTransform(optimized);
    composite->SetOnlyMostRecentTransformToOptimizeOn();
    for (const Kind kind : { Kind::MeanSquares, Kind::Mattes })
    {
      ExpectSameOfRefilled(MakePair(kind, *composite), *behind, true);
    }
  }
}

TEST_P(MetricOverride, SeesFixedTransformsThatAreRefilledInPlace)
{
  this->MakeImages(17);
  const auto spline = MakeSplineOver<3>(*m_Fixed, 2);
  const auto field = MakeFieldOver(*m_Fixed);
  for (const Kind kind : ForLinear)
  {
    const auto expectSame = [&](auto & fixedTransform) {
      const Pair pair = MakePair(kind, *MakeRigid(0.05));
      pair.ours->SetFixedTransform(&fixedTransform);
      pair.itks->SetFixedTransform(&fixedTransform);
      ExpectSameOfRefilled(pair, fixedTransform, true);
    };
    expectSame(*spline);
    expectSame(*field);
  }
}

/** Programs may also write to the optimized transform, through its buffers. */
TEST_P(MetricOverride, SeesWhatIsOptimizedThatIsRefilledInPlace)
{
  this->MakeImages(17);
  const auto spline = MakeSplineOver<3>(*m_Fixed, 2);
  const auto field = MakeFieldOver(*m_Fixed);
  for (const Kind kind : { Kind::MeanSquares, Kind::Mattes, Kind::NeighborhoodCorrelation })
  {
    ExpectSameOfRefilled(MakePair(kind, *spline), *spline, true);
    ExpectSameOfRefilled(MakePair(kind, *field), *field, true);
  }
}

TEST_P(MetricOverride, LeavesWhatADeviceDoesNotComputeToITK)
{
  Listening listening;
  // With splines, ITK takes nearly all the time, so images are small. A spline that is optimized together with the transform that follows
  // it is left to ITK.
  this->MakeImages(17);
  const auto composite = itk::CompositeTransform<double, 3>::New();
  composite->AddTransform(MakeRigid(0.05));
  composite->AddTransform(this->MakeSpline());
  for (const Kind kind : ForLinear)
  {
    ExpectInitializedSame(MakePair(kind, *composite));
  }
  EXPECT_EQ(listening.window->Count("CompositeTransform"), std::size(ForLinear));
  // A spline that is optimized alone is not left to ITK.
  composite->SetOnlyMostRecentTransformToOptimizeOn();
  for (const Kind kind : ForLinear)
  {
    ExpectInitializedSame(MakePair(kind, *composite));
  }
  EXPECT_EQ(listening.window->Count("CompositeTransform"), std::size(ForLinear));
  this->MakeImages(33);

  // Gradients of both images, of which ITK's mean squares use the moving one's.
  const Pair both = MakePair(Kind::MeanSquares, *MakeRigid(0.05));
  for (MetricType * const metric : { both.ours.GetPointer(), both.itks.GetPointer() })
  {
    metric->SetGradientSource(itk::ObjectToObjectMetricBaseTemplateEnums::GradientSource::GRADIENT_SOURCE_BOTH);
  }
  ExpectInitializedSame(both);
  EXPECT_EQ(listening.window->Count("The gradient source"), 1u);
  // ITK's Mattes metric refuses them.
  const Pair refused = MakePair(Kind::Mattes, *MakeRigid(0.05));
  for (MetricType * const metric : { refused.ours.GetPointer(), refused.itks.GetPointer() })
  {
    metric->SetGradientSource(itk::ObjectToObjectMetricBaseTemplateEnums::GradientSource::GRADIENT_SOURCE_BOTH);
    EXPECT_THROW(metric->Initialize(), itk::ExceptionObject);
  }

  // Derivatives that are rounded on purpose.
  const Pair rounded = MakePair(Kind::MeanSquares, *MakeRigid(0.05));
  for (MetricType * const metric : { rounded.ours.GetPointer(), rounded.itks.GetPointer() })
  {
    metric->SetUseFloatingPointCorrection(true);
    metric->SetFloatingPointCorrectionResolution(10.0);
  }
  ExpectInitializedSame(rounded);
  EXPECT_EQ(listening.window->Count("Floating-point correction"), 1u);

  // A value that is not finite, at a voxel that the mean squares do not read.
  m_Moving->SetPixel({ { 0, 0, 0 } }, std::numeric_limits<float>::quiet_NaN());
  const auto             away = itk::TranslationTransform<double, 3>::New();
  itk::Vector<double, 3> shift;
  shift.Fill(15.0);
  away->Translate(shift);
  for (const Kind kind : { Kind::MeanSquares, Kind::Mattes })
  {
    const Pair finite = MakePair(kind, *away);
    for (MetricType * const metric : { finite.ours.GetPointer(), finite.itks.GetPointer() })
    {
      metric->SetUseMovingImageGradientFilter(false);
    }
    ExpectInitializedSame(finite);
  }
  EXPECT_EQ(listening.window->Count("NaN"), 2u);
}

TEST_P(MetricOverride, ACorrelationByADisplacementFieldIsITKs)
{
  Listening  listening;
  const Pair pair = MakePair(Kind::Correlation, *MakeField(*m_Fixed));
  ExpectInitializedSame(pair);
  EXPECT_EQ(listening.window->Count("displacement field"), 1u);
  EXPECT_NEAR(pair.ours->GetValue(), pair.itks->GetValue(), 1e-5);
}

/** For a constant image ITK's joint histogram gives a result, even if it is not a number; fewer than six bins have no width there. */
TEST_P(MetricOverride, LeavesJointHistogramsThatAreNoneToITK)
{
  Listening  listening;
  const Pair pair = MakePair(Kind::JointHistogram, *MakeRigid(0.05));
  m_Moving->FillBuffer(3.0f);
  ASSERT_NO_THROW(pair.ours->Initialize());
  pair.itks->Initialize();
  const auto ours = pair.ours->GetValue();
  const auto itks = pair.itks->GetValue();
  EXPECT_TRUE(ours == itks || (std::isnan(ours) && std::isnan(itks))) << ours << ' ' << itks;
  EXPECT_EQ(listening.window->Count("is constant where it is sampled"), 1u);
}

/** For a constant image ITK's Mattes metric gives no mutual information. */
TEST_P(MetricOverride, LeavesMattesOfAConstantImageToITK)
{
  for (const bool isFixed : { true, false })
  {
    Listening  listening;
    const Pair pair = MakePair(Kind::Mattes, *MakeRigid(0.05));
    (isFixed ? m_Fixed : m_Moving)->FillBuffer(3.0f);
    ASSERT_NO_THROW(pair.ours->Initialize());
    pair.itks->Initialize();
    const auto valueOf = [](const MetricType & metric) {
      try
      {
        return std::to_string(metric.GetValue());
      }
      catch (const itk::ExceptionObject &)
      {
        return std::string("an exception");
      }
    };
    EXPECT_EQ(valueOf(*pair.ours), valueOf(*pair.itks));
    EXPECT_EQ(listening.window->Count("is constant where it is sampled"), 1u);
  }
}

/** More bins than a device holds; and another number than at Initialize(), by which ITK allocates its sums, while its bins keep their
 *  previous width. */
TEST_P(MetricOverride, LeavesNumbersOfBinsToITK)
{
  using MattesType = itk::MattesMutualInformationImageToImageMetricv4<ImageType, ImageType>;
  Listening  listening;
  const Pair pair = MakePair(Kind::Mattes, *MakeRigid(0.05));
  const auto setBins = [&pair](unsigned int bins) {
    for (MetricType * const metric : { pair.ours.GetPointer(), pair.itks.GetPointer() })
    {
      dynamic_cast<MattesType &>(*metric).SetNumberOfHistogramBins(bins);
    }
  };
  setBins(4200);
  pair.ours->SetMaximumNumberOfWorkUnits(1);
  pair.itks->SetMaximumNumberOfWorkUnits(1);
  pair.itks->Initialize();
  ASSERT_NO_THROW(pair.ours->Initialize());
  EXPECT_NEAR(pair.ours->GetValue(), pair.itks->GetValue(), 1e-9);
  EXPECT_EQ(listening.window->Count("This is said once"), 1u);

  const Pair changed = MakePair(Kind::Mattes, *MakeRigid(0.05));
  for (MetricType * const metric : { changed.ours.GetPointer(), changed.itks.GetPointer() })
  {
    dynamic_cast<MattesType &>(*metric).SetNumberOfHistogramBins(24);
    ASSERT_NO_THROW(metric->Initialize());
    dynamic_cast<MattesType &>(*metric).SetNumberOfHistogramBins(32);
  }
  ASSERT_NO_THROW(ExpectSame(Evaluate(*changed.ours), Evaluate(*changed.itks)));
}

/** Values change between Initialize() and an evaluation, at voxels without samples. */
TEST_P(MetricOverride, LeavesValuesThatAreFiniteNoMoreToITK)
{
  const auto             away = itk::TranslationTransform<double, 3>::New();
  itk::Vector<double, 3> shift;
  shift.Fill(15.0);
  away->Translate(shift);
  for (const Kind kind : ForLinear)
  {
    Listening  listening;
    const Pair pair = MakePair(kind, *away);
    ExpectInitializedSame(pair);
    m_Moving->SetPixel({ { 0, 0, 0 } }, std::numeric_limits<float>::quiet_NaN());
    // ITK's neighborhood correlation then gives sums over neighbours that are not numbers.
    ASSERT_NO_THROW(Evaluate(*pair.ours));
    if (kind != Kind::NeighborhoodCorrelation)
    {
      EXPECT_NEAR(pair.ours->GetValue(), pair.itks->GetValue(), 1e-5 * std::abs(pair.itks->GetValue()));
    }
    EXPECT_EQ(listening.window->Count("NaN"), 1u);
    m_Moving->SetPixel({ { 0, 0, 0 } }, 1.0f);
  }
}

/** As in ITK, gradients and ranges are those of Initialize(), even if a device does not support the optimized transform. ITK takes
 *  nearly all the time, so images are small. */
TEST_P(MetricOverride, KeepsWhatITKMakesAtInitialize)
{
  this->MakeImages(17);
  const auto spline = this->MakeSpline();
  for (const Kind kind : ForLinear)
  {
    const Pair pair = MakePair(kind, *spline);
    pair.itks->Initialize();
    pair.ours->Initialize();
    for (itk::ImageRegionIterator<ImageType> it(m_Moving, m_Moving->GetBufferedRegion()); !it.IsAtEnd(); ++it)
    {
      it.Value() = 0.5f * (it.Value() + m_Moving->GetPixel({ { 8, 8, 8 } }));
    }
    ExpectSame(Evaluate(*pair.ours), Evaluate(*pair.itks));
  }
}

/** ITK gives a warning, the largest value and no derivative. */
TEST_P(MetricOverride, WithoutOverlapGivesWhatITKGives)
{
  Listening              listening;
  const auto             away = itk::TranslationTransform<double, 3>::New();
  itk::Vector<double, 3> shift;
  shift.Fill(1000.0);
  away->Translate(shift);
  for (const Kind kind : { Kind::MeanSquares, Kind::Correlation, Kind::JointHistogram, Kind::NeighborhoodCorrelation })
  {
    const Pair pair = MakePair(kind, *away);
    pair.ours->Initialize();
    const Answer ours = Evaluate(*pair.ours);
    EXPECT_EQ(ours.validPoints, 0u);
    EXPECT_EQ(ours.value, std::numeric_limits<double>::max());
    EXPECT_EQ(GetNorm(ours.derivative), 0.0);
    ASSERT_EQ(listening.window->said.size(), 1u);
    listening.window->said.clear();
    pair.itks->Initialize();
    ExpectSame(ours, Evaluate(*pair.itks));
    listening.window->said.clear();
  }
}

TEST_P(MetricOverride, WorksWithoutDeviceMemory)
{
  if (this->GetDevice().IsHost())
  {
    GTEST_SKIP() << "the host's memory is not bounded by this";
  }
  for (const Kind kind : AllKinds)
  {
    Listening listening;
    gpureg::SetMemoryLimit(GetParam(), 1);
    const Pair pair = MakePair(kind, *MakeTransformFor(kind, *m_Fixed));
    ExpectInitializedSame(pair);
    ExpectSame(Evaluate(*pair.ours), Evaluate(*pair.itks));
    const std::string name = pair.itks->GetNameOfClass(); // "Self" for ITK's neighborhood correlation
    EXPECT_EQ(listening.window->Count("itk::" + name + " on the host. This is said once"), 1u);
    gpureg::SetMemoryLimit(GetParam(), 0);
    listening.window->said.clear();
    ExpectInitializedSame(pair);
    EXPECT_EQ(listening.window->said.size(), 0u);
  }
}

/** A device that fails between Initialize() and an evaluation. */
TEST_P(MetricOverride, WorksWhereMemoryRunsOutLater)
{
  if (this->GetDevice().IsHost())
  {
    GTEST_SKIP() << "the host's memory is not bounded by this";
  }
  // The neighborhood correlation is left out, since memory for its repeated uploads is already allocated.
  for (const Kind kind : { Kind::MeanSquares, Kind::Correlation, Kind::JointHistogram, Kind::Mattes, Kind::Demons })
  {
    Listening  listening;
    const Pair pair = MakePair(kind, *MakeTransformFor(kind, *m_Fixed));
    for (MetricType * const metric : { pair.ours.GetPointer(), pair.itks.GetPointer() })
    {
      metric->SetUseMovingImageGradientFilter(false);
    }
    ExpectInitializedSame(pair);
    EXPECT_EQ(listening.window->said.size(), 0u);
    gpureg::SetMemoryLimit(GetParam(), 1);
    for (int n = 0; n < 2; ++n)
    {
      // There is no memory to upload the changed image.
      m_Moving->SetPixel({ { 16, 16, 16 } }, m_Moving->GetPixel({ { 15 + n, 14, 16 } }));
      ExpectSame(Evaluate(*pair.ours), Evaluate(*pair.itks));
    }
    // The device has made the fixed image's gradient, too: the three filters that make ITK's gradient each give a message of their own.
    const bool        makesGradient = kind == Kind::Demons;
    const std::string ofMetric =
      std::string("Computed by itk::") + pair.itks->GetNameOfClass() + " on the host. This is said once";
    EXPECT_EQ(listening.window->Count(ofMetric), 1u);
    EXPECT_EQ(listening.window->Count("This is said once"), makesGradient ? 4u : 1u);
    if (makesGradient)
    {
      EXPECT_EQ(listening.window->Count("the fixed image's gradient"), 0u) << "it is of the voxels of Initialize()";
    }
    gpureg::SetMemoryLimit(GetParam(), 0);
  }
}

/** The device that made the gradient cannot pass it to ITK's class, which computes it again from the voxels of that time. */
TEST_P(MetricOverride, ReportsThatAGradientIsOfOtherVoxels)
{
  if (this->GetDevice().IsHost())
  {
    GTEST_SKIP() << "the host's memory is not bounded by this";
  }
  Listening  listening;
  const Pair pair = MakePair(Kind::MeanSquares, *MakeRigid(0.05));
  ExpectInitializedSame(pair);
  gpureg::SetMemoryLimit(GetParam(), 1);
  m_Moving->SetPixel({ { 16, 16, 16 } }, m_Moving->GetPixel({ { 15, 14, 16 } }));
  EXPECT_NEAR(pair.ours->GetValue(), pair.itks->GetValue(), 1e-5 * std::abs(pair.itks->GetValue()));
  EXPECT_EQ(listening.window->Count("was filled with other values after Initialize()"), 1u);
  gpureg::SetMemoryLimit(GetParam(), 0);
}

/** Programs may request the gradient image that ITK's metrics make at Initialize(). */
TEST_P(MetricOverride, HasITKsGradientImage)
{
  for (const Kind kind : ForLinear)
  {
    const Pair pair = MakePair(kind, *MakeRigid(0.05));
    pair.itks->Initialize();
    pair.ours->Initialize();
    const auto * const ours = pair.ours->GetMovingImageGradientImage();
    const auto * const itks = pair.itks->GetMovingImageGradientImage();
    ASSERT_NE(ours, nullptr);
    ASSERT_EQ(ours->GetBufferedRegion(), itks->GetBufferedRegion());
    for (const ImageType::IndexType index :
         { ImageType::IndexType{ { 3, 5, 7 } }, ImageType::IndexType{ { 20, 32, 0 } } })
    {
      EXPECT_EQ(ours->GetPixel(index), itks->GetPixel(index));
    }
    ExpectSame(Evaluate(*pair.ours), Evaluate(*pair.itks));
  }
}

/** A registration by a program that names none of this module's classes ends at ITK's result, on every device. */
TEST_F(MetricOverrideTest, RegistersAsITKDoes)
{
  using RegistrationType = itk::ImageRegistrationMethodv4<ImageType, ImageType, itk::TranslationTransform<double, 3>>;
  // This is the same image at another position.
  const auto moving = ImageType::New();
  moving->Graft(m_Fixed);
  ImageType::PointType origin = m_Fixed->GetOrigin();
  origin[0] += 1.3;
  origin[1] -= 0.8;
  origin[2] += 0.6;
  moving->SetOrigin(origin);
  for (const Kind kind : ForLinear)
  {
    const auto run = [&](const MetricType::Pointer & metric) {
      const auto registration = RegistrationType::New();
      const auto transform = itk::TranslationTransform<double, 3>::New();
      SetUpRegistration(*registration, m_Fixed, moving, transform, metric, { { 2, 1.0 }, { 1, 0.0 } });
      const auto optimizer = itk::RegularStepGradientDescentOptimizerv4<double>::New();
      optimizer->SetLearningRate(0.5);
      optimizer->SetMinimumStepLength(1e-4);
      optimizer->SetGradientMagnitudeTolerance(1e-12);
      optimizer->SetNumberOfIterations(60);
      registration->SetOptimizer(optimizer);
      registration->Update();
      return transform->GetParameters();
    };
    // No filter is overridden, so no device takes part.
    itk::GPURegistrationFactory::UnRegisterAll();
    const auto itks = run(MakeMetric(kind));
    itk::GPURegistrationFactory::RegisterAll();
    // 1.5 times the errors of record, 0.0089 mm, and of the joint histogram's mutual information less: ITK's derivative of that is not
    // exactly that of its value, so the registration ends 0.32 mm, a third of a voxel, from the truth.
    const double fromTruth = kind == Kind::JointHistogram ? 0.4 : 1.5 * 0.0089;
    for (const std::string & device : GetDeviceNames())
    {
      SCOPED_TRACE(device);
      UseDevice(device);
      const auto metric = MakeMetric(kind);
      EXPECT_TRUE(IsOurs(*metric));
      const auto ours = run(metric);
      for (unsigned int d = 0; d < 3; ++d)
      {
        EXPECT_NEAR(ours[d], itks[d], 1e-3);
        EXPECT_NEAR(ours[d], origin[d] - m_Fixed->GetOrigin()[d], fromTruth);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, MetricOverride, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace
} // namespace gpuregtest
