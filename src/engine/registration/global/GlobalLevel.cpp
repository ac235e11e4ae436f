// SPDX-License-Identifier: Apache-2.0
#include "engine/registration/global/GlobalLevel.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <utility>

namespace gpureg
{

namespace
{
/** Adds the cost of another pair at the same pose. */
void
AddCost(PosedCost & sum, const PosedCost & other)
{
  sum.cost += other.cost;
  sum.overlap = other.overlap > 0 ? sum.overlap : 0;
}
} // namespace

GlobalLevel::GlobalLevel(const std::string & deviceName, Queue & queue)
  : m_Queue(queue)
  , m_DeviceName(deviceName)
{}

void
GlobalLevel::MakeImages(const LevelMaker & maker, const std::vector<WeighedPair> & pairs, int dimension, double edge)
{
  ResizeItems(m_Pairs, pairs.size(), [this] { return std::make_unique<GlobalPairLevel>(m_DeviceName, m_Queue); });
  for (std::size_t place = 0; place < pairs.size(); ++place)
  {
    WithPairNamed(pairs[place].number, [&] {
      m_Pairs[place]->MakeImages(maker, pairs[place].pair.fixed, pairs[place].pair.moving, dimension, edge);
    });
  }
}

double
GlobalLevel::GetEdge() const
{
  double longest = 0;
  for (const auto & pair : m_Pairs)
  {
    longest = std::max(longest, pair->GetEdge());
  }
  return longest;
}

double
GlobalLevel::GetShortEdge() const
{
  double shortest = std::numeric_limits<double>::infinity();
  for (const auto & pair : m_Pairs)
  {
    shortest = std::min(shortest, pair->GetShortEdge());
  }
  return shortest;
}

void
GlobalLevel::Begin(const PoseFrame &              frame,
                   const std::vector<PairShare> & shares,
                   int                            stride,
                   const ParallelFor &            parallelFor,
                   const std::function<void()> &  onBatch)
{
  m_Frame = frame;
  m_UnrelatedCost = shares.size() > 1 ? 0 : shares.front().unrelated;
  m_ParallelFor = parallelFor;
  m_OnBatch = onBatch;
  // Measures read the images on their own queues.
  m_Queue.Finish();
  for (std::size_t place = 0; place < m_Pairs.size(); ++place)
  {
    m_Pairs[place]->Begin(shares[place], stride, parallelFor);
  }
}

bool
GlobalLevel::CanBeThinned() const
{
  return std::any_of(m_Pairs.begin(), m_Pairs.end(), [](const auto & pair) { return pair->CanBeThinned(); });
}

void
GlobalLevel::Thin(int stride)
{
  for (const auto & pair : m_Pairs)
  {
    pair->Thin(stride, m_ParallelFor);
  }
}

std::vector<PosedCost>
GlobalLevel::ComputeCosts(const std::vector<Pose> & poses)
{
  if (poses.empty())
  {
    return {};
  }
  std::vector<PosedCost> costs;
  for (const auto & pair : m_Pairs)
  {
    m_OnBatch();
    m_Stage->values += static_cast<std::int64_t>(poses.size());
    ++m_Stage->batches;
    std::vector<PosedCost> ofPair = pair->ComputeCosts(m_Frame, poses, m_ParallelFor);
    if (costs.empty())
    {
      costs = std::move(ofPair);
      continue;
    }
    for (std::size_t n = 0; n < poses.size(); ++n)
    {
      AddCost(costs[n], ofPair[n]);
    }
  }
  return costs;
}

PosedSlope
GlobalLevel::ComputeSlope(const Pose & base, const PoseDirections & directions, const std::vector<double> & along)
{
  PosedSlope sum;
  for (const auto & pair : m_Pairs)
  {
    m_OnBatch();
    ++m_Stage->derivatives;
    ++m_Stage->batches;
    const PosedSlope ofPair = pair->ComputeSlope(m_Frame, base, directions, along, m_ParallelFor);
    if (sum.slope.empty())
    {
      sum = ofPair;
      continue;
    }
    AddCost(sum, ofPair);
    std::transform(sum.slope.begin(), sum.slope.end(), ofPair.slope.begin(), sum.slope.begin(), std::plus<double>());
  }
  return sum;
}

EvaluationStatistics
GlobalLevel::GetStatistics() const
{
  EvaluationStatistics statistics;
  for (const auto & pair : m_Pairs)
  {
    statistics = Add(statistics, pair->GetStatistics());
  }
  return statistics;
}

} // namespace gpureg
