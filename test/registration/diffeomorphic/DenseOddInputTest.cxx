// SPDX-License-Identifier: Apache-2.0
// Tests odd images that every scheme of diffeomorphic registration takes, on every device: each is compared with the same problem in a plain
// form.
#include "DenseCase.h"

#include "gpureg/core/Error.h"

#include <cmath>
#include <string>

namespace gpuregtest
{

namespace
{
using gpureg::DiffeomorphicScheme;
using gpureg::SimilarityKind;

class DenseOddInputTest : public DenseTest
{
protected:
  /** Multiplies the values of a pair. */
  static void
  Scale(double ofFixed, double ofMoving, Pair & pair)
  {
    const auto scale = [](Floats & values, double factor) {
      for (float & value : values)
      {
        value = static_cast<float>(factor * value);
      }
    };
    scale(pair.fixed, ofFixed);
    scale(pair.moving, ofMoving);
  }

  static DenseResult
  RegisterScaled(double ofFixed, double ofMoving, const gpureg::DiffeomorphicSettings & settings)
  {
    Pair pair(GetDevice(), 2, 1.0);
    Scale(ofFixed, ofMoving, pair);
    return RegisterDense(GetDevice(), pair.Load(), settings);
  }
};
} // namespace

TEST_P(DenseOddInputTest, FindsTheSameForValuesOfAnyMagnitude)
{
  for (const auto kind : { SimilarityKind::NeighborhoodCorrelation,
                           SimilarityKind::MeanSquares,
                           SimilarityKind::Correlation,
                           SimilarityKind::CorrelationRatio,
                           SimilarityKind::MattesMutualInformation,
                           SimilarityKind::NormalizedMutualInformation })
  {
    if (!Serves(kind))
    {
      continue;
    }
    const auto        settings = MakeSettings(kind);
    const DenseResult plain = RegisterScaled(1, 1, settings);
    EXPECT_GT(ComputeLargest(plain.field), 0.5);
    // Costs of SyN and velocities are ITK's values.
    const bool isOfSquares = kind == SimilarityKind::MeanSquares && GetScheme() != DiffeomorphicScheme::Greedy;
    for (const double factor : { std::ldexp(1.0, -100), std::ldexp(1.0, 100), 1e-36, 1e30 })
    {
      const DenseResult found = RegisterScaled(factor, factor, settings);
      const std::string what = std::string(GetName(kind)) + " x " + std::to_string(std::log10(factor));
      const double      cost = plain.costs.back() * (isOfSquares ? factor * factor : 1);
      EXPECT_NEAR(found.costs.back() / cost, 1, 1e-5) << what;
      if (factor == 1e-36 || factor == 1e30)
      {
        // Rounding changes the values, and moves some from one bin to the next.
        const bool hasBins = gpureg::Describe(kind).HasJointHistogram();
        EXPECT_LT(ComputeLargestDifference(found.field, plain.field), hasBins ? 0.2 : 5e-5) << what;
      }
      else
      {
        EXPECT_TRUE(found.field == plain.field) << what;
      }
    }
  }
}

TEST_P(DenseOddInputTest, FindsTheSameForImagesOfDifferentMagnitudes)
{
  // A velocity has one value outside of both images, unless that would take the digits of one. Found were 0.1 voxels at the edge; this is 1.5
  // times as much.
  const double most = GetScheme() == DiffeomorphicScheme::Velocity ? 0.15 : 0;
  for (const auto kind : { SimilarityKind::NeighborhoodCorrelation, SimilarityKind::MattesMutualInformation })
  {
    const auto        settings = MakeSettings(kind);
    const DenseResult plain = RegisterScaled(1, 1, settings);
    const DenseResult smallFixed = RegisterScaled(std::ldexp(1.0, -100), std::ldexp(1.0, 90), settings);
    const DenseResult smallMoving = RegisterScaled(std::ldexp(1.0, 90), std::ldexp(1.0, -100), settings);
    EXPECT_LE(ComputeLargestDifference(smallFixed.field, plain.field), most) << GetName(kind);
    EXPECT_LE(ComputeLargestDifference(smallMoving.field, plain.field), most) << GetName(kind);
  }
}

TEST_P(DenseOddInputTest, AddsUpPairsOfAnyMagnitude)
{
  const auto settings = MakeSettings();
  const auto find = [&](double ofFirst, double ofSecond) {
    Pair first(GetDevice(), 2, 1.0), second(GetDevice(), 2, 1.0);
    Scale(ofFirst, ofFirst, first);
    Scale(ofSecond, ofSecond, second);
    auto problem = first.Load();
    auto other = second.Load();
    problem.further.push_back({ other.fixed, other.moving, { SimilarityKind::MeanSquares, 0, 0 }, 0.5, {}, {} });
    return RegisterDense(GetDevice(), problem, settings).field;
  };
  const Floats plain = find(1, 1);
  EXPECT_TRUE(find(std::ldexp(1.0, -100), std::ldexp(1.0, 100)) == plain);
  EXPECT_TRUE(find(std::ldexp(1.0, 100), std::ldexp(1.0, -100)) == plain);
}

TEST_P(DenseOddInputTest, SaysThatDemonsSeeNoDifferenceOfSmallValues)
{
  const auto                        settings = MakeSettings(SimilarityKind::Demons);
  gpureg::DiffeomorphicRegistration registration(GetDevice());
  Pair                              small(GetDevice(), 2, 1.0);
  Scale(1e-36, 1e-36, small);
  try
  {
    registration.Register(small.Load(), settings, OnThreads(2));
    ADD_FAILURE() << "nothing was thrown";
  }
  catch (const gpureg::BadInputError & error)
  {
    const std::string said = error.what();
    for (const char * part : { "differ by less than 0.001", "e-36", "multiply both images' values" })
    {
      EXPECT_NE(said.find(part), std::string::npos) << said;
    }
  }
  Pair pair(GetDevice(), 2, 1.0);
  EXPECT_TRUE(RegisterDense(registration, pair.Load(), settings).field ==
              RegisterDense(GetDevice(), pair.Load(), settings).field);
}

INSTANTIATE_TEST_SUITE_P(Devices, DenseOddInputTest, AllDevicesAndSchemes(), GetNameOfDeviceAndScheme);

} // namespace gpuregtest
