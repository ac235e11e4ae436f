// SPDX-License-Identifier: Apache-2.0
#include "gpureg/metric/histogram/JointHistogramMetric.h"

#include "gpureg/metric/histogram/SmoothedDensity.h"

#include "engine/metric/histogram/HistogramEvaluation.h"
#include "engine/metric/histogram/JointDensityArguments.h"
#include "engine/metric/histogram/JointHistogramPasses.h"
#include "engine/metric/SimilarityChoices.h"
#include "engine/runtime/MakePasses.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

namespace gpureg
{

namespace
{
/** Whole samples fit into 32 bits, however many samples a chunk has. */
constexpr int MostSamplesOfChunk = 1 << 20;

static_assert(JointHistogramMetric::MostBins == kernels::MostJointHistogramBins, "the ties are as many");

/** Returns the end of the range that the moving image's values are scaled to. */
double
GetRangeEnd(int bins)
{
  return bins - kernels::JointHistogramExtraBins;
}

HistogramNeeds
GetNeeds(int bins)
{
  return { MostSamplesOfChunk, GetRangeEnd(bins) };
}

/** Sets the smoothing weights as integers that sum to 1. The weight of the centre absorbs the rounding. */
void
SetSmoothing(kernels::JointHistogramArguments & a, const kernels::JointDensityArguments & density)
{
  const int one = 1 << 30;
  a.smoothingRadius = density.smoothingRadius;
  a.smoothing[0] = one;
  for (int r = 1; r <= a.smoothingRadius; ++r)
  {
    a.smoothing[r] = static_cast<int>(std::lround(density.smoothing[r] * one));
    a.smoothing[0] -= 2 * a.smoothing[r];
  }
}

void
SetTies(kernels::JointHistogramArguments & a, const std::vector<bool> & goDown)
{
  for (std::size_t bin = 0; bin < goDown.size(); ++bin)
  {
    a.ties[bin / 32] |= static_cast<kernels::u32>(goDown[bin]) << (bin % 32);
  }
}

/** Reads a candidate's value as kernels/metric/histogram/JointHistogramSummaryKernels.h writes it. */
JointHistogramValue
ReadSummary(const std::array<std::int64_t, kernels::SummaryCount> & summary)
{
  return { static_cast<std::uint64_t>(summary[0]), kernels::DoubleOfBits(summary[1]) };
}
} // namespace

class JointHistogramMetric::Implementation
  : public HistogramEvaluation<kernels::JointHistogramArguments, kernels::JointHistogramSummaryArguments>
{
public:
  using HistogramEvaluation::HistogramEvaluation;
};

JointHistogramMetric::JointHistogramMetric(const std::string & deviceName, int bins)
  : Metric(deviceName)
  , m_Bins(CheckedBins(SimilarityKind::JointHistogramMutualInformation, bins))
  , m_Implementation(std::make_unique<Implementation>(GetCore(), MakePasses<JointHistogramPasses>(*GetCore().queue)))
{}

JointHistogramMetric::~JointHistogramMetric()
{
  FreeUnlessForked(m_Implementation);
}

void
JointHistogramMetric::SetArguments(const JointHistogramOptions & options, kernels::JointHistogramArguments & a) const
{
  const MovingImage & moving = GetCore().samples.GetMoving();
  const double        rangeEnd = GetRangeEnd(m_Bins);
  a.histogram.rows = m_Bins;
  a.histogram.columns = m_Bins + 1;
  a.histogram.tableColumns = kernels::JointTableBlocks * m_Bins;
  a.rangeEnd = static_cast<float>(rangeEnd);
  a.acceptBegin = static_cast<float>(-moving.slackBelow);
  a.acceptEnd = static_cast<float>(rangeEnd + moving.slackAbove);
  a.marginalOfFixed = options.usesMarginalOfFixed;
  SetSmoothing(a, MakeDensityArguments(options));
  SetTies(a, options.tiesGoDown);
}

/** Reads a histogram as it is downloaded: the bins of each row are followed by the number of the row's samples that have a force. */
JointHistogramResult
JointHistogramMetric::ReadCounts(const std::uint64_t * counts) const
{
  JointHistogramResult result;
  std::uint64_t        inRange = 0;
  const auto           bins = static_cast<std::size_t>(m_Bins);
  result.histogram.reserve(bins * bins);
  for (std::size_t row = 0; row < bins; ++row, counts += bins + 1)
  {
    result.histogram.insert(result.histogram.end(), counts, counts + bins);
    result.count = std::accumulate(counts, counts + bins, result.count);
    inRange += counts[bins];
  }
  result.countOfForces = GetCore().samples.GetMoving().checksRange ? inRange : result.count;
  const int bits =
    GetPrecision() == Precision::Double ? kernels::ComputeCountBits(static_cast<kernels::u64>(result.count)) : 0;
  result.divisor = std::ldexp(static_cast<double>(result.count), bits) / GetRangeEnd(m_Bins);
  return result;
}

JointHistogramResult
JointHistogramMetric::Evaluate(const SampleMapping &         mapping,
                               Forces                        forces,
                               const JointHistogramOptions & options,
                               const ParallelFor &           parallelFor)
{
  const HistogramResult sums =
    m_Implementation->Evaluate(mapping,
                               forces,
                               GetNeeds(m_Bins),
                               parallelFor,
                               [&](kernels::JointHistogramArguments & a) { this->SetArguments(options, a); });
  JointHistogramResult result = this->ReadCounts(sums.histogram.data());
  static_cast<ForceResult &>(result) = sums;
  return result;
}

JointHistogramValue
JointHistogramMetric::ComputeValue(const JointHistogramResult & result, const JointHistogramOptions & options) const
{
  return { result.count, SmoothedDensity(result.histogram, m_Bins, options).GetMutualInformation() };
}

std::vector<JointHistogramValue>
JointHistogramMetric::EvaluateBatch(const CandidateMaps &         candidates,
                                    const JointHistogramOptions & options,
                                    const ParallelFor &           parallelFor)
{
  std::vector<JointHistogramValue> values(static_cast<std::size_t>(candidates.count));
  const auto setArguments = [&](kernels::JointHistogramArguments & a) { this->SetArguments(options, a); };
  const auto summaries = m_Implementation->Summarize(
    candidates, GetNeeds(m_Bins), parallelFor, setArguments, [&](const kernels::JointHistogramArguments & a) {
      return kernels::JointHistogramSummaryArguments{ a.histogram, MakeDensityArguments(options) };
    });
  if (summaries)
  {
    std::transform(summaries->sums.begin(), summaries->sums.end(), values.begin(), ReadSummary);
    return values;
  }
  const bool areTaken = m_Implementation->TakeHistograms(
    candidates, GetNeeds(m_Bins), parallelFor, setArguments, [&](std::int64_t candidate, const std::uint64_t * counts) {
      values[candidate] = this->ComputeValue(this->ReadCounts(counts), options);
    });
  for (std::int64_t n = 0; !areTaken && n < candidates.count; ++n)
  {
    values[n] =
      this->ComputeValue(this->Evaluate(MakeMapping(candidates, n), Forces::None, options, parallelFor), options);
  }
  return values;
}

} // namespace gpureg
