// SPDX-License-Identifier: Apache-2.0
// Registers images whose deformation is known by the greedy scheme on every device, and compares the devices.
#include "ErrorOfRecord.h"
#include "TestDevices.h"
#include "TestParallelFor.h"

#include "gpureg/core/Error.h"
#include "gpureg/image/LoadedImage.h"
#include "gpureg/registration/diffeomorphic/DiffeomorphicRegistration.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace gpuregtest
{

namespace
{
using Floats = std::vector<float>;
using Point = std::array<double, 3>;

/** An image's voxels, and where they lie. */
struct Grid
{
  int              dimension;
  gpureg::Size     size;
  gpureg::IndexMap toPoint;

  Point
  GetPoint(std::int64_t voxel) const
  {
    const Point index{ static_cast<double>(voxel % size[0]),
                       static_cast<double>(voxel / size[0] % size[1]),
                       static_cast<double>(voxel / size[0] / size[1]) };
    Point       point = toPoint.offset;
    for (std::size_t r = 0; r < 3; ++r)
    {
      for (std::size_t c = 0; c < 3; ++c)
      {
        point[r] += toPoint.matrix[3 * r + c] * index[c];
      }
    }
    return point;
  }
};

/** Returns a grid of odd size, anisotropic, oblique, and far from the origin. edge: of a voxel, mm, about. */
Grid
MakeGrid(int dimension, double edge)
{
  Grid                        grid;
  const std::array<double, 3> spacing{ edge, 1.25 * edge, dimension == 3 ? 1.5 * edge : 1.0 };
  const double                angle = 0.3;
  grid.dimension = dimension;
  grid.size = { 41, 37, dimension == 3 ? 29 : 1 };
  grid.toPoint.matrix = { spacing[0] * std::cos(angle),
                          -spacing[1] * std::sin(angle),
                          0,
                          spacing[0] * std::sin(angle),
                          spacing[1] * std::cos(angle),
                          0,
                          0,
                          0,
                          spacing[2] };
  grid.toPoint.offset = { 1000 * edge, -700 * edge, dimension == 3 ? 300 * edge : 0.0 };
  return grid;
}

/** A texture without edges, at a point in units of the grid's edge from its centre. */
double
GetTexture(const Point & p, int dimension)
{
  const double z = dimension == 3 ? p[2] : 0;
  const double inside = std::exp(-(p[0] * p[0] + p[1] * p[1] + z * z) / (2 * 14.0 * 14.0));
  return inside *
         (2 + std::sin(0.55 * p[0] + 0.2 * z) + std::sin(0.5 * p[1] - 0.25 * z) + std::cos(0.6 * z + 0.2 * p[0]));
}

/** Two images of one grid: moving(x + u(x)) = fixed(x), with u known. */
class Pair
{
public:
  Pair(const std::string & device, int dimension, double edge)
    : grid(MakeGrid(dimension, edge))
    , m_Edge(edge)
    , m_Fixed(device)
    , m_Moving(device)
  {
    const std::int64_t count = gpureg::CountOf(grid.size);
    m_Centre = grid.GetPoint(count / 2);
    for (std::int64_t n = 0; n < count; ++n)
    {
      fixed.push_back(static_cast<float>(GetTexture(this->ToUnits(this->Move(grid.GetPoint(n))), dimension)));
      moving.push_back(static_cast<float>(GetTexture(this->ToUnits(grid.GetPoint(n)), dimension)));
    }
  }

  /** Returns x + u(x). */
  Point
  Move(Point p) const
  {
    const Point q = this->ToUnits(p);
    p[0] += 1.5 * m_Edge * std::sin(0.11 * q[1] + 0.4);
    p[1] += 1.2 * m_Edge * std::cos(0.12 * q[0]);
    p[2] += grid.dimension == 3 ? 1.0 * m_Edge * std::sin(0.1 * (q[0] + q[1])) : 0.0;
    return p;
  }

  gpureg::DiffeomorphicProblem
  Load()
  {
    gpureg::DiffeomorphicProblem problem;
    problem.dimension = grid.dimension;
    problem.initial.dimension = grid.dimension;
    problem.fixed = this->Load(m_Fixed, fixed);
    problem.moving = this->Load(m_Moving, moving);
    return problem;
  }

  double
  FindError(const Floats & field) const
  {
    return this->FindError(field, 0, gpureg::CountOf(grid.size));
  }

  /** Returns the mean distance in voxels between u and a field, where the texture is strong, over voxels begin to before end. */
  double
  FindError(const Floats & field, std::int64_t begin, std::int64_t end) const
  {
    double       sum = 0;
    std::int64_t voxels = 0;
    for (std::int64_t n = begin; n < end; ++n)
    {
      const Point p = grid.GetPoint(n);
      const Point q = this->ToUnits(p);
      const Point truth = this->Move(p);
      if (std::sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2]) < 14)
      {
        double squares = 0;
        for (std::size_t c = 0; c < static_cast<std::size_t>(grid.dimension); ++c)
        {
          squares += std::pow(truth[c] - p[c] - field[3 * static_cast<std::size_t>(n) + c], 2);
        }
        sum += std::sqrt(squares) / m_Edge;
        ++voxels;
      }
    }
    return sum / static_cast<double>(voxels);
  }

  Grid   grid;
  Floats fixed;
  Floats moving;

private:
  Point
  ToUnits(const Point & p) const
  {
    return { (p[0] - m_Centre[0]) / m_Edge, (p[1] - m_Centre[1]) / m_Edge, (p[2] - m_Centre[2]) / m_Edge };
  }

  gpureg::RegisteredImage
  Load(gpureg::LoadedImage & loaded, const Floats & values)
  {
    loaded.Load({}, gpureg::Precision::Single, values.data(), static_cast<std::int64_t>(values.size()), OnThreads(2));
    gpureg::RegisteredImage image;
    image.image = &loaded;
    image.size = grid.size;
    image.indexToPoint = grid.toPoint;
    return image;
  }

  double              m_Edge;
  Point               m_Centre{};
  gpureg::LoadedImage m_Fixed;
  gpureg::LoadedImage m_Moving;
};

gpureg::DiffeomorphicSettings
MakeSettings()
{
  gpureg::DiffeomorphicSettings settings;
  settings.iterations = { 60, 60 };
  // Updates all have one length, so the field ends no nearer to the truth than a step of it.
  settings.step = 0.25;
  return settings;
}

Floats
TakeField(gpureg::DiffeomorphicRegistration & registration, std::int64_t voxels)
{
  Floats field(3 * static_cast<std::size_t>(voxels));
  registration.TakeDisplacements([&field](std::int64_t  first,
                                          std::int64_t  count,
                                          const float * in) { std::copy_n(in, 3 * count, field.begin() + 3 * first); },
                                 OnThreads(2));
  return field;
}

Floats
Register(const std::string &                   device,
         Pair &                                pair,
         const gpureg::DiffeomorphicSettings & settings,
         std::int64_t                          threads = 2)
{
  gpureg::DiffeomorphicRegistration registration(device);
  const auto                        result = registration.Register(pair.Load(), settings, OnThreads(threads));
  EXPECT_EQ(result.foldedVoxels, 0);
  EXPECT_GT(result.smallestDeterminant, 0.1);
  EXPECT_LT(result.levels.front().costs.back(), result.levels.front().costs.front());
  return TakeField(registration, result.levels.back().voxels);
}

class GreedyRegistrationTest : public ::testing::TestWithParam<std::string>
{};
} // namespace

TEST_P(GreedyRegistrationTest, ComputesAKnownDeformation)
{
  for (const int dimension : { 2, 3 })
  {
    for (const double edge : { 0.05, 1.0, 25.0 })
    {
      Pair         pair(GetParam(), dimension, edge);
      const Floats nothing(3 * pair.fixed.size());
      ASSERT_GT(pair.FindError(nothing), 1.2);
      EXPECT_TRUE(IsWithinRecord(GetParam(),
                                 pair.FindError(Register(GetParam(), pair, MakeSettings())),
                                 dimension == 2 ? 0.0663 : 0.0883))
        << dimension << "D, " << edge << " mm";
    }
  }
}

TEST_P(GreedyRegistrationTest, ComputesItByEachSimilarity)
{
  for (const auto kind : { gpureg::SimilarityKind::MeanSquares,
                           gpureg::SimilarityKind::Correlation,
                           gpureg::SimilarityKind::CorrelationRatio,
                           gpureg::SimilarityKind::NormalizedMutualInformation })
  {
    Pair pair(GetParam(), 2, 1.0);
    auto settings = MakeSettings();
    settings.similarity.kind = kind;
    EXPECT_LT(pair.FindError(Register(GetParam(), pair, settings)), 0.2) << kind;
    EXPECT_EQ(Register(GetParam(), pair, settings, 1), Register(GetParam(), pair, settings, 3)) << kind;
  }
}

TEST_P(GreedyRegistrationTest, IsTheSameOnEachDeviceAndForAnyNumberOfThreads)
{
  Pair         here(GetParam(), 3, 1.0);
  Pair         onHost("host", 3, 1.0);
  const auto   settings = MakeSettings();
  const Floats field = Register(GetParam(), here, settings, 1);
  EXPECT_EQ(field, Register(GetParam(), here, settings, 3));
  const Floats reference = Register("host", onHost, settings);
  double       largest = 0;
  for (std::size_t n = 0; n < field.size(); ++n)
  {
    largest = std::max(largest, std::abs(static_cast<double>(field[n]) - reference[n]));
  }
  // Devices round sums of products differently, and 120 steps pass that on: voxels.
  EXPECT_LT(largest, 0.02);
}

TEST_P(GreedyRegistrationTest, TakesLittleMemory)
{
  const gpureg::Size  size{ 90, 80, 70 };
  const std::int64_t  count = gpureg::CountOf(size);
  gpureg::LoadedImage loaded(GetParam());
  Floats              values;
  for (std::int64_t n = 0; n < count; ++n)
  {
    values.push_back(static_cast<float>(n % 97 + n % 31));
  }
  loaded.Load({}, gpureg::Precision::Single, values.data(), count, OnThreads(2));
  gpureg::DiffeomorphicProblem problem;
  problem.fixed.image = &loaded;
  problem.fixed.size = size;
  problem.moving = problem.fixed;
  auto settings = MakeSettings();
  settings.iterations = { 1, 1 };
  gpureg::DiffeomorphicRegistration registration(GetParam());
  registration.Register(problem, settings, OnThreads(2));
  // Bytes a voxel. The images themselves are not the registration's.
  EXPECT_LE(registration.GetStatistics().deviceBytes, 80 * count);
  EXPECT_GE(registration.GetStatistics().deviceBytes, 60 * count);
}

TEST_P(GreedyRegistrationTest, BeginsWithALinearTransform)
{
  Pair pair(GetParam(), 3, 1.0);
  auto problem = pair.Load();
  // Shifts the moving image, and shifts points back.
  problem.moving.indexToPoint.offset[0] += 7;
  gpureg::IndexMap shift;
  shift.offset[0] = 7;
  problem.initial.Append(shift);
  gpureg::DiffeomorphicRegistration registration(GetParam());
  const auto                        result = registration.Register(problem, MakeSettings(), OnThreads(2));
  EXPECT_TRUE(IsWithinRecord(GetParam(), pair.FindError(TakeField(registration, result.levels.back().voxels)), 0.0883));
}

TEST_P(GreedyRegistrationTest, LooksInsideOfMasks)
{
  const Grid         grid = MakeGrid(3, 1.0);
  const std::int64_t count = gpureg::CountOf(grid.size);
  const std::int64_t slice = std::int64_t{ grid.size[0] } * grid.size[1];
  Floats             mask(static_cast<std::size_t>(count), 1.0F);
  std::fill(mask.begin() + 20 * slice, mask.end(), 0.0F);
  gpureg::LoadedImage loaded(GetParam());
  loaded.Load({}, gpureg::Precision::Single, mask.data(), count, OnThreads(2));
  for (const bool isFixed : { true, false })
  {
    // One image has wrong values in its last slices, and its mask leaves them out.
    Pair     pair(GetParam(), 3, 1.0);
    Floats & values = isFixed ? pair.fixed : pair.moving;
    for (std::int64_t n = 21 * slice; n < count; ++n)
    {
      values[static_cast<std::size_t>(n)] = static_cast<float>((n * 7919 % 1000) * 0.004);
    }
    const auto findError = [&](const gpureg::DeviceImage * itsMask) {
      auto problem = pair.Load();
      (isFixed ? problem.fixed : problem.moving).mask = itsMask;
      gpureg::DiffeomorphicRegistration registration(GetParam());
      registration.Register(problem, MakeSettings(), OnThreads(2));
      return pair.FindError(TakeField(registration, count), 16 * slice, 20 * slice);
    };
    const double masked = findError(&loaded);
    EXPECT_TRUE(IsWithinRecord(GetParam(), masked, 0.128)) << (isFixed ? "fixed" : "moving");
    EXPECT_GT(findError(nullptr), 1.5 * masked) << (isFixed ? "fixed" : "moving");
  }
}

TEST_P(GreedyRegistrationTest, SaysWhatIsWrongAndGoesOn)
{
  Pair                              pair(GetParam(), 3, 1.0);
  gpureg::DiffeomorphicRegistration registration(GetParam());
  const auto                        refuses = [&](const gpureg::DiffeomorphicSettings & settings) {
    EXPECT_THROW(registration.Register(pair.Load(), settings, OnThreads(2)), gpureg::BadInputError);
    EXPECT_THROW(TakeField(registration, 1), gpureg::BadInputError);
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  auto         settings = MakeSettings();
  settings.iterations = {};
  refuses(settings);
  settings.iterations = { 5, -1 };
  refuses(settings);
  for (double gpureg::DiffeomorphicSettings::*number : { &gpureg::DiffeomorphicSettings::step,
                                                         &gpureg::DiffeomorphicSettings::updateSigma,
                                                         &gpureg::DiffeomorphicSettings::fieldSigma })
  {
    for (const double bad : { -1.0, nan, 1e9 })
    {
      settings = MakeSettings();
      settings.*number = bad;
      refuses(settings);
    }
  }
  settings = MakeSettings();
  settings.step = 0;
  refuses(settings);
  settings = MakeSettings();
  settings.similarity.radius = 0;
  refuses(settings);
  settings = MakeSettings();
  settings.similarity.kind = gpureg::SimilarityKind::NormalizedMutualInformation;
  settings.similarity.bins = 4;
  refuses(settings);
  settings.similarity.kind = gpureg::SimilarityKind::PartialVolumeMutualInformation;
  refuses(settings);
  const Floats good = pair.fixed;
  std::fill(pair.fixed.begin(), pair.fixed.end(), 3.0F);
  refuses(MakeSettings());
  pair.fixed = good;
  pair.fixed[100] = std::numeric_limits<float>::quiet_NaN();
  refuses(MakeSettings());
  pair.fixed = good;
  // No overlap.
  auto problem = pair.Load();
  problem.moving.indexToPoint.offset[0] += 1e6;
  EXPECT_THROW(registration.Register(problem, MakeSettings(), OnThreads(2)), gpureg::BadInputError);
  // A transform that is not linear.
  problem = pair.Load();
  gpureg::DisplacementGrid field;
  field.kind = gpureg::GridKind::Field;
  field.size = { 2, 2, 2 };
  field.vectors = [](std::int64_t, std::int64_t count, double * out) { std::fill_n(out, 3 * count, 0.0); };
  problem.initial.Append(field);
  EXPECT_THROW(registration.Register(problem, MakeSettings(), OnThreads(2)), gpureg::UnsupportedError);
  // A progress function that throws ends the work.
  EXPECT_THROW(registration.Register(pair.Load(),
                                     MakeSettings(),
                                     OnThreads(2),
                                     [](const gpureg::DiffeomorphicProgress & where) {
                                       if (where.iteration == 3)
                                       {
                                         throw gpureg::Error("enough");
                                       }
                                     }),
               gpureg::Error);
  registration.Register(pair.Load(), MakeSettings(), OnThreads(2));
  EXPECT_TRUE(
    IsWithinRecord(GetParam(), pair.FindError(TakeField(registration, gpureg::CountOf(pair.grid.size))), 0.0883));
}

INSTANTIATE_TEST_SUITE_P(Devices, GreedyRegistrationTest, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace gpuregtest
