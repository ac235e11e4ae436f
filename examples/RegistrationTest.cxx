// SPDX-License-Identifier: Apache-2.0
// Tests that a registration ends at the best position that its optimizer evaluated.
#include "ErrorOfRecord.h"
#include "RegisterRigidly/BestPosition.h"
#include "Registration.h"
#include "VolumeMetrics.h"

#include "itkConjugateGradientLineSearchOptimizerv4.h"
#include "itkImageRegionIteratorWithIndex.h"
#include "itkImageRegistrationMethodv4.h"
#include "itkMeanSquaresImageToImageMetricv4.h"
#include "itkRegistrationParameterScalesFromPhysicalShift.h"
#include "itkTranslationTransform.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

namespace
{

using namespace example;

/** Returns a round blob in the middle of 24³ voxels of 1 mm, shifted along x by this number of voxels. */
Volume::Pointer
MakeBlob(double shift)
{
  const auto image = Volume::New();
  image->SetRegions(Volume::SizeType{ { 24, 24, 24 } });
  image->Allocate();
  for (itk::ImageRegionIteratorWithIndex<Volume> voxel(image, image->GetBufferedRegion()); !voxel.IsAtEnd(); ++voxel)
  {
    double squaredDistance = 0;
    for (unsigned int d = 0; d < 3; ++d)
    {
      squaredDistance += std::pow(voxel.GetIndex()[d] - 11.5 - (d == 0 ? shift : 0.0), 2);
    }
    voxel.Set(static_cast<float>(100 * std::exp(-squaredDistance / 40)));
  }
  return image;
}

/** Mean squares that record the last value and the best one of the current level. */
class RememberingMetric : public itk::MeanSquaresImageToImageMetricv4<Volume, Volume>
{
public:
  using Self = RememberingMetric;
  using Superclass = itk::MeanSquaresImageToImageMetricv4<Volume, Volume>;
  using Pointer = itk::SmartPointer<Self>;
  itkNewMacro(Self);

  void
  Initialize() override
  {
    Superclass::Initialize();
    m_Best = std::numeric_limits<double>::max();
  }

  MeasureType
  GetValue() const override
  {
    const MeasureType value = Superclass::GetValue();
    this->Remember(value);
    return value;
  }

  void
  GetValueAndDerivative(MeasureType & value, DerivativeType & derivative) const override
  {
    Superclass::GetValueAndDerivative(value, derivative);
    this->Remember(value);
  }

  mutable double         m_Best = 0;
  mutable double         m_Last = 0;
  mutable ParametersType m_BestParameters;

private:
  void
  Remember(MeasureType value) const
  {
    m_Last = value;
    if (value < m_Best)
    {
      m_Best = value;
      m_BestParameters = this->GetParameters();
    }
  }
};

/** A registration of two blobs that are 4 mm apart, in steps of 3 mm that hardly become shorter, so that it overshoots. */
struct Overshooting
{
  using Translation = itk::TranslationTransform<double, 3>;
  using Registration = itk::ImageRegistrationMethodv4<Volume, Volume, Translation>;

  Overshooting(unsigned int levels, unsigned int iterations)
  {
    optimizer->SetLearningRate(3);
    optimizer->SetRelaxationFactor(0.99);
    optimizer->SetNumberOfIterations(iterations);
    registration->SetFixedImage(MakeBlob(0));
    registration->SetMovingImage(MakeBlob(4));
    registration->SetMetric(metric);
    registration->SetOptimizer(optimizer);
    registration->SetNumberOfLevels(levels);
    Registration::ShrinkFactorsArrayType   shrink(levels);
    Registration::SmoothingSigmasArrayType sigmas(levels);
    for (unsigned int level = 0; level < levels; ++level)
    {
      shrink[level] = 1;
      sigmas[level] = 3.0 * (levels - 1 - level);
    }
    registration->SetShrinkFactorsPerLevel(shrink);
    registration->SetSmoothingSigmasPerLevel(sigmas);
  }

  void
  ExpectTheBest() const
  {
    registration->Update();
    EXPECT_EQ(registration->GetTransform()->GetParameters(), metric->m_BestParameters);
    EXPECT_EQ(optimizer->GetCurrentMetricValue(), metric->m_Best);
  }

  RememberingMetric::Pointer     metric = RememberingMetric::New();
  BestPositionOptimizer::Pointer optimizer = BestPositionOptimizer::New();
  Registration::Pointer          registration = Registration::New();
};

TEST(BestPositionOptimizer, ALastStepThatIsWorseIsTakenBack)
{
  const Overshooting overshooting(1, 2);
  overshooting.ExpectTheBest();
  EXPECT_GT(overshooting.metric->m_Last, overshooting.metric->m_Best);
}

TEST(BestPositionOptimizer, ALastStepThatIsBetterIsKept)
{
  const Overshooting overshooting(1, 1);
  overshooting.ExpectTheBest();
  EXPECT_EQ(overshooting.metric->m_Last, overshooting.metric->m_Best);
}

TEST(BestPositionOptimizer, ABetterValueOfASmootherLevelDoesNotCount)
{
  const Overshooting overshooting(3, 3);
  double             bestOfAll = std::numeric_limits<double>::max();
  overshooting.optimizer->AddObserver(itk::EndEvent(), [&](const itk::EventObject &) {
    bestOfAll = std::min(bestOfAll, overshooting.metric->m_Best);
  });
  overshooting.ExpectTheBest();
  EXPECT_GT(overshooting.metric->m_Last, overshooting.metric->m_Best);
  EXPECT_LT(bestOfAll, overshooting.metric->m_Best);
}

TEST(BestPositionOptimizer, StoppedByAnObserverItEndsAtTheBestToo)
{
  const Overshooting overshooting(1, 100);
  overshooting.optimizer->AddObserver(itk::IterationEvent(), [&](const itk::EventObject &) {
    if (overshooting.metric->m_Last > overshooting.metric->m_Best)
    {
      overshooting.optimizer->StopOptimization();
    }
  });
  overshooting.ExpectTheBest();
}

/** Applies to any optimizer: this one moves along a line, whose end has an error of 5 mm, and whose start one of 4 mm. */
TEST(BestPosition, ALineThatEndsWorseIsTakenBack)
{
  const Overshooting overshooting(1, 1);
  const auto         scales =
    itk::RegistrationParameterScalesFromPhysicalShift<itk::ImageToImageMetricv4<Volume, Volume>>::New();
  scales->SetMetric(overshooting.metric);
  const auto lines = BestPosition<itk::ConjugateGradientLineSearchOptimizerv4>::New();
  lines->SetScalesEstimator(scales);
  lines->SetMaximumStepSizeInPhysicalUnits(9);
  lines->SetLowerLimit(1);
  lines->SetUpperLimit(1.01);
  lines->SetNumberOfIterations(1);
  overshooting.registration->SetOptimizer(lines);
  overshooting.registration->Update();
  EXPECT_EQ(overshooting.registration->GetTransform()->GetParameters(), overshooting.metric->m_BestParameters);
  EXPECT_EQ(lines->GetCurrentMetricValue(), overshooting.metric->m_Best);
  EXPECT_GT(overshooting.metric->m_Last, overshooting.metric->m_Best);
}

TEST(Register, TheValueThatItShowsLastIsThatOfItsTransform)
{
  const auto           fixed = MakeBlob(0);
  const auto           moving = MakeBlob(4);
  RegistrationSettings settings;
  settings.model = Model::Rigid;
  settings.measure = Measure::ITKMattes;
  std::ostringstream progress;
  const auto         result = Register(fixed, moving, settings, progress);

  const std::string shown = progress.str();
  const double      value = std::stod(shown.substr(shown.rfind("value") + 5));
  const auto        metric = itk::MattesMutualInformationImageToImageMetricv4<Volume, Volume>::New();
  metric->SetFixedImage(fixed);
  metric->SetMovingImage(moving);
  metric->SetMovingTransform(result.transform);
  metric->Initialize();
  EXPECT_NEAR(metric->GetValue(), value, 6e-7) << shown; // six digits are shown
}

/** Ansorge 2008, with each of its metrics: the blob is not round, so that its rotation shows. */
TEST(Register, TheSimplexFindsAShiftAndATurn)
{
  const auto makeBlob = [](double shift, double turn) {
    const auto image = Volume::New();
    image->SetRegions(Volume::SizeType{ { 32, 32, 32 } });
    image->Allocate();
    for (itk::ImageRegionIteratorWithIndex<Volume> voxel(image, image->GetBufferedRegion()); !voxel.IsAtEnd(); ++voxel)
    {
      const double x = voxel.GetIndex()[0] - 15.5 - shift;
      const double y = voxel.GetIndex()[1] - 15.5;
      const double z = voxel.GetIndex()[2] - 15.5;
      const double along = std::cos(turn) * x + std::sin(turn) * y;
      const double across = std::cos(turn) * y - std::sin(turn) * x;
      voxel.Set(static_cast<float>(100 * std::exp(-along * along / 120 - across * across / 40 - z * z / 70)));
    }
    return image;
  };
  const auto fixed = makeBlob(0, 0);
  const auto moving = makeBlob(3, 0.1);
  for (const Measure measure : { Measure::MeanSquares, Measure::MeanAbsoluteDifferences, Measure::Correlation })
  {
    for (const Model model : { Model::Rigid, Model::Affine })
    {
      RegistrationSettings settings;
      settings.model = model;
      settings.measure = measure;
      settings.search = Search::Simplex;
      settings.device = itk::GPUDevice::FromName("host");
      std::ostringstream progress;
      const auto         result = Register(fixed, moving, settings, progress);
      ASSERT_EQ(result.stages.size(), model == Model::Rigid ? 1u : 2u);
      itk::Point<double, 3> point;
      point.Fill(15.5);
      point[0] += 5;
      const auto            moved = result.transform->TransformPoint(point);
      itk::Point<double, 3> expected;
      expected[0] = 18.5 + 5 * std::cos(0.1);
      expected[1] = 15.5 + 5 * std::sin(0.1);
      expected[2] = 15.5;
      EXPECT_TRUE(gpuregtest::IsWithinRecord("host", moved.EuclideanDistanceTo(expected), 0.0245)) << progress.str();
    }
  }
}

} // namespace
