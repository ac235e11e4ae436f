// SPDX-License-Identifier: Apache-2.0
// The array of derivatives in the middle, which other work borrows, by its phases: src/engine/registration/diffeomorphic/MiddleForces.h.
#include "TestDevices.h"
#include "TestParallelFor.h"

#include "gpureg/image/LoadedImage.h"

#include "engine/registration/diffeomorphic/LevelGrid.h"
#include "engine/registration/diffeomorphic/MiddleForces.h"
#include "engine/runtime/Backend.h"
#include "engine/runtime/ForEachItem.h"
#include "engine/runtime/MakePasses.h"
#include "engine/runtime/Operation.h"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <vector>

namespace gpuregtest
{

namespace
{
using MiddleForcesTest = DeviceTest;
}

TEST_P(MiddleForcesTest, HasNoScratchBeforeALevelsFirstDerivative)
{
  const gpureg::Size  size{ 12, 11, 10 };
  const auto          count = gpureg::CountOf(size);
  std::vector<float>  values(static_cast<std::size_t>(count));
  gpureg::LoadedImage image(GetParam());
  for (std::size_t n = 0; n < values.size(); ++n)
  {
    values[n] = static_cast<float>(n % 12 * (n % 7));
  }
  image.Load({}, gpureg::Precision::Single, values.data(), count, OneAfterTheOther);
  gpureg::RegisteredImage registered;
  registered.image = &image;
  registered.size = size;
  gpureg::DiffeomorphicProblem problem;
  problem.fixed = problem.moving = registered;
  gpureg::DiffeomorphicSettings settings;
  settings.scheme = gpureg::DiffeomorphicScheme::SyN;
  settings.similarity.radius = 2;
  settings.iterations = { 1, 1 };
  const std::shared_ptr<gpureg::Backend>    backend = gpureg::GetBackend(GetParam());
  const std::shared_ptr<gpureg::Queue>      queue = backend->CreateQueue();
  const std::unique_ptr<gpureg::LinePasses> lines = gpureg::MakePasses<gpureg::LinePasses>(*queue);
  gpureg::SchemeWorkspace workspace{ backend, queue, *lines, GetParam(), gpureg::FieldReducer(*queue), {}, {}, {}, {} };
  gpureg::MiddleForces    forces(workspace);
  const auto              expectNoScratch = [&forces] {
    EXPECT_FALSE(forces.HasScratch());
    EXPECT_THROW(forces.GetScratch(), std::logic_error);
  };
  gpureg::Operate(*queue, OnThreads(2), [&] {
    const gpureg::LevelGrid level = gpureg::MakeLevelGrid(3, size, registered.indexToPoint);
    const auto              bytes = gpureg::CountBytes(level.grid);
    const auto              field = queue->Allocate(bytes);
    const auto              moved = queue->Allocate(bytes);
    gpureg::ForEachItem<gpureg::kernels::ClearElementKernel>(*queue, 3 * count, gpureg::Output<float>(*field));
    gpureg::Reserve(*queue, workspace.first, bytes);
    const auto pairs = gpureg::ListMiddleSources(gpureg::ListWeighedPairs(problem, settings, gpureg::FirstPair::IsKept),
                                                 settings.flat,
                                                 [&](const gpureg::WeighedPair & pair) {
                                                   return gpureg::MiddleSources{ pair, { registered }, { registered } };
                                                 });
    for (const int number : { 0, 1 })
    {
      expectNoScratch();
      forces.BeginLevel(problem, settings, pairs, number, level);
      expectNoScratch();
      forces.ResampleFixed(*field, *moved);
      forces.ResampleMoving(*field, *moved);
      forces.CheckImages();
      expectNoScratch();
      for (const gpureg::MiddleRole role : { gpureg::MiddleRole::AsGiven, gpureg::MiddleRole::Exchanged })
      {
        int                    sign = 0;
        const gpureg::Memory & derivative = forces.Enqueue(role, 0, sign);
        EXPECT_TRUE(forces.HasScratch());
        EXPECT_EQ(&forces.GetScratch(), &derivative);
      }
      // The next level begins without it.
      forces.BeginLevel(problem, settings, pairs, number, level);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Devices, MiddleForcesTest, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace gpuregtest
