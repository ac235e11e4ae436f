// SPDX-License-Identifier: Apache-2.0
#include "engine/registration/global/GlobalPairLevel.h"

#include "gpureg/transform/TransformChain.h"

#include "engine/core/Matrix3.h"
#include "engine/filter/LevelGeometry.h"
#include "engine/registration/Information.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace gpureg
{

namespace
{
/** Subtracts other from map. */
void
Subtract(IndexMap & map, const IndexMap & other)
{
  const auto subtract = [](auto & from, const auto & what) {
    std::transform(from.begin(), from.end(), what.begin(), from.begin(), std::minus<double>());
  };
  subtract(map.matrix, other.matrix);
  subtract(map.offset, other.offset);
}
} // namespace

GlobalPairLevel::GlobalPairLevel(const std::string & deviceName, Queue & queue)
  : m_Queue(queue)
  , m_DeviceName(deviceName)
  , m_Fixed(queue, deviceName)
  , m_Moving(queue, deviceName)
{}

void
GlobalPairLevel::SetCost(const SimilaritySettings & cost, bool isTimed)
{
  if (!m_Measure || !(m_Cost == cost))
  {
    m_Measure = MakeGlobalMeasure(cost, m_DeviceName);
    m_Cost = cost;
  }
  m_Measure->SetTiming(isTimed);
  m_Statistics = {};
}

void
GlobalPairLevel::MakeImages(
  const LevelMaker & maker, const RegisteredImage & fixed, const RegisteredImage & moving, int dimension, double edge)
{
  const auto make = [&](const RegisteredImage & image, const char * which, Side & side) {
    side.level =
      MakeLevelImage(maker, image, which, ComputeFactors(image, dimension, edge, LeastVoxels), side.image, side.mask);
  };
  m_Dimension = dimension;
  make(fixed, "fixed", m_Fixed);
  make(moving, "moving", m_Moving);
  m_PointToMoving = InvertMap(m_Moving.level.toPoint);
  m_Inside = 1;
}

double
GlobalPairLevel::NarrowRange(LevelImage & level)
{
  if (level.mask == nullptr)
  {
    return 1;
  }
  const std::vector<double> values = DownloadValues(m_Queue, *level.image);
  const std::vector<double> mask = DownloadValues(m_Queue, *level.mask);
  ImageSummary              inside;
  inside.minimum = level.summary.maximum;
  inside.maximum = level.summary.minimum;
  double count = 0;
  for (std::size_t n = 0; n < values.size(); ++n)
  {
    if (mask[n] >= 0.5)
    {
      inside.minimum = std::min(inside.minimum, values[n]);
      inside.maximum = std::max(inside.maximum, values[n]);
      inside.mean += values[n];
      ++count;
    }
  }
  if (inside.maximum > inside.minimum)
  {
    inside.mean /= count;
    level.summary = inside;
  }
  return count / static_cast<double>(values.size());
}

void
GlobalPairLevel::NarrowRanges()
{
  m_Inside = this->NarrowRange(m_Fixed.level);
  this->NarrowRange(m_Moving.level);
}

void
GlobalPairLevel::TakeRanges(const GlobalPairLevel & other)
{
  for (const auto & [level, from] :
       { std::make_pair(&m_Fixed.level, &other.m_Fixed.level), std::make_pair(&m_Moving.level, &other.m_Moving.level) })
  {
    level->summary = level->mask != nullptr ? from->summary : level->summary;
  }
  m_Inside = other.m_Inside;
}

RegisteredImage
GlobalPairLevel::GetFixed() const
{
  return AsRegistered(m_Fixed.level);
}

RegisteredImage
GlobalPairLevel::GetMoving() const
{
  return AsRegistered(m_Moving.level);
}

double
GlobalPairLevel::GetEdge() const
{
  double longest = 0;
  for (const Side * side : { &m_Fixed, &m_Moving })
  {
    const auto spacing = GetSpacing(side->level.toPoint);
    longest = std::max(longest, *std::max_element(spacing.begin(), spacing.begin() + m_Dimension));
  }
  return longest;
}

double
GlobalPairLevel::GetShortEdge() const
{
  double longer = 0;
  for (const Side * side : { &m_Fixed, &m_Moving })
  {
    longer = std::max(longer, ComputeShortestEdge(AsRegistered(side->level), m_Dimension));
  }
  return longer;
}

void
GlobalPairLevel::Begin(const PairShare & share, int stride, const ParallelFor & parallelFor)
{
  m_Share = share;
  const LevelImage & moving = m_Moving.level;
  m_Measure->SetImages(m_Fixed.level,
                       moving,
                       this->MakeSamples(stride),
                       MakeLevelMoving(moving, m_Dimension, !Describe(m_Cost.kind).HasNeighborhoods()),
                       parallelFor);
  this->Count();
}

void
GlobalPairLevel::Thin(int stride, const ParallelFor & parallelFor)
{
  m_Measure->SetSamples(this->MakeSamples(stride), parallelFor);
  this->Count();
}

FixedSamples
GlobalPairLevel::MakeSamples(int thinning)
{
  const int    stride = this->CanBeThinned() ? thinning : 1;
  FixedSamples samples = MakeLevelSamples(m_Fixed.level);
  const Size   size = samples.virtualSize;
  IndexMap     toImage;
  for (std::size_t d = 0; d < static_cast<std::size_t>(m_Dimension); ++d)
  {
    const int step = std::min(stride, size[d]);
    samples.virtualSize[d] = size[d] / step;
    toImage.matrix[4 * d] = step;
    // Centres the samples within the voxels.
    toImage.offset[d] = (size[d] - 1 - (samples.virtualSize[d] - 1) * step) / 2;
  }
  samples.sampled->isOneGrid = stride == 1;
  samples.sampled->toImage = toImage;
  m_SampleToPoint = Compose(m_Fixed.level.toPoint, toImage);
  m_Samples = std::max(1.0, m_Inside * static_cast<double>(CountOf(samples.virtualSize)));
  return samples;
}

IndexMap
GlobalPairLevel::MakeIndexMap(const PoseFrame & frame, const Pose & pose) const
{
  return Compose(m_PointToMoving, Compose(MakePointMap(frame, pose), m_SampleToPoint));
}

IndexMap
GlobalPairLevel::MakeForcedMap(const PoseFrame & frame, const Pose & pose) const
{
  return Describe(m_Cost.kind).HasNeighborhoods() ? Compose(MakePointMap(frame, pose), m_SampleToPoint)
                                                  : this->MakeIndexMap(frame, pose);
}

double
GlobalPairLevel::Weigh(const MeasuredValue & value, PosedCost & posed) const
{
  // The number of samples inside the mask is estimated from a share of all voxels, at the finest level from the next level's share, so it
  // may be exceeded slightly.
  posed.overlap = std::min(1.0, value.count / m_Samples);
  const double enough = m_Share.leastOverlap > 0 ? std::min(1.0, posed.overlap / m_Share.leastOverlap) : 1.0;
  const double weight = value.isKnown ? enough : 0.0;
  posed.cost = m_Share.unrelated + weight * (value.value - m_Share.unrelated);
  if (!m_Share.isOfSeveral)
  {
    return weight;
  }
  const Information information = ComputeInformation(m_Cost.kind, posed.cost, m_Share.unrelated);
  posed.cost = m_Share.weight * information.nats;
  return m_Share.weight * information.slope * weight;
}

std::vector<PosedCost>
GlobalPairLevel::ComputeCosts(const PoseFrame & frame, const std::vector<Pose> & poses, const ParallelFor & parallelFor)
{
  const CandidateMaps candidates{ static_cast<std::int64_t>(poses.size()),
                                  [&](std::int64_t first, std::int64_t number, IndexMap * maps) {
                                    for (std::int64_t n = 0; n < number; ++n)
                                    {
                                      maps[n] = this->MakeIndexMap(frame, poses[static_cast<std::size_t>(first + n)]);
                                    }
                                  } };
  const auto values = m_Measure->ComputeValues(candidates, parallelFor);
  this->Count();
  std::vector<PosedCost> costs(poses.size());
  for (std::size_t n = 0; n < poses.size(); ++n)
  {
    costs[n].pose = poses[n];
    this->Weigh(values[n], costs[n]);
  }
  return costs;
}

PosedSlope
GlobalPairLevel::ComputeSlope(const PoseFrame &      frame,
                              const Pose &           base,
                              const PoseDirections & directions,
                              std::vector<double>    along,
                              const ParallelFor &    parallelFor)
{
  PosedSlope result;
  const auto getPose = [&] { return MovePose(base, directions, along.data()); };
  result.pose = getPose();
  const MeasuredForces measured = m_Measure->ComputeForces(this->MakeIndexMap(frame, result.pose), parallelFor);
  this->Count();
  const double weight = this->Weigh(measured, result);
  // The map is a simple and smooth function of the pose: differences of doubles give its derivative to about 1e-9.
  constexpr double step = 1e-3;
  for (double & coordinate : along)
  {
    const double here = coordinate;
    coordinate = here + step;
    IndexMap change = this->MakeForcedMap(frame, getPose());
    coordinate = here - step;
    Subtract(change, this->MakeForcedMap(frame, getPose()));
    coordinate = here;
    const double sum = SumAlong(measured.forces, change);
    result.slope.push_back(weight * measured.factor * sum / (2 * step));
  }
  return result;
}

void
GlobalPairLevel::Count()
{
  m_Statistics = Add(m_Statistics, m_Measure->GetStatistics());
}

EvaluationStatistics
GlobalPairLevel::GetStatistics() const
{
  EvaluationStatistics statistics = m_Statistics;
  statistics.deviceBytes = m_Measure ? m_Measure->GetStatistics().deviceBytes : 0;
  for (const Side * side : { &m_Fixed, &m_Moving })
  {
    statistics.deviceBytes += static_cast<std::int64_t>(side->image.GetDeviceBytes() + side->mask.GetDeviceBytes());
  }
  return statistics;
}

} // namespace gpureg
