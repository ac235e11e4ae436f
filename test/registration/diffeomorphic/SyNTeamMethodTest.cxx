// SPDX-License-Identifier: Apache-2.0
// Registers by ITK's class of SyN on several devices together, and compares the results with those of one device.
#include "ErrorOfRecord.h"
#include "ImageComparison.h"
#include "Listening.h"
#include "RegisterSyN.h"
#include "SyNCase.h"
#include "TeamMethodCase.h"

#include "itkGPUError.h"
#include "itkGPUSyNImageRegistrationMethod.h"

#include "itkAffineTransform.h"

#include <cmath>
#include <functional>
#include <iterator>
#include <sstream>
#include <string>

namespace gpuregtest
{

namespace
{
using gpureg::SimilarityKind;
using Volume = itk::Image<float, 3>;
using SyN = itk::GPUSyNImageRegistrationMethod<Volume, Volume>;

class SyNTeamMethodTest : public TeamMethodCase
{
protected:
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

TEST_P(SyNTeamMethodTest, ComputesSyNOfOneDevice)
{
  for (const auto kind : { SimilarityKind::NeighborhoodCorrelation, SimilarityKind::MattesMutualInformation })
  {
    this->ExpectSyNOfOneDevice(MakeFullCase(kind, MakeGrid<3>()), 1);
  }
}

TEST_P(SyNTeamMethodTest, CutsTheSidesOfSyN)
{
  if (!this->HasManyQueues())
  {
    GTEST_SKIP() << "four queues at once";
  }
  Grid<3> grid = MakeObliqueLongGrid();
  grid.start.Fill(0);
  grid.size[2] = 160;
  this->ExpectSyNOfOneDevice(MakeFullCase(SimilarityKind::NeighborhoodCorrelation, grid), 3);
}

TEST_P(SyNTeamMethodTest, ContinuesSyN)
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

TEST_P(SyNTeamMethodTest, KeepsSyNFromObserversAndGoesOn)
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

TEST_P(SyNTeamMethodTest, TakesThoseOfManyDevicesThatRegisterSyNTogether)
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
  expectTwo(2, "by the correlation over neighborhoods");
  const auto method = expectTwo(3, "by the correlation over neighborhoods");
  EXPECT_EQ(method->GetMemoryPlans().size(), 2U);
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

TEST_P(SyNTeamMethodTest, GettersThrowITKsErrorsAtEvents)
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

INSTANTIATE_TEST_SUITE_P(Devices, SyNTeamMethodTest, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace gpuregtest
