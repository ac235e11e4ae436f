// SPDX-License-Identifier: Apache-2.0
#include "engine/registration/global/GlobalDescent.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

namespace gpureg
{

namespace
{
// Costs' last digits: devices differ by less than this share, and a cost has jumps of that height where a sample changes its bin.
constexpr double Noise = 1e-6;

/** Returns the position of the minimum of the parabola through three values at -1, 0 and 1; 0 if it is not convex. */
double
ComputeParabolasEnd(double before, double middle, double behind)
{
  const double curvature = before - 2 * middle + behind;
  return curvature > 0 ? std::clamp(0.5 * (before - behind) / curvature, -1.0, 1.0) : 0.0;
}

double
Dot(const std::vector<double> & a, const std::vector<double> & b)
{
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

std::vector<PosedCost>
ComputeCosts(GlobalLevel & level, const std::vector<PosedCost> & poses)
{
  std::vector<Pose> all;
  for (const PosedCost & pose : poses)
  {
    all.push_back(pose.pose);
  }
  return level.ComputeCosts(all);
}

/** Searches for all poses along one direction. */
void
SearchLine(GlobalLevel & level, const PoseStep & direction, double step, std::vector<PosedCost> & poses)
{
  // The pose itself is the middle place.
  constexpr int        Places = 5;
  constexpr int        Middle = 2;
  const PoseDirections along{ direction };
  const auto           move = [&](const Pose & pose, double places) {
    const double distance = places * step;
    return MovePose(pose, along, &distance);
  };
  std::vector<Pose> trials;
  for (const PosedCost & pose : poses)
  {
    for (const int place : { -2, -1, 1, 2 })
    {
      trials.push_back(move(pose.pose, place));
    }
  }
  const std::vector<PosedCost> tried = level.ComputeCosts(trials);
  std::vector<Pose>            ends;
  std::vector<PosedCost>       best;
  for (std::size_t n = 0; n < poses.size(); ++n)
  {
    const PosedCost * const t = &tried[4 * n];
    const PosedCost         line[Places] = { t[0], t[1], poses[n], t[2], t[3] };
    const auto              least =
      std::min_element(line, line + Places, [](const PosedCost & a, const PosedCost & b) { return a.cost < b.cost; }) -
      line;
    const auto   middle = std::clamp<std::ptrdiff_t>(least, 1, Places - 2);
    const double end = ComputeParabolasEnd(line[middle - 1].cost, line[middle].cost, line[middle + 1].cost);
    best.push_back(line[least]);
    ends.push_back(move(poses[n].pose, static_cast<double>(middle - Middle) + end));
  }
  const std::vector<PosedCost> atEnds = level.ComputeCosts(ends);
  for (std::size_t n = 0; n < poses.size(); ++n)
  {
    poses[n] = atEnds[n].cost < best[n].cost ? atEnds[n] : best[n];
  }
}
} // namespace

std::vector<std::size_t>
OrderByCost(const std::vector<PosedCost> & poses)
{
  double largest = 0;
  for (const PosedCost & pose : poses)
  {
    largest = std::max(largest, std::abs(pose.cost));
  }
  const double        unit = Noise * largest;
  std::vector<double> digits;
  for (const PosedCost & pose : poses)
  {
    digits.push_back(unit > 0 ? std::round(pose.cost / unit) : 0.0);
  }
  std::vector<std::size_t> order(poses.size());
  std::iota(order.begin(), order.end(), std::size_t{ 0 });
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return digits[a] < digits[b]; });
  return order;
}

void
SearchLines(GlobalLevel &               level,
            const PoseDirections &      directions,
            const std::vector<double> & steps,
            std::vector<PosedCost> &    poses)
{
  poses = ComputeCosts(level, poses);
  for (const double step : steps)
  {
    for (const PoseStep & direction : directions)
    {
      SearchLine(level, direction, step, poses);
    }
  }
}

void
SearchLines(GlobalLevel &            level,
            const PoseDirections &   directions,
            double                   firstStep,
            double                   lastStep,
            std::vector<PosedCost> & poses)
{
  std::vector<double> steps;
  for (double step = firstStep; step > 0.999 * lastStep; step *= 0.5)
  {
    // Two sweeps for each length, because parameters depend on each other.
    steps.insert(steps.end(), 2, step);
  }
  SearchLines(level, directions, steps, poses);
}

QuasiNewtonSearch::QuasiNewtonSearch(GlobalLevel &            level,
                                     const PoseDirections &   directions,
                                     double                   firstStep,
                                     const SearchEnd &        end,
                                     std::vector<PosedCost> & poses)
  : m_Level(level)
  , m_Directions(directions)
  , m_FirstStep(firstStep)
  , m_End(end)
  , m_Poses(poses)
{
  for (std::size_t n = 0; n < poses.size(); ++n)
  {
    Candidate candidate;
    candidate.number = n;
    candidate.base = poses[n].pose;
    candidate.along.assign(directions.size(), 0.0);
    this->Arrive(candidate, m_Level.ComputeSlope(candidate.base, m_Directions, candidate.along));
    candidate.inverseHessian.assign(directions.size() * directions.size(), 0.0);
    this->ChooseDirection(candidate);
    m_Candidates.push_back(candidate);
  }
}

void
QuasiNewtonSearch::Arrive(Candidate & candidate, const PosedSlope & there)
{
  m_Poses[candidate.number] = there;
  candidate.cost = there.cost;
  candidate.slope = there.slope;
}

void
QuasiNewtonSearch::ChooseDirection(Candidate & candidate) const
{
  const std::size_t n = m_Directions.size();
  const double      steepness = std::sqrt(Dot(candidate.slope, candidate.slope));
  candidate.direction.assign(n, 0.0);
  if (!(steepness > 0))
  {
    candidate.hasEnded = true;
    return;
  }
  double longest = 4 * m_FirstStep;
  if (candidate.hasCurvature)
  {
    for (std::size_t r = 0; r < n; ++r)
    {
      for (std::size_t c = 0; c < n; ++c)
      {
        candidate.direction[r] -= candidate.inverseHessian[r * n + c] * candidate.slope[c];
      }
    }
  }
  candidate.descent = Dot(candidate.direction, candidate.slope);
  if (!(candidate.descent < 0))
  {
    // Uses steepest descent at first, and whenever the curvature is lost.
    candidate.hasCurvature = false;
    longest = m_FirstStep;
    std::transform(candidate.slope.begin(), candidate.slope.end(), candidate.direction.begin(), [&](double s) {
      return -s / steepness * m_FirstStep;
    });
  }
  const double length = std::sqrt(Dot(candidate.direction, candidate.direction));
  if (length > longest)
  {
    std::transform(candidate.direction.begin(), candidate.direction.end(), candidate.direction.begin(), [&](double d) {
      return d * longest / length;
    });
  }
  candidate.descent = Dot(candidate.direction, candidate.slope);
  candidate.length = 1;
}

bool
QuasiNewtonSearch::IsLower(const Candidate & candidate, const PosedSlope & there) const
{
  constexpr double enough = 1e-4; // share of the decrease that the slope predicts
  constexpr double flat = 0.8;    // of the slope along the step before it
  if (there.cost <= candidate.cost + enough * candidate.length * candidate.descent)
  {
    return true;
  }
  const double noise = Noise * std::max(std::abs(candidate.cost), std::abs(m_Level.GetUnrelatedCost()));
  return there.cost <= candidate.cost + noise && Dot(there.slope, candidate.direction) <= -flat * candidate.descent;
}

void
QuasiNewtonSearch::Try(Candidate & candidate)
{
  const auto          n = m_Directions.size();
  std::vector<double> along = candidate.along;
  std::vector<double> step(n);
  for (std::size_t i = 0; i < n; ++i)
  {
    step[i] = candidate.length * candidate.direction[i];
    along[i] += step[i];
  }
  const double     length = std::sqrt(Dot(step, step));
  const PosedSlope there = m_Level.ComputeSlope(candidate.base, m_Directions, along);
  const double     promised = candidate.length * candidate.descent;
  if (this->IsLower(candidate, there))
  {
    std::vector<double> change(n);
    std::transform(
      there.slope.begin(), there.slope.end(), candidate.slope.begin(), change.begin(), std::minus<double>());
    candidate.along = along;
    this->Arrive(candidate, there);
    this->UpdateHessian(candidate, step, change);
    candidate.shortSteps = length < m_End.tolerance ? candidate.shortSteps + 1 : 0;
    candidate.hasEnded = candidate.shortSteps == m_End.shortSteps;
    if (!candidate.hasEnded)
    {
      this->ChooseDirection(candidate);
    }
    return;
  }
  // The minimum of the parabola with this slope and these two costs.
  const double curvature = there.cost - candidate.cost - promised;
  const double part = curvature > 0 ? std::clamp(-0.5 * promised / curvature, 0.1, 0.5) : 0.5;
  candidate.length *= part;
  if (part * length < m_End.tolerance)
  {
    // The curvature may be wrong, so steepest descent is tried once.
    candidate.hasEnded = !candidate.hasCurvature;
    candidate.hasCurvature = false;
    if (!candidate.hasEnded)
    {
      this->ChooseDirection(candidate);
      const double steepest = std::sqrt(Dot(candidate.direction, candidate.direction));
      candidate.length = std::min(1.0, 4 * m_End.tolerance / steepest);
    }
  }
}

void
QuasiNewtonSearch::UpdateHessian(Candidate &                 candidate,
                                 const std::vector<double> & step,
                                 const std::vector<double> & change) const
{
  const auto   n = m_Directions.size();
  const double product = Dot(step, change);
  const double square = Dot(change, change);
  if (!(product > 1e-10 * std::sqrt(Dot(step, step) * square)))
  {
    return;
  }
  std::vector<double> & h = candidate.inverseHessian;
  if (!candidate.hasCurvature)
  {
    candidate.hasCurvature = candidate.hasLearnt = true;
    std::fill(h.begin(), h.end(), 0.0);
    for (std::size_t i = 0; i < n; ++i)
    {
      h[i * n + i] = product / square;
    }
  }
  std::vector<double> hy(n, 0.0);
  for (std::size_t r = 0; r < n; ++r)
  {
    for (std::size_t c = 0; c < n; ++c)
    {
      hy[r] += h[r * n + c] * change[c];
    }
  }
  const double factor = (1.0 + Dot(change, hy) / product) / product;
  for (std::size_t r = 0; r < n; ++r)
  {
    for (std::size_t c = 0; c < n; ++c)
    {
      h[r * n + c] += factor * step[r] * step[c] - (hy[r] * step[c] + step[r] * hy[c]) / product;
    }
  }
}

void
QuasiNewtonSearch::Advance(int iterations)
{
  for (int iteration = 0; iteration < iterations; ++iteration)
  {
    for (Candidate & candidate : m_Candidates)
    {
      if (!candidate.hasEnded)
      {
        this->Try(candidate);
      }
    }
  }
}

void
QuasiNewtonSearch::Resume()
{
  for (Candidate & candidate : m_Candidates)
  {
    if (!candidate.isLeftOut)
    {
      this->Arrive(candidate, m_Level.ComputeSlope(candidate.base, m_Directions, candidate.along));
      candidate.hasEnded = false;
      candidate.shortSteps = 0;
      candidate.hasCurvature = candidate.hasLearnt;
      this->ChooseDirection(candidate);
    }
  }
}

void
QuasiNewtonSearch::KeepBest(std::size_t count)
{
  std::vector<Candidate *> left;
  std::vector<PosedCost>   costs;
  for (Candidate & candidate : m_Candidates)
  {
    if (!candidate.isLeftOut)
    {
      left.push_back(&candidate);
      costs.push_back(m_Poses[candidate.number]);
    }
  }
  const auto order = OrderByCost(costs);
  for (std::size_t n = count; n < order.size(); ++n)
  {
    left[order[n]]->hasEnded = left[order[n]]->isLeftOut = true;
  }
}

} // namespace gpureg
