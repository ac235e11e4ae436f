// SPDX-License-Identifier: Apache-2.0
// A pair of images on several devices that register it together, and settings for it.
#ifndef TeamCase_h
#define TeamCase_h

#include "DenseCase.h"
#include "KnownDeformation.h"
#include "ErrorOfRecord.h"
#include "TestDevices.h"

#include "gpureg/image/LoadedImage.h"
#include "gpureg/image/NarrowImage.h"
#include "gpureg/registration/diffeomorphic/TeamRegistration.h"
#include "gpureg/runtime/Device.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace gpuregtest
{

/** Returns true for PoCL, whose own assertion in pocl_release_dlhandle_cache fails now and then with four queues at once. */
inline bool
TakesNoFourQueues(const std::string & device)
{
  return device.rfind("opencl", 0) == 0 && !IsGPU(device);
}

/** Returns a grid that is long along z, so that its levels of half as many voxels are cut, too. */
inline VoxelGrid
MakeLongGrid(int planes = 150)
{
  VoxelGrid grid = MakeGrid(3, 1.0);
  grid.size = { 25, 21, planes };
  return grid;
}

inline gpureg::DiffeomorphicSettings
MakeTeamSettings()
{
  gpureg::DiffeomorphicSettings settings;
  settings.iterations = { 8, 12, 6 };
  settings.step = 0.5;
  return settings;
}

/** Returns the same settings for SyN. */
inline gpureg::DiffeomorphicSettings
MakeSyNTeamSettings()
{
  auto settings = MakeTeamSettings();
  settings.scheme = gpureg::DiffeomorphicScheme::SyN;
  settings.step = 0.25;
  return settings;
}

/** Returns a transform that leads half of the way from a pair's fixed image to its moving image. */
inline auto
SampleHalfOf(const Pair & pair, const VoxelGrid & grid)
{
  return SampleDisplacements(grid, [&pair](const Point & p) {
    const Point moved = pair.Move(p);
    return Point{ 0.5 * (p[0] + moved[0]), 0.5 * (p[1] + moved[1]), 0.5 * (p[2] + moved[2]) };
  });
}

/** Returns a function that has a problem begin with the transform of SampleHalfOf(). */
inline auto
BeginHalfWay(const Pair & pair, const VoxelGrid & grid)
{
  return [start = SampleHalfOf(pair, grid)](gpureg::DiffeomorphicProblem problem) {
    problem.initial.Append(start);
    return problem;
  };
}

/** Holds the images of a grid on each of several devices. */
class Team
{
public:
  using Prepare = std::function<gpureg::DiffeomorphicProblem(const gpureg::DiffeomorphicProblem &)>;

  /** \param prepare returns the problem of a device, from one without masks and initial transforms */
  Team(const std::vector<std::string> & devices, const VoxelGrid & grid, const Prepare & prepare = {})
    : registration(devices)
  {
    for (const std::string & device : devices)
    {
      m_Pairs.push_back(std::make_unique<Pair>(device, grid, 1.0));
      const gpureg::DiffeomorphicProblem problem = m_Pairs.back()->Load();
      problems.push_back(prepare ? prepare(problem) : problem);
    }
  }

  DenseResult
  Register(const gpureg::DiffeomorphicSettings & settings, std::int64_t threads = 2)
  {
    result = registration.Register(problems, settings, OnThreads(threads));
    return { result.levels.back().costs, this->TakeField(), result.warnings };
  }

  Floats
  TakeField(gpureg::DeformationField which = gpureg::DeformationField::Forward)
  {
    Floats field(3 * static_cast<std::size_t>(registration.CountVoxels()), NAN);
    registration.TakeDisplacements(
      [&field](std::int64_t first, std::int64_t count, const float * in) {
        std::copy_n(in, 3 * count, field.begin() + 3 * first);
      },
      OnThreads(2),
      which);
    return field;
  }

  /** Returns the field that stays on the first device. */
  Floats
  TakeKeptField()
  {
    return TakeKept(*registration.GetField(OnThreads(2)));
  }

  /** Returns the inverse that stays there. */
  Floats
  TakeKeptInverse(gpureg::InverseErrors & errors)
  {
    const gpureg::InverseOnDevice kept = registration.GetInverse(OnThreads(2));
    errors = kept.errors;
    return TakeKept(*kept.field);
  }

  Floats
  TakeInverse(gpureg::InverseErrors & errors)
  {
    Floats inverse(3 * static_cast<std::size_t>(registration.CountVoxels()), NAN);
    errors = registration.TakeInverse(
      [&inverse](std::int64_t first, std::int64_t count, const float * in) {
        std::copy_n(in, 3 * count, inverse.begin() + 3 * first);
      },
      OnThreads(2));
    return inverse;
  }

  gpureg::TeamRegistration                  registration;
  std::vector<gpureg::DiffeomorphicProblem> problems;
  gpureg::DiffeomorphicResult               result;

private:
  Floats
  TakeKept(const gpureg::DeviceField & kept) const
  {
    Floats field = Take(kept);
    EXPECT_EQ(kept.GetDescription().largest, ComputeLargest(field));
    EXPECT_EQ(kept.GetDescription().size, problems.front().fixed.size);
    return field;
  }

  std::vector<std::unique_ptr<Pair>> m_Pairs;
};

inline Floats
ToFloats(const std::vector<double> & numbers)
{
  return { numbers.begin(), numbers.end() };
}

/** Holds images and masks of 16 and 32 bits on a device, of a pair's values. */
struct StoredImages
{
  StoredImages(const std::string & device, const VoxelGrid & grid)
    : mask(device)
  {
    const Pair pair(device, grid, 1.0);
    for (std::size_t n = 0; n < pair.fixed.size(); ++n)
    {
      fixedValues.push_back(static_cast<std::int16_t>(1000 * pair.fixed[n]));
      movingValues.push_back(static_cast<std::int16_t>(1000 * pair.moving[n]));
      const auto plane = n / static_cast<std::size_t>(grid.size[0] * grid.size[1]);
      maskValues.push_back(plane % 50 < 43 && n % 25 < 20 ? 1.0F : 0.0F);
    }
    const auto load = [&](const std::vector<std::int16_t> & values) {
      return std::make_unique<gpureg::NarrowImage>(
        device, gpureg::NumberType::Int16, values.data(), static_cast<std::int64_t>(values.size()), OnThreads(2));
    };
    fixed = load(fixedValues);
    moving = load(movingValues);
    mask.Load(
      {}, gpureg::Precision::Single, maskValues.data(), static_cast<std::int64_t>(maskValues.size()), OnThreads(2));
  }

  std::vector<std::int16_t> fixedValues;
  std::vector<std::int16_t> movingValues;
  Floats                    maskValues;
  /** Returns a problem with these images, and with a shift that it begins with. */
  gpureg::DiffeomorphicProblem
  Prepare(gpureg::DiffeomorphicProblem problem) const
  {
    problem.fixed.image = fixed.get();
    problem.moving.image = moving.get();
    problem.fixed.mask = problem.moving.mask = &mask;
    gpureg::IndexMap shift;
    shift.offset = { 0.3, -0.2, 0.9 };
    problem.initial.Append(shift);
    return problem;
  }

  std::unique_ptr<gpureg::NarrowImage> fixed;
  std::unique_ptr<gpureg::NarrowImage> moving;
  gpureg::LoadedImage                  mask;
};

/** Returns what one device would hold of a pair, without its images. Engines hold nothing then: those that others have used may have larger
 *  arrays than a plan has. */
inline double
PlanAlone(const std::string & device, const VoxelGrid & grid, const gpureg::DiffeomorphicSettings & settings)
{
  Pair                              pair(device, grid, 1.0);
  gpureg::DiffeomorphicRegistration alone(device);
  const gpureg::MemoryPlan          whole = alone.GetPlan(pair.Load(), settings);
  gpureg::ReleaseIdleMemory(device);
  return static_cast<double>(whole.bytes - whole.images);
}

/** Plans a registration, runs it, and checks the plans. Engines are to hold nothing before. Returns the plans.
 *  \param device all members of the team are on it */
inline std::vector<gpureg::MemoryPlan>
CheckPlans(const std::string & device, Team & team, const gpureg::DiffeomorphicSettings & settings)
{
  const auto plans = team.registration.GetPlans(team.problems, settings);
  EXPECT_EQ(plans.size(), team.problems.size());
  const auto before = static_cast<double>(gpureg::GetMemoryInUse(device));
  gpureg::CountMostMemoryFromNow(device);
  double all = 0;
  team.Register(settings);
  for (std::size_t n = 0; n < plans.size(); ++n)
  {
    const auto own = static_cast<double>(plans[n].bytes - plans[n].images);
    const auto held = static_cast<double>(team.registration.GetStatistics(n).deviceBytes);
    // The first device of SyN frees what it compared the images by for the fields of the other side.
    const bool frees = n == 0 && settings.scheme == gpureg::DiffeomorphicScheme::SyN;
    EXPECT_LE(held, 1.05 * own) << "device " << n << " of " << device;
    EXPECT_GE(held, (frees ? 0.5 : 0.95) * own) << "device " << n << " of " << device;
    all += own;
  }
  if (settings.scheme == gpureg::DiffeomorphicScheme::SyN)
  {
    // The plan includes the inverse, and that it stays with the deformation on the first device.
    const auto inverse = team.registration.GetInverse(OnThreads(2));
    const auto field = team.registration.GetField(OnThreads(2));
    EXPECT_EQ(inverse.field->GetAccountBytes(), field->GetAccountBytes());
  }
  // Members hold the most at the same time: in iterations, or the first one behind these, when the others still have their arrays.
  const double most = static_cast<double>(gpureg::GetMostMemoryInUse(device)) - before;
  EXPECT_NEAR(most, all, 0.05 * all) << device;
  return plans;
}

} // namespace gpuregtest

#endif
