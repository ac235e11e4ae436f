// SPDX-License-Identifier: Apache-2.0
// Tests that CudaMattesNMI can replace itk::MattesMutualInformationImageToImageMetricv4: it is used as ITK's registration methods and other
// programs use ITK's metric, and compared with it.
#include "ContractCase.h"
#include "RegistrationSetUp.h"
#include "ReplacingFactory.h"

#include "gpureg/runtime/Device.h"

#include "itkBSplineInterpolateImageFunction.h"
#include "itkEuler2DTransform.h"
#include "itkImageRegistrationMethodv4.h"
#include "itkObjectToObjectMultiMetricv4.h"
#include "itkSyNImageRegistrationMethod.h"
#include "itkTranslationTransform.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <sstream>
#include <vector>

namespace gpuregtest
{

namespace
{
class ContractTest : public ContractCase
{};
} // namespace

TEST_P(ContractTest, IsWhatRegistrationMethodsCastTo)
{
  itk::ObjectToObjectMetricBaseTemplate<double>::Pointer base = MakeOurs().GetPointer();
  using Metricv4 = itk::ImageToImageMetricv4<ImageType, ImageType, ImageType, double>;
  EXPECT_NE(dynamic_cast<Metricv4 *>(base.GetPointer()), nullptr);
  EXPECT_NE(dynamic_cast<Itks *>(base.GetPointer()), nullptr);
  EXPECT_STREQ(base->GetNameOfClass(), "CudaMattesNMI");
}

TEST_P(ContractTest, PrintsItself)
{
  const auto         metric = MakeOurs();
  std::ostringstream text;
  metric->Print(text);
  EXPECT_NE(text.str().find("Device: " + GetParam()), std::string::npos);
  EXPECT_NE(text.str().find("Normalized: Off"), std::string::npos);
  metric->NormalizedOn();
  metric->Print(text);
  EXPECT_NE(text.str().find("Normalized: On"), std::string::npos);
}

TEST_P(ContractTest, ReplacesItkByAFactory)
{
  const auto factory = ReplacingFactory::New();
  factory->Replace<Ours>();
  itk::ObjectFactoryBase::RegisterFactory(factory);
  const auto metric = Itks::New();
  itk::ObjectFactoryBase::UnRegisterFactory(factory);
  EXPECT_NE(dynamic_cast<Ours *>(metric.GetPointer()), nullptr);
  EXPECT_EQ(dynamic_cast<Ours *>(Itks::New().GetPointer()), nullptr);
}

/** Uses objects by their base classes, as Python does, and sets nothing that has a default. */
TEST_P(ContractTest, UsedThroughItsBaseClasses)
{
  const auto images = MakeImages(1);
  const auto affine = MakeAffine(1);
  const auto ask = [&](Itks::Pointer metric) {
    itk::ObjectToObjectMetricBaseTemplate<double> & base = *metric;
    base.SetFixedObject(images.first);
    base.SetMovingObject(images.second);
    metric->SetTransform(affine);
    base.Initialize();
    EXPECT_EQ(base.GetNumberOfParameters(), 6u);
    EXPECT_FALSE(base.HasLocalSupport());
    Answer                                                        answer;
    itk::ObjectToObjectMetricBaseTemplate<double>::DerivativeType derivative;
    base.GetDerivative(derivative);
    answer.derivative.assign(derivative.begin(), derivative.end());
    answer.value = base.GetValue();
    EXPECT_EQ(base.GetCurrentValue(), answer.value);
    answer.validPoints = metric->GetNumberOfValidPoints();
    return answer;
  };
  ExpectNear(ask(MakeOurs().GetPointer()), ask(Itks::New()));
}

TEST_P(ContractTest, JointPdfIsItks)
{
  const auto images = MakeImages(2);
  const auto affine = MakeAffine(2);
  const auto ours = MakeOurs();
  const auto itks = Itks::New();
  SetInput(*ours, images, affine);
  SetInput(*itks, images, affine);
  InitializeAndEvaluate(*ours);
  InitializeAndEvaluate(*itks);
  const auto ourPdf = ours->GetJointPDF();
  const auto itkPdf = itks->GetJointPDF();
  ASSERT_TRUE(ourPdf.IsNotNull());
  ASSERT_EQ(ourPdf->GetBufferedRegion(), itkPdf->GetBufferedRegion());
  EXPECT_EQ(ourPdf->GetOrigin(), itkPdf->GetOrigin());
  EXPECT_EQ(ourPdf->GetSpacing(), itkPdf->GetSpacing());
  double sum = 0;
  for (std::size_t n = 0; n < ourPdf->GetBufferedRegion().GetNumberOfPixels(); ++n)
  {
    EXPECT_NEAR(ourPdf->GetBufferPointer()[n], itkPdf->GetBufferPointer()[n], 1e-6);
    sum += ourPdf->GetBufferPointer()[n];
  }
  EXPECT_NEAR(sum, 1.0, 1e-9);
}

/** Between evaluations other users of the device may have the pinned memory into which forces are downloaded. */
TEST_P(ContractTest, ForcesGiveTheirMemoryBack)
{
  std::vector<Ours::Pointer> alive;
  std::vector<std::size_t>   pinned;
  for (std::uint64_t seed = 1; seed <= 3; ++seed)
  {
    alive.push_back(MakeOurs());
    SetInput(*alive.back(), MakeImages(seed), MakeField());
    InitializeAndEvaluate(*alive.back());
    pinned.push_back(gpureg::GetPinnedMemoryInUse(GetParam()));
  }
  EXPECT_EQ(pinned[1], pinned[0]) << "the second metric gets the memory of the first one";
  EXPECT_EQ(pinned[2], pinned[0]);
}

/** An evaluation modifies no object that others observe, since a scales estimator would then sample again. */
TEST_P(ContractTest, EvaluatingModifiesNothing)
{
  const auto images = MakeImages(6);
  const auto affine = MakeAffine(6);
  const auto metric = MakeOurs();
  SetInput(*metric, images, affine);
  metric->Initialize();
  const auto metricTime = metric->GetMTime();
  const auto transformTime = affine->GetMTime();
  Evaluate(*metric);
  metric->GetValue();
  EXPECT_EQ(metric->GetMTime(), metricTime);
  EXPECT_EQ(affine->GetMTime(), transformTime);
}

/** Samples exactly on the edge of the moving buffer: rounding may put each of them on either side, but no other sample. */
TEST_P(ContractTest, SamplesOnTheEdgeOfTheBuffer)
{
  const Grid<2> grid = MakeGrid();
  const auto    images = MakeImages(15);
  const auto    turned = AffineType::New(); // exact except for rounding, as in practice
  turned->SetCenter(grid.GetCentre());
  turned->Rotate2D(0.7);
  turned->Rotate2D(-0.7);
  AffineType::OutputVectorType shift;
  shift[0] = -2.5 * grid.spacing[0];
  shift[1] = 3.5 * grid.spacing[1];
  turned->Translate(shift);
  std::size_t onEdge = 0, inside = 0;
  for (std::size_t n = 0; n < images.first->GetBufferedRegion().GetNumberOfPixels(); ++n)
  {
    ImageType::PointType point;
    images.first->TransformIndexToPhysicalPoint(images.first->ComputeIndex(n), point);
    const auto index = images.second->TransformPhysicalPointToContinuousIndex<double>(turned->TransformPoint(point));
    double     margin = 1e9; // to the nearest edge; negative outside
    for (unsigned int d = 0; d < 2; ++d)
    {
      margin = std::min({ margin, index[d] + 0.5, static_cast<double>(grid.size[d]) - 0.5 - index[d] });
    }
    onEdge += std::abs(margin) <= 1e-4;
    inside += margin > 1e-4;
  }
  EXPECT_GT(onEdge, 50u); // otherwise the test would show nothing
  const auto metric = MakeOurs();
  SetInput(*metric, images, turned);
  const Answer answer = InitializeAndEvaluate(*metric);
  EXPECT_GE(answer.validPoints, inside);
  EXPECT_LE(answer.validPoints, inside + onEdge);
}

/** Points that share a voxel add up in its derivative, since the field's value there moves all of them. */
TEST_P(ContractTest, PointsThatShareAVoxelOfAField)
{
  const auto images = MakeImages(10);
  const auto field = MakeField();
  // Each point once, and each point twice: the joint density is the same, and so are the forces.
  const auto once = Ours::VirtualPointSetType::New();
  const auto twice = Ours::VirtualPointSetType::New();
  Random     random(10);
  for (unsigned int n = 0; n < 800; ++n)
  {
    Ours::VirtualPointSetType::PointType point;
    const auto                           image = images.first;
    itk::Vector<double, 2>               index;
    index[0] = static_cast<double>(5 + n % 60) + Uniform(random, -0.4, 0.4);
    index[1] = static_cast<double>(5 + n / 60) + Uniform(random, -0.4, 0.4);
    point.CastFrom(MakeGrid().GetPoint(index));
    once->SetPoint(n, point);
    twice->SetPoint(2 * n, point);
    twice->SetPoint(2 * n + 1, point);
  }
  Answer answers[2];
  for (int n = 0; n < 2; ++n)
  {
    const auto metric = MakeOurs();
    SetInput(*metric, images, field);
    metric->SetVirtualSampledPointSet(n == 0 ? once : twice);
    metric->UseSampledPointSetOn();
    metric->UseVirtualSampledPointSetOn();
    answers[n] = InitializeAndEvaluate(*metric);
  }
  EXPECT_EQ(answers[1].validPoints, 2 * answers[0].validPoints);
  EXPECT_NEAR(answers[1].value, answers[0].value, 1e-6);
  EXPECT_LE(GetRelativeError(answers[1].derivative, answers[0].derivative), 1e-4);
}

/** A point that is far from the images, or not a number, belongs to neither image, and does not affect the others. */
TEST_P(ContractTest, APointThatIsFarAwayIsLeftOut)
{
  const auto images = MakeImages(11);
  const auto affine = MakeAffine(11);
  for (const double far : { 1e7, -1e7, 1e12, std::numeric_limits<double>::quiet_NaN() })
  {
    const auto points = Ours::VirtualPointSetType::New();
    for (unsigned int n = 0; n < 900; ++n)
    {
      itk::Vector<double, 2> index;
      index[0] = 8.0 + n % 45;
      index[1] = n == 450 ? far : 8.0 + n / 45;
      Ours::VirtualPointSetType::PointType point;
      point.CastFrom(MakeGrid().GetPoint(index));
      points->SetPoint(n, point);
    }
    SCOPED_TRACE(far);
    ExpectEqualToItk(
      [&](Itks & metric) {
        SetInput(metric, images, affine);
        metric.SetVirtualSampledPointSet(points);
        metric.UseSampledPointSetOn();
        metric.UseVirtualSampledPointSetOn();
      },
      1e-5,
      1e-5);
  }
}

/** A spline's ripples end in rounding errors: flat voxels at the smallest value are valid or not by ITK's rounding to the pixel type,
 *  even if that value is not 0. */
TEST_P(ContractTest, ASplineOverAFlatBackground)
{
  const auto images = MakeImages(21);
  const auto count = images.second->GetBufferedRegion().GetNumberOfPixels();
  for (std::size_t n = 0; n < count; ++n)
  {
    float & value = images.second->GetBufferPointer()[n];
    value = n < count / 2 ? -1024.0f : value;
  }
  const auto translation = itk::TranslationTransform<double, 2>::New();
  auto       offset = translation->GetParameters();
  offset[0] = 1.37;
  offset[1] = -0.81;
  translation->SetParameters(offset);
  const auto evaluate = [&](Itks & metric) {
    SetInput(metric, images, translation);
    metric.SetMovingInterpolator(itk::BSplineInterpolateImageFunction<ImageType, double>::New());
    return InitializeAndEvaluate(metric);
  };
  const Answer ours = evaluate(*MakeOurs());
  const Answer itks = evaluate(*Itks::New());
  // The ripples themselves fall below the smallest value and are rejected.
  EXPECT_GT(itks.validPoints, count * 3 / 4);
  EXPECT_EQ(ours.validPoints, itks.validPoints);
  EXPECT_NEAR(ours.value, itks.value, 1e-5 * std::abs(itks.value));
}

/** A point outside of the virtual domain has no place in a field's derivative. */
TEST_P(ContractTest, PointsOutsideTheDomainOfAField)
{
  const auto images = MakeImages(25);
  const auto points = Ours::VirtualPointSetType::New();
  for (unsigned int n = 0; n < 600; ++n)
  {
    itk::Vector<double, 2> index;
    index[0] = 6.0 + n % 40 + (n % 97 == 0 ? 100000.0 : 0.0);
    index[1] = 6.0 + n / 40;
    Ours::VirtualPointSetType::PointType point;
    point.CastFrom(MakeGrid().GetPoint(index));
    points->SetPoint(n, point);
  }
  const auto metric = MakeOurs();
  SetInput(*metric, images, MakeField());
  metric->SetVirtualSampledPointSet(points);
  metric->UseSampledPointSetOn();
  metric->UseVirtualSampledPointSetOn();
  const Answer answer = InitializeAndEvaluate(*metric);
  EXPECT_EQ(answer.validPoints, 600u - 7u);
  EXPECT_TRUE(
    std::all_of(answer.derivative.begin(), answer.derivative.end(), [](double d) { return std::isfinite(d); }));
}

TEST_P(ContractTest, MultiMetric)
{
  using MultiMetricType = itk::ObjectToObjectMultiMetricv4<2, 2, ImageType>;
  const auto affine = MakeAffine(11);
  const auto ask = [&](const std::function<Itks::Pointer()> & make) {
    const auto multi = MultiMetricType::New();
    for (const std::uint64_t seed : { 11, 12 })
    {
      const auto metric = make();
      SetInput(*metric, MakeImages(seed), affine);
      multi->AddMetric(metric);
    }
    multi->SetMovingTransform(affine);
    multi->Initialize();
    Answer             answer;
    itk::Array<double> derivative;
    multi->GetValueAndDerivative(answer.value, derivative);
    answer.derivative.assign(derivative.begin(), derivative.end());
    return answer;
  };
  ExpectNear(ask([&] { return Itks::Pointer(MakeOurs().GetPointer()); }), ask([] { return Itks::New(); }));
}

/** Rigid registration by ITK's usual method, with its sampling: both metrics take the same steps. */
TEST_P(ContractTest, ImageRegistrationMethod)
{
  using RegistrationType = itk::ImageRegistrationMethodv4<ImageType, ImageType>;
  using TransformType = itk::Euler2DTransform<double>;
  const Grid<2> grid = MakeGrid();
  const auto    images = MakeImages(13);

  const auto registerWith =
    [&](Itks::Pointer metric, RegistrationType::MetricSamplingStrategyEnum strategy, bool startsElsewhere = false) {
      const auto transform = TransformType::New();
      transform->SetCenter(grid.GetCentre());
      transform->SetAngle(0.06);
      TransformType::OutputVectorType offset;
      offset[0] = 2.5;
      offset[1] = -1.5;
      transform->SetTranslation(offset);
      metric->SetNumberOfHistogramBins(20);
      const auto registration = RegistrationType::New();
      SetUpRegistration(*registration, images.first, images.second, transform, metric, { { 2, 1.0 }, { 1, 0.0 } });
      registration->SetOptimizer(MakeGradientDescent(metric, 15, 0.5));
      if (startsElsewhere)
      {
        const auto fixedInitial = itk::TranslationTransform<double, 2>::New();
        auto       shift = fixedInitial->GetParameters();
        shift[0] = 0.7;
        shift[1] = -1.1;
        fixedInitial->SetParameters(shift);
        registration->SetFixedInitialTransform(fixedInitial);
        registration->SetMovingInitialTransform(MakeAffine(14));
      }
      registration->SetMetricSamplingStrategy(strategy);
      registration->SetMetricSamplingPercentage(0.4);
      registration->MetricSamplingReinitializeSeed(17);
      registration->Update();
      return transform;
    };

  for (const auto strategy : { RegistrationType::MetricSamplingStrategyEnum::NONE,
                               RegistrationType::MetricSamplingStrategyEnum::REGULAR,
                               RegistrationType::MetricSamplingStrategyEnum::RANDOM })
  {
    SCOPED_TRACE(static_cast<int>(strategy));
    const auto normalized = MakeOurs();
    normalized->NormalizedOn();
    const auto ours = registerWith(MakeOurs().GetPointer(), strategy);
    const auto itks = registerWith(Itks::New(), strategy);
    const auto nmi = registerWith(normalized.GetPointer(), strategy);
    // The distance in mm to which the corner is moved. Thirty steps amplify the metrics' difference of 1e-5.
    const auto corner = grid.origin;
    EXPECT_LT(ours->TransformPoint(corner).EuclideanDistanceTo(itks->TransformPoint(corner)), 0.01);
    // The images are aligned from the start: the true transform is the identity.
    EXPECT_LT(itks->TransformPoint(corner).EuclideanDistanceTo(corner), 1.0);
    EXPECT_LT(nmi->TransformPoint(corner).EuclideanDistanceTo(corner), 1.0);

    const auto oursFromElsewhere = registerWith(MakeOurs().GetPointer(), strategy, true);
    const auto itksFromElsewhere = registerWith(Itks::New(), strategy, true);
    EXPECT_LT(oursFromElsewhere->TransformPoint(corner).EuclideanDistanceTo(itksFromElsewhere->TransformPoint(corner)),
              0.01);
    EXPECT_GT(itksFromElsewhere->TransformPoint(corner).EuclideanDistanceTo(itks->TransformPoint(corner)), 0.1);
  }
}

/** Making a metric, choosing its device and setting its images allocates nothing on the device. */
TEST_P(ContractTest, NothingIsAllocatedBeforeItsFirstUse)
{
  const std::size_t before = gpureg::GetMemoryInUse(GetParam());
  const auto        metric = MakeOurs();
  SetInput(*metric, MakeImages(26), MakeAffine(26));
  EXPECT_EQ(gpureg::GetMemoryInUse(GetParam()), before);
  metric->Initialize();
  EXPECT_GT(gpureg::GetMemoryInUse(GetParam()), before);
}

/** SyN, which swaps and replaces the images at each call, gives the same field as with ITK's metric. Its updates are scaled by their
 *  largest vector, so a metric's error of 1e-4 becomes an error of 1e-3 of the field. */
TEST_P(ContractTest, SyNRegistration)
{
  using SyNType = itk::SyNImageRegistrationMethod<ImageType, ImageType>;
  const auto images = MakeImages(14);
  // The moving image is deformed, so that there is something to find.
  const auto    texture = images.first;
  const Grid<2> grid = MakeGrid();
  const auto    bent = MakeImage<ImageType>(grid, [&](auto p) {
    p[0] += 1.5 * std::sin(0.1 * p[1]);
    const auto interpolator = itk::LinearInterpolateImageFunction<ImageType>::New();
    interpolator->SetInputImage(texture);
    return interpolator->IsInsideBuffer(p) ? interpolator->Evaluate(p) : 100.0;
  });
  const auto    registerWith = [&](Itks::Pointer metric) {
    metric->SetNumberOfHistogramBins(16);
    const auto field = FieldType::New();
    grid.ApplyTo(*field);
    field->Allocate(true);
    const auto inverse = FieldType::New();
    grid.ApplyTo(*inverse);
    inverse->Allocate(true);
    const auto transform = SyNType::OutputTransformType::New();
    transform->SetDisplacementField(field);
    transform->SetInverseDisplacementField(inverse);
    const auto registration = SyNType::New();
    SetUpRegistration(*registration, images.first, bent, transform, metric, { { 1, 0.0 } });
    SyNType::NumberOfIterationsArrayType iterations(1);
    iterations.Fill(5);
    registration->SetNumberOfIterationsPerLevel(iterations);
    registration->SetLearningRate(0.25);
    registration->Update();
    const auto          result = registration->GetTransform()->GetDisplacementField();
    std::vector<double> vectors;
    for (std::size_t n = 0; n < result->GetBufferedRegion().GetNumberOfPixels(); ++n)
    {
      vectors.push_back(result->GetBufferPointer()[n][0]);
      vectors.push_back(result->GetBufferPointer()[n][1]);
    }
    return vectors;
  };
  const std::vector<double> ours = registerWith(MakeOurs().GetPointer());
  const std::vector<double> itks = registerWith(Itks::New());
  double                    largest = 0;
  for (const double x : itks)
  {
    largest = std::max(largest, std::abs(x));
  }
  EXPECT_GT(largest, 0.5);
  EXPECT_LE(GetRelativeError(ours, itks), 1e-3);
}

INSTANTIATE_TEST_SUITE_P(Devices, ContractTest, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace gpuregtest
