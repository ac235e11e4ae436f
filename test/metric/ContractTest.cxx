// SPDX-License-Identifier: Apache-2.0
// Tests that CudaMattesNMI can replace itk::MattesMutualInformationImageToImageMetricv4: it is used as ITK's registration methods and other
// programs use ITK's metric, and compared with it.
#include "BentTransform.h"
#include "Listening.h"
#include "RegistrationSetUp.h"
#include "ReplacingFactory.h"
#include "TestAnswer.h"
#include "TestDevices.h"
#include "TestImages.h"
#include "TestMetrics.h"

#include "gpureg/runtime/Device.h"

#include "itkAffineTransform.h"
#include "itkBSplineInterpolateImageFunction.h"
#include "itkBSplineTransform.h"
#include "itkCompositeTransform.h"
#include "itkDisplacementFieldTransform.h"
#include "itkEllipseSpatialObject.h"
#include "itkEuler2DTransform.h"
#include "itkGaussianInterpolateImageFunction.h"
#include "itkImageMaskSpatialObject.h"
#include "itkImageRegistrationMethodv4.h"
#include "itkObjectToObjectMultiMetricv4.h"
#include "itkSyNImageRegistrationMethod.h"
#include "itkTranslationTransform.h"
#include "itkWindowedSincInterpolateImageFunction.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace gpuregtest
{

namespace
{
using ImageType = TestImage<float, 2>;
using Ours = OurMetric<float, 2>;
using Itks = ItkMetric<float, 2>;
using AffineType = itk::AffineTransform<double, 2>;
using FieldTransformType = itk::DisplacementFieldTransform<double, 2>;
using FieldType = FieldTransformType::DisplacementFieldType;
using BSplineType = itk::BSplineTransform<double, 2, 3>;
using CompositeType = itk::CompositeTransform<double, 2>;

Answer
InitializeAndEvaluate(Itks & metric)
{
  metric.Initialize();
  return Evaluate(metric);
}

void
ExpectSame(const Answer & a, const Answer & b)
{
  EXPECT_EQ(a.value, b.value);
  EXPECT_EQ(a.validPoints, b.validPoints);
  EXPECT_EQ(a.derivative, b.derivative);
}

void
ExpectNear(const Answer & ours, const Answer & itks, double valueTolerance = 1e-5, double derivativeTolerance = 1e-5)
{
  EXPECT_EQ(ours.validPoints, itks.validPoints);
  EXPECT_NEAR(ours.value, itks.value, valueTolerance * std::abs(itks.value));
  ASSERT_EQ(ours.derivative.size(), itks.derivative.size());
  EXPECT_LE(GetRelativeError(ours.derivative, itks.derivative), derivativeTolerance);
}

Grid<2>
MakeGrid()
{
  Grid<2> grid;
  grid.size[0] = 70;
  grid.size[1] = 63;
  grid.spacing[1] = 1.2;
  grid.origin.Fill(-10.0);
  return grid;
}

AffineType::Pointer
MakeAffine(std::uint64_t seed)
{
  Random     random(seed);
  const auto affine = AffineType::New();
  affine->SetCenter(MakeGrid().GetCentre());
  auto parameters = affine->GetParameters();
  for (unsigned int p = 0; p < parameters.size(); ++p)
  {
    parameters[p] += Uniform(random, -0.05, 0.05) * (p < 4 ? 1.0 : 50.0);
  }
  affine->SetParameters(parameters);
  return affine;
}

FieldTransformType::Pointer
MakeField()
{
  const auto field = FieldType::New();
  MakeGrid().ApplyTo(*field);
  field->Allocate();
  for (std::size_t n = 0; n < field->GetBufferedRegion().GetNumberOfPixels(); ++n)
  {
    field->GetBufferPointer()[n][0] = 1.31 * std::sin(0.002 * static_cast<double>(n));
    field->GetBufferPointer()[n][1] = 0.93 * std::cos(0.003 * static_cast<double>(n));
  }
  const auto transform = FieldTransformType::New();
  transform->SetDisplacementField(field);
  return transform;
}

/** Returns a B-spline with random coefficients. */
BSplineType::Pointer
MakeBSpline()
{
  const auto                          bspline = BSplineType::New();
  BSplineType::MeshSizeType           mesh;
  BSplineType::PhysicalDimensionsType extent;
  mesh.Fill(4);
  extent.Fill(80.0);
  bspline->SetTransformDomainOrigin(MakeGrid().origin);
  bspline->SetTransformDomainPhysicalDimensions(extent);
  bspline->SetTransformDomainMeshSize(mesh);
  auto   parameters = bspline->GetParameters();
  Random random(3);
  for (auto & parameter : parameters)
  {
    parameter = Uniform(random, -1.0, 1.0);
  }
  bspline->SetParameters(parameters);
  return bspline;
}

std::pair<ImageType::Pointer, ImageType::Pointer>
MakeImages(std::uint64_t seed)
{
  return MakeImagePair<ImageType>(MakeGrid(), MakeGrid(), seed);
}

void
SetInput(Itks &                                                    metric,
         const std::pair<ImageType::Pointer, ImageType::Pointer> & images,
         Itks::MovingTransformType *                               transform)
{
  metric.SetFixedImage(images.first);
  metric.SetMovingImage(images.second);
  metric.SetMovingTransform(transform);
  metric.SetNumberOfHistogramBins(20);
}

/** An affine transform of a class of its own, as programs define them. */
class CustomTransform : public AffineType
{
public:
  using Self = CustomTransform;
  using Pointer = itk::SmartPointer<Self>;
  itkNewMacro(Self);
  const char *
  GetNameOfClass() const override
  {
    return "CustomTransform";
  }

protected:
  CustomTransform()
    : AffineType(6)
  {}
};
class ContractTest : public DeviceTest
{
protected:
  /** Returns our metric with ITK's formula: NormalizedOff. */
  Ours::Pointer
  MakeOurs() const
  {
    const auto metric = Ours::New();
    metric->SetDevice(GetDevice());
    metric->NormalizedOff();
    return metric;
  }

  /** Expects both metrics to agree on the same input. */
  template <typename TSetUp>
  void
  ExpectEqualToItk(const TSetUp & setUp, double valueTolerance = 1e-5, double derivativeTolerance = 1e-5)
  {
    const auto ours = MakeOurs();
    const auto itks = Itks::New();
    setUp(*ours);
    setUp(*itks);
    ExpectNear(InitializeAndEvaluate(*ours), InitializeAndEvaluate(*itks), valueTolerance, derivativeTolerance);
  }
};
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

TEST_P(ContractTest, ImagesReplacedBetweenInitializeCalls)
{
  const auto metric = MakeOurs();
  const auto affine = MakeAffine(3);
  for (const std::uint64_t seed : { 1, 2, 1 })
  {
    const auto images = MakeImages(seed);
    SetInput(*metric, images, affine);
    const auto fresh = MakeOurs();
    SetInput(*fresh, images, affine);
    ExpectSame(InitializeAndEvaluate(*metric), InitializeAndEvaluate(*fresh));
  }
}

TEST_P(ContractTest, PixelsChangedInPlace)
{
  const auto images = MakeImages(1);
  const auto other = MakeImages(2);
  const auto affine = MakeAffine(3);
  const auto metric = MakeOurs();
  SetInput(*metric, images, affine);
  const Answer before = InitializeAndEvaluate(*metric);
  const auto   count = images.first->GetBufferedRegion().GetNumberOfPixels();
  for (const bool moving : { false, true })
  {
    ImageType & to = moving ? *images.second : *images.first;
    ImageType & from = moving ? *other.second : *other.first;
    std::copy_n(from.GetBufferPointer(), count, to.GetBufferPointer());
    to.Modified();
    const Answer now = InitializeAndEvaluate(*metric);
    EXPECT_NE(now.value, before.value);
    const auto fresh = MakeOurs();
    SetInput(*fresh, images, affine);
    ExpectSame(now, InitializeAndEvaluate(*fresh));
  }
}

/** SyN swaps the fixed and the moving image, and replaces both, at every call. */
TEST_P(ContractTest, ImagesSwappedAndReplacedAtEachCall)
{
  const auto metric = MakeOurs();
  const auto field = MakeField();
  for (const std::uint64_t seed : { 1, 2, 3 })
  {
    auto images = MakeImages(seed);
    for (int swap = 0; swap < 2; ++swap)
    {
      SetInput(*metric, images, field);
      const auto itks = Itks::New();
      SetInput(*itks, images, field);
      ExpectNear(InitializeAndEvaluate(*metric), InitializeAndEvaluate(*itks));
      std::swap(images.first, images.second);
    }
  }
}

TEST_P(ContractTest, MasksAndInterpolatorsComeAndGo)
{
  using MaskType = itk::ImageMaskSpatialObject<2>;
  const auto images = MakeImages(4);
  const auto affine = MakeAffine(4);
  const auto mask = MaskType::New();
  mask->SetImage(MakeImage<MaskType::ImageType>(MakeGrid(), [](const auto & p) {
    return (p - MakeGrid().GetCentre()).GetNorm() < 24.0 ? 1 : 0;
  }));
  mask->Update();
  const auto metric = MakeOurs();
  const auto none = static_cast<const MaskType *>(nullptr);
  SetInput(*metric, images, affine);
  const Answer plain = InitializeAndEvaluate(*metric);

  metric->SetMovingImageMask(mask);
  metric->SetFixedImageMask(mask);
  const Answer masked = InitializeAndEvaluate(*metric);
  EXPECT_LT(masked.validPoints, plain.validPoints);
  metric->SetMovingImageMask(none);
  metric->SetFixedImageMask(none);
  ExpectSame(InitializeAndEvaluate(*metric), plain);

  metric->UseMovingImageGradientFilterOff();
  EXPECT_NE(InitializeAndEvaluate(*metric).derivative, plain.derivative);
  metric->UseMovingImageGradientFilterOn();
  ExpectSame(InitializeAndEvaluate(*metric), plain);

  metric->SetNumberOfHistogramBins(32);
  EXPECT_NE(InitializeAndEvaluate(*metric).value, plain.value);
  metric->SetNumberOfHistogramBins(20);
  ExpectSame(InitializeAndEvaluate(*metric), plain);
}

TEST_P(ContractTest, DeviceChangedBetweenEvaluations)
{
  const auto metric = MakeOurs();
  SetInput(*metric, MakeImages(5), MakeAffine(5));
  const Answer first = InitializeAndEvaluate(*metric);
  for (const itk::GPUDevice & device : itk::GPUDevice::GetAvailable())
  {
    metric->SetDevice(device);
    EXPECT_EQ(metric->GetDevice(), device);
    ExpectNear(Evaluate(*metric), first, 1e-5, 1e-5);
    metric->SetDevice(GetDevice());
    ExpectSame(Evaluate(*metric), first);
  }
}

/** Scales estimators and optimizers write into the transform without a notification. */
TEST_P(ContractTest, ParametersChangedBehindTheMetric)
{
  const auto images = MakeImages(6);
  const auto affine = MakeAffine(6);
  const auto composite = CompositeType::New();
  composite->AddTransform(affine);
  const auto metric = MakeOurs();
  SetInput(*metric, images, composite);
  const Answer before = InitializeAndEvaluate(*metric);
  const auto   old = affine->GetParameters();
  affine->SetParameters(MakeAffine(7)->GetParameters());
  EXPECT_NE(Evaluate(*metric).value, before.value);
  affine->SetParameters(old);
  ExpectSame(Evaluate(*metric), before);
}

TEST_P(ContractTest, FieldChangedBehindTheMetric)
{
  const auto images = MakeImages(6);
  const auto transform = MakeField();
  const auto metric = MakeOurs();
  SetInput(*metric, images, transform);
  const Answer before = InitializeAndEvaluate(*metric);
  const auto   field = transform->GetModifiableDisplacementField();
  const auto   stamp = field->GetMTime();
  const auto   count = field->GetBufferedRegion().GetNumberOfPixels();
  for (const double sign : { 1.0, -1.0 })
  {
    for (std::size_t n = 0; n < count; ++n)
    {
      field->GetBufferPointer()[n][0] += sign * 0.5; // exact
    }
    ASSERT_EQ(field->GetMTime(), stamp);
    if (sign > 0)
    {
      EXPECT_NE(Evaluate(*metric).value, before.value);
    }
  }
  EXPECT_NEAR(Evaluate(*metric).value, before.value, 1e-7);
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

TEST_P(ContractTest, TransformClassesOfOthers)
{
  const auto images = MakeImages(8);
  const auto custom = CustomTransform::New();
  custom->SetCenter(MakeGrid().GetCentre());
  custom->SetParameters(MakeAffine(8)->GetParameters());
  ExpectEqualToItk([&](Itks & metric) { SetInput(metric, images, custom); });
}

TEST_P(ContractTest, OneThatIsNotLinearThoughItsParentClassIsIsComputedThroughItk)
{
  const auto images = MakeImages(8);
  const auto bent = BentTransform<2>::New();
  bent->SetCenter(MakeGrid().GetCentre());
  bent->SetParameters(MakeAffine(8)->GetParameters());
  const auto composite = CompositeType::New();
  composite->AddTransform(bent);
  const Listening listening;
  for (Itks::MovingTransformType * transform :
       { static_cast<Itks::MovingTransformType *>(bent), static_cast<Itks::MovingTransformType *>(composite) })
  {
    ExpectEqualToItk([&](Itks & metric) { SetInput(metric, images, transform); }, 1e-9, 1e-9);
  }
  EXPECT_EQ(listening.window->Count("computes it through ITK"), 2u);
  // As a fixed transform it is called for each point.
  ExpectEqualToItk([&](Itks & metric) {
    SetInput(metric, images, MakeAffine(8));
    metric.SetFixedTransform(bent);
  });
}

TEST_P(ContractTest, BSplineParametersAreOptimisedOnTheDevice)
{
  const auto bspline = MakeBSpline();
  const auto images = MakeImages(8);
  const auto composite = CompositeType::New();
  composite->AddTransform(MakeAffine(8));
  composite->AddTransform(bspline);
  composite->SetOnlyMostRecentTransformToOptimizeOn();
  const Listening listening;
  for (Itks::MovingTransformType * transform :
       { static_cast<Itks::MovingTransformType *>(bspline), static_cast<Itks::MovingTransformType *>(composite) })
  {
    ExpectEqualToItk([&](Itks & metric) { SetInput(metric, images, transform); });
  }
  EXPECT_EQ(listening.window->Count("WARNING"), 0u);
}

/** An affine transform that is optimized, behind a B-spline that is not, is computed on the device; not if both are optimized. */
TEST_P(ContractTest, BehindABSplineIsOnTheDeviceUnlessItIsOptimisedToo)
{
  const auto bspline = MakeBSpline();
  const auto composite = CompositeType::New();
  composite->AddTransform(MakeAffine(8));
  composite->AddTransform(bspline);
  composite->SetNthTransformToOptimizeOn(0);
  composite->SetNthTransformToOptimizeOff(1);
  const auto      images = MakeImages(8);
  const Listening listening;
  ExpectEqualToItk([&](Itks & metric) { SetInput(metric, images, composite); });
  EXPECT_EQ(listening.window->Count("WARNING"), 0u);
  composite->SetNthTransformToOptimizeOn(1);
  ExpectEqualToItk([&](Itks & metric) { SetInput(metric, images, composite); }, 1e-9, 1e-9);
  EXPECT_EQ(listening.window->Count("computes it through ITK"), 1u);
}

TEST_P(ContractTest, OtherInterpolatorsAreComputedThroughItkAndSaidOnce)
{
  const auto images = MakeImages(9);
  const auto affine = MakeAffine(9);
  const auto sinc = itk::WindowedSincInterpolateImageFunction<ImageType, 3>::New();
  const auto gaussian = itk::GaussianInterpolateImageFunction<ImageType, double>::New();
  using InterpolatorType = itk::InterpolateImageFunction<ImageType, double>;
  for (InterpolatorType * interpolator :
       { static_cast<InterpolatorType *>(sinc), static_cast<InterpolatorType *>(gaussian) })
  {
    const auto ours = MakeOurs();
    const auto itks = Itks::New();
    SetInput(*ours, images, affine);
    SetInput(*itks, images, affine);
    ours->SetMovingInterpolator(interpolator);
    itks->SetMovingInterpolator(interpolator);
    const Listening listening;
    const Answer    answer = InitializeAndEvaluate(*ours);
    Evaluate(*ours);
    InitializeAndEvaluate(*ours);
    EXPECT_EQ(listening.window->Count(interpolator->GetNameOfClass()), 1u);
    ExpectNear(answer, InitializeAndEvaluate(*itks), 1e-10, 1e-10);
  }
}

TEST_P(ContractTest, OtherMasksAreComputedThroughItkAndSaidOnce)
{
  using EllipseType = itk::EllipseSpatialObject<2>;
  const auto ellipse = EllipseType::New();
  ellipse->SetRadiusInObjectSpace(25.0);
  ellipse->SetCenterInObjectSpace(MakeGrid().GetCentre());
  ellipse->Update();
  const auto images = MakeImages(9);
  const auto affine = MakeAffine(9);
  for (const bool asFixedMask : { false, true })
  {
    const auto ours = MakeOurs();
    const auto itks = Itks::New();
    for (Itks * metric : { static_cast<Itks *>(ours), itks.GetPointer() })
    {
      SetInput(*metric, images, affine);
      if (asFixedMask)
      {
        metric->SetFixedImageMask(ellipse);
      }
      else
      {
        metric->SetMovingImageMask(ellipse);
      }
    }
    const Listening listening;
    const Answer    answer = InitializeAndEvaluate(*ours);
    Evaluate(*ours);
    // ITK's own objects evaluate the fixed side once, so any mask will do there.
    EXPECT_EQ(listening.window->Count("EllipseSpatialObject"), asFixedMask ? 0u : 1u);
    ExpectNear(answer, InitializeAndEvaluate(*itks), asFixedMask ? 1e-5 : 1e-10, asFixedMask ? 1e-4 : 1e-10);
  }
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

TEST_P(ContractTest, ASplineOfOrderOneIsComputedThroughItk)
{
  const auto images = MakeImages(22);
  const auto affine = MakeAffine(22);
  const auto spline = itk::BSplineInterpolateImageFunction<ImageType, double>::New();
  spline->SetSplineOrder(1);
  const Listening listening;
  ExpectEqualToItk(
    [&](Itks & metric) {
      SetInput(metric, images, affine);
      metric.SetMovingInterpolator(spline);
    },
    1e-10,
    1e-10);
  EXPECT_EQ(listening.window->Count("of order 1"), 1u);
}

/** Changes without a new time stamp of the object are noticed at the next Initialize(). */
TEST_P(ContractTest, ChangesWithoutATimeStamp)
{
  const auto images = MakeImages(23);
  const auto affine = MakeAffine(23);
  const auto points = Ours::VirtualPointSetType::New();
  const auto movePoints = [&](double shift) {
    for (unsigned int n = 0; n < 900; ++n)
    {
      itk::Vector<double, 2> index;
      index[0] = 8.0 + n % 45 + shift;
      index[1] = 8.0 + n / 45 + shift;
      Ours::VirtualPointSetType::PointType point;
      point.CastFrom(MakeGrid().GetPoint(index));
      points->SetPoint(n, point);
    }
  };
  const auto fixedShift = itk::TranslationTransform<double, 2>::New();
  const auto fixedTransform = CompositeType::New();
  fixedTransform->AddTransform(fixedShift);
  const auto spline = itk::BSplineInterpolateImageFunction<ImageType, double>::New();
  const auto metric = MakeOurs();
  const auto setUp = [&](Itks & to) {
    SetInput(to, images, affine);
    to.SetFixedTransform(fixedTransform);
    to.SetMovingInterpolator(spline);
    to.SetVirtualSampledPointSet(points);
    to.UseSampledPointSetOn();
    to.UseVirtualSampledPointSetOn();
  };
  movePoints(0.0);
  setUp(*metric);
  Answer     before = InitializeAndEvaluate(*metric);
  const auto expectSeen = [&](const char * what) {
    SCOPED_TRACE(what);
    const Answer now = InitializeAndEvaluate(*metric);
    EXPECT_NE(now.value, before.value);
    const auto fresh = MakeOurs();
    setUp(*fresh);
    ExpectSame(now, InitializeAndEvaluate(*fresh));
    before = now;
  };
  movePoints(6.5);
  expectSeen("points moved in place");
  spline->SetSplineOrder(2);
  expectSeen("another spline order");
  auto offset = fixedShift->GetParameters();
  offset[0] = 2.3;
  fixedShift->SetParameters(offset);
  expectSeen("a part of the fixed transform");
}

TEST_P(ContractTest, BinsChangedAfterInitializeWantItAgain)
{
  const auto metric = MakeOurs();
  SetInput(*metric, MakeImages(24), MakeAffine(24));
  const Answer answer = InitializeAndEvaluate(*metric);
  metric->SetNumberOfHistogramBins(33);
  EXPECT_THROW(Evaluate(*metric), itk::GPUBadInputError);
  metric->SetNumberOfHistogramBins(20);
  ExpectSame(InitializeAndEvaluate(*metric), answer);
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
