// SPDX-License-Identifier: Apache-2.0
#include "engine/registration/free_form/FreeFormDescent.h"

#include "engine/registration/AdamSteps.h"
#include "engine/registration/free_form/FreeFormLine.h"
#include "engine/registration/free_form/FreeFormStochasticDescent.h"
#include "engine/runtime/Throttle.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>

namespace gpureg
{

namespace
{
// Adam's parameters, as its authors chose them.
constexpr double SecondDecay = 0.999;
constexpr double Epsilon = 1e-8; // in units of a derivative by a step of one voxel

// The parameters of the line search, as NiftyReg has them (Modat 2010, section 2.1.4): a step that reduces the cost makes the next one
// longer; another step halves it, until it is a hundredth of the first one.
constexpr double Growth = 1.1;
constexpr double Shrinkage = 0.5;
constexpr double ShortestOfFirst = 0.01;
constexpr int    MostTrials = 12;

/** Returns the mean of the costs that are numbers; not a number if none is. An iteration whose drawn samples miss a mask has no cost. */
double
ComputeMeanCost(std::vector<double>::const_iterator first, std::vector<double>::const_iterator end)
{
  const auto isNumber = [](double cost) { return !std::isnan(cost); };
  const auto add = [&](double sum, double cost) { return isNumber(cost) ? sum + cost : sum; };
  return std::accumulate(first, end, 0.0, add) / static_cast<double>(std::count_if(first, end, isNumber));
}

bool
HasConverged(const FreeFormSettings & settings, const std::vector<double> & costs)
{
  const auto window = static_cast<std::ptrdiff_t>(settings.convergenceWindow);
  if (!(settings.convergenceThreshold > 0) || static_cast<std::ptrdiff_t>(costs.size()) < 2 * window)
  {
    return false;
  }
  const double last = ComputeMeanCost(costs.end() - window, costs.end());
  const double before = ComputeMeanCost(costs.end() - 2 * window, costs.end() - window);
  return before - last <= settings.convergenceThreshold * std::abs(before);
}

kernels::ControlStep
MakeStep(const FreeFormSettings & settings, const FreeFormLevel & level, double similarityUnit, int t)
{
  const double         pi = std::acos(-1.0);
  const double         length = settings.firstStep * level.edge * 0.5 * (1.0 + std::cos(pi * t / settings.iterations));
  kernels::ControlStep a{};
  a.adam = MakeAdamStep(length, t, SecondDecay, Epsilon / level.finestEdge);
  a.similarity = static_cast<float>(similarityUnit);
  return a;
}

std::vector<double>
DescendByAdam(const FreeFormSettings &         settings,
              FreeFormCost &                   cost,
              FreeFormLevel &                  level,
              const std::function<void(int)> & onIteration)
{
  const std::int64_t count = CountOf(level.grid.size);
  Throttle           throttle(*level.core.queue);
  int                done = 0;
  for (; done < settings.iterations && !HasConverged(settings, cost, done); ++done)
  {
    onIteration(done);
    cost.Draw(static_cast<std::uint32_t>(done));
    const StepArrays     arrays = cost.EnqueueGradient(done);
    kernels::ControlStep a = MakeStep(settings, level, cost.GetSimilarityUnit(), done);
    a.hasPenalty = arrays.penalty != nullptr;
    MoveByAdam(*level.core.queue, a, count, arrays);
    throttle.EndStep();
  }
  return cost.Download(done);
}

/** Searches along the lines of a conjugate gradient. The search along a line ends where no trial has a lower cost. */
class LineSearch
{
public:
  LineSearch(const FreeFormSettings & settings, FreeFormCost & cost, FreeFormLevel & level)
    : m_Cost(cost)
    , m_Level(level)
    , m_Line(cost, level)
    , m_Longest(settings.firstStep * level.edge)
    , m_Length(m_Longest)
  {}

  /** Computes a new line at the current points. \return the cost there */
  double
  Turn(bool isConjugate)
  {
    m_Line.EnqueueCostGradient(0);
    m_Line.Turn(isConjugate);
    return m_Cost.Download(1).front();
  }

  /** Moves along the line as long as the cost falls below lowest. \return the cost at the end; lowest itself if no trial is lower */
  double
  Follow(double lowest)
  {
    // The line contains the penalties' gradient, so its array is free to store the points where the search begins.
    Memory & begin = *m_Level.penalty;
    m_Level.core.queue->Copy(begin, m_Line.GetPoints(), m_Line.GetBytes());
    double reached = 0;
    m_Length = std::min(std::max(m_Length, 4 * ShortestOfFirst * m_Longest), m_Longest);
    for (int trial = 0; trial < MostTrials && m_Length > ShortestOfFirst * m_Longest; ++trial)
    {
      m_Line.Place(reached + m_Length, begin);
      m_Cost.EnqueueValue(0);
      const double cost = m_Cost.Download(1).front();
      if (cost < lowest)
      {
        lowest = cost;
        reached += m_Length;
        m_Length = std::min(Growth * m_Length, m_Longest);
      }
      else
      {
        m_Length *= Shrinkage;
      }
    }
    m_Line.Place(reached, begin);
    return lowest;
  }

private:
  FreeFormCost &  m_Cost;
  FreeFormLevel & m_Level;
  FreeFormLine    m_Line;
  double          m_Longest; // of a trial, in mm
  double          m_Length;  // of the next trial
};

std::vector<double>
DescendByConjugateGradient(const FreeFormSettings &         settings,
                           FreeFormCost &                   cost,
                           FreeFormLevel &                  level,
                           const std::function<void(int)> & onIteration)
{
  LineSearch          search(settings, cost, level);
  std::vector<double> costs;
  bool                isConjugate = false;
  for (int t = 0; t < settings.iterations && !HasConverged(settings, costs); ++t)
  {
    onIteration(t);
    const double before = search.Turn(isConjugate);
    costs.push_back(before);
    const bool leadsDown = search.Follow(before) < before;
    if (!leadsDown && !isConjugate)
    {
      break;
    }
    // After a line without a lower cost, the next line opposes the gradient. If that line has no lower cost either, the search ends.
    isConjugate = leadsDown;
  }
  return costs;
}
} // namespace

bool
HasConverged(const FreeFormSettings & settings, FreeFormCost & cost, int done)
{
  return settings.convergenceThreshold > 0 && done > 0 && done % settings.convergenceWindow == 0 &&
         HasConverged(settings, cost.Download(done));
}

int
CountFreeFormSlots(const FreeFormSettings & settings)
{
  return settings.optimizer == FreeFormOptimizer::ConjugateGradient ? 1 : settings.iterations;
}

std::vector<double>
Descend(const FreeFormSettings &         settings,
        FreeFormCost &                   cost,
        FreeFormLevel &                  level,
        const std::function<void(int)> & onIteration)
{
  switch (settings.optimizer)
  {
    case FreeFormOptimizer::ConjugateGradient:
      return DescendByConjugateGradient(settings, cost, level, onIteration);
    case FreeFormOptimizer::AdaptiveStochasticGradientDescent:
      return DescendStochastically(settings, cost, level, onIteration);
    default:
      return DescendByAdam(settings, cost, level, onIteration);
  }
}

} // namespace gpureg
