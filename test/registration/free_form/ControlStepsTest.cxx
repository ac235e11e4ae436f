// SPDX-License-Identifier: Apache-2.0
// Compares the updates of control points between two evaluations (src/engine/registration/free_form/ControlSteps.h, ControlLine.h), on
// every device, with their definition in doubles and with the host's.
#include "kernels/core/Prelude.h"
#include "kernels/core/Adam.h"
#include "kernels/core/Evaluated.h"
#include "kernels/transform/ControlVector.h"
#include "kernels/registration/free_form/ControlSteps.h"

#include "engine/registration/free_form/ControlLine.h"

#include "BSplineDefinition.h"
#include "DeviceArrays.h"
#include "TestDevices.h"
#include "TestImages.h"
#include "TestSeeds.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

namespace gpuregtest
{

namespace
{
using gpureg::LineArrays;
using gpureg::MemoryPointer;
using gpureg::StepArrays;
using gpureg::kernels::ControlStep;
using gpureg::kernels::float4;
using gpureg::kernels::Refinement;

using Vector = std::array<double, 3>;
using Vectors = std::vector<float4>;
using Numbers = std::vector<float>;

// One point; part of a device's work-group; several groups and tasks of the host; a grid of some size.
constexpr std::int64_t Counts[] = { 1, 77, 4500, 60000 };
// The largest difference between devices, and from the definition, relative to the norm: errors of rounding floats add up.
constexpr double Rounding = 1e-6;

Vector
XyzOf(const float4 & v)
{
  return { v.x, v.y, v.z };
}

double
Product(const Vector & a, const Vector & b)
{
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/** Returns vectors with components in [-within, within]; the last component, which is not used, is far outside. */
Vectors
MakeVectors(std::int64_t count, double within, Random & random)
{
  Vectors vectors;
  for (std::int64_t n = 0; n < count; ++n)
  {
    float v[3];
    std::generate_n(v, 3, [&] { return static_cast<float>(Uniform(random, -within, within)); });
    vectors.push_back({ v[0], v[1], v[2], 1e3f });
  }
  return vectors;
}

Vectors
MakeZeros(std::int64_t count)
{
  return Vectors(static_cast<std::size_t>(count), float4{ 0, 0, 0, 0 });
}

std::vector<Vector>
ToDoubles(const Vectors & vectors)
{
  std::vector<Vector> doubles(vectors.size());
  std::transform(vectors.begin(), vectors.end(), doubles.begin(), XyzOf);
  return doubles;
}

/** Returns the distance relative to the norm of the expected vectors; the absolute distance if that is 0. */
double
ComputeDistance(const std::vector<Vector> & a, const std::vector<Vector> & expected)
{
  double squares = 0, norm = 0;
  for (std::size_t n = 0; n < expected.size(); ++n)
  {
    for (std::size_t r = 0; r < 3; ++r)
    {
      squares += std::pow(a.at(n)[r] - expected[n][r], 2);
      norm += std::pow(expected[n][r], 2);
    }
  }
  return std::sqrt(norm > 0 ? squares / norm : squares);
}

double
ComputeDistance(const Vectors & a, const std::vector<Vector> & expected)
{
  return ComputeDistance(ToDoubles(a), expected);
}

template <typename T>
bool
AreSameBits(const std::vector<T> & a, const std::vector<T> & b)
{
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), sizeof(T) * a.size()) == 0;
}

/** The place of the value in the numbers of an evaluation; its other numbers begin with the second one. */
constexpr std::int64_t EvaluatedPlace = 1;
constexpr std::int64_t ValuePlace = 2;

Numbers
MakeEvaluated(float factor, float value)
{
  Numbers evaluated(EvaluatedPlace + gpureg::kernels::EvaluatedNumbers, 99.0f);
  evaluated[EvaluatedPlace + gpureg::kernels::EvaluatedFactor] = factor;
  evaluated[EvaluatedPlace + gpureg::kernels::EvaluatedValue] = value;
  return evaluated;
}

const Numbers ValuesBefore{ 10, 11, 12, 13 };

/** Returns ValuesBefore with one number changed. */
Numbers
MakeValues(float value)
{
  Numbers values = ValuesBefore;
  values[ValuePlace] = value;
  return values;
}

// Refine

/** Returns a refinement of a domain of this many steps of the finer grid along each axis; 0 along z in two dimensions. */
Refinement
MakeRefinement(const std::array<int, 3> & lengths)
{
  Refinement a{};
  a.dimension = lengths[2] > 0 ? 3 : 2;
  for (std::size_t d = 0; d < 3; ++d)
  {
    a.fine[d] = lengths[d] > 0 ? lengths[d] + 3 : 1;
    a.coarse[d] = lengths[d] > 0 ? (lengths[d] + 1) / 2 + 3 : 1;
  }
  return a;
}

/** Returns the spline at a place in steps of the finer grid from the domain's corner on; control point i of an axis lies at step·(i -
 *  1). */
Vector
EvaluateSpline(const Vectors & points, const int * size, double step, const Vector & place)
{
  Vector             sum{};
  std::array<int, 3> first{};
  std::array<int, 3> last{};
  for (std::size_t d = 0; d < 3; ++d)
  {
    // Where B-splines are not 0.
    const double at = place[d] / step + 1;
    first[d] = size[d] > 1 ? std::max(0, static_cast<int>(std::floor(at)) - 1) : 0;
    last[d] = size[d] > 1 ? std::min(size[d] - 1, first[d] + 3) : 0;
  }
  for (int k = first[2]; k <= last[2]; ++k)
  {
    for (int j = first[1]; j <= last[1]; ++j)
    {
      for (int i = first[0]; i <= last[0]; ++i)
      {
        const std::array<int, 3> index{ i, j, k };
        double                   weight = 1;
        for (std::size_t d = 0; d < 3; ++d)
        {
          weight *= size[d] > 1 ? BSpline(3, place[d] / step - (index[d] - 1)) : 1.0;
        }
        const Vector point = XyzOf(points.at(static_cast<std::size_t>((k * size[1] + j) * size[0] + i)));
        for (std::size_t r = 0; r < 3; ++r)
        {
          sum[r] += weight * point[r];
        }
      }
    }
  }
  return sum;
}

Vectors
Refine(DeviceArrays & target, const Refinement & a, const Vectors & coarse)
{
  const MemoryPointer in = target.Upload(coarse);
  const MemoryPointer out =
    target.Upload(Vectors(static_cast<std::size_t>(gpureg::CountFinePoints(a)), float4{ 5, 5, 5, 5 }));
  gpureg::RefineControlPoints(target.GetQueue(), a, *in, *out);
  return target.Download<float4>(out);
}

std::int64_t
CountCoarsePoints(const Refinement & a)
{
  return std::int64_t{ a.coarse[0] } * a.coarse[1] * a.coarse[2];
}

constexpr std::array<int, 3> RefinedLengths[] = { { 7, 4, 5 },    { 8, 6, 4 },  { 5, 9, 7 }, { 1, 2, 1 },
                                                  { 46, 33, 28 }, { 11, 8, 0 }, { 6, 9, 0 }, { 140, 151, 0 } };

// MoveByAdam

/** Returns the settings that all steps share, without the corrections and the factor. */
ControlStep
MakeControlStep(bool hasPenalty, double similarity)
{
  ControlStep a{};
  a.adam.length = 0.3f;
  a.similarity = static_cast<float>(similarity);
  a.adam.firstDecay = 0.9f;
  a.adam.secondDecay = 0.999f;
  a.adam.epsilon = 1e-8f;
  a.hasPenalty = hasPenalty ? 1 : 0;
  return a;
}

/** Returns the settings for step t, from 1 on, corrected by the decays as floats: 1 - 0.999f is not 0.001. */
ControlStep
CorrectFor(int t, ControlStep a)
{
  a.adam.firstCorrection = static_cast<float>(1.0 / (1.0 - std::pow(double{ a.adam.firstDecay }, t)));
  a.adam.secondCorrection = static_cast<float>(1.0 / (1.0 - std::pow(double{ a.adam.secondDecay }, t)));
  return a;
}

/** Points with forces and a penalty's gradient that change from step to step. The penalty's gradient points along the similarity's: if
 *  both nearly cancelled, the step would depend on the few remaining digits of their difference, since its length does not depend on the
 *  gradient's. */
struct AdamProblem
{
  AdamProblem(std::int64_t count, std::uint64_t seed)
  {
    Random random(seed);
    points = MakeVectors(count, 4.0, random);
    for (int t = 0; t < Steps; ++t)
    {
      controlForces.push_back(MakeVectors(count, 20.0, random));
      const auto factor = static_cast<float>(Uniform(random, -0.1, 0.1));
      factors.push_back(factor);
      penalties.push_back(controlForces.back());
      for (float4 & p : penalties.back())
      {
        const auto along = [&](float force) {
          return std::copysign(static_cast<float>(Uniform(random, 0.0, 0.2)), factor * force);
        };
        p = { along(p.x), along(p.y), along(p.z), 1e3f };
      }
      // A point without any gradient.
      controlForces.back().back() = penalties.back().back() = { 0, 0, 0, 0 };
    }
  }

  static constexpr int Steps = 5;
  Vectors              points;
  std::vector<Vectors> controlForces;
  std::vector<Vectors> penalties;
  Numbers              factors;
};

/** The state after the steps. */
template <typename TVectors>
struct AdamState
{
  TVectors points;
  TVectors firstMeans;
  TVectors secondMeans;
};

AdamState<Vectors>
MoveByAdam(DeviceArrays & target, const AdamProblem & problem, const ControlStep & step)
{
  const auto          count = static_cast<std::int64_t>(problem.points.size());
  const MemoryPointer points = target.Upload(problem.points);
  const MemoryPointer firstMeans = target.Upload(MakeZeros(count));
  const MemoryPointer secondMeans = target.Upload(MakeZeros(count));
  const MemoryPointer values = target.Upload(ValuesBefore);
  for (int t = 0; t < AdamProblem::Steps; ++t)
  {
    const auto          n = static_cast<std::size_t>(t);
    const auto          value = static_cast<float>(0.25 + t);
    const MemoryPointer evaluated = target.Upload(MakeEvaluated(problem.factors[n], value));
    const MemoryPointer controlForces = target.Upload(problem.controlForces[n]);
    const MemoryPointer penalty = target.Upload(problem.penalties[n]);
    StepArrays          arrays;
    arrays.evaluated = evaluated.get();
    arrays.evaluatedPlace = EvaluatedPlace;
    arrays.values = values.get();
    arrays.valuePlace = ValuePlace;
    arrays.controlForces = controlForces.get();
    arrays.penalty = step.hasPenalty ? penalty.get() : nullptr;
    arrays.firstMeans = firstMeans.get();
    arrays.secondMeans = secondMeans.get();
    arrays.points = points.get();
    gpureg::MoveByAdam(target.GetQueue(), CorrectFor(t + 1, step), count, arrays);
    EXPECT_EQ(target.Download<float>(values), MakeValues(value)) << "step " << t;
  }
  return { target.Download<float4>(points), target.Download<float4>(firstMeans), target.Download<float4>(secondMeans) };
}

/** Computes the steps by the definition: Kingma & Ba 2015, algorithm 1. */
AdamState<std::vector<Vector>>
MoveByAdamsDefinition(const AdamProblem & problem, const ControlStep & step)
{
  AdamState<std::vector<Vector>> state;
  state.points = ToDoubles(problem.points);
  state.firstMeans.resize(problem.points.size());
  state.secondMeans.resize(problem.points.size());
  const double beta1 = step.adam.firstDecay;
  const double beta2 = step.adam.secondDecay;
  for (int t = 1; t <= AdamProblem::Steps; ++t)
  {
    const auto   now = static_cast<std::size_t>(t - 1);
    const double factor = double{ step.similarity } * problem.factors[now];
    for (std::size_t n = 0; n < problem.points.size(); ++n)
    {
      const Vector force = XyzOf(problem.controlForces[now][n]);
      const Vector penalty = step.hasPenalty ? XyzOf(problem.penalties[now][n]) : Vector{};
      for (std::size_t r = 0; r < 3; ++r)
      {
        const double g = factor * force[r] + penalty[r];
        double &     m = state.firstMeans[n][r];
        double &     v = state.secondMeans[n][r];
        m = beta1 * m + (1 - beta1) * g;
        v = beta2 * v + (1 - beta2) * g * g;
        const double corrected = m / (1 - std::pow(beta1, t));
        state.points[n][r] -=
          step.adam.length * corrected / (std::sqrt(v / (1 - std::pow(beta2, t))) + double{ step.adam.epsilon });
      }
    }
  }
  return state;
}

/** Without a penalty, with one, and with a penalty alone. */
const ControlStep AdamSteps[] = { MakeControlStep(false, -0.7),
                                  MakeControlStep(true, 0.6),
                                  MakeControlStep(true, 0.0) };

// A line of a conjugate gradient

/** The state of a line search. */
struct Line
{
  Vectors lastGradient;
  Vectors direction;
  Numbers numbers;
};

/** Returns the next line, from the previous one and a gradient. */
Line
TurnLine(DeviceArrays & target, bool isConjugate, const Vectors & gradient, const Line & before)
{
  const MemoryPointer now = target.Upload(gradient);
  const MemoryPointer last = target.Upload(before.lastGradient);
  const MemoryPointer direction = target.Upload(before.direction);
  const MemoryPointer numbers = target.Upload(before.numbers);
  LineArrays          arrays;
  arrays.gradient = now.get();
  arrays.lastGradient = last.get();
  arrays.direction = direction.get();
  arrays.numbers = numbers.get();
  gpureg::ControlLine(target.GetQueue(), static_cast<std::int64_t>(gradient.size()), arrays).Turn(isConjugate);
  EXPECT_TRUE(AreSameBits(target.Download<float4>(now), gradient)) << "turning a line must not change the gradient";
  return { target.Download<float4>(last), target.Download<float4>(direction), target.Download<float>(numbers) };
}

/** The numbers of a line by their definition (Polak & Ribière 1969). */
struct LineDefinition
{
  LineDefinition(bool isConjugate, const Vectors & gradient, const Line & before)
  {
    double squares = 0, squaresNow = 0;
    for (std::size_t n = 0; n < gradient.size(); ++n)
    {
      const Vector g = XyzOf(gradient[n]);
      const Vector last = XyzOf(before.lastGradient[n]);
      squares += Product(last, last);
      squaresNow += Product(g, g);
      product += Product(g, last);
    }
    scale = std::sqrt(squares * squaresNow);
    conjugation = isConjugate && squares > 0 ? std::max(0.0, (squaresNow - product) / squares) : 0.0;
    for (std::size_t n = 0; n < gradient.size(); ++n)
    {
      Vector turned = XyzOf(before.direction[n]);
      for (std::size_t r = 0; r < 3; ++r)
      {
        turned[r] = conjugation * turned[r] - XyzOf(gradient[n])[r];
      }
      longest = std::max(longest, std::sqrt(Product(turned, turned)));
      direction.push_back(turned);
    }
  }

  double              product = 0;
  double              scale = 0; // a bound of the product's magnitude
  double              conjugation = 0;
  double              longest = 0;
  std::vector<Vector> direction;
};

Line
MakeLine(std::int64_t count, Random & random)
{
  return { MakeVectors(count, 2.0, random), MakeVectors(count, 3.0, random), { 7, 8, 9 } };
}

void
ExpectLine(const Line & line, const Vectors & gradient, const LineDefinition & expected)
{
  using namespace gpureg::kernels;
  ASSERT_EQ(line.numbers.size(), static_cast<std::size_t>(LineNumbers));
  EXPECT_NEAR(line.numbers[LineProduct], expected.product, Rounding * expected.scale);
  EXPECT_NEAR(line.numbers[LineConjugation], expected.conjugation, Rounding * std::max(1.0, expected.conjugation));
  EXPECT_NEAR(line.numbers[LineLongest], expected.longest, Rounding * expected.longest);
  EXPECT_LT(ComputeDistance(line.direction, expected.direction), Rounding);
  EXPECT_EQ(ComputeDistance(line.lastGradient, ToDoubles(gradient)), 0.0);
}

/** Returns the points on a line, where the longest vector of their moves has this length. \param isInPlace true if begin and result are
 *  one array */
Vectors
PlaceOnLine(
  DeviceArrays & target, float length, float longest, const Vectors & begin, const Vectors & direction, bool isInPlace)
{
  const MemoryPointer   along = target.Upload(direction);
  const MemoryPointer   from = target.Upload(begin);
  const MemoryPointer   numbers = target.Upload(Numbers{ 7, longest, 9 });
  const MemoryPointer   apart = target.Upload(MakeZeros(static_cast<std::int64_t>(begin.size())));
  const MemoryPointer & points = isInPlace ? from : apart;
  LineArrays            arrays;
  arrays.direction = along.get();
  arrays.numbers = numbers.get();
  gpureg::ControlLine(target.GetQueue(), static_cast<std::int64_t>(begin.size()), arrays).Place(length, *from, *points);
  return target.Download<float4>(points);
}

// The gradient of the cost

Vectors
EnqueueCostGradient(DeviceArrays &  target,
                    float           similarity,
                    float           factor,
                    const Vectors & controlForces,
                    const Vectors * penalty,
                    bool            isInPlace)
{
  const MemoryPointer   evaluated = target.Upload(MakeEvaluated(factor, 0.5f));
  const MemoryPointer   forces = target.Upload(controlForces);
  const MemoryPointer   ofPenalty = target.Upload(penalty != nullptr ? *penalty : Vectors(1));
  const MemoryPointer   apart = target.Upload(MakeZeros(static_cast<std::int64_t>(controlForces.size())));
  const MemoryPointer & gradient = isInPlace ? forces : apart;
  StepArrays            arrays;
  arrays.evaluated = evaluated.get();
  arrays.evaluatedPlace = EvaluatedPlace;
  arrays.controlForces = forces.get();
  arrays.penalty = penalty != nullptr ? ofPenalty.get() : nullptr;
  gpureg::EnqueueCostGradient(
    target.GetQueue(), similarity, static_cast<std::int64_t>(controlForces.size()), arrays, *gradient);
  return target.Download<float4>(gradient);
}

/** The results of all passes for some random points. */
struct AllResults
{
  AllResults(const std::string & device, std::int64_t threads)
  {
    constexpr std::int64_t count = 60000;
    DeviceArrays           target(device, threads);
    Random                 random(41);
    const Refinement       a = MakeRefinement({ 46, 33, 28 });
    vectors.push_back(Refine(target, a, MakeVectors(CountCoarsePoints(a), 2.0, random)));
    const AdamProblem  problem(count, 42);
    AdamState<Vectors> state = MoveByAdam(target, problem, MakeControlStep(true, 0.6));
    vectors.insert(vectors.end(), { state.points, state.firstMeans, state.secondMeans });
    const Line before = MakeLine(count, random);
    const Line line = TurnLine(target, true, problem.controlForces[0], before);
    vectors.insert(vectors.end(), { line.lastGradient, line.direction });
    numbers = line.numbers;
    vectors.push_back(PlaceOnLine(
      target, 0.7f, numbers[gpureg::kernels::LineLongest], problem.points, line.direction, /* isInPlace */ false));
    vectors.push_back(EnqueueCostGradient(target, 0.4f, -1.7f, problem.controlForces[2], &problem.penalties[2], false));
  }

  std::vector<Vectors> vectors;
  Numbers              numbers;
};

class ControlStepsTest : public DeviceTest
{};
} // namespace

TEST_P(ControlStepsTest, ClearsAsManyAsRequested)
{
  DeviceArrays target(GetParam());
  Random       random(1);
  for (const std::int64_t count : Counts)
  {
    const Vectors       before = MakeVectors(count + 3, 1.0, random);
    const MemoryPointer memory = target.Upload(before);
    gpureg::ForEachItem<gpureg::kernels::ClearVectorKernel>(target.GetQueue(), count, gpureg::Output<float4>(*memory));
    Vectors expected = before;
    std::fill_n(expected.begin(), count, float4{ 0, 0, 0, 0 });
    EXPECT_TRUE(AreSameBits(target.Download<float4>(memory), expected)) << count;
  }
}

/** A refined grid has the same spline, for domains of odd and of even lengths. */
TEST_P(ControlStepsTest, RefiningKeepsTheSpline)
{
  Random       random(GetSeeds(2, 1).first);
  DeviceArrays target(GetParam());
  for (const auto & lengths : RefinedLengths)
  {
    SCOPED_TRACE(::testing::PrintToString(lengths));
    const Refinement a = MakeRefinement(lengths);
    const Vectors    coarse = MakeVectors(CountCoarsePoints(a), 2.0, random);
    const Vectors    fine = Refine(target, a, coarse);
    double           furthest = 0;
    for (int n = 0; n < 2000; ++n)
    {
      Vector place{};
      for (std::size_t d = 0; d < 3; ++d)
      {
        // The domain's ends, too.
        place[d] = n == 0 ? 0.0 : n == 1 ? lengths[d] : Uniform(random, 0.0, lengths[d]);
      }
      const Vector before = EvaluateSpline(coarse, a.coarse, 2.0, place);
      const Vector after = EvaluateSpline(fine, a.fine, 1.0, place);
      for (std::size_t r = 0; r < 3; ++r)
      {
        furthest = std::max(furthest, std::abs(after[r] - before[r]));
      }
    }
    EXPECT_LT(furthest, 1e-6);
    if (GetParam() != "host")
    {
      DeviceArrays host("host");
      EXPECT_LT(ComputeDistance(fine, ToDoubles(Refine(host, a, coarse))), Rounding);
    }
  }
}

TEST_P(ControlStepsTest, MovesByAdamsDefinition)
{
  std::uint64_t seed = GetSeeds(3, 1).first;
  DeviceArrays  target(GetParam());
  for (const std::int64_t count : Counts)
  {
    const AdamProblem problem(count, seed++);
    for (const ControlStep & step : AdamSteps)
    {
      SCOPED_TRACE(::testing::Message() << count << " points, similarity " << step.similarity << ", penalty "
                                        << step.hasPenalty);
      const auto moved = MoveByAdam(target, problem, step);
      const auto expected = MoveByAdamsDefinition(problem, step);
      EXPECT_LT(ComputeDistance(moved.points, expected.points), Rounding);
      EXPECT_LT(ComputeDistance(moved.firstMeans, expected.firstMeans), Rounding);
      EXPECT_LT(ComputeDistance(moved.secondMeans, expected.secondMeans), Rounding);
      EXPECT_EQ(XyzOf(moved.points.back()), XyzOf(problem.points.back())) << "no force acts on it";
    }
  }
}

TEST_P(ControlStepsTest, KeepsTheValueOfAnEvaluation)
{
  DeviceArrays        target(GetParam());
  const Numbers       left = MakeEvaluated(3.0f, 0.375f);
  const MemoryPointer evaluated = target.Upload(left);
  const MemoryPointer values = target.Upload(ValuesBefore);
  StepArrays          arrays;
  arrays.evaluated = evaluated.get();
  arrays.evaluatedPlace = EvaluatedPlace;
  arrays.values = values.get();
  arrays.valuePlace = ValuePlace;
  gpureg::CopyValue(target.GetQueue(), arrays);
  EXPECT_EQ(target.Download<float>(values), MakeValues(0.375f));
  EXPECT_EQ(target.Download<float>(evaluated), left);
}

/** Writes the gradient once to a separate array and once over the forces. */
TEST_P(ControlStepsTest, GradientsAreForcesAndPenaltiesByTheirWeights)
{
  constexpr float similarity = 4.0f;
  constexpr float factor = -1.7f;
  Random          random(GetSeeds(4, 1).first);
  DeviceArrays    target(GetParam());
  for (const std::int64_t count : Counts)
  {
    const Vectors controlForces = MakeVectors(count, 3.0, random);
    const Vectors penalties = MakeVectors(count, 2.0, random);
    for (const Vectors * penalty : { static_cast<const Vectors *>(nullptr), &penalties })
    {
      std::vector<Vector> expected = ToDoubles(controlForces);
      for (std::size_t n = 0; n < expected.size(); ++n)
      {
        for (std::size_t r = 0; r < 3; ++r)
        {
          expected[n][r] = double{ similarity } * factor * expected[n][r] + (penalty ? XyzOf((*penalty)[n])[r] : 0.0);
        }
      }
      for (const bool isInPlace : { false, true })
      {
        EXPECT_LT(ComputeDistance(EnqueueCostGradient(target, similarity, factor, controlForces, penalty, isInPlace),
                                  expected),
                  Rounding)
          << count << " points" << (penalty ? ", a penalty" : "") << (isInPlace ? ", in place" : "");
      }
    }
  }
}

/** A line against the gradient, and one that is conjugate to the previous one. */
TEST_P(ControlStepsTest, TurnsALineByItsDefinition)
{
  Random       random(GetSeeds(5, 1).first);
  DeviceArrays target(GetParam());
  for (const std::int64_t count : Counts)
  {
    const Line before = MakeLine(count, random);
    Vectors    gradient = MakeVectors(count, 2.5, random);
    if (LineDefinition(true, gradient, before).product > 0)
    {
      // Against the previous gradient, so that there is a conjugate line.
      std::transform(gradient.begin(), gradient.end(), gradient.begin(), [](const float4 & g) {
        return float4{ -g.x, -g.y, -g.z, g.w };
      });
    }
    for (const bool isConjugate : { false, true })
    {
      SCOPED_TRACE(::testing::Message() << count << " points" << (isConjugate ? ", conjugate" : ""));
      const LineDefinition expected(isConjugate, gradient, before);
      ASSERT_EQ(expected.conjugation > 0, isConjugate);
      ExpectLine(TurnLine(target, isConjugate, gradient, before), gradient, expected);
    }
  }
}

/** The line is not conjugate if the previous gradient is 0, nor if the new one is a fraction of it: then the factor would be negative. */
TEST_P(ControlStepsTest, TurnsALineAgainstTheGradientWhereNoneIsConjugate)
{
  Random        random(GetSeeds(7, 1).first);
  DeviceArrays  target(GetParam());
  const Line    before = MakeLine(4500, random);
  const Vectors gradient = MakeVectors(4500, 2.5, random);
  Line          atRest = before;
  atRest.lastGradient = MakeZeros(4500);
  const Line afterRest = TurnLine(target, true, gradient, atRest);
  EXPECT_EQ(afterRest.numbers[gpureg::kernels::LineConjugation], 0.0f);
  ExpectLine(afterRest, gradient, LineDefinition(true, gradient, atRest));

  Vectors half = before.lastGradient;
  for (float4 & g : half)
  {
    g = { 0.5f * g.x, 0.5f * g.y, 0.5f * g.z, 0.0f };
  }
  const Line afterHalf = TurnLine(target, true, half, before);
  EXPECT_EQ(afterHalf.numbers[gpureg::kernels::LineConjugation], 0.0f);
  ExpectLine(afterHalf, half, LineDefinition(true, half, before));

  const Vectors nothing = MakeZeros(4500);
  const Line    still = TurnLine(target, false, nothing, before);
  EXPECT_EQ(still.numbers[gpureg::kernels::LineLongest], 0.0f);
  EXPECT_EQ(ComputeDistance(still.direction, ToDoubles(nothing)), 0.0);
}

TEST_P(ControlStepsTest, PlacesPointsOnALineByItsDefinition)
{
  constexpr float length = 0.7f;
  Random          random(GetSeeds(8, 1).first);
  DeviceArrays    target(GetParam());
  for (const std::int64_t count : Counts)
  {
    const Vectors begin = MakeVectors(count, 4.0, random);
    const Vectors direction = MakeVectors(count, 2.0, random);
    double        longest = 0;
    for (const float4 & along : direction)
    {
      longest = std::max(longest, std::sqrt(Product(XyzOf(along), XyzOf(along))));
    }
    std::vector<Vector> expected = ToDoubles(begin);
    for (std::size_t n = 0; n < expected.size(); ++n)
    {
      for (std::size_t r = 0; r < 3; ++r)
      {
        expected[n][r] += XyzOf(direction[n])[r] * length / longest;
      }
    }
    for (const bool isInPlace : { false, true })
    {
      SCOPED_TRACE(::testing::Message() << count << " points" << (isInPlace ? ", in place" : ""));
      const auto place = [&](float by, double ofLongest) {
        return PlaceOnLine(target, by, static_cast<float>(ofLongest), begin, direction, isInPlace);
      };
      EXPECT_LT(ComputeDistance(place(length, longest), expected), Rounding);
      EXPECT_EQ(ComputeDistance(place(0.0f, longest), ToDoubles(begin)), 0.0) << "a line of length 0 moves no point";
      EXPECT_EQ(ComputeDistance(place(length, 0.0), ToDoubles(begin)), 0.0)
        << "without a direction no point moves, either";
    }
  }
}

/** Passes give the same bits each time, also on another queue and with another number of threads. */
TEST_P(ControlStepsTest, RepeatsItsBits)
{
  const AllResults first(GetParam(), 1);
  for (const std::int64_t threads : { 1, 3 })
  {
    const AllResults again(GetParam(), threads);
    EXPECT_TRUE(AreSameBits(again.numbers, first.numbers)) << threads << " threads";
    ASSERT_EQ(again.vectors.size(), first.vectors.size());
    for (std::size_t n = 0; n < first.vectors.size(); ++n)
    {
      EXPECT_TRUE(AreSameBits(again.vectors[n], first.vectors[n])) << "array " << n << ", " << threads << " threads";
    }
  }
}

TEST_P(ControlStepsTest, DevicesAgreeWithTheHost)
{
  const AllResults here(GetParam(), 2);
  const AllResults host("host", 2);
  ASSERT_EQ(here.vectors.size(), host.vectors.size());
  for (std::size_t n = 0; n < host.vectors.size(); ++n)
  {
    EXPECT_LT(ComputeDistance(here.vectors[n], ToDoubles(host.vectors[n])), Rounding) << "array " << n;
  }
  ASSERT_EQ(here.numbers.size(), host.numbers.size());
  for (std::size_t n = 0; n < host.numbers.size(); ++n)
  {
    // The product of random vectors is a small difference of large numbers: see TurnsALineByItsDefinition.
    if (n != gpureg::kernels::LineProduct)
    {
      EXPECT_NEAR(here.numbers[n], host.numbers[n], Rounding * std::abs(host.numbers[n])) << "number " << n;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, ControlStepsTest, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace gpuregtest
