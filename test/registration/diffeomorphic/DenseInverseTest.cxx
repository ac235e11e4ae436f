// SPDX-License-Identifier: Apache-2.0
// Inverses that dense registrations find with their deformations, on every device: that they undo them, which the composition of SyN's
// halves does not, how their errors are counted, and what they take on the device beside their deformations.
#include "DenseCase.h"

#include "gpureg/core/Error.h"

#include <gtest/gtest.h>

#include <utility>

namespace gpuregtest
{

using DenseInverseTest = DeviceTest;

namespace
{
using Scheme = gpureg::DiffeomorphicScheme;

/** Schemes that find an inverse, and whether updates are averaged. */
constexpr std::pair<Scheme, bool> Inverting[] = { { Scheme::SyN, false },
                                                  { Scheme::SyN, true },
                                                  { Scheme::Velocity, false } };

gpureg::DiffeomorphicSettings
MakeInvertingSettings(Scheme scheme, bool averages)
{
  gpureg::DiffeomorphicSettings settings;
  settings.scheme = scheme;
  settings.similarity.radius = 2;
  settings.iterations = { 20, 10 };
  settings.step = 0.5;
  settings.updateSigma = 1.5;
  settings.syn.averagesGradients = averages;
  return settings;
}
} // namespace

TEST_P(DenseInverseTest, UndoesTheDeformation)
{
  for (const int dimension : { 2, 3 })
  {
    for (const auto & [scheme, averages] : Inverting)
    {
      SCOPED_TRACE(::testing::Message() << dimension << "D, scheme " << static_cast<int>(scheme)
                                        << (averages ? ", averages" : ""));
      Pair                              pair(GetParam(), dimension, 1.0);
      const auto                        settings = MakeInvertingSettings(scheme, averages);
      gpureg::DiffeomorphicRegistration registration(GetParam());
      const auto                        result = registration.Register(pair.Load(), settings, OnThreads(2));
      const auto                        voxels = result.levels.back().voxels;
      const Floats                      forward = TakeField(registration, voxels);
      const Floats                      made = TakeField(registration, voxels, gpureg::DeformationField::Inverse);
      gpureg::InverseErrors             errors;
      const Floats                      refined = TakeInverse(registration, voxels, errors);
      const auto                        before = ComputeInverseErrors(pair.grid, forward, made);
      const auto                        after = ComputeInverseErrors(pair.grid, forward, refined);
      EXPECT_EQ(result.foldedVoxels, 0);
      // SyN's is composed of halves, each of which loses a little between voxels; a velocity's is refined already.
      EXPECT_EQ(before[1] > 1e-2, scheme == Scheme::SyN);
      EXPECT_EQ(made == refined, scheme == Scheme::Velocity);
      EXPECT_LT(after[0], 1e-4);
      EXPECT_LT(after[1], 1e-3);
      // The errors that the device has measured include the voxels at the edge.
      EXPECT_LT(errors.mean, 1e-4);
      EXPECT_LT(errors.largest, 1e-3);
      EXPECT_GE(errors.largest, after[1] - 1e-5);
      EXPECT_EQ(errors.offVoxels, 0);
      EXPECT_EQ(errors.foldedVoxels, 0);
      // SyN's fields are zero at the edge, where a velocity moves voxels out.
      EXPECT_LT(errors.unmappedVoxels, voxels / (scheme == Scheme::SyN ? 20 : 15));
      // The deformation itself is left as it is.
      EXPECT_EQ(TakeField(registration, voxels), forward);
    }
  }
}

// A registration counts the folds of its result, and an inverse that is taken while levels go on those of the current deformation.
TEST_P(DenseInverseTest, CountsFoldsOnce)
{
  Pair                          pair(GetParam(), 2, 1.0);
  gpureg::DiffeomorphicSettings settings;
  settings.similarity.radius = 2;
  settings.iterations = { 20 };
  for (const gpureg::DiffeomorphicScheme scheme :
       { gpureg::DiffeomorphicScheme::SyN, gpureg::DiffeomorphicScheme::Velocity })
  {
    SCOPED_TRACE(static_cast<int>(scheme));
    gpureg::DiffeomorphicRegistration registration(GetParam());
    gpureg::InverseErrors             during;
    gpureg::InverseErrors             after;
    Floats                            fieldDuring;
    int                               launchesDuring = 0;
    settings.scheme = scheme;
    const auto result =
      registration.Register(pair.Load(), settings, OnThreads(2), {}, [&](const gpureg::DiffeomorphicProgress &) {
        const int launches = registration.GetStatistics().launches;
        fieldDuring = TakeInverse(registration, registration.CountVoxels(), during);
        launchesDuring = registration.GetStatistics().launches - launches;
      });
    const Floats field = TakeInverse(registration, registration.CountVoxels(), after);
    EXPECT_EQ(field, fieldDuring);
    EXPECT_EQ(after.foldedVoxels, result.foldedVoxels);
    EXPECT_EQ(during.foldedVoxels, result.foldedVoxels);
    EXPECT_LT(registration.GetStatistics().launches, launchesDuring);
  }
}

TEST_P(DenseInverseTest, TakesWithTheDeformationWhatWasPlanned)
{
  for (const auto & [scheme, averages] : Inverting)
  {
    SCOPED_TRACE(::testing::Message() << "scheme " << static_cast<int>(scheme) << (averages ? ", averages" : ""));
    Pair                              pair(GetParam(), 3, 1.0);
    const auto                        problem = pair.Load();
    const auto                        settings = MakeInvertingSettings(scheme, averages);
    gpureg::DiffeomorphicRegistration other(GetParam());
    const Floats                      expected = RegisterDense(other, problem, settings).field;
    gpureg::InverseErrors             errors;
    const Floats                      inverse = TakeInverse(other, other.CountVoxels(), errors);
    gpureg::DiffeomorphicRegistration registration(GetParam());
    const auto                        plan = registration.GetPlan(problem, settings);
    const auto                        planned = static_cast<double>(plan.bytes - plan.images);
    const auto                        before = gpureg::GetMemoryInUse(GetParam());
    // Once more, when the engine makes again what it has given away.
    for (int time = 0; time < 2; ++time)
    {
      gpureg::CountMostMemoryFromNow(GetParam());
      registration.Register(problem, settings, OnThreads(2));
      const auto back = registration.GetInverse(OnThreads(2));
      const auto field = registration.GetField(OnThreads(2));
      // Single numbers are not planned.
      EXPECT_NEAR(static_cast<double>(gpureg::GetMostMemoryInUse(GetParam()) - before), planned, 2048);
      EXPECT_TRUE(Take(*field) == expected);
      EXPECT_TRUE(Take(*back.field) == inverse);
      EXPECT_EQ(back.errors.largest, errors.largest);
    }
  }
}

TEST_P(DenseInverseTest, NeedsASchemeWithAnInverse)
{
  Pair                              pair(GetParam(), 2, 1.0);
  gpureg::DiffeomorphicRegistration registration(GetParam());
  gpureg::InverseErrors             errors;
  EXPECT_THROW(TakeInverse(registration, 1, errors), gpureg::BadInputError);
  gpureg::DiffeomorphicSettings settings;
  settings.iterations = { 1 };
  const auto result = registration.Register(pair.Load(), settings, OnThreads(2));
  const auto voxels = result.levels.back().voxels;
  EXPECT_THROW(TakeInverse(registration, voxels, errors), gpureg::BadInputError);
  // The engine can be used again.
  settings.scheme = gpureg::DiffeomorphicScheme::Velocity;
  registration.Register(pair.Load(), settings, OnThreads(2));
  TakeInverse(registration, voxels, errors);
  EXPECT_LT(errors.largest, 1e-3);
  EXPECT_GT(errors.mean, 0);
}

INSTANTIATE_TEST_SUITE_P(Devices, DenseInverseTest, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace gpuregtest
