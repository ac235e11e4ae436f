// SPDX-License-Identifier: Apache-2.0
// Tests odd images that every scheme of diffeomorphic registration takes, on every device: each is compared with the same problem in a
// plain form.
#include "DenseCase.h"

#include "engine/core/Matrix3.h"

#include "gpureg/core/Error.h"

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>

namespace gpuregtest
{

namespace
{
using gpureg::DiffeomorphicScheme;
using gpureg::SimilarityKind;

/** Two images of given values at each voxel, the fixed one moved by up to a voxel and a half, on one grid that lies anywhere. */
class Scene
{
public:
  /** \param dimension of the registration
   *  \param toPoint from indices to points; the values do not depend on it */
  Scene(const std::string &  device,
        int                  dimension,
        const gpureg::Size & size,
        gpureg::IndexMap     toPoint = {},
        bool                 variesAlongZ = true)
    : m_Fixed(device)
    , m_Moving(device)
  {
    for (std::int64_t n = 0; n < gpureg::CountOf(size); ++n)
    {
      const auto x = static_cast<double>(n % size[0]);
      const auto y = static_cast<double>(n / size[0] % size[1]);
      const auto z = variesAlongZ ? static_cast<double>(n / size[0] / size[1]) : 0.0;
      m_FixedValues.push_back(
        GetValue(x + 1.1 * std::sin(0.2 * y + 0.3), y + 0.8 * std::cos(0.25 * x), z + 0.5 * std::sin(0.3 * x)));
      m_MovingValues.push_back(GetValue(x, y, z));
    }
    problem.dimension = problem.initial.dimension = problem.fixedInitial.dimension = dimension;
    problem.fixed = Load(m_Fixed, m_FixedValues, size, toPoint);
    problem.moving = Load(m_Moving, m_MovingValues, size, toPoint);
  }

  gpureg::DiffeomorphicProblem problem;

private:
  static float
  GetValue(double x, double y, double z)
  {
    return static_cast<float>(100 + 40 * std::sin(0.5 * x + 0.2 * y) + 30 * std::cos(0.45 * y - 0.25 * x + 0.3 * z) +
                              25 * std::sin(0.6 * z + 0.3 * x));
  }

  static gpureg::RegisteredImage
  Load(gpureg::LoadedImage & loaded, const Floats & values, const gpureg::Size & size, const gpureg::IndexMap & toPoint)
  {
    loaded.Load({}, gpureg::Precision::Single, values.data(), static_cast<std::int64_t>(values.size()), OnThreads(2));
    gpureg::RegisteredImage image;
    image.image = &loaded;
    image.size = size;
    image.indexToPoint = toPoint;
    return image;
  }

  gpureg::LoadedImage m_Fixed;
  gpureg::LoadedImage m_Moving;
  Floats              m_FixedValues;
  Floats              m_MovingValues;
};

gpureg::IndexMap
MakeMap(const std::array<double, 3> & spacing, const std::array<double, 3> & offset = {})
{
  gpureg::IndexMap map;
  map.offset = offset;
  for (std::size_t d = 0; d < 3; ++d)
  {
    map.matrix[4 * d] = spacing[d];
  }
  return map;
}

/** Returns the field in voxels: multiplied by the inverse of the grid's matrix. */
Floats
ToVoxels(const gpureg::IndexMap & map, const Floats & field)
{
  const gpureg::Matrix3 inverse = gpureg::Invert(map.matrix);
  Floats                voxels;
  for (std::size_t n = 0; n < field.size(); n += 3)
  {
    for (const double component : gpureg::Multiply(inverse, gpureg::Vector3{ field[n], field[n + 1], field[n + 2] }))
    {
      voxels.push_back(static_cast<float>(component));
    }
  }
  return voxels;
}

// Along each axis another number, some of them odd.
const gpureg::Size Flat{ 27, 20, 1 };
const gpureg::Size Thick{ 15, 12, 9 };

class DenseOddInputTest : public DenseTest
{
protected:
  static Floats
  FindInVoxels(const std::string &                   device,
               int                                   dimension,
               const gpureg::Size &                  size,
               const gpureg::IndexMap &              toPoint,
               const gpureg::DiffeomorphicSettings & settings)
  {
    Scene scene(device, dimension, size, toPoint);
    return ToVoxels(toPoint, RegisterDense(device, scene.problem, settings).field);
  }

  /** Expects the displacements in voxels on a grid that lies at the origin, with voxels of 1 mm, wherever the grid lies.
   *  \param most the largest difference, in voxels
   *  \param mostInMean the mean of all components' differences */
  static void
  ExpectPlainResult(const gpureg::IndexMap & toPoint, double most, double mostInMean = 1e-4)
  {
    for (const int dimension : { 2, 3 })
    {
      const gpureg::Size & size = dimension == 2 ? Flat : Thick;
      for (const auto kind : { SimilarityKind::NeighborhoodCorrelation, SimilarityKind::MeanSquares })
      {
        const auto   settings = MakeSettings(kind);
        const Floats plain = FindInVoxels(GetDevice(), dimension, size, {}, settings);
        const Floats found = FindInVoxels(GetDevice(), dimension, size, toPoint, settings);
        EXPECT_GT(ComputeLargest(plain), 0.3) << GetName(kind);
        EXPECT_LT(ComputeLargestDifference(found, plain), most) << GetName(kind) << ", " << dimension << "D";
        double sum = 0;
        for (std::size_t n = 0; n < plain.size(); ++n)
        {
          sum += std::abs(static_cast<double>(found[n]) - plain[n]);
        }
        EXPECT_LT(sum / static_cast<double>(plain.size()), mostInMean) << GetName(kind) << ", " << dimension << "D";
      }
    }
  }

  /** Expects that a registration finds something finite, and on each device the same as on the host.
   *  \param most the largest difference, in voxels */
  static void
  ExpectHostsResult(int                                   dimension,
                    const gpureg::Size &                  size,
                    const gpureg::IndexMap &              toPoint,
                    const gpureg::DiffeomorphicSettings & settings,
                    double                                most)
  {
    const Floats found = FindInVoxels(GetDevice(), dimension, size, toPoint, settings);
    EXPECT_TRUE(std::isfinite(ComputeLargestDifference(found, Floats(found.size()))));
    EXPECT_GT(ComputeLargest(found), 0.01);
    EXPECT_LT(ComputeLargestDifference(found, FindInVoxels("host", dimension, size, toPoint, settings)), most);
  }

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

  /** Returns what a registration says is wrong. */
  static std::string
  FindError(const gpureg::DiffeomorphicProblem & problem, const gpureg::DiffeomorphicSettings & settings)
  {
    try
    {
      RegisterDense(GetDevice(), problem, settings);
      return "nothing was thrown";
    }
    catch (const gpureg::BadInputError & error)
    {
      return error.what();
    }
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
  // A velocity has one value outside of both images, unless that would take the digits of one. Found were 0.1 voxels at the edge; this is
  // 1.5 times as much.
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

TEST_P(DenseOddInputTest, TakesDoublesThatAreNoFloats)
{
  for (const double factor : { 1e-200, 1e200 })
  {
    Pair                pair(GetDevice(), 2, 1.0);
    auto                problem = pair.Load();
    std::vector<double> values[2];
    gpureg::LoadedImage loaded[] = { gpureg::LoadedImage(GetDevice()), gpureg::LoadedImage(GetDevice()) };
    for (const bool isFixed : { true, false })
    {
      auto & its = values[isFixed ? 0 : 1];
      for (const float value : isFixed ? pair.fixed : pair.moving)
      {
        its.push_back(factor * value);
      }
      auto & image = loaded[isFixed ? 0 : 1];
      image.Load({}, gpureg::Precision::Double, its.data(), static_cast<std::int64_t>(its.size()), OnThreads(2));
      (isFixed ? problem.fixed : problem.moving).image = &image;
    }
    if (GetScheme() == DiffeomorphicScheme::Greedy)
    {
      EXPECT_LT(ComputeLargestDifference(RegisterDense(GetDevice(), problem, MakeSettings()).field,
                                         RegisterScaled(1, 1, MakeSettings()).field),
                5e-5);
      continue;
    }
    // The others compute in floats, and say so.
    const std::string said = FindError(problem, MakeSettings());
    EXPECT_NE(said.find("the fixed image has values from"), std::string::npos) << said;
    EXPECT_NE(said.find("not different numbers as floats, in which SyN and velocities compute"), std::string::npos)
      << said;
    EXPECT_NE(said.find("shift and scale them"), std::string::npos) << said;
  }
}

TEST_P(DenseOddInputTest, SaysThatDemonsSeeNoDifferenceOfSmallValues)
{
  const auto                        settings = MakeSettings(SimilarityKind::Demons);
  gpureg::DiffeomorphicRegistration registration(GetDevice());
  Pair                              small(GetDevice(), 2, 1.0);
  Scale(1e-36, 1e-36, small);
  const std::string said = FindError(small.Load(), settings);
  for (const char * part : { "differ by less than 0.001", "e-36", "multiply both images' values" })
  {
    EXPECT_NE(said.find(part), std::string::npos) << said;
  }
  EXPECT_THROW(registration.Register(small.Load(), settings, OnThreads(2)), gpureg::BadInputError);
  Pair pair(GetDevice(), 2, 1.0);
  EXPECT_TRUE(RegisterDense(registration, pair.Load(), settings).field ==
              RegisterDense(GetDevice(), pair.Load(), settings).field);
}

TEST_P(DenseOddInputTest, TakesOriginsFarAway)
{
  ExpectPlainResult(MakeMap({ 1, 1, 1 }, { 1e5, -1e5, 1e5 }), 1e-4);
  ExpectPlainResult(MakeMap({ 1, 1, 1 }, { -12345.678, 0.1, 98765.4321 }), 1e-4);
}

TEST_P(DenseOddInputTest, TakesVoxelsOfAnySize)
{
  for (const double edge : { 0.05, 25.0 })
  {
    ExpectPlainResult(MakeMap({ edge, edge, edge }, { 100 * edge, 0, -7 * edge }), 1e-4);
  }
}

TEST_P(DenseOddInputTest, TakesGridsThatAreTurned)
{
  gpureg::IndexMap turned = MakeMap({ 2, 2, 2 }, { 30, -40, 50 });
  const double     angle = 0.6;
  turned.matrix = {
    2 * std::cos(angle), -2 * std::sin(angle), 0, 2 * std::sin(angle), 2 * std::cos(angle), 0, 0, 0, 2
  };
  // SyN and velocities take ITK's gradients: differences along the physical axes, which are 0 where they would reach out of the image.
  // Found were 0.04 voxels in the mean, and 0.6 at the border; these are 1.5 times as much.
  const bool isGreedy = GetScheme() == DiffeomorphicScheme::Greedy;
  ExpectPlainResult(turned, isGreedy ? 1e-3 : 0.9, isGreedy ? 1e-4 : 0.06);
  // Axes that are exchanged and run the other way.
  gpureg::IndexMap exchanged;
  exchanged.matrix = { 0, -1, 0, 1, 0, 0, 0, 0, -1 };
  exchanged.offset = { 10, 20, 30 };
  ExpectPlainResult(exchanged, 1e-3);
}

TEST_P(DenseOddInputTest, TakesAnisotropicVoxels)
{
  const auto map = MakeMap({ 0.4, 3.2, 1.1 }, { 5, 6, 7 });
  ExpectHostsResult(2, Flat, map, MakeSettings(), 2e-3);
  ExpectHostsResult(3, Thick, map, MakeSettings(), 2e-3);
}

TEST_P(DenseOddInputTest, TakesLongAndNarrowImages)
{
  for (const gpureg::Size & size : { gpureg::Size{ 61, 5, 1 }, gpureg::Size{ 4, 53, 1 } })
  {
    ExpectHostsResult(2, size, {}, MakeSettings(), 2e-3);
  }
  ExpectHostsResult(3, { 31, 5, 4 }, {}, MakeSettings(), 2e-3);
}

TEST_P(DenseOddInputTest, TakesOneSlice)
{
  if (GetScheme() == DiffeomorphicScheme::SyN)
  {
    Scene scene(GetDevice(), 3, Flat);
    EXPECT_THROW(RegisterDense(GetDevice(), scene.problem, MakeSettings()), gpureg::BadInputError);
    return;
  }
  for (const auto kind : { SimilarityKind::NeighborhoodCorrelation,
                           SimilarityKind::MeanSquares,
                           SimilarityKind::MattesMutualInformation })
  {
    const Floats plain = FindInVoxels(GetDevice(), 2, Flat, {}, MakeSettings(kind));
    EXPECT_LT(ComputeLargestDifference(FindInVoxels(GetDevice(), 3, Flat, {}, MakeSettings(kind)), plain), 1e-4)
      << GetName(kind);
  }
  // A line is a slice of one row.
  ExpectHostsResult(2, { 1, 30, 1 }, {}, MakeSettings(), 2e-3);
}

TEST_P(DenseOddInputTest, TakesTwoVoxelsAlongAnAxis)
{
  if (GetScheme() == DiffeomorphicScheme::SyN)
  {
    Scene scene(GetDevice(), 2, { 2, 20, 1 });
    EXPECT_THROW(RegisterDense(GetDevice(), scene.problem, MakeSettings()), gpureg::BadInputError);
    return;
  }
  // Longer steps would leave so narrow images.
  auto settings = MakeSettings();
  settings.step = 0.1;
  ExpectHostsResult(2, { 2, 20, 1 }, {}, settings, 2e-3);
  ExpectHostsResult(2, { 20, 2, 1 }, {}, settings, 2e-3);
  ExpectHostsResult(3, { 14, 12, 2 }, {}, settings, 2e-3);
  settings.similarity.kind = SimilarityKind::MeanSquares;
  ExpectHostsResult(2, { 2, 2, 1 }, {}, settings, 2e-3);
  // Two equal slices move as one.
  settings = MakeSettings(SimilarityKind::MeanSquares);
  const Floats one = FindInVoxels(GetDevice(), 2, Flat, {}, settings);
  Scene        scene(GetDevice(), 3, { Flat[0], Flat[1], 2 }, {}, false);
  const Floats both = RegisterDense(GetDevice(), scene.problem, settings).field;
  ASSERT_EQ(both.size(), 2 * one.size());
  const auto middle = both.begin() + static_cast<std::ptrdiff_t>(one.size());
  EXPECT_LT(ComputeLargestDifference(Floats(both.begin(), middle), one), 1e-3);
  EXPECT_LT(ComputeLargestDifference(Floats(middle, both.end()), one), 1e-3);
}

TEST_P(DenseOddInputTest, TakesSigmasLongerThanTheGrid)
{
  auto settings = MakeSettings();
  settings.updateSigma = 20;
  ExpectHostsResult(2, { 12, 11, 1 }, {}, settings, 2e-3);
  if (GetScheme() != DiffeomorphicScheme::SyN)
  {
    settings.smoothing = gpureg::DiffeomorphicSmoothing::Recursive;
    ExpectHostsResult(2, { 12, 11, 1 }, {}, settings, 2e-3);
  }
  settings = MakeSettings();
  settings.fieldSigma = 20;
  Scene scene(GetDevice(), 2, { 12, 11, 1 });
  EXPECT_TRUE(std::isfinite(
    ComputeLargestDifference(RegisterDense(GetDevice(), scene.problem, settings).field, Floats(3 * 12 * 11))));
}

INSTANTIATE_TEST_SUITE_P(Devices, DenseOddInputTest, AllDevicesAndSchemes(), GetNameOfDeviceAndScheme);

} // namespace gpuregtest
