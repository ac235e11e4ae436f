// SPDX-License-Identifier: Apache-2.0
// itk::GPUSyNImageRegistrationMethod on every device beside itk::SyNImageRegistrationMethod, from which it is derived.
#include "Listening.h"
#include "RegisterSyN.h"
#include "SyNCase.h"
#include "TestDevices.h"

#include "gpureg/runtime/Device.h"

#include "itkGPUError.h"
#include "itkGPURegistrationFactory.h"
#include "itkGPUSyNImageRegistrationMethod.h"

#include "itkImageDuplicator.h"
#include "itkImageRegionConstIteratorWithIndex.h"
#include "itkObjectToObjectMultiMetricv4.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

namespace gpuregtest
{

namespace
{
using gpureg::SimilarityKind;

template <typename TPixel, typename TReal, unsigned int VDimension>
using ITKsMethod = itk::SyNImageRegistrationMethod<itk::Image<TPixel, VDimension>,
                                                   itk::Image<TPixel, VDimension>,
                                                   itk::DisplacementFieldTransform<TReal, VDimension>>;
template <typename TPixel, typename TReal, unsigned int VDimension>
using OurMethod = itk::GPUSyNImageRegistrationMethod<itk::Image<TPixel, VDimension>,
                                                     itk::Image<TPixel, VDimension>,
                                                     itk::DisplacementFieldTransform<TReal, VDimension>>;
using Ours3D = OurMethod<float, double, 3>;

// Voxels, and a share of the cost: see SyNRegistrationTest.
constexpr SyNDistance Most{ 1e-4, 1e-3, 1e-5 };
// As often as ITK itself may move: see CompareSyN.h.
constexpr double Times = 3;

/** Returns how far ITK's result with reals of float may be from ours, which is ITK's with reals of double. ITK's correlation adds its value
 *  up in float. Its Mattes metric has bins and histograms of float: by a Mattes metric that computes in double, ITK's SyN in float is within
 *  1.4e-6, 1.7e-5 and 6e-7 of ours. Found were 0.024, {1.24e-3, 0.0168, 2.4e-4} and {3.5e-4, 0.0119, 9.8e-5}; these are 1.5 times as much. */
SyNDistance
GetMostOfFloat(SimilarityKind kind)
{
  switch (kind)
  {
    case SimilarityKind::NeighborhoodCorrelation:
      return { Most.mean, Most.largest, 0.036 };
    case SimilarityKind::MattesMutualInformation:
      return { 1.86e-3, 0.0252, 3.6e-4 };
    case SimilarityKind::NormalizedMutualInformation:
      return { 5.3e-4, 0.0178, 1.5e-4 };
    default:
      return Most;
  }
}

void
ExpectWithin(const SyNDistance & distance, const SyNDistance & most, const std::string & what)
{
  EXPECT_LE(distance.mean, most.mean) << what;
  EXPECT_LE(distance.largest, most.largest) << what;
  EXPECT_LE(distance.ofCost, most.ofCost) << what;
}

/** A registration with all that the class passes on to the engine: levels, masks, initial transforms, weights and smoothing. */
template <unsigned int VDimension>
SyNCase<VDimension>
MakeFullCase(SimilarityKind kind)
{
  auto its = MakeCase<VDimension>(kind, 0);
  AddMasks(its);
  its.settings.iterations = { 3, 4 };
  its.settings.step = 0.2;
  its.settings.fieldSigma = std::sqrt(0.5);
  its.settings.similarity = { kind, 20, 3 };
  its.settings.syn.shrinkFactors = { { 2, 2, 2 }, { 1, 1, 1 } };
  its.settings.syn.smoothingSigmas = { 1.0, 0.0 };
  its.settings.weights = { 1.0, 0.5, 0.8 };
  its.fixedInitial = itk::AffineTransform<double, VDimension>::New();
  its.fixedInitial->SetCenter(MakeGrid<VDimension>().GetCentre());
  its.fixedInitial->Scale(1.03);
  its.initial = itk::AffineTransform<double, VDimension>::New();
  its.initial->SetCenter(MakeGrid<VDimension>().GetCentre());
  its.initial->Rotate(0, 1, 0.03);
  return its;
}

/** Returns the result of our class on a device, and expects that it is computed there. */
template <typename TMethod, unsigned int VDimension>
SyNResult
RegisterByOurs(const std::string & device, const SyNCase<VDimension> & its)
{
  const Listening listening;
  const auto      method = TMethod::New();
  method->SetDevice(itk::GPUDevice::FromName(device));
  SetUpMethod(*method, *MakeMetric<TMethod>(its.settings.similarity), its);
  const SyNResult result = Register(*method);
  EXPECT_GT(method->GetEvaluationStatistics().launches, 0);
  EXPECT_EQ(listening.window->Count("on the host"), 0U);
  return result;
}

/** Returns the result of ITK's class for a full case, without the costs that are not to be compared. */
template <typename TPixel, typename TReal, unsigned int VDimension>
SyNResult
RegisterFullCaseByITK(const SyNCase<VDimension> & its)
{
  SyNResult result = RegisterBy<ITKsMethod<TPixel, TReal, VDimension>>(its);
  if (its.settings.similarity.kind == SimilarityKind::MattesMutualInformation)
  {
    // Where more threads take part than at the level before, ITK adds up the fixed image's histogram without clearing it, and the level's
    // first value is some percent off. By one thread it is ours.
    result.costs.erase(result.costs.begin());
  }
  return result;
}

template <typename TPixel, typename TReal, unsigned int VDimension>
void
CompareFullCases(const std::string & device)
{
  for (const SimilarityKind kind : AllKinds)
  {
    const auto its = MakeFullCase<VDimension>(kind);
    const auto expected = RegisterFullCaseByITK<TPixel, TReal>(its);
    auto       found = RegisterByOurs<OurMethod<TPixel, TReal, VDimension>>(device, its);
    if (found.costs.size() > expected.costs.size())
    {
      found.costs.erase(found.costs.begin());
    }
    ASSERT_EQ(found.costs.size(), expected.costs.size());
    SyNDistance most = std::is_same_v<TReal, float> ? GetMostOfFloat(kind) : Most;
    if (std::is_same_v<TPixel, double> && kind == SimilarityKind::NormalizedMutualInformation)
    {
      // The last digits decide in which bins some voxels are: with images of float ITK moves from its own result to ours.
      const auto moved = CompareResults(its, RegisterFullCaseByITK<float, TReal>(its), expected);
      most = { std::max(most.mean, Times * moved.mean),
               std::max(most.largest, Times * moved.largest),
               std::max(most.ofCost, Times * moved.ofCost) };
    }
    ExpectWithin(CompareResults(its, found, expected), most, GetName(kind));
    if (std::is_same_v<TReal, float>)
    {
      ExpectWithin(CompareResults(its, found, RegisterFullCaseByITK<TPixel, double>(its)),
                   Most,
                   std::string(GetName(kind)) + ", reals of double");
    }
  }
}

/** Holds what an observer reads at an event. */
struct Seen
{
  std::string         event;
  double              level = 0;
  double              iteration = 0;
  double              value = 0;
  double              convergence = 0;
  bool                isConverged = false;
  std::vector<double> toMiddle; // at the last iteration of each level
};

/** Returns a copy of a field. */
template <typename TField>
typename TField::Pointer
Duplicate(const TField & field)
{
  const auto duplicator = itk::ImageDuplicator<TField>::New();
  duplicator->SetInputImage(&field);
  duplicator->Update();
  return duplicator->GetOutput();
}

template <typename TMethod>
std::vector<Seen>
Watch(TMethod & method, itk::SizeValueType readsAt)
{
  std::vector<Seen> all;
  const auto        tag = method.AddObserver(itk::AnyEvent(), [&](const itk::EventObject & event) {
    if (itk::IterationEvent().CheckEvent(&event))
    {
      Seen seen{ event.GetEventName(),
                 static_cast<double>(method.GetCurrentLevel()),
                 static_cast<double>(method.GetCurrentIteration()),
                 method.GetCurrentMetricValue(),
                 method.GetCurrentConvergenceValue(),
                 method.GetIsConverged(),
                 {} };
      if (method.GetCurrentIteration() == readsAt)
      {
        seen.toMiddle = GetVectors(*method.GetModifiableMovingToMiddleTransform()->GetDisplacementField());
      }
      all.push_back(seen);
    }
  });
  method.Update();
  method.RemoveObserver(tag);
  return all;
}

/** Returns the mean and the largest distance, in voxels, by which a field's inverse misses a voxel that is 2 or more away from the edge: by
 *  ITK's transform, in double precision. */
template <typename TField>
std::array<double, 2>
ComputeErrorsInside(TField & field, const TField & inverse)
{
  constexpr unsigned int dimension = TField::ImageDimension;
  using RealType = typename TField::PixelType::ValueType;
  const auto transform = itk::DisplacementFieldTransform<RealType, dimension>::New();
  transform->SetDisplacementField(&field);
  auto inside = inverse.GetBufferedRegion();
  inside.ShrinkByRadius(2);
  std::array<double, 2>                          errors{ 0, 0 };
  itk::ImageRegionConstIteratorWithIndex<TField> voxel(&inverse, inside);
  for (; !voxel.IsAtEnd(); ++voxel)
  {
    itk::Point<RealType, dimension> point;
    inverse.TransformIndexToPhysicalPoint(voxel.GetIndex(), point);
    const auto led =
      inverse.template TransformPhysicalPointToContinuousIndex<double>(transform->TransformPoint(point + voxel.Get()));
    double squares = 0;
    for (unsigned int d = 0; d < dimension; ++d)
    {
      squares += std::pow(led[d] - voxel.GetIndex()[d], 2);
    }
    errors[0] += std::sqrt(squares) / static_cast<double>(inside.GetNumberOfPixels());
    errors[1] = std::max(errors[1], std::sqrt(squares));
  }
  return errors;
}

/** Compares the refined inverse with ITK's, which the output keeps. */
template <typename TMethod>
void
TestRefinedInverse(const itk::GPUDevice & device)
{
  auto its = MakeCase<TMethod::ImageDimension>(SimilarityKind::NeighborhoodCorrelation, 0);
  its.settings.iterations = { 20, 10 };
  its.settings.step = 0.5;
  its.settings.syn.shrinkFactors = { { 2, 2, 2 }, { 1, 1, 1 } };
  const auto make = [&] {
    auto method = TMethod::New();
    method->SetDevice(device);
    SetUpMethod(*method, *MakeMetric<TMethod>(its.settings.similarity), its);
    method->Update();
    return method;
  };
  const auto method = make();
  const auto refined = method->GetRefinedInverse();
  const auto output = method->GetModifiableTransform();
  auto &     field = *output->GetModifiableDisplacementField();
  const auto before = ComputeErrorsInside(field, *output->GetInverseDisplacementField());
  const auto after = ComputeErrorsInside(field, *refined);
  // Transforms of float place points in float.
  const double rounding = std::is_same_v<typename TMethod::RealType, float> ? 2e-5 : 1e-6;
  EXPECT_GT(before[1], 1e-2);
  EXPECT_LT(after[0], 1e-4 + rounding);
  EXPECT_LT(after[1], 1e-3 + rounding);
  const gpureg::InverseErrors errors = method->GetInverseErrors();
  EXPECT_GT(errors.mean, 0);
  EXPECT_LT(errors.mean, 1e-4);
  EXPECT_GE(errors.largest, after[1] - rounding);
  EXPECT_LT(errors.largest, 1e-3);
  EXPECT_EQ(errors.offVoxels, 0);
  EXPECT_EQ(errors.foldedVoxels, 0);
  EXPECT_EQ(GetVectors(*method->GetRefinedInverse()), GetVectors(*refined));
  // It changes nothing else: neither the output nor what the device still has.
  const auto other = make();
  EXPECT_EQ(GetVectors(field), GetVectors(*other->GetModifiableTransform()->GetDisplacementField()));
  EXPECT_EQ(GetVectors(*output->GetInverseDisplacementField()),
            GetVectors(*other->GetModifiableTransform()->GetInverseDisplacementField()));
  EXPECT_EQ(GetVectors(*method->GetModifiableFixedToMiddleTransform()->GetInverseDisplacementField()),
            GetVectors(*other->GetModifiableFixedToMiddleTransform()->GetInverseDisplacementField()));
  EXPECT_EQ(GetVectors(*method->GetModifiableMovingToMiddleTransform()->GetDisplacementField()),
            GetVectors(*other->GetModifiableMovingToMiddleTransform()->GetDisplacementField()));
}

class SyNMethodTest : public DeviceTest
{
protected:
  /** Makes a method of ours, on the test's device, set up for a case. */
  Ours3D::Pointer
  MakeOurs(const SyNCase<3> & its)
  {
    const auto method = Ours3D::New();
    method->SetDevice(this->GetDevice());
    SetUpMethod(*method, *MakeMetric<Ours3D>(its.settings.similarity), its);
    return method;
  }

  /** Makes ITK's class where ours overrides it, on the test's device, set up for a case. */
  ITKsMethod<float, double, 3>::Pointer
  MakeOverride(const SyNCase<3> & its)
  {
    using Method = ITKsMethod<float, double, 3>;
    itk::GPUDevice::SetDefault(this->GetDevice());
    itk::GPURegistrationFactory::RegisterAll();
    const auto method = Method::New();
    SetUpMethod(*method, *MakeMetric<Method>(its.settings.similarity), its);
    itk::GPURegistrationFactory::UnRegisterAll();
    return method;
  }
};
} // namespace

TEST_P(SyNMethodTest, ComputesITKsResult2D)
{
  CompareFullCases<float, double, 2>(GetParam());
}

TEST_P(SyNMethodTest, ComputesITKsResult3D)
{
  CompareFullCases<float, double, 3>(GetParam());
}

TEST_P(SyNMethodTest, ComputesITKsResultOfDoubleImages)
{
  CompareFullCases<double, double, 3>(GetParam());
}

TEST_P(SyNMethodTest, ComputesITKsResultInFloat)
{
  CompareFullCases<float, float, 3>(GetParam());
}

TEST_P(SyNMethodTest, InvokesITKsEvents)
{
  auto its = MakeCase<3>(SimilarityKind::MeanSquares, 0);
  its.settings.iterations = { 0, 30, 2 };
  its.settings.syn.shrinkFactors = { { 3, 3, 3 }, { 2, 2, 2 }, { 1, 1, 1 } };
  its.settings.convergenceWindow = 4;
  its.settings.convergenceThreshold = 0.02;
  const auto itks = ITKsMethod<float, double, 3>::New();
  SetUpMethod(*itks, *MakeMetric<ITKsMethod<float, double, 3>>(its.settings.similarity), its);
  const auto expected = Watch(*itks, 2);
  const auto method = this->MakeOurs(its);
  const auto found = Watch(*method, 2);
  ASSERT_EQ(found.size(), expected.size());
  // The second level converges.
  ASSERT_GT(expected.size(), 3U + 4 + 2);
  ASSERT_LT(expected.size(), 3U + 30 + 2);
  for (std::size_t n = 0; n < found.size(); ++n)
  {
    EXPECT_EQ(found[n].event, expected[n].event) << n;
    EXPECT_EQ(found[n].level, expected[n].level) << n;
    EXPECT_EQ(found[n].iteration, expected[n].iteration) << n;
    EXPECT_EQ(found[n].isConverged, expected[n].isConverged) << n;
    EXPECT_NEAR(found[n].value, expected[n].value, 1e-5 * std::abs(expected[n].value)) << n;
    // A slope of values that are shares of their sum; the largest number where there are too few.
    EXPECT_NEAR(found[n].convergence, expected[n].convergence, 1e-6) << n;
    ASSERT_EQ(found[n].toMiddle.size(), expected[n].toMiddle.size()) << n;
    EXPECT_LE(ComputeDistance(found[n].toMiddle, expected[n].toMiddle, 3, 1.0).largest, Most.largest) << n;
  }
  EXPECT_EQ(method->GetCurrentLevel(), itks->GetCurrentLevel());
  EXPECT_EQ(method->GetCurrentIteration(), itks->GetCurrentIteration());
  EXPECT_EQ(method->GetIsConverged(), itks->GetIsConverged());
}

TEST_P(SyNMethodTest, FollowsObserversThatChangeSettings)
{
  using Method = Ours3D::Superclass;
  const auto setIterations = [](Method & method, unsigned int first) {
    Method::NumberOfIterationsArrayType iterations(2);
    iterations[0] = first;
    iterations[1] = 4;
    method.SetNumberOfIterationsPerLevel(iterations);
  };
  struct Change
  {
    const char *                  name;
    std::function<void(Method &)> make;
  };
  const Change changes[] = {
    { "step", [](Method & method) { method.SetLearningRate(0.5 * method.GetLearningRate()); } },
    { "iterations", [&](Method & method) { setIterations(method, 2); } },
    { "levels", [](Method & method) { method.SetNumberOfLevels(1); } },
    { "averages", [](Method & method) { method.SetAverageMidPointGradients(true); } },
    { "smoothing",
      [](Method & method) {
        method.SetGaussianSmoothingVarianceForTheUpdateField(6.0);
        method.SetGaussianSmoothingVarianceForTheTotalField(1.0);
      } },
  };
  auto its = MakeCase<3>(SimilarityKind::MeanSquares, 0);
  its.settings.iterations = { 5, 4 };
  its.settings.syn.shrinkFactors = { { 2, 2, 2 }, { 1, 1, 1 } };
  its.settings.step = 0.3;
  const SyNResult unchanged = RegisterByOurs<Ours3D>(GetParam(), its);
  for (const Change & change : changes)
  {
    const auto run = [&](Method & method) {
      SetUpMethod(method, *MakeMetric<Method>(its.settings.similarity), its);
      method.AddObserver(itk::IterationEvent(), [&](const itk::EventObject &) {
        if (method.GetCurrentLevel() == 0 && method.GetCurrentIteration() == 2)
        {
          change.make(method);
        }
      });
      return Register(method);
    };
    const auto itks = ITKsMethod<float, double, 3>::New();
    const auto method = Ours3D::New();
    method->SetDevice(this->GetDevice());
    const SyNResult expected = run(*itks);
    const Listening listening;
    const SyNResult found = run(*method);
    EXPECT_EQ(listening.window->Count("on the host"), 0U) << change.name;
    ASSERT_EQ(found.fields[0].size(), expected.fields[0].size()) << change.name;
    ExpectWithin(CompareResults(its, found, expected), Most, change.name);
    if (found.fields[0].size() == unchanged.fields[0].size())
    {
      EXPECT_GT(CompareResults(its, unchanged, expected).mean, 0.01) << change.name;
    }
  }
}

TEST_P(SyNMethodTest, MakesNoPlanForObservers)
{
  auto its = MakeCase<3>(SimilarityKind::MeanSquares, 0);
  its.settings.iterations = { 3 };
  const auto   method = this->MakeOurs(its);
  unsigned int refused = 0;
  method->AddObserver(itk::AnyEvent(), [&](const itk::EventObject & event) {
    if (itk::IterationEvent().CheckEvent(&event))
    {
      EXPECT_THROW(method->GetPlannedBytes(), itk::GPUBadInputError);
      ++refused;
    }
  });
  EXPECT_EQ(Register(*method).fields, RegisterByOurs<Ours3D>(GetParam(), its).fields);
  EXPECT_GT(refused, 1U);
  method->RemoveAllObservers();
  EXPECT_EQ(method->GetPlannedBytes().size(), 1U);
}

TEST_P(SyNMethodTest, RefusesAnObserversChangeOfWhatIsComputed)
{
  const auto its = MakeCase<3>(SimilarityKind::MeanSquares, 3);
  const auto method = this->MakeOurs(its);
  const auto tag = method->AddObserver(itk::IterationEvent(), [&](const itk::EventObject &) {
    dynamic_cast<Ours3D::ImageMetricType &>(*method->GetModifiableMetric()).SetUseMovingImageGradientFilter(true);
  });
  EXPECT_THROW(method->Update(), itk::GPUUnsupportedError);
  method->RemoveObserver(tag);
  dynamic_cast<Ours3D::ImageMetricType &>(*method->GetModifiableMetric()).SetUseMovingImageGradientFilter(false);
  ExpectWithin(CompareResults(its, Register(*method), RegisterByITK(its)), Most, "again");
}

TEST_P(SyNMethodTest, FillsATransformThatSomebodyHolds)
{
  const auto                           its = MakeCase<3>(SimilarityKind::MeanSquares, 3);
  const auto                           method = this->MakeOurs(its);
  Ours3D::OutputTransformType::Pointer held;
  std::vector<std::vector<double>>     seen;
  method->AddObserver(itk::IterationEvent(), [&](const itk::EventObject & event) {
    if (!itk::MultiResolutionIterationEvent().CheckEvent(&event))
    {
      if (!held)
      {
        held = method->GetModifiableFixedToMiddleTransform();
      }
      seen.push_back(GetVectors(*held->GetDisplacementField()));
    }
  });
  method->Update();
  ASSERT_EQ(seen.size(), 3U);
  EXPECT_NE(seen[0], seen[1]);
  EXPECT_NE(seen[1], seen[2]);
  EXPECT_EQ(GetVectors(*held->GetDisplacementField()), seen[2]);
  EXPECT_LE(ComputeDistance(seen[2], RegisterByITK(its).fields[0], 3, 1.0).largest, Most.largest);
}

TEST_P(SyNMethodTest, ComputesTheOnlyMetricOfSeveral)
{
  const auto its = MakeCase<3>(SimilarityKind::NeighborhoodCorrelation, 3);
  const auto method = this->MakeOurs(its);
  const auto several = Ours3D::MultiMetricType::New();
  several->AddMetric(MakeMetric<Ours3D>(its.settings.similarity));
  method->SetMetric(several);
  const Listening listening;
  const SyNResult found = Register(*method);
  EXPECT_TRUE(listening.window->said.empty());
  ExpectWithin(CompareResults(its, found, RegisterByITK(its)), Most, "one of one");
}

TEST_P(SyNMethodTest, LeavesTheRestToITKAndSaysWhy)
{
  using MetricType = Ours3D::ImageMetricType;
  struct Unsupported
  {
    std::string                                             reason;
    std::function<void(Ours3D::Superclass &, MetricType &)> change;
  };
  const std::vector<Unsupported> all{
    { "filters gradients", [](auto &, MetricType & metric) { metric.SetUseMovingImageGradientFilter(true); } },
    { "DownsampleImagesForMetricDerivatives",
      [](auto & method, MetricType &) { method.SetDownsampleImagesForMetricDerivatives(false); } },
    { "radius",
      [](auto &, MetricType & metric) {
        itk::Size<3>             radius{ { 1, 2, 2 } };
        dynamic_cast<
          itk::ANTSNeighborhoodCorrelationImageToImageMetricv4<itk::Image<float, 3>, itk::Image<float, 3>> &>(metric)
          .SetRadius(radius);
      } },
    { "A mask has other voxels",
      [](auto & method, MetricType & metric) {
        const auto               image = itk::Image<unsigned char, 3>::New();
        image->CopyInformation(method.GetFixedImage());
        auto                     region = method.GetFixedImage()->GetBufferedRegion();
        region.SetSize(0, region.GetSize(0) - 2);
        image->SetRegions(region);
        image->Allocate();
        image->FillBuffer(1);
        const auto               mask = itk::ImageMaskSpatialObject<3>::New();
        mask->SetImage(image);
        mask->Update();
        metric.SetFixedImageMask(mask);
      } },
    { "virtual domain",
      [](auto & method, MetricType & metric) {
        const auto               image = itk::Image<float, 3>::New();
        image->CopyInformation(method.GetFixedImage());
        auto                     region = method.GetFixedImage()->GetBufferedRegion();
        region.SetSize(1, region.GetSize(1) - 3);
        image->SetRegions(region);
        image->Allocate();
        metric.SetVirtualDomainFromImage(image);
      } },
  };
  auto its = MakeCase<3>(SimilarityKind::NeighborhoodCorrelation, 2);
  its.settings.similarity.radius = 2;
  for (const Unsupported & one : all)
  {
    const auto run = [&](auto & method) {
      const auto metric = MakeMetric<Ours3D>(its.settings.similarity);
      SetUpMethod(method, *metric, its);
      one.change(method, *metric);
      return Register(method);
    };
    const auto itks = ITKsMethod<float, double, 3>::New();
    const auto expected = run(*itks);
    const auto method = Ours3D::New();
    method->SetDevice(this->GetDevice());
    const Listening listening;
    const auto      found = run(*method);
    EXPECT_EQ(listening.window->Count(one.reason), 1U) << one.reason;
    EXPECT_EQ(listening.window->Count("Computed by itk::SyNImageRegistrationMethod"), 1U) << one.reason;
    // ITK's sums depend on the number of threads that take part.
    ExpectWithin(CompareResults(its, found, expected), { 1e-9, 1e-8, 1e-9 }, one.reason);
  }
}

TEST_P(SyNMethodTest, ContinuesAsITKDoes)
{
  const auto its = MakeCase<3>(SimilarityKind::MeanSquares, 3);
  const auto itks = ITKsMethod<float, double, 3>::New();
  SetUpMethod(*itks, *MakeMetric<ITKsMethod<float, double, 3>>(its.settings.similarity), its);
  const auto      method = this->MakeOurs(its);
  const SyNResult first = Register(*itks);
  ExpectWithin(CompareResults(its, Register(*method), first), Most, "first");
  itks->Modified();
  method->Modified();
  const SyNResult second = Register(*itks);
  EXPECT_GT(CompareResults(its, second, first).mean, 0.1);
  const Listening listening;
  ExpectWithin(CompareResults(its, Register(*method), second), Most, "second");
  EXPECT_TRUE(listening.window->said.empty());
  EXPECT_GT(method->GetEvaluationStatistics().launches, 0);
}

TEST_P(SyNMethodTest, RestoresAStateOfAnotherGrid)
{
  using Method = Ours3D::Superclass;
  // Both begin where ITK's class has left the finest level.
  const auto its = MakeCase<3>(SimilarityKind::NeighborhoodCorrelation, 3);
  const auto before = ITKsMethod<float, double, 3>::New();
  SetUpMethod(*before, *MakeMetric<Method>(its.settings.similarity), its);
  before->Update();
  const auto copy = [](const Method::OutputTransformType & transform) {
    const auto copied = Method::OutputTransformType::New();
    copied->SetDisplacementField(Duplicate(*transform.GetDisplacementField()));
    copied->SetInverseDisplacementField(Duplicate(*transform.GetInverseDisplacementField()));
    return copied;
  };
  auto coarse = its;
  coarse.settings.iterations = { 2, 2 };
  coarse.settings.syn.shrinkFactors = { { 2, 2, 2 }, { 1, 1, 1 } };
  const auto restore = [&](Method & method) {
    SetUpMethod(method, *MakeMetric<Method>(its.settings.similarity), coarse);
    method.SetFixedToMiddleTransform(copy(*before->GetModifiableFixedToMiddleTransform()));
    method.SetMovingToMiddleTransform(copy(*before->GetModifiableMovingToMiddleTransform()));
  };
  const auto itks = ITKsMethod<float, double, 3>::New();
  const auto method = Ours3D::New();
  method->SetDevice(this->GetDevice());
  restore(*itks);
  restore(*method);
  // It ends in the transforms that were set.
  const Method::OutputTransformType::ConstPointer held = method->GetFixedToMiddleTransform();
  const Listening                                 listening;
  const SyNResult                                 found = Register(*method);
  EXPECT_TRUE(listening.window->said.empty());
  ExpectWithin(CompareResults(coarse, found, Register(*itks)), Most, "restored");
  EXPECT_EQ(method->GetFixedToMiddleTransform(), held.GetPointer());
  EXPECT_EQ(GetVectors(*held->GetDisplacementField()), found.fields[0]);
  // Where it ends early, they have what they had.
  restore(*method);
  const auto kept = GetVectors(*method->GetFixedToMiddleTransform()->GetInverseDisplacementField());
  const auto tag = method->AddObserver(itk::IterationEvent(), [&](const itk::EventObject &) {
    if (method->GetCurrentIteration() == 2)
    {
      GetVectors(*method->GetFixedToMiddleTransform()->GetDisplacementField());
      method->AbortGenerateDataOn();
    }
  });
  EXPECT_THROW(method->Update(), itk::ProcessAborted);
  method->RemoveObserver(tag);
  method->AbortGenerateDataOff();
  EXPECT_EQ(GetVectors(*method->GetFixedToMiddleTransform()->GetInverseDisplacementField()), kept);
  // A field without an inverse is no state.
  const auto half = Method::OutputTransformType::New();
  half->SetDisplacementField(copy(*before->GetModifiableFixedToMiddleTransform())->GetModifiableDisplacementField());
  method->SetFixedToMiddleTransform(half);
  EXPECT_THROW(method->Update(), itk::GPUBadInputError);
}

TEST_P(SyNMethodTest, EndsWhereAnObserverSaysSoAndGoesOn)
{
  const auto its = MakeCase<3>(SimilarityKind::MeanSquares, 6);
  const auto method = this->MakeOurs(its);
  const auto tag = method->AddObserver(itk::IterationEvent(), [&](const itk::EventObject &) {
    if (method->GetCurrentIteration() == 3)
    {
      method->AbortGenerateDataOn();
    }
  });
  EXPECT_THROW(method->Update(), itk::ProcessAborted);
  EXPECT_EQ(method->GetFixedToMiddleTransform(), nullptr);
  method->RemoveObserver(tag);
  method->AbortGenerateDataOff();
  ExpectWithin(CompareResults(its, Register(*method), RegisterByITK(its)), Most, "again");
}

TEST_P(SyNMethodTest, SaysWhatIsWrongAndGoesOn)
{
  const auto its = MakeCase<3>(SimilarityKind::MeanSquares, 2);
  const auto method = this->MakeOurs(its);
  const auto constant = Cast<itk::Image<float, 3>>(its.moving.GetPointer());
  constant->FillBuffer(7.0F);
  method->SetMovingImage(constant);
  EXPECT_THROW(method->Update(), itk::GPUBadInputError);
  method->SetMovingImage(its.moving);
  method->SetLearningRate(0);
  EXPECT_THROW(method->Update(), itk::GPUBadInputError);
  method->SetLearningRate(its.settings.step);
  method->SetNumberOfIterationsPerLevel(Ours3D::NumberOfIterationsArrayType());
  EXPECT_THROW(method->Update(), itk::GPUBadInputError);
  Ours3D::NumberOfIterationsArrayType iterations(1);
  iterations[0] = 2;
  method->SetNumberOfIterationsPerLevel(iterations);
  ExpectWithin(CompareResults(its, Register(*method), RegisterByITK(its)), Most, "good");
}

TEST_P(SyNMethodTest, RefinesTheInverse2D)
{
  TestRefinedInverse<OurMethod<float, float, 2>>(this->GetDevice());
}

TEST_P(SyNMethodTest, RefinesTheInverse3D)
{
  TestRefinedInverse<Ours3D>(this->GetDevice());
}

TEST_P(SyNMethodTest, RefinesTheInverseOfItsLastUpdateAlone)
{
  const auto its = MakeCase<3>(SimilarityKind::MeanSquares, 2);
  const auto method = this->MakeOurs(its);
  EXPECT_THROW(method->GetRefinedInverse(), itk::GPUBadInputError);
  method->Update();
  method->GetRefinedInverse();
  EXPECT_GT(method->GetInverseErrors().mean, 0);
  // An update that fails leaves none, and neither does ITK's code.
  method->SetLearningRate(0);
  EXPECT_THROW(method->Update(), itk::GPUBadInputError);
  EXPECT_THROW(method->GetRefinedInverse(), itk::GPUBadInputError);
  EXPECT_EQ(method->GetInverseErrors().mean, 0);
  method->SetLearningRate(its.settings.step);
  method->SetDownsampleImagesForMetricDerivatives(false);
  const Listening listening;
  method->Update();
  EXPECT_EQ(listening.window->Count("Computed by itk::SyNImageRegistrationMethod"), 1U);
  EXPECT_THROW(method->GetRefinedInverse(), itk::GPUBadInputError);
  method->SetDownsampleImagesForMetricDerivatives(true);
  method->Update();
  EXPECT_EQ(method->GetInverseErrors().mean, 0);
  method->GetRefinedInverse();
  EXPECT_GT(method->GetInverseErrors().mean, 0);
}

TEST_P(SyNMethodTest, PrintsItself)
{
  const auto method = this->MakeOurs(MakeCase<3>(SimilarityKind::MeanSquares, 1));
  method->Update();
  std::ostringstream text;
  method->Print(text);
  EXPECT_NE(text.str().find("Device: " + GetParam()), std::string::npos) << text.str();
}

TEST_P(SyNMethodTest, OverridesITKsClass)
{
  const auto its = MakeCase<3>(SimilarityKind::NeighborhoodCorrelation, 3);
  const auto expected = RegisterByITK(its);
  const auto method = this->MakeOverride(its);
  EXPECT_EQ(std::string(method->GetNameOfClass()), "SyNImageRegistrationMethod");
  const auto * const ours = dynamic_cast<const Ours3D *>(method.GetPointer());
  ASSERT_NE(ours, nullptr);
  const Listening listening;
  ExpectWithin(CompareResults(its, Register(*method), expected), Most, "override");
  EXPECT_TRUE(listening.window->said.empty());
  EXPECT_GT(ours->GetEvaluationStatistics().launches, 0);
  // ITK's class registers a constant image; so does the override, after a warning.
  const auto constant = Cast<itk::Image<float, 3>>(its.moving.GetPointer());
  constant->FillBuffer(7.0F);
  method->SetMovingImage(constant);
  method->SetFixedToMiddleTransform(nullptr);
  method->SetMovingToMiddleTransform(nullptr);
  method->Update();
  EXPECT_EQ(listening.window->Count("constant"), 1U);
}

/** ITK's code registers what does not fit, after a warning. */
TEST_P(SyNMethodTest, LeavesToITKWhatDoesNotFit)
{
  const auto   its = MakeCase<3>(gpureg::SimilarityKind::MeanSquares, 3);
  const auto   expected = RegisterByITK(its);
  const auto   method = this->MakeOverride(its);
  auto * const ours = dynamic_cast<Ours3D *>(method.GetPointer());
  ASSERT_NE(ours, nullptr);
  gpureg::ReleaseIdleMemory(GetParam());
  const std::size_t room = gpureg::GetMemoryInUse(GetParam()) + ours->GetPlannedBytes().front() - 1;
  gpureg::ReleaseIdleMemory(GetParam());
  gpureg::SetMemoryLimit(GetParam(), room);
  const Listening listening;
  const SyNResult found = Register(*method);
  gpureg::SetMemoryLimit(GetParam(), 0);
  EXPECT_EQ(listening.window->Count("the registration would hold"), 1U);
  EXPECT_EQ(listening.window->Count("Computed by itk::SyNImageRegistrationMethod"), 1U);
  // ITK's sums depend on the number of threads that take part.
  const SyNDistance distance = CompareResults(its, found, expected);
  EXPECT_LE(distance.mean, 1e-9);
  EXPECT_LE(distance.largest, 1e-8);
}

INSTANTIATE_TEST_SUITE_P(Devices, SyNMethodTest, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace gpuregtest
