// SPDX-License-Identifier: Apache-2.0
// Registers by ITK's classes on several devices together, and compares the results with those of one device.
#include "ErrorOfRecord.h"
#include "ImageComparison.h"
#include "Listening.h"
#include "RegisterSyN.h"
#include "SyNCase.h"
#include "TestDevices.h"

#include "itkDiffeomorphicRegistrationMethod.h"
#include "itkGPUError.h"
#include "itkGPUSyNImageRegistrationMethod.h"

#include "itkAffineTransform.h"
#include "itkCompositeTransform.h"
#include "itkDisplacementFieldTransform.h"
#include "itkEllipseSpatialObject.h"

#include <atomic>
#include <cmath>
#include <cstdint>
#include <functional>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

namespace gpuregtest
{

namespace
{
using gpureg::SimilarityKind;
using Volume = itk::Image<float, 3>;
template <typename TImage>
using Greedy = itk::DiffeomorphicRegistrationMethod<TImage, TImage>;
using SyN = itk::GPUSyNImageRegistrationMethod<Volume, Volume>;
using FieldTransform = itk::DisplacementFieldTransform<double, 3>;

/** Returns an oblique grid that is long along z, so that its levels are cut. */
Grid<3>
MakeLongGrid()
{
  Grid<3> grid;
  grid.size = { { 25, 21, 150 } };
  grid.start = { { -3, 2, 5 } };
  grid.spacing[1] = 1.1;
  grid.direction = MakeRotation<3>(0.2);
  return grid;
}

/** Two images, the moving one deformed by some voxels, and the class that registers them greedily. */
template <typename TImage = Volume>
struct LongCase
{
  LongCase()
  {
    Random               random(7);
    const SmoothFunction texture(random, 8.0, 20.0);
    const auto           centre = grid.GetCentre();
    const auto           getValue = [&](const auto & q) { return 1000.0 + 600.0 * texture(q); };
    fixed = MakeImage<TImage>(grid, [&](const auto & p) { return getValue(p - centre); });
    moving = MakeImage<TImage>(grid, [&](const auto & p) {
      auto q = p - centre;
      q[0] += 1.2 * std::sin(0.1 * q[2]) + 0.4;
      q[2] -= 0.9 * std::cos(0.15 * q[0]);
      return getValue(q);
    });
  }

  typename Greedy<TImage>::Pointer
  MakeMethod(const itk::GPUDevice & device) const
  {
    const auto                              method = Greedy<TImage>::New();
    typename Greedy<TImage>::IterationsType iterations(3);
    iterations[0] = 5;
    iterations[1] = 8;
    iterations[2] = 4;
    method->SetDevice(device);
    method->SetFixedImage(fixed);
    method->SetMovingImage(moving);
    method->SetNumberOfIterationsPerLevel(iterations);
    method->SetStep(0.5);
    return method;
  }

  Grid<3>                  grid{ MakeLongGrid() };
  typename TImage::Pointer fixed;
  typename TImage::Pointer moving;
};

/** A mask that counts how often it is evaluated. */
class CountingMask : public itk::EllipseSpatialObject<3>
{
public:
  using Self = CountingMask;
  using Superclass = itk::EllipseSpatialObject<3>;
  using Pointer = itk::SmartPointer<Self>;
  itkFactorylessNewMacro(Self);

  bool
  IsInsideInObjectSpace(const PointType & point) const override
  {
    ++count;
    return Superclass::IsInsideInObjectSpace(point);
  }

  mutable std::atomic<std::int64_t> count{ 0 };
};

/** Makes a mask that leaves out the ends of a grid. */
CountingMask::Pointer
MakeMask(const Grid<3> & grid, double radius)
{
  const auto mask = CountingMask::New();
  const auto place = itk::AffineTransform<double, 3>::New();
  place->SetTranslation(grid.GetCentre().GetVectorFromOrigin());
  mask->SetRadiusInObjectSpace(radius);
  mask->SetObjectToParentTransform(place);
  mask->Update();
  return mask;
}

/** Expects that a call throws an error, and that the error has some words. */
template <typename TError, typename TCall>
void
ExpectThrows(const std::string & words, const TCall & call)
{
  try
  {
    call();
    ADD_FAILURE() << "no error: " << words;
  }
  catch (const TError & error)
  {
    EXPECT_NE(std::string(error.GetDescription()).find(words), std::string::npos) << error.GetDescription();
  }
}

/** Expects that both methods have the same result, to the bit. */
template <typename TImage>
void
ExpectSameResult(Greedy<TImage> & team, Greedy<TImage> & one)
{
  EXPECT_TRUE(
    HaveSameBits(*team.GetDeformation()->GetDisplacementField(), *one.GetDeformation()->GetDisplacementField()));
  EXPECT_TRUE(HaveSameBits(*team.GetDisplacementField(), *one.GetDisplacementField()));
  EXPECT_TRUE(HaveSameBits(*team.GetWarpedImage(), *one.GetWarpedImage()));
  const auto getField = [](const auto & transform) {
    const auto * const composite = dynamic_cast<const itk::CompositeTransform<double, 3> *>(transform.GetPointer());
    const auto * const its = composite != nullptr ? composite->GetNthTransformConstPointer(0) : transform.GetPointer();
    return dynamic_cast<const FieldTransform &>(*its).GetDisplacementField();
  };
  const auto inverse = team.GetInverseTransform();
  const auto inverseOfOne = one.GetInverseTransform();
  EXPECT_TRUE(HaveSameBits(*getField(inverse), *getField(inverseOfOne)));
  EXPECT_EQ(team.GetInverseErrors().largest, one.GetInverseErrors().largest);
  EXPECT_EQ(team.GetSmallestJacobianDeterminant(), one.GetSmallestJacobianDeterminant());
  for (unsigned int level = 0; level < 3; ++level)
  {
    ASSERT_EQ(team.GetCosts(level).size(), one.GetCosts(level).size());
    EXPECT_NEAR(team.GetCosts(level).back(), one.GetCosts(level).back(), 1e-6);
  }
}

class TeamMethodTest : public DeviceTest
{
protected:
  std::vector<itk::GPUDevice>
  GetFurther(std::size_t count) const
  {
    return std::vector<itk::GPUDevice>(count, this->GetDevice());
  }

  /** Makes SyN on the test's device and a number of further ones. */
  SyN::Pointer
  MakeSyN(const SyNCase<3> & its, std::size_t further) const
  {
    const auto method = SyN::New();
    method->SetDevice(this->GetDevice());
    method->SetFurtherDevices(this->GetFurther(further));
    SetUpMethod(*method, *MakeMetric<SyN>(its.settings.similarity), its);
    return method;
  }

  /** Expects of SyN what one device computes, to the bit, without a warning. */
  void
  ExpectSyNOfOneDevice(const SyNCase<3> & its, std::size_t further) const
  {
    const Listening listening;
    const auto      one = this->MakeSyN(its, 0);
    const auto      team = this->MakeSyN(its, further);
    const SyNResult expected = Register(*one);
    const SyNResult found = Register(*team);
    EXPECT_TRUE(listening.window->said.empty()) << listening.window->said.front();
    for (std::size_t n = 0; n < std::size(AllFields); ++n)
    {
      EXPECT_EQ(found.fields[n], expected.fields[n]) << n;
    }
    // Costs of more than two devices are sums over slabs.
    ASSERT_EQ(found.costs.size(), expected.costs.size());
    for (std::size_t n = 0; n < found.costs.size(); ++n)
    {
      EXPECT_NEAR(found.costs[n], expected.costs[n], further == 1 ? 0 : 1e-6);
    }
    EXPECT_TRUE(HaveSameBits(*team->GetRefinedInverse(), *one->GetRefinedInverse()));
    EXPECT_EQ(team->GetInverseErrors().largest, one->GetInverseErrors().largest);
    EXPECT_GT(team->GetInverseErrors().largest, 0);
    EXPECT_GT(team->GetEvaluationStatistics().launches, 0);
  }

  /** PoCL's own assertion in pocl_release_dlhandle_cache fails now and then with four queues at once. */
  bool
  HasManyQueues() const
  {
    return GetParam().rfind("opencl", 0) != 0 || IsGPU(GetParam());
  }
};

/** A registration by SyN with all that the class passes on to the engine. */
SyNCase<3>
MakeFullCase(SimilarityKind kind, const Grid<3> & grid)
{
  auto its = MakeCase<3>(kind, 0, grid);
  AddMasks(its, grid);
  its.settings.iterations = { 3, 4 };
  its.settings.fieldSigma = std::sqrt(0.5);
  its.settings.syn.shrinkFactors = { { 2, 2, 2 }, { 1, 1, 1 } };
  its.settings.syn.smoothingSigmas = { 1.0, 0.0 };
  its.settings.weights = { 1.0, 0.5, 0.8 };
  its.fixedInitial = itk::AffineTransform<double, 3>::New();
  its.fixedInitial->SetCenter(grid.GetCentre());
  its.fixedInitial->Scale(1.03);
  its.initial = itk::AffineTransform<double, 3>::New();
  its.initial->SetCenter(grid.GetCentre());
  its.initial->Rotate(0, 1, 0.03);
  return its;
}
} // namespace

TEST_P(TeamMethodTest, ComputesTheDeformationOfOneDevice)
{
  const LongCase<> its;
  const auto       one = its.MakeMethod(this->GetDevice());
  one->Update();
  ASSERT_GT(one->GetLogJacobianDeviation(), 0.01);
  const auto bytesOfOne = one->GetEvaluationStatistics().bytesUp;
  for (const std::size_t further : { 1U, 2U })
  {
    const auto team = its.MakeMethod(this->GetDevice());
    team->SetFurtherDevices(this->GetFurther(further));
    unsigned int events = 0;
    team->AddObserver(itk::IterationEvent(), [&events](const itk::EventObject &) { ++events; });
    team->Update();
    EXPECT_EQ(events, 17U);
    // The statistics count the upload of the images to each device; the host needs none.
    const auto pixels = static_cast<std::int64_t>(its.fixed->GetBufferedRegion().GetNumberOfPixels());
    const auto bytes = GetParam() == "host" ? 0 : static_cast<std::int64_t>(2 * further * pixels * sizeof(float));
    EXPECT_GE(team->GetEvaluationStatistics().bytesUp - bytesOfOne, bytes - pixels);
    ExpectSameResult(*team, *one);
  }
}

TEST_P(TeamMethodTest, TakesMasksAnInitialTransformAndOtherPixels)
{
  const LongCase<itk::Image<short, 3>> its;
  const auto                           affine = itk::AffineTransform<double, 3>::New();
  affine->SetCenter(its.grid.GetCentre());
  affine->Rotate(0, 1, 0.02);
  const auto mask = MakeMask(its.grid, 60.0);
  const auto prepare = [&](std::size_t further) {
    const auto method = its.MakeMethod(this->GetDevice());
    method->SetFurtherDevices(this->GetFurther(further));
    method->SetFixedImageMask(mask);
    method->SetMovingImageMask(MakeMask(its.grid, 65.0));
    method->SetInitialTransform(affine);
    return method;
  };
  const auto one = prepare(0);
  one->Update();
  const auto pixels = static_cast<std::int64_t>(its.fixed->GetBufferedRegion().GetNumberOfPixels());
  EXPECT_EQ(mask->count, pixels);
  const auto team = prepare(1);
  team->Update();
  // The mask is evaluated once for all devices.
  EXPECT_EQ(mask->count, 2 * pixels);
  ExpectSameResult(*team, *one);
}

TEST_P(TeamMethodTest, FollowsADeformation)
{
  const LongCase<> its;
  const auto       coarse = itk::DisplacementFieldTransform<double, 3>::New();
  Grid<3>          grid = its.grid;
  grid.spacing.Fill(3.0);
  grid.size = { { 12, 10, 54 } };
  grid.SetCentre(its.grid.GetCentre());
  coarse->SetDisplacementField(MakeImage<FieldTransform::DisplacementFieldType>(grid, [&](const auto & p) {
    itk::Vector<double, 3> moved;
    moved.Fill(0.5 * std::sin(0.1 * p[2]));
    return moved;
  }));
  const auto one = its.MakeMethod(this->GetDevice());
  const auto team = its.MakeMethod(this->GetDevice());
  team->SetFurtherDevices(this->GetFurther(1));
  for (const auto & method : { one, team })
  {
    method->SetInitialTransform(coarse);
    method->Update();
  }
  ASSERT_GT(one->GetLogJacobianDeviation(), 0.01);
  EXPECT_EQ(CountFurtherApart(*team->GetDisplacementField(), *one->GetDisplacementField(), 2e-5), 0U);
  EXPECT_EQ(CountFurtherApart(*team->GetWarpedImage(), *one->GetWarpedImage(), 0.05), 0U);
}

TEST_P(TeamMethodTest, SaysWhatGreedyDevicesDoNotDoAndGoesOn)
{
  const LongCase<> its;
  const auto       method = its.MakeMethod(this->GetDevice());
  method->Update();
  const auto alone = method->GetDisplacementField();
  EXPECT_TRUE(method->GetFurtherDevices().empty());
  const auto before = method->GetMTime();
  method->SetFurtherDevices(this->GetFurther(1));
  EXPECT_GT(method->GetMTime(), before);
  const auto after = method->GetMTime();
  method->SetFurtherDevices(this->GetFurther(1));
  EXPECT_EQ(method->GetMTime(), after);
  std::ostringstream text;
  method->Print(text);
  EXPECT_NE(text.str().find("FurtherDevices: " + GetParam()), std::string::npos) << text.str();
  const auto expectRefused = [&](const std::string & words) {
    ExpectThrows<itk::GPUUnsupportedError>(words, [&] { method->Update(); });
    EXPECT_THROW(method->GetDisplacementField(), itk::GPUBadInputError);
  };
  method->SetSimilarity("MeanSquares");
  expectRefused("by the correlation over neighborhoods");
  method->SetSimilarity("NeighborhoodCorrelation");
  method->SetSmoothing("Recursive");
  expectRefused("with discrete Gaussians");
  method->SetSmoothing("Discrete");
  method->SetScheme("Velocity");
  expectRefused("by the greedy scheme");
  method->SetScheme("Greedy");
  const auto pair = Greedy<Volume>::ImagePairType::New();
  pair->SetFixedImage(its.fixed);
  pair->SetMovingImage(its.moving);
  method->AddImagePair(pair);
  expectRefused("one pair of images");
  method->ClearImagePairs();
  method->SetStep(-1);
  EXPECT_THROW(method->Update(), itk::GPUBadInputError);
  method->SetStep(0.5);
  ExpectThrows<itk::ExceptionObject>("nothing:0", [] { itk::GPUDevice::FromName("nothing:0"); });
  // An observer ends the work of all devices.
  const auto tag = method->AddObserver(itk::IterationEvent(), [&](const itk::EventObject &) {
    if (method->GetCurrentLevel() == 1)
    {
      method->AbortGenerateDataOn();
    }
  });
  EXPECT_THROW(method->Update(), itk::ProcessAborted);
  method->RemoveObserver(tag);
  method->AbortGenerateDataOff();
  method->Update();
  EXPECT_TRUE(HaveSameBits(*alone, *method->GetDisplacementField()));
  method->SetFurtherDevices({});
  method->Update();
  EXPECT_TRUE(HaveSameBits(*alone, *method->GetDisplacementField()));
  // One device does what several do not.
  method->SetSimilarity("MeanSquares");
  method->Update();
  EXPECT_FALSE(HaveSameBits(*alone, *method->GetDisplacementField()));
}

TEST_P(TeamMethodTest, RefusesTwoDimensions)
{
  using Picture = itk::Image<float, 2>;
  const auto its = MakeCase<2>(SimilarityKind::NeighborhoodCorrelation, 1);
  const auto method = itk::DiffeomorphicRegistrationMethod<Picture, Picture>::New();
  method->SetDevice(this->GetDevice());
  method->SetFurtherDevices(this->GetFurther(1));
  method->SetFixedImage(its.fixed);
  method->SetMovingImage(its.moving);
  ExpectThrows<itk::GPUUnsupportedError>("images of three dimensions", [&] { method->Update(); });
}

TEST_P(TeamMethodTest, ComputesSyNOfOneDevice)
{
  for (const auto kind : { SimilarityKind::NeighborhoodCorrelation, SimilarityKind::MattesMutualInformation })
  {
    this->ExpectSyNOfOneDevice(MakeFullCase(kind, MakeGrid<3>()), 1);
  }
}

TEST_P(TeamMethodTest, CutsTheSidesOfSyN)
{
  if (!this->HasManyQueues())
  {
    GTEST_SKIP() << "four queues at once";
  }
  Grid<3> grid = MakeLongGrid();
  grid.start.Fill(0);
  grid.size[2] = 160;
  this->ExpectSyNOfOneDevice(MakeFullCase(SimilarityKind::NeighborhoodCorrelation, grid), 3);
}

TEST_P(TeamMethodTest, ContinuesSyN)
{
  const auto its = MakeCase<3>(SimilarityKind::MeanSquares, 3);
  const auto one = this->MakeSyN(its, 0);
  const auto team = this->MakeSyN(its, 1);
  EXPECT_EQ(Register(*team).fields, Register(*one).fields);
  one->Modified();
  team->Modified();
  // Who holds the middle transforms finds the result in them.
  const itk::SmartPointer<const SyN::OutputTransformType> held = team->GetFixedToMiddleTransform();
  const SyNResult                                         first = Register(*one);
  const SyNResult                                         second = Register(*team);
  EXPECT_EQ(second.fields, first.fields);
  EXPECT_EQ(GetVectors(*held->GetDisplacementField()), first.fields[0]);
  // One device goes on where several ended.
  one->Modified();
  team->SetFurtherDevices({});
  EXPECT_EQ(Register(*team).fields, Register(*one).fields);
}

TEST_P(TeamMethodTest, KeepsSyNFromObserversAndGoesOn)
{
  auto its = MakeCase<3>(SimilarityKind::MeanSquares, 0);
  its.settings.iterations = { 2, 3 };
  its.settings.syn.shrinkFactors = { { 2, 2, 2 }, { 1, 1, 1 } };
  const SyNResult expected = Register(*this->MakeSyN(its, 0));
  const auto      method = this->MakeSyN(its, 1);
  const auto      observe = [&](const std::function<void()> & act) {
    const auto tag = method->AddObserver(itk::IterationEvent(), [&](const itk::EventObject &) {
      if (method->GetCurrentLevel() == 1 && method->GetCurrentIteration() == 2)
      {
        act();
      }
    });
    method->Update();
    method->RemoveObserver(tag);
  };
  const auto expectRefused = [&](const std::string & words, const std::function<void()> & act) {
    ExpectThrows<itk::GPUUnsupportedError>(words, [&] { observe(act); });
    method->RemoveAllObservers();
    EXPECT_EQ(method->GetFixedToMiddleTransform(), nullptr);
    EXPECT_THROW(method->GetRefinedInverse(), itk::GPUBadInputError);
  };
  expectRefused("asks for a middle transform", [&] { method->GetMovingToMiddleTransform(); });
  expectRefused("has changed the method", [&] { method->SetLearningRate(0.1); });
  method->SetLearningRate(its.settings.step);
  std::ostringstream text;
  observe([&] { method->Print(text); });
  EXPECT_NE(text.str().find("FurtherDevices: " + GetParam()), std::string::npos) << text.str();
  EXPECT_EQ(GetVectors(*method->GetTransform()->GetDisplacementField()), expected.fields[4]);
  // Before the first level an observer may change them.
  const auto fresh = this->MakeSyN(its, 1);
  fresh->SetLearningRate(0.1);
  const auto tag = fresh->AddObserver(itk::MultiResolutionIterationEvent(), [&](const itk::EventObject &) {
    if (fresh->GetCurrentLevel() == 0)
    {
      fresh->SetLearningRate(its.settings.step);
    }
  });
  EXPECT_EQ(Register(*fresh).fields, expected.fields);
  fresh->RemoveObserver(tag);
}

TEST_P(TeamMethodTest, TakesThoseOfManyDevicesThatRegisterSyNTogether)
{
  const auto      its = MakeCase<3>(SimilarityKind::MeanSquares, 2);
  const SyNResult expected = Register(*this->MakeSyN(its, 0));
  const auto      expectTwo = [&](std::size_t further, const std::string & reason) {
    const auto      method = this->MakeSyN(its, further);
    const Listening listening;
    EXPECT_EQ(Register(*method).fields, expected.fields);
    const std::string words = "Of " + std::to_string(further + 1) + " devices the first 2 register";
    EXPECT_EQ(listening.window->Count(words), 1U) << words;
    EXPECT_EQ(listening.window->Count(reason), 1U) << reason;
    EXPECT_EQ(listening.window->said.size(), 1U);
    EXPECT_EQ(method->GetFurtherDevices().size(), further);
    return method;
  };
  expectTwo(2, "if their number is even");
  const auto method = expectTwo(3, "by the correlation over neighborhoods");
  // An object goes on with fewer devices.
  for (const std::size_t further : { 1U, 0U })
  {
    method->SetFixedToMiddleTransform(nullptr);
    method->SetMovingToMiddleTransform(nullptr);
    method->SetFurtherDevices(this->GetFurther(further));
    const Listening listening;
    EXPECT_EQ(Register(*method).fields, expected.fields);
    EXPECT_TRUE(listening.window->said.empty());
  }
}

TEST_P(TeamMethodTest, GettersThrowITKsErrorsAtEvents)
{
  auto its = MakeCase<3>(SimilarityKind::MeanSquares, 0);
  its.settings.iterations = { 3 };
  const auto   method = this->MakeSyN(its, 1);
  unsigned int refused = 0;
  method->AddObserver(itk::IterationEvent(), [&](const itk::EventObject &) {
    try
    {
      method->GetFixedToMiddleTransform();
    }
    catch (const itk::ExceptionObject & error)
    {
      refused += std::string(error.GetDescription()).find("when Update() returns") != std::string::npos ? 1 : 0;
    }
  });
  // The observer handles the error, and the registration goes on.
  EXPECT_EQ(Register(*method).fields, Register(*this->MakeSyN(its, 0)).fields);
  EXPECT_GT(refused, 0U);
}

INSTANTIATE_TEST_SUITE_P(Devices, TeamMethodTest, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace gpuregtest
