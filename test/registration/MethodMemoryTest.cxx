// SPDX-License-Identifier: Apache-2.0
// Plans the memory of ITK's registration classes, and registers with too little of it.
#include "FreeFormProblem.h"
#include "ImageComparison.h"
#include "TestDevices.h"
#include "TestParallelFor.h"
#include "VoxelMask.h"
#include "diffeomorphic/RegisterSyN.h"
#include "diffeomorphic/SyNCase.h"

#include "itkDiffeomorphicRegistrationMethod.h"
#include "itkFreeFormDeformationRegistrationMethod.h"
#include "itkGPUError.h"
#include "itkGPUSyNImageRegistrationMethod.h"
#include "itkGlobalAffineRegistrationMethod.h"

#include "itkCastImageFilter.h"
#include "itkExpandImageFilter.h"

#include "gpureg/core/Error.h"
#include "gpureg/image/LoadedImage.h"
#include "gpureg/registration/MemoryPlan.h"
#include "gpureg/registration/free_form/FreeFormRegistration.h"
#include "gpureg/runtime/Device.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace gpuregtest
{

namespace
{
using Floats = itk::Image<float, 3>;
using Shorts = itk::Image<short, 3>;
template <typename TImage>
using Global = itk::GlobalAffineRegistrationMethod<TImage, TImage>;
template <typename TImage>
using FreeForm = itk::FreeFormDeformationRegistrationMethod<TImage, TImage>;
template <typename TImage>
using Dense = itk::DiffeomorphicRegistrationMethod<TImage, TImage>;
using SyN = itk::GPUSyNImageRegistrationMethod<Floats, Floats>;

/** Returns whether a text has some words. */
::testing::AssertionResult
Has(const std::string & text, const std::string & words)
{
  return text.find(words) != std::string::npos ? ::testing::AssertionSuccess()
                                               : ::testing::AssertionFailure() << "no \"" << words << "\" in: " << text;
}

/** Bounds the bytes that a plan leaves out, such as the sums of a reduction. */
constexpr std::size_t FewBytes = 4096;

class MethodMemoryTest : public DeviceTest
{
protected:
  void
  SetUp() override
  {
    gpureg::ReleaseIdleMemory(GetParam());
    m_Before = gpureg::GetMemoryInUse(GetParam());
  }
  void
  TearDown() override
  {
    gpureg::SetMemoryLimit(GetParam(), 0);
  }

  /** Leaves a number of bytes of the device's memory, besides what was held before. */
  void
  Leave(std::size_t bytes) const
  {
    gpureg::ReleaseIdleMemory(GetParam());
    gpureg::SetMemoryLimit(GetParam(), m_Before + bytes);
  }

  /** Returns the most bytes that a call holds, besides what was held before. */
  template <typename TCall>
  std::size_t
  Measure(const TCall & call) const
  {
    gpureg::CountMostMemoryFromNow(GetParam());
    call();
    return gpureg::GetMostMemoryInUse(GetParam()) - m_Before;
  }

  /** Expects an error before anything is allocated, and returns its text. \param parts of several devices that are one */
  template <typename TMethod>
  std::string
  ExpectNoRoom(TMethod & method, int parts = 1) const
  {
    std::string text;
    method.Modified();
    const std::size_t held = gpureg::GetMemoryInUse(GetParam()) - m_Before;
    EXPECT_LE(Measure([&] {
                EXPECT_THROW(
                  {
                    try
                    {
                      method.Update();
                    }
                    catch (const itk::GPUOutOfMemoryError & error)
                    {
                      text = error.GetDescription();
                      throw;
                    }
                  },
                  itk::GPUOutOfMemoryError);
              }),
              held);
    EXPECT_TRUE(Has(text, method.GetNameOfClass()));
    const std::string which = parts > 1 ? ", which has " + std::to_string(parts) + " parts" : "";
    EXPECT_TRUE(Has(text, "out of memory on " + GetParam() + which + ": the registration would hold"));
    EXPECT_TRUE(Has(text, "are missing"));
    return text;
  }

  /** Expects that a method holds what it plans, runs with no more than that, and with less says so before it uploads anything.
   *  \param share the least part of the plan that is held. */
  template <typename TMethod>
  void
  ExpectPlanned(TMethod & method, double share) const
  {
    const std::vector<gpureg::MemoryPlan> plans = method.GetMemoryPlans();
    ASSERT_EQ(plans.size(), 1U);
    const gpureg::MemoryPlan & plan = plans.front();
    EXPECT_EQ(method.GetPlannedBytes(), std::vector<itk::SizeValueType>{ plan.bytes });
    EXPECT_GT(plan.bytes, plan.images);
    EXPECT_EQ(plan.images > 0, GetParam() != "host");
    ASSERT_FALSE(plan.changes.empty());
    EXPECT_EQ(gpureg::GetMemoryInUse(GetParam()), m_Before) << "after the plan";

    Leave(plan.bytes - 1);
    EXPECT_TRUE(Has(ExpectNoRoom(method), " would hold"));
    // The first change that fits is named, if one does.
    std::size_t least = plan.bytes;
    for (const gpureg::PlannedChange & change : plan.changes)
    {
      if (change.bytes < least)
      {
        least = change.bytes;
        Leave(least);
        EXPECT_TRUE(Has(ExpectNoRoom(method), change.what + " would hold"));
      }
    }
    Leave(least - 1);
    EXPECT_TRUE(Has(ExpectNoRoom(method), "take smaller images, or a device with more memory"));

    Leave(plan.bytes + FewBytes);
    std::size_t most = Measure([&] { method.Update(); });
    EXPECT_LE(most, plan.bytes + FewBytes);
    EXPECT_GE(static_cast<double>(most), share * static_cast<double>(plan.bytes));
    // The next one has room where the last one's arrays are.
    method.Modified();
    most = Measure([&] { method.Update(); });
    EXPECT_LE(most, plan.bytes + FewBytes);
    // A plan does without them, and leaves the result.
    EXPECT_EQ(method.GetPlannedBytes().front(), plan.bytes);
  }

  template <typename TImage, typename TMethod>
  void
  SetImages(TMethod & method, bool hasMask = false) const
  {
    const auto cast = [](const Floats * image) {
      const auto filter = itk::CastImageFilter<Floats, TImage>::New();
      filter->SetInput(image);
      filter->Update();
      return typename TImage::Pointer(filter->GetOutput());
    };
    method.SetDevice(this->GetDevice());
    method.SetFixedImage(cast(m_Problem.fixed));
    method.SetMovingImage(cast(m_Problem.moving));
    if (hasMask)
    {
      method.SetFixedImageMask(MakeMask(*m_Problem.fixed, [this](const auto & p) {
        return p.EuclideanDistanceTo(m_Problem.grid.GetCentre()) < 24;
      }));
    }
  }

  template <typename TImage>
  typename Dense<TImage>::Pointer
  MakeDense(const char * scheme, bool hasMask = false) const
  {
    const auto                             method = Dense<TImage>::New();
    typename Dense<TImage>::IterationsType iterations(2);
    iterations.Fill(2);
    SetImages<TImage>(*method, hasMask);
    method->SetScheme(scheme);
    method->SetNumberOfIterationsPerLevel(iterations);
    return method;
  }

  template <typename TImage>
  typename FreeForm<TImage>::Pointer
  MakeFreeForm() const
  {
    const auto method = FreeForm<TImage>::New();
    SetImages<TImage>(*method, true);
    method->SetNumberOfLevels(2);
    method->SetControlPointSpacing(9);
    method->SetNumberOfIterations(2);
    return method;
  }

  Problem<3>  m_Problem{ 41, Problem<3>::Contrast::Same };
  std::size_t m_Before = 0;
};
} // namespace

TEST_P(MethodMemoryTest, DeformsDenselyAsPlanned)
{
  ExpectPlanned(*MakeDense<Floats>("Greedy"), 0.95);
  SetUp();
  ExpectPlanned(*MakeDense<Shorts>("Greedy", true), 0.95);
  SetUp();
  ExpectPlanned(*MakeDense<Shorts>("Velocity"), 0.95);
}

TEST_P(MethodMemoryTest, PlansFurtherPairs)
{
  const auto alone = MakeDense<Shorts>("Greedy")->GetMemoryPlans().front();
  const auto method = MakeDense<Shorts>("Greedy");
  const auto pair = Dense<Shorts>::ImagePairType::New();
  pair->SetFixedImage(method->GetFixedImage());
  pair->SetMovingImage(method->GetMovingImage());
  pair->SetSimilarity("MeanSquares");
  method->AddImagePair(pair);
  const auto both = method->GetMemoryPlans().front();
  EXPECT_EQ(both.images, 2 * alone.images);
  ExpectPlanned(*method, 0.95);
}

TEST_P(MethodMemoryTest, DeformsFreelyAsPlanned)
{
  // The plan takes masks to leave as many voxels as the levels need, and scratch to be as large as it may be.
  ExpectPlanned(*MakeFreeForm<Floats>(), 0.9);
  SetUp();
  ExpectPlanned(*MakeFreeForm<Shorts>(), 0.9);
}

/** An engine that has freed the last deformation for a registration that does not fit says that it has none. */
TEST_P(MethodMemoryTest, ForgetsADeformationThatMadeRoom)
{
  const auto          region = m_Problem.fixed->GetBufferedRegion();
  const auto          count = static_cast<std::int64_t>(region.GetNumberOfPixels());
  gpureg::LoadedImage loaded(GetParam());
  loaded.Load({}, gpureg::Precision::Single, m_Problem.fixed->GetBufferPointer(), count, OnThreads(2));
  gpureg::FreeFormProblem problem;
  problem.fixed.size = { static_cast<int>(region.GetSize(0)),
                         static_cast<int>(region.GetSize(1)),
                         static_cast<int>(region.GetSize(2)) };
  problem.fixed.image = &loaded;
  problem.moving = problem.fixed;
  gpureg::FreeFormSettings settings;
  settings.levels = 1;
  settings.spacing = { 9, 9, 9 };
  settings.iterations = 1;
  gpureg::FreeFormRegistration registration(GetParam());
  const auto                   take = [&] {
    std::atomic<std::int64_t> taken{ 0 };
    registration.TakeDisplacements([&](std::int64_t, std::int64_t number, const float *) { taken += number; },
                                   OnThreads(2));
    return taken.load();
  };
  registration.Register(problem, settings, OnThreads(2));
  EXPECT_EQ(take(), count);
  gpureg::SetMemoryLimit(GetParam(), m_Before + 1);
  EXPECT_THROW(registration.Register(problem, settings, OnThreads(2)), gpureg::OutOfMemoryError);
  EXPECT_THROW(take(), gpureg::BadInputError);
  gpureg::SetMemoryLimit(GetParam(), 0);
  registration.Register(problem, settings, OnThreads(2));
  EXPECT_EQ(take(), count);
  const gpureg::PlannedImage planned(gpureg::NumberType::UInt8, count, GetParam(), 0);
  problem.fixed.image = problem.moving.image = &planned;
  registration.MakeRoom(problem, settings);
  EXPECT_THROW(take(), gpureg::BadInputError);
  problem.moving.image = nullptr;
  EXPECT_THROW(registration.MakeRoom(problem, settings), gpureg::BadInputError);
  EXPECT_THROW(registration.GetPlan(problem, settings), gpureg::BadInputError);
}

TEST_P(MethodMemoryTest, SearchesGloballyAsPlanned)
{
  const auto method = Global<Shorts>::New();
  SetImages<Shorts>(*method);
  method->SetDegreesOfFreedom(6);
  method->SetSearchAngles(0, 0);
  const auto plan = method->GetMemoryPlans().front();
  Leave(plan.bytes - 1);
  ExpectNoRoom(*method);
  // The sums of poses are not planned.
  Leave(plan.bytes + (std::size_t{ 128 } << 20));
  EXPECT_GE(static_cast<double>(Measure([&] { method->Update(); })), 0.95 * static_cast<double>(plan.bytes));
}

/** Plans of these classes do not read pixels. What they do not count is known before anything is copied. */
TEST_P(MethodMemoryTest, SaysThatThereIsNoRoomForCopiesWithoutOutliers)
{
  constexpr std::size_t outliers = 20;
  const auto            count = m_Problem.fixed->GetBufferedRegion().GetNumberOfPixels();
  for (std::size_t n = 0; n < outliers; ++n)
  {
    m_Problem.fixed->GetBufferPointer()[n * count / outliers + 7] = 30000;
  }
  const auto expectSaid = [&](auto & method) {
    SetUp();
    const std::size_t planned = method.GetPlannedBytes().front();
    const std::size_t copy = sizeof(float) * count;
    Leave(planned + copy / 2);
    std::string text;
    try
    {
      method.Update();
    }
    catch (const itk::GPUOutOfMemoryError & error)
    {
      text = error.GetDescription();
    }
    EXPECT_TRUE(Has(text, "out of memory on " + GetParam() + ": the registration would hold"));
    EXPECT_TRUE(Has(text, "are missing: images without outliers or values beyond their range would hold"));
    gpureg::ReleaseIdleMemory(GetParam());
    EXPECT_EQ(gpureg::GetMemoryInUse(GetParam()), m_Before);
    // The sums of poses are not planned.
    Leave(planned + copy + (std::size_t{ 128 } << 20));
    EXPECT_NO_THROW(method.Update());
  };
  expectSaid(*MakeDense<Floats>("Greedy"));
  expectSaid(*MakeDense<Shorts>("Greedy"));
  expectSaid(*MakeDense<Shorts>("Velocity"));
  expectSaid(*MakeFreeForm<Shorts>());
  const auto global = Global<Floats>::New();
  SetImages<Floats>(*global);
  global->SetDegreesOfFreedom(6);
  global->SetSearchAngles(0, 0);
  expectSaid(*global);
}

/** Short integers are planned as they are held: of one or two bytes. */
TEST_P(MethodMemoryTest, PlansShortIntegers)
{
  const auto ofFloats = MakeDense<Floats>("Greedy")->GetMemoryPlans().front();
  const auto ofShorts = MakeDense<Shorts>("Greedy")->GetMemoryPlans().front();
  const auto ofBytes = MakeDense<itk::Image<unsigned char, 3>>("Greedy")->GetMemoryPlans().front();
  const auto withMask = MakeDense<Floats>("Greedy", true)->GetMemoryPlans().front();
  const auto pixels = m_Problem.fixed->GetBufferedRegion().GetNumberOfPixels();
  const auto all = pixels + m_Problem.moving->GetBufferedRegion().GetNumberOfPixels();
  const bool isUploaded = GetParam() != "host";
  EXPECT_EQ(ofFloats.images, isUploaded ? 4 * all : 0);
  EXPECT_EQ(ofShorts.images, isUploaded ? 2 * all : 0);
  EXPECT_EQ(ofBytes.images, isUploaded ? all : 0);
  EXPECT_EQ(withMask.images, isUploaded ? 4 * (all + pixels) : 0);
}

/** A pipeline has made no pixels when the plan is asked for. */
TEST_P(MethodMemoryTest, PlansWhatAPipelineWillMake)
{
  const auto make = [](const Floats * image) {
    const auto filter = itk::CastImageFilter<Floats, Shorts>::New();
    filter->SetInput(image);
    return filter;
  };
  const auto fixed = make(m_Problem.fixed);
  const auto moving = make(m_Problem.moving);
  const auto method = MakeDense<Shorts>("Greedy");
  const auto expected = method->GetPlannedBytes();
  method->SetFixedImage(fixed->GetOutput());
  method->SetMovingImage(moving->GetOutput());
  EXPECT_EQ(method->GetPlannedBytes(), expected);
  EXPECT_EQ(fixed->GetOutput()->GetBufferedRegion().GetNumberOfPixels(), 0U);
  method->Update();
  EXPECT_EQ(method->GetPlannedBytes(), expected);
  // The next run will make other pixels than those that are there.
  const auto larger = itk::ExpandImageFilter<Floats, Floats>::New();
  larger->SetInput(m_Problem.fixed);
  larger->SetExpandFactors(2);
  fixed->SetInput(larger->GetOutput());
  EXPECT_GT(method->GetPlannedBytes().front(), 2 * expected.front());
  fixed->SetInput(m_Problem.fixed);
  method->Update();
  // A result stays, also where the plan is that of other devices.
  const auto field = method->GetDisplacementField();
  method->SetDevice(itk::GPUDevice::FromName("host"));
  method->GetPlannedBytes();
  method->SetDevice(this->GetDevice());
  EXPECT_TRUE(HaveSameBits(*field, *method->GetDisplacementField()));
}

TEST_P(MethodMemoryTest, RefusesWhatUpdateRefuses)
{
  const auto empty = Dense<Floats>::New();
  EXPECT_THROW(empty->GetMemoryPlans(), itk::ExceptionObject);
  const auto method = MakeDense<Floats>("Greedy");
  method->SetStep(-1);
  EXPECT_THROW(method->GetMemoryPlans(), itk::GPUBadInputError);
  method->SetStep(1);
  method->SetScheme(gpureg::DiffeomorphicScheme::SyN);
  EXPECT_THROW(method->GetMemoryPlans(), itk::GPUBadInputError);
  method->SetScheme("Greedy");
  method->SetFixedImage(Floats::New());
  EXPECT_THROW(method->GetMemoryPlans(), itk::GPUBadInputError);
  EXPECT_THROW(method->Update(), itk::GPUBadInputError);
  const auto freeForm = MakeFreeForm<Floats>();
  freeForm->SetNumberOfIterations(0);
  EXPECT_THROW(freeForm->GetMemoryPlans(), itk::GPUBadInputError);
  const auto global = Global<Floats>::New();
  SetImages<Floats>(*global);
  global->SetDegreesOfFreedom(5);
  EXPECT_THROW(global->GetMemoryPlans(), itk::GPUBadInputError);
}

TEST_P(MethodMemoryTest, PlansSyN)
{
  auto its = MakeCase<3>(gpureg::SimilarityKind::NeighborhoodCorrelation, 3);
  its.settings.syn.averagesGradients = true;
  const auto method = SyN::New();
  method->SetDevice(this->GetDevice());
  SetUpMethod(*method, *MakeMetric<SyN>(its.settings.similarity), its);
  const auto plan = method->GetMemoryPlans().front();
  EXPECT_EQ(method->GetPlannedBytes(), std::vector<itk::SizeValueType>{ plan.bytes });
  Leave(plan.bytes - 1);
  EXPECT_TRUE(Has(ExpectNoRoom(*method), "updates that are not averaged would hold"));
  Leave(plan.bytes + FewBytes);
  const std::size_t most = Measure([&] { method->Update(); });
  EXPECT_LE(most, plan.bytes + FewBytes);
  EXPECT_GE(static_cast<double>(most), 0.95 * static_cast<double>(plan.bytes));
  EXPECT_GT(method->GetEvaluationStatistics().launches, 0);
  // ITK's code would register these.
  method->SetDownsampleImagesForMetricDerivatives(false);
  EXPECT_THROW(method->GetMemoryPlans(), itk::GPUUnsupportedError);
}

/** A registration that continues has fields of the size of its state, which the last level need not have. */
TEST_P(MethodMemoryTest, PlansSyNThatContinues)
{
  auto       its = MakeCase<3>(gpureg::SimilarityKind::MeanSquares, 3);
  const auto method = SyN::New();
  method->SetDevice(this->GetDevice());
  SetUpMethod(*method, *MakeMetric<SyN>(its.settings.similarity), its);
  method->Update();
  its.settings.syn.shrinkFactors = { { 4, 4, 4 } };
  SetUpMethod(*method, *MakeMetric<SyN>(its.settings.similarity), its);
  const std::size_t planned = method->GetPlannedBytes().front();
  Leave(planned - 1);
  ExpectNoRoom(*method);
  Leave(planned + FewBytes);
  const std::size_t most = Measure([&] { method->Update(); });
  EXPECT_LE(most, planned + FewBytes);
  // Copies of both images are planned, for values out of their ranges, and not needed.
  const std::size_t copies = sizeof(float) * (its.fixed->GetBufferedRegion().GetNumberOfPixels() +
                                              its.moving->GetBufferedRegion().GetNumberOfPixels());
  EXPECT_GE(static_cast<double>(most), 0.95 * static_cast<double>(planned - copies));
}

TEST_P(MethodMemoryTest, PlansSyNByTheSettingsOfTheFirstEvent)
{
  auto its = MakeCase<3>(gpureg::SimilarityKind::MeanSquares, 3);
  its.settings.syn.averagesGradients = false;
  const auto method = SyN::New();
  method->SetDevice(this->GetDevice());
  SetUpMethod(*method, *MakeMetric<SyN>(its.settings.similarity), its);
  const std::size_t planned = method->GetPlannedBytes().front();
  method->SetAverageMidPointGradients(true);
  EXPECT_GT(method->GetPlannedBytes().front(), planned + FewBytes);
  method->AddObserver(itk::MultiResolutionIterationEvent(),
                      [&](const itk::EventObject &) { method->SetAverageMidPointGradients(false); });
  Leave(planned + FewBytes);
  method->Update();
  EXPECT_GT(method->GetEvaluationStatistics().launches, 0);
}

TEST_P(MethodMemoryTest, PlansSeveralDevices)
{
  const auto method = MakeDense<Shorts>("Greedy");
  const auto ofOne = method->GetPlannedBytes();
  method->SetFurtherDevices({ this->GetDevice() });
  const auto plans = method->GetMemoryPlans();
  ASSERT_EQ(plans.size(), 2U);
  EXPECT_EQ(plans[0].images, plans[1].images);
  // The device has room for each part, and not for both.
  Leave(plans[0].bytes + plans[1].bytes - 1);
  EXPECT_TRUE(Has(ExpectNoRoom(*method, 2), "images of half as many voxels along each axis would hold"));
  // Far less than one part takes.
  const auto least = plans[0].changes.back().bytes + plans[1].changes.back().bytes;
  EXPECT_LT(least, plans[0].bytes);
  Leave(least);
  EXPECT_TRUE(Has(ExpectNoRoom(*method, 2), "images of half as many voxels along each axis would hold"));
  Leave(least - 1);
  EXPECT_TRUE(Has(ExpectNoRoom(*method, 2), "take smaller images, or a device with more memory"));
  const std::size_t both = plans[0].bytes + plans[1].bytes + 2 * FewBytes;
  Leave(both);
  EXPECT_LE(Measure([&] { method->Update(); }), both);
  method->SetSmoothing("Recursive");
  EXPECT_THROW(method->GetMemoryPlans(), itk::GPUUnsupportedError);
  method->SetFurtherDevices({});
  method->SetSmoothing("Discrete");
  EXPECT_EQ(method->GetPlannedBytes(), ofOne);
}

INSTANTIATE_TEST_SUITE_P(Devices, MethodMemoryTest, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace gpuregtest
