// SPDX-License-Identifier: Apache-2.0
// Tests of all schemes of diffeomorphic registration share these: one test for each device and scheme, small images, and results to
// compare.
#ifndef DenseCase_h
#define DenseCase_h

#include "KnownDeformation.h"
#include "TestDevices.h"

#include "gpureg/transform/DeviceField.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <tuple>
#include <vector>

namespace gpuregtest
{

/** Holds the results of a registration. */
struct DenseResult
{
  std::vector<double>      costs; // of the last level
  Floats                   field;
  std::vector<std::string> warnings;
};

/** Registers, and takes the deformation. */
inline DenseResult
RegisterDense(gpureg::DiffeomorphicRegistration &   registration,
              const gpureg::DiffeomorphicProblem &  problem,
              const gpureg::DiffeomorphicSettings & settings)
{
  const auto result = registration.Register(problem, settings, OnThreads(2));
  return { result.levels.back().costs, TakeField(registration, registration.CountVoxels()), result.warnings };
}

inline DenseResult
RegisterDense(const std::string &                   device,
              const gpureg::DiffeomorphicProblem &  problem,
              const gpureg::DiffeomorphicSettings & settings)
{
  gpureg::DiffeomorphicRegistration registration(device);
  return RegisterDense(registration, problem, settings);
}

/** Returns a field that is on a device. */
inline Floats
Take(const gpureg::DeviceField & field)
{
  const std::int64_t voxels = gpureg::CountOf(field.GetDescription().size);
  Floats             vectors(3 * static_cast<std::size_t>(voxels));
  field.Take(
    0,
    voxels,
    [&vectors](std::int64_t first, std::int64_t count, const float * in) {
      std::copy_n(in, 3 * count, vectors.begin() + 3 * first);
    },
    OnThreads(2));
  return vectors;
}

/** Returns the largest absolute value of a field's components. */
inline double
ComputeLargest(const Floats & field)
{
  double largest = 0;
  for (const float component : field)
  {
    largest = std::max(largest, std::abs(static_cast<double>(component)));
  }
  return largest;
}

/** Returns the largest difference of two fields' components, infinity if their sizes differ or a number is none. */
inline double
ComputeLargestDifference(const Floats & a, const Floats & b)
{
  double largest = a.size() == b.size() ? 0 : INFINITY;
  for (std::size_t n = 0; n < std::min(a.size(), b.size()); ++n)
  {
    const double difference = std::abs(static_cast<double>(a[n]) - b[n]);
    largest = difference <= largest ? largest : (std::isnan(difference) ? INFINITY : difference);
  }
  return largest;
}

/** A test that runs once for each device and scheme. */
class DenseTest : public ::testing::TestWithParam<std::tuple<std::string, gpureg::DiffeomorphicScheme>>
{
protected:
  static const std::string &
  GetDevice()
  {
    return std::get<0>(GetParam());
  }

  static gpureg::DiffeomorphicScheme
  GetScheme()
  {
    return std::get<1>(GetParam());
  }

  /** Returns settings of few iterations, by a similarity that all schemes have. */
  static gpureg::DiffeomorphicSettings
  MakeSettings(gpureg::SimilarityKind kind = gpureg::SimilarityKind::NeighborhoodCorrelation)
  {
    gpureg::DiffeomorphicSettings settings;
    settings.scheme = GetScheme();
    settings.iterations = { 6, 4 };
    settings.step = 0.25;
    settings.similarity = { kind, 32, 2 };
    return settings;
  }

  static bool
  Serves(gpureg::SimilarityKind kind)
  {
    return gpureg::Describe(kind).isForFields;
  }
};

inline std::string
GetNameOfDeviceAndScheme(const ::testing::TestParamInfo<DenseTest::ParamType> & info)
{
  std::string name = std::get<0>(info.param) + "_" + GetName(std::get<1>(info.param));
  std::replace(name.begin(), name.end(), ':', '_');
  return name;
}

/** Returns each device with each scheme. */
inline auto
AllDevicesAndSchemes()
{
  using gpureg::DiffeomorphicScheme;
  return ::testing::Combine(::testing::ValuesIn(GetDeviceNames()),
                            ::testing::Values(DiffeomorphicScheme::Greedy,
                                              DiffeomorphicScheme::SyN,
                                              DiffeomorphicScheme::Velocity));
}

} // namespace gpuregtest

#endif
