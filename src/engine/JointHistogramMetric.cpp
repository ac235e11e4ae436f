// SPDX-License-Identifier: Apache-2.0
#include "gpureg/JointHistogramMetric.h"

#include "HistogramEvaluation.h"
#include "JointHistogramPasses.h"

#include <cmath>
#include <memory>
#include <numeric>
#include <string>

namespace gpureg
{

namespace
{
/** Whole samples fit into 32 bits, however many a chunk has. */
constexpr int MostSamplesOfChunk = 1 << 20;

static_assert(JointHistogramMetric::MostBins == kernels::MostJointHistogramBins, "the ties are as many");

/** The weights as integers that sum to 1: the centre's takes what rounding leaves. */
void
SetSmoothing(kernels::JointHistogramArguments & a, const std::vector<double> & weights)
{
  if (weights.empty() || weights.size() > kernels::MostSmoothingWeights)
  {
    throw BadInputError("a joint histogram is smoothed by 1 to " + std::to_string(kernels::MostSmoothingWeights) +
                        " weights, not " + std::to_string(weights.size()) + "; set a smaller variance");
  }
  const int one = 1 << 30;
  a.smoothingRadius = static_cast<int>(weights.size()) - 1;
  a.smoothing[0] = one;
  for (int r = 1; r <= a.smoothingRadius; ++r)
  {
    a.smoothing[r] = static_cast<int>(std::lround(weights[r] * one));
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
} // namespace

class JointHistogramMetric::Implementation : public HistogramEvaluation<kernels::JointHistogramArguments>
{
public:
  using HistogramEvaluation::HistogramEvaluation;
};

JointHistogramMetric::JointHistogramMetric(const std::string & deviceName, int bins)
  : Metric(deviceName)
  , m_Bins(CheckedBins("a joint histogram of nearest bins", bins, LeastBins, MostBins))
  , m_Implementation(std::make_unique<Implementation>(GetCore(), GetCore().queue->CreateJointHistogramPasses()))
{}

JointHistogramMetric::~JointHistogramMetric()
{
  FreeUnlessForked(m_Implementation);
}

JointHistogramResult
JointHistogramMetric::Evaluate(const SampleMapping &         mapping,
                               Forces                        forces,
                               const JointHistogramOptions & options,
                               const ParallelFor &           parallelFor)
{
  const MovingImage & moving = GetCore().samples.GetMoving();
  const double        rangeEnd = m_Bins - kernels::JointHistogramExtraBins;
  HistogramResult     sums = m_Implementation->Evaluate(
    mapping, forces, { MostSamplesOfChunk, rangeEnd }, parallelFor, [&](kernels::JointHistogramArguments & a) {
      a.histogram.rows = m_Bins;
      a.histogram.columns = m_Bins + 1;
      a.histogram.tableColumns = kernels::JointTableBlocks * m_Bins;
      a.rangeEnd = static_cast<float>(rangeEnd);
      a.acceptBegin = static_cast<float>(-moving.slackBelow);
      a.acceptEnd = static_cast<float>(rangeEnd + moving.slackAbove);
      a.marginalOfFixed = options.usesMarginalOfFixed;
      SetSmoothing(a, options.smoothing);
      SetTies(a, options.tiesGoDown);
    });
  JointHistogramResult result;
  static_cast<ForceResult &>(result) = sums;
  std::uint64_t inRange = 0;
  const auto    bins = static_cast<std::size_t>(m_Bins);
  result.histogram.reserve(bins * bins);
  for (std::size_t row = 0; row < bins; ++row)
  {
    const auto begin = sums.histogram.begin() + static_cast<std::ptrdiff_t>(row * (bins + 1));
    const auto end = begin + static_cast<std::ptrdiff_t>(bins);
    result.histogram.insert(result.histogram.end(), begin, end);
    result.count = std::accumulate(begin, end, result.count);
    inRange += *end;
  }
  result.countOfForces = moving.checksRange ? inRange : result.count;
  const int bits =
    GetPrecision() == Precision::Double ? kernels::FindCountBits(static_cast<kernels::u64>(result.count)) : 0;
  result.divisor = std::ldexp(static_cast<double>(result.count), bits) / rangeEnd;
  return result;
}

} // namespace gpureg
