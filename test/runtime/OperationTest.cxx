// SPDX-License-Identifier: Apache-2.0
// Operations of queues (src/engine/runtime/Operation.h) on every device, and the operations of every engine in a forked child.
#include "engine/registration/free_form/ControlSteps.h"
#include "engine/runtime/ForEachItem.h"
#include "engine/runtime/Backend.h"
#include "engine/runtime/LaunchGroups.h"
#include "engine/runtime/MakePasses.h"
#include "engine/runtime/Operation.h"
#include "engine/runtime/Transfer.h"

#include "kernels/core/LaneReduction.h"
#include "kernels/registration/free_form/ControlLineKernels.h"

#include "RunInChild.h"
#include "TestDevices.h"
#include "TestParallelFor.h"

#include "gpureg/core/Error.h"
#include "gpureg/filter/VolumeFilter.h"
#include "gpureg/image/LoadedImage.h"
#include "gpureg/metric/pairs/PairMetric.h"
#include "gpureg/penalty/ControlPenalty.h"
#include "gpureg/registration/free_form/FreeFormRegistration.h"
#include "gpureg/registration/global/GlobalRegistration.h"
#include "gpureg/resample/Resampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace gpuregtest
{
namespace
{
using namespace gpureg;

using Values = std::vector<float>;

struct Failure : std::runtime_error
{
  Failure()
    : std::runtime_error("a failure of the test")
  {}
};

/** Uploads values through staging memory and downloads them. To be called in an operation. */
Values
UploadAndDownload(Queue & queue, const Values & values)
{
  const MemoryPointer memory = queue.Allocate(sizeof(float) * values.size());
  UploadArray(queue, *memory, values);
  Values fetched(values.size());
  queue.Download(fetched.data(), *memory, sizeof(float) * fetched.size());
  return fetched;
}

class OperationTest : public DeviceTest
{
protected:
  std::unique_ptr<Queue>
  MakeQueue()
  {
    return m_Backend->CreateQueue();
  }

  /** Returns how many copies the statistics count of n copies: the host's memory needs none. */
  int
  Copies(int n) const
  {
    return m_Queue->IsHost() ? 0 : n;
  }

  /** Returns the bytes of staging memory that queues hold. */
  std::size_t
  CountTakenStaging()
  {
    m_Backend->GetStagingPool().Drop();
    return m_Backend->GetStagingPool().GetPinnedBytes();
  }

  std::shared_ptr<Backend> m_Backend = GetBackend(GetParam());
  std::unique_ptr<Queue>   m_Queue = MakeQueue();
  Values                   m_Values = Values(1000, 7.5f);
};
} // namespace

TEST_P(OperationTest, NothingIsEnqueuedOutsideOne)
{
  MemoryPointer a;
  MemoryPointer b;
  MemoryPointer numbers;
  const auto    enqueue = [&](int n) {
    switch (n)
    {
      case 0:
        return m_Queue->Upload(*a, 0, m_Values.data(), 16);
      case 1:
        return m_Queue->StartUpload(*a, 0, m_Values.data(), 16, 0);
      case 2:
        return m_Queue->Download(m_Values.data(), *a, 16);
      case 3:
        return m_Queue->StartDownload(m_Values.data(), *a, 16, 0, 0);
      case 4:
        return m_Queue->Copy(*b, *a, 16);
      case 5:
        return ForEachItem<kernels::ClearVectorKernel>(*m_Queue, 1, Output<kernels::float4>(*a));
      case 6:
        return static_cast<void>(m_Queue->Allocate(16));
      case 7:
        return static_cast<void>(m_Queue->GetStaging(Direction::Up, 0, 16));
      case 8:
        // The host runs no groups.
        return m_Queue->IsHost()
                    ? m_Queue->CountLaunch()
                    : LaunchGroups<kernels::LongestGroupKernel>(
                     *m_Queue, GroupNumbers{ 1 }, 1, Input<kernels::float4>(*a), Output<float>(*numbers));
      default:
        return m_Queue->ForEachTask(1, [](std::int64_t) {});
    }
  };
  Operate(*m_Queue, OneAfterTheOther, [&] {
    a = m_Queue->Allocate(16);
    b = m_Queue->Allocate(16);
    numbers = m_Queue->Allocate(sizeof(float) * kernels::LineNumbers);
    m_Queue->MarkRead(0);
    for (int n = 0; n < 10; ++n)
    {
      EXPECT_NO_THROW(enqueue(n)) << n;
      m_Queue->MarkMade(0);
    }
    m_Queue->Finish();
  });
  const EvaluationStatistics before = m_Queue->GetStatistics();
  EXPECT_EQ(before.launches, 2);
  EXPECT_EQ(before.copiesUp, this->Copies(2));
  EXPECT_EQ(before.copiesDown, this->Copies(2));
  for (int n = 0; n < 10; ++n)
  {
    try
    {
      enqueue(n);
      ADD_FAILURE() << n;
    }
    catch (const std::logic_error & error)
    {
      EXPECT_NE(std::string(error.what()).find("outside an operation: call it from Operate()"), std::string::npos)
        << n << ": " << error.what();
    }
  }
  EXPECT_EQ(m_Queue->GetStatistics().launches, before.launches);
  EXPECT_EQ(m_Queue->GetStatistics().copiesUp, before.copiesUp);
  EXPECT_EQ(m_Queue->GetStatistics().copiesDown, before.copiesDown);
  EXPECT_EQ(m_Queue->GetStatistics().allocations, before.allocations);
}

TEST_P(OperationTest, NestedOperationsResetStatisticsOnce)
{
  const auto send = [&] { EXPECT_EQ(UploadAndDownload(*m_Queue, m_Values), m_Values); };
  for (int repeat = 0; repeat < 2; ++repeat)
  {
    Operate(*m_Queue, OneAfterTheOther, [&] {
      send();
      Operate(*m_Queue, OneAfterTheOther, send);
      Operate(*m_Queue, OneAfterTheOther, [&] { Operate(*m_Queue, OneAfterTheOther, send, Counting::Continue); });
      EXPECT_EQ(m_Queue->GetStatistics().evaluateMilliseconds, 0) << "the outer one counts its time";
    });
    EXPECT_EQ(m_Queue->GetStatistics().copiesUp, this->Copies(3));
    EXPECT_EQ(m_Queue->GetStatistics().copiesDown, this->Copies(3));
    EXPECT_GE(m_Queue->GetStatistics().allocations, 3);
    EXPECT_GT(m_Queue->GetStatistics().evaluateMilliseconds, 0);
  }
  const double before = m_Queue->GetStatistics().evaluateMilliseconds;
  Operate(*m_Queue, OneAfterTheOther, send, Counting::Continue);
  EXPECT_EQ(m_Queue->GetStatistics().copiesUp, this->Copies(4));
  EXPECT_EQ(m_Queue->GetStatistics().evaluateMilliseconds, before);
  Operate(*m_Queue, OneAfterTheOther, [] {});
  EXPECT_EQ(m_Queue->GetStatistics().copiesUp, 0);
  EXPECT_EQ(m_Queue->GetStatistics().allocations, 0);
}

TEST_P(OperationTest, EachUsesItsOwnThreads)
{
  std::string said;
  const auto  say = [&said](char name) {
    return [&said, name](std::int64_t count, const std::function<void(std::int64_t)> & body) {
      said += name;
      OneAfterTheOther(count, body);
    };
  };
  const auto work = [&] { m_Queue->ForEachTask(1, [](std::int64_t) {}); };
  Operate(*m_Queue, say('a'), [&] {
    work();
    Operate(*m_Queue, say('b'), work);
    work();
    EXPECT_THROW(Operate(*m_Queue, say('c'), [] { throw Failure(); }), Failure);
    work();
  });
  EXPECT_EQ(said, "abaa");
}

TEST_P(OperationTest, StagingIsReturnedAtTheEnd)
{
  Operate(*m_Queue, OneAfterTheOther, [&] {
    Operate(*m_Queue, OneAfterTheOther, [&] { m_Queue->GetStaging(Direction::Up, 0, 4096); });
    EXPECT_GE(this->CountTakenStaging(), 4096u) << "the outer operation holds it";
  });
  EXPECT_EQ(this->CountTakenStaging(), 0u);
}

TEST_P(OperationTest, AfterAnExceptionTheQueueWorks)
{
  const auto fail = [&] {
    m_Queue->GetStaging(Direction::Down, 1, 4096);
    EXPECT_EQ(UploadAndDownload(*m_Queue, m_Values), m_Values);
    throw Failure();
  };
  EXPECT_THROW(Operate(*m_Queue, OneAfterTheOther, fail), Failure);
  EXPECT_THROW(m_Queue->Allocate(4), std::logic_error) << "the operation has ended";
  EXPECT_GE(this->CountTakenStaging(), 4096u) << "staging memory stays with the queue";
  Operate(*m_Queue, OneAfterTheOther, [&] {
    EXPECT_THROW(Operate(*m_Queue, OneAfterTheOther, fail), Failure);
    EXPECT_EQ(UploadAndDownload(*m_Queue, m_Values), m_Values) << "the outer operation goes on";
  });
  EXPECT_EQ(m_Queue->GetStatistics().copiesUp, this->Copies(2));
  EXPECT_EQ(this->CountTakenStaging(), 0u) << "the next operation returned it";
}

TEST_P(OperationTest, TwoQueuesHaveTheirOwn)
{
  const auto other = this->MakeQueue();
  Operate(*m_Queue, OneAfterTheOther, [&] {
    EXPECT_THROW(other->Allocate(4), std::logic_error);
    EXPECT_EQ(UploadAndDownload(*m_Queue, m_Values), m_Values);
    Operate(*other, OneAfterTheOther, [&] {
      EXPECT_EQ(UploadAndDownload(*other, m_Values), m_Values);
      EXPECT_EQ(UploadAndDownload(*m_Queue, m_Values), m_Values);
    });
    EXPECT_THROW(other->Allocate(4), std::logic_error);
    EXPECT_EQ(UploadAndDownload(*m_Queue, m_Values), m_Values);
  });
  EXPECT_EQ(m_Queue->GetStatistics().copiesUp, this->Copies(3));
  EXPECT_EQ(other->GetStatistics().copiesUp, this->Copies(1));
}

TEST_P(OperationTest, TwoQueuesInTwoThreads)
{
  const auto other = this->MakeQueue();
  const auto run = [](Queue & queue, float value) {
    for (int n = 0; n < 50; ++n)
    {
      const Values values(1000, value + static_cast<float>(n));
      EXPECT_EQ(Operate(queue, OneAfterTheOther, [&] { return UploadAndDownload(queue, values); }), values);
      EXPECT_LE(queue.GetStatistics().copiesUp, 1);
    }
  };
  std::thread thread([&] { run(*other, 1000); });
  run(*m_Queue, 0);
  thread.join();
  EXPECT_EQ(this->CountTakenStaging(), 0u);
}

/** Tests that the first call of an engine in a forked child throws an error about the fork, for each function; on the host it computes. */
TEST_P(OperationTest, AForkIsNoticedByEveryEntry)
{
  constexpr int      edge = 16;
  constexpr auto     count = std::int64_t{ edge } * edge * edge;
  const Size         size{ edge, edge, edge };
  std::vector<float> values(static_cast<std::size_t>(count));
  for (std::size_t n = 0; n < values.size(); ++n)
  {
    values[n] = static_cast<float>(n % 97 + n / 256);
  }
  const Filler filler = [&values](std::int64_t first, std::int64_t number, void * out) {
    std::copy_n(values.data() + first, number, static_cast<float *>(out));
  };
  const auto  ignore = [](std::int64_t, std::int64_t, const auto *) {};
  LoadedImage image(GetParam());
  const auto  load = [&] { image.Load({}, Precision::Single, values.data(), count, OneAfterTheOther); };
  load();

  VolumeFilter filter(GetParam());
  VolumeInput  volume;
  volume.size = size;
  volume.values = filler;
  filter.SetVolume(volume, OneAfterTheOther);

  PairMetric   metric(GetParam(), PairMeasure::MeanSquares);
  FixedSamples fixed;
  fixed.virtualSize = size;
  fixed.values = filler;
  MovingImage moving;
  moving.size = size;
  moving.values = filler;
  moving.gradientOfInterpolation = true;
  metric.SetFixedSamples(fixed, OneAfterTheOther);
  metric.SetMovingImage(moving, OneAfterTheOther);
  SampleMapping mapping = MakeLinearMapping({});
  mapping.displacement = [](std::int64_t, std::int64_t number, void * out) {
    std::fill_n(static_cast<float *>(out), 3 * number, 0.25f);
  };
  mapping.displacementToIndex = { 1, 0, 0, 0, 1, 0, 0, 0, 1 };
  const auto evaluate = [&] { metric.Evaluate(mapping, Forces::OfEachSample, OneAfterTheOther); };
  evaluate();

  Resampler     resampler(GetParam());
  ResampleInput input;
  input.size = size;
  input.values = filler;
  ResampleRequest request;
  request.size = size;
  request.outside = { 0 };
  request.output = ignore;
  DisplacementRequest displacements;
  displacements.size = size;
  displacements.high = { edge, edge, edge };
  displacements.output = ignore;

  ControlPenalty                           penalty(GetParam());
  const ControlGrid                        grid{ { 5, 5, 5 } };
  const std::vector<std::array<double, 3>> points(125, std::array<double, 3>{ 0.5, 0, 0 });

  FreeFormRegistration freeForm(GetParam());
  FreeFormProblem      freeFormProblem;
  FreeFormSettings     freeFormSettings;
  freeFormProblem.fixed = freeFormProblem.moving = { &image, nullptr, size, {} };
  freeFormSettings.similarity = SimilarityKind::MeanSquares;
  freeFormSettings.levels = 1;
  freeFormSettings.iterations = 1;
  const auto registerFreely = [&] { freeForm.Register(freeFormProblem, freeFormSettings, OneAfterTheOther); };
  registerFreely();

  GlobalRegistration global(GetParam());
  GlobalProblem      globalProblem;
  GlobalSettings     globalSettings;
  globalProblem.fixed = globalProblem.moving = { &image, nullptr, size, {} };
  globalSettings.angles = {};
  globalSettings.degreesOfFreedom = 6;

  using Entry = std::pair<std::string, std::function<void()>>;
  const std::vector<Entry> entries{
    { "load", load },
    { "summarize", [&] { image.Summarize(OneAfterTheOther); } },
    { "apply a Gaussian", [&] { filter.ApplyGaussian(0, MakeRecursiveGaussian(2)); } },
    { "make coefficients", [&] { filter.MakeSplineCoefficients(3); } },
    { "convolve",
      [&] {
        LineConvolution    convolution;
        convolution.outputLength = convolution.end = edge;
        filter.Convolve(convolution);
      } },
    { "get a volume", [&] { filter.GetVolume(ignore); } },
    { "copy a volume", [&] { filter.CopyVolume(); } },
    { "release volumes", [&] { filter.Release(); } },
    { "set a volume", [&] { filter.SetVolume(volume, OneAfterTheOther); } },
    { "set samples", [&] { metric.SetFixedSamples(fixed, OneAfterTheOther); } },
    { "set a moving image", [&] { metric.SetMovingImage(moving, OneAfterTheOther); } },
    { "take forces", [&] { metric.TakeForces(ignore, OneAfterTheOther); } },
    { "evaluate", evaluate },
    { "evaluate candidates",
      [&] {
        metric.EvaluateBatch(
          { 2, [](std::int64_t, std::int64_t number, IndexMap * out) { std::fill_n(out, number, IndexMap()); } },
          OneAfterTheOther);
      } },
    { "resample", [&] { resampler.Resample(input, request, OneAfterTheOther); } },
    { "find displacements", [&] { resampler.ComputeDisplacements(displacements, OneAfterTheOther); } },
    { "evaluate penalties", [&] { penalty.Evaluate(grid, { { PenaltyKind::Jacobian } }, points, OneAfterTheOther); } },
    { "take a deformation", [&] { freeForm.TakeDisplacements(ignore, OneAfterTheOther); } },
    { "register freely", registerFreely },
    { "search", [&] { global.Register(globalProblem, globalSettings, OneAfterTheOther); } },
  };
  // A child for each, so that no entry has run before in it.
  for (const Entry & entry : entries)
  {
    EXPECT_EQ(RunInChild([&]() -> std::string {
                try
                {
                  entry.second();
                }
                catch (const DeviceLostError &)
                {
                  return "an error";
                }
                return "computed";
              }),
              m_Queue->IsHost() ? "computed" : "an error")
      << entry.first;
  }
  for (const Entry & entry : entries)
  {
    EXPECT_NO_THROW(entry.second()) << "the parent goes on: " << entry.first;
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, OperationTest, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace gpuregtest
