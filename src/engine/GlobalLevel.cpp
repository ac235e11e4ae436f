// SPDX-License-Identifier: Apache-2.0
#include "GlobalLevel.h"

#include "gpureg/Error.h"
#include "gpureg/TransformChain.h"

#include "FreeFormGeometry.h"
#include "SummarizeImage.h"

#include <algorithm>

namespace gpureg
{

GlobalLevel::GlobalLevel(const std::string & deviceName, Queue & queue)
  : m_Queue(queue)
  , m_DeviceName(deviceName)
  , m_Fixed(queue, deviceName)
  , m_Moving(queue, deviceName)
{}

void
GlobalLevel::SetCost(GlobalCost cost, int bins)
{
  if (!m_Measure || m_Cost != cost || m_Bins != bins)
  {
    m_Measure = MakeGlobalMeasure(cost, m_DeviceName, bins);
    m_Cost = cost;
    m_Bins = bins;
  }
}

void
GlobalLevel::MakeImages(const RegisteredImage & fixed,
                        const RegisteredImage & moving,
                        int                     dimension,
                        double                  edge,
                        ImagePasses &           images,
                        LinePasses &            lines)
{
  m_Dimension = dimension;
  this->MakeSide(fixed, dimension, edge, "fixed", images, lines, m_Fixed);
  this->MakeSide(moving, dimension, edge, "moving", images, lines, m_Moving);
  m_PointToMoving = InvertMap(m_Moving.toPoint);
}

void
GlobalLevel::MakeSide(const RegisteredImage & image,
                      int                     dimension,
                      double                  edge,
                      const char *            which,
                      ImagePasses &           images,
                      LinePasses &            lines,
                      Side &                  side)
{
  const Size factors = FindFactors(image, dimension, edge);
  side.image.Make(*image.image, image.size, factors, lines);
  side.hasMask = image.mask != nullptr;
  if (side.hasMask)
  {
    side.mask.Make(*image.mask, image.size, factors, lines);
  }
  side.toPoint = Compose(image.indexToPoint, side.image.GetToImage());
  side.summary =
    SummarizeImage(m_Queue, images, side.image.GetPrecision(), side.image.GetCount(), *side.image.GetMemory());
  if (side.summary.notFinite > 0)
  {
    throw BadInputError(std::string("the ") + which + " image has " + std::to_string(side.summary.notFinite) +
                        " values that are infinite or not a number; replace them first");
  }
  if (!(side.summary.maximum > side.summary.minimum))
  {
    throw BadInputError(std::string("the ") + which + " image is constant: there is nothing to register");
  }
}

void
GlobalLevel::NarrowRange(Side & side)
{
  if (!side.hasMask)
  {
    return;
  }
  const std::vector<double> values = BringValues(m_Queue, side.image);
  const std::vector<double> mask = BringValues(m_Queue, side.mask);
  ImageSummary              inside;
  inside.minimum = side.summary.maximum;
  inside.maximum = side.summary.minimum;
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
    side.summary = inside;
  }
}

void
GlobalLevel::NarrowRanges()
{
  this->NarrowRange(m_Fixed);
  this->NarrowRange(m_Moving);
}

void
GlobalLevel::TakeRanges(const GlobalLevel & other)
{
  m_Fixed.summary = m_Fixed.hasMask ? other.m_Fixed.summary : m_Fixed.summary;
  m_Moving.summary = m_Moving.hasMask ? other.m_Moving.summary : m_Moving.summary;
}

RegisteredImage
GlobalLevel::AsRegistered(const Side & side)
{
  RegisteredImage image;
  image.image = &side.image;
  image.mask = side.hasMask ? &side.mask : nullptr;
  image.size = side.image.GetSize();
  image.indexToPoint = side.toPoint;
  return image;
}

RegisteredImage
GlobalLevel::GetFixed() const
{
  return AsRegistered(m_Fixed);
}

RegisteredImage
GlobalLevel::GetMoving() const
{
  return AsRegistered(m_Moving);
}

double
GlobalLevel::GetEdge() const
{
  double longest = 0;
  for (const Side * side : { &m_Fixed, &m_Moving })
  {
    const auto spacing = GetSpacing(side->toPoint);
    longest = std::max(longest, *std::max_element(spacing.begin(), spacing.begin() + m_Dimension));
  }
  return longest;
}

LevelImage
GlobalLevel::Describe(const Side & side)
{
  LevelImage image;
  image.image = &side.image;
  image.summary = side.summary;
  image.mask = side.hasMask ? &side.mask : nullptr;
  image.toPoint = side.toPoint;
  return image;
}

void
GlobalLevel::Begin(const PoseFrame &             frame,
                   double                        share,
                   double                        leastOverlap,
                   double                        unrelated,
                   const ParallelFor &           parallelFor,
                   const std::function<void()> & onRound)
{
  m_Frame = frame;
  m_SampleToPoint = m_Fixed.toPoint;
  m_Share = share;
  m_Samples = std::max(1.0, share * static_cast<double>(m_Fixed.image.GetCount()));
  m_LeastOverlap = leastOverlap;
  m_Unrelated = unrelated;
  m_ParallelFor = parallelFor;
  m_OnRound = onRound;
  // The measure reads them on a queue of its own.
  m_Queue.Finish();
  const LevelImage fixed = Describe(m_Fixed);
  const LevelImage moving = Describe(m_Moving);
  m_Measure->SetImages(fixed, moving, MakeLevelSamples(fixed), MakeLevelMoving(moving, m_Dimension, true), parallelFor);
}

void
GlobalLevel::Thin(int stride)
{
  FixedSamples samples = MakeLevelSamples(Describe(m_Fixed));
  const Size   size = samples.virtualSize;
  IndexMap     toImage;
  for (std::size_t d = 0; d < static_cast<std::size_t>(m_Dimension); ++d)
  {
    const int step = std::min(stride, size[d]);
    samples.virtualSize[d] = size[d] / step;
    toImage.matrix[4 * d] = step;
    // In the middle of what is left over.
    toImage.offset[d] = (size[d] - 1 - (samples.virtualSize[d] - 1) * step) / 2;
  }
  samples.sampled->isOneGrid = false;
  samples.sampled->toImage = toImage;
  m_SampleToPoint = Compose(m_Fixed.toPoint, toImage);
  m_Samples = std::max(1.0, m_Share * static_cast<double>(CountOf(samples.virtualSize)));
  m_Measure->SetSamples(samples, m_ParallelFor);
}

IndexMap
GlobalLevel::MakeIndexMap(const Pose & pose) const
{
  return Compose(m_PointToMoving, Compose(MakePointMap(m_Frame, pose), m_SampleToPoint));
}

double
GlobalLevel::Weigh(const MeasuredValue & value, PosedCost & posed) const
{
  posed.overlap = value.count / m_Samples;
  const double enough = m_LeastOverlap > 0 ? std::min(1.0, posed.overlap / m_LeastOverlap) : 1.0;
  const double weight = value.isKnown ? enough : 0.0;
  posed.cost = m_Unrelated + weight * (value.value - m_Unrelated);
  return weight;
}

std::vector<PosedCost>
GlobalLevel::FindCosts(const std::vector<Pose> & poses)
{
  std::vector<PosedCost> costs(poses.size());
  if (poses.empty())
  {
    return costs;
  }
  m_OnRound();
  m_Stage->values += static_cast<std::int64_t>(poses.size());
  ++m_Stage->rounds;
  const CandidateMaps candidates{ static_cast<std::int64_t>(poses.size()),
                                  [&](std::int64_t first, std::int64_t number, IndexMap * maps) {
                                    for (std::int64_t n = 0; n < number; ++n)
                                    {
                                      maps[n] = this->MakeIndexMap(poses[static_cast<std::size_t>(first + n)]);
                                    }
                                  } };
  const auto values = m_Measure->FindValues(candidates, m_ParallelFor);
  for (std::size_t n = 0; n < poses.size(); ++n)
  {
    costs[n].pose = poses[n];
    this->Weigh(values[n], costs[n]);
  }
  return costs;
}

PosedSlope
GlobalLevel::FindSlope(const Pose & base, const Freedom & freedom, std::vector<double> along)
{
  m_OnRound();
  ++m_Stage->derivatives;
  ++m_Stage->rounds;
  PosedSlope result;
  const auto getPose = [&] { return MovePose(base, freedom, along.data()); };
  result.pose = getPose();
  const MeasuredForces measured = m_Measure->FindForces(this->MakeIndexMap(result.pose), m_ParallelFor);
  const ForceResult &  forces = measured.forces;
  const double         weight = this->Weigh(measured, result);
  // The map is smooth in the pose, and simple: differences of doubles give its derivative to some 1e-9.
  constexpr double step = 1e-3;
  for (double & coordinate : along)
  {
    const double here = coordinate;
    coordinate = here + step;
    const IndexMap ahead = this->MakeIndexMap(getPose());
    coordinate = here - step;
    const IndexMap behind = this->MakeIndexMap(getPose());
    coordinate = here;
    double sum = 0;
    for (std::size_t c = 0; c < 3; ++c)
    {
      double ofCentre = ahead.offset[c] - behind.offset[c];
      for (std::size_t d = 0; d < 3; ++d)
      {
        const double ofMatrix = ahead.matrix[3 * c + d] - behind.matrix[3 * c + d];
        ofCentre += ofMatrix * forces.centre[d];
        sum += ofMatrix * forces.forceSums[3 + 3 * d + c];
      }
      sum += ofCentre * forces.forceSums[c];
    }
    result.slope.push_back(weight * measured.factor * sum / (2 * step));
  }
  return result;
}

EvaluationStatistics
GlobalLevel::GetStatistics() const
{
  EvaluationStatistics statistics = m_Measure->GetStatistics();
  for (const Side * side : { &m_Fixed, &m_Moving })
  {
    statistics.deviceBytes += static_cast<std::int64_t>(side->image.GetDeviceBytes() + side->mask.GetDeviceBytes());
  }
  return statistics;
}

} // namespace gpureg
