// SPDX-License-Identifier: Apache-2.0
// Shared parts of all evaluations of Mattes' joint histogram.
#ifndef gpureg_MattesEvaluation_h
#define gpureg_MattesEvaluation_h

#include "engine/metric/histogram/HistogramEvaluation.h"
#include "engine/metric/histogram/MattesPasses.h"
#include "engine/metric/SimilarityChoices.h"

namespace gpureg
{

class MattesEvaluation : public HistogramEvaluation<kernels::MattesArguments>
{
public:
  using HistogramEvaluation::HistogramEvaluation;

protected:
  /** Enqueues ComputeMattesForceAtVoxel() where samples lie at voxels. */
  void
  EnqueueForces() override;
};

static_assert(Describe(SimilarityKind::MattesMutualInformation).bins.least == 2 * kernels::HistogramPadding + 1,
              "one bin lies between the paddings");

/** Returns the end of the range that the moving image's values are scaled to. */
inline double
GetMattesRangeEnd(int bins)
{
  return bins - 2 * kernels::HistogramPadding;
}

inline HistogramNeeds
GetMattesNeeds(int bins)
{
  return { kernels::MaximumSamplesPerChunk, GetMattesRangeEnd(bins) };
}

inline void
SetMattesArguments(const MovingImage & moving, int bins, kernels::MattesArguments & a)
{
  const double rangeEnd = GetMattesRangeEnd(bins);
  a.histogram.rows = a.histogram.columns = a.histogram.tableColumns = bins;
  a.rangeEnd = static_cast<float>(rangeEnd);
  a.lastWhole = a.rangeEnd - 1.0f;
  a.acceptBegin = static_cast<float>(-moving.slackBelow);
  a.acceptEnd = static_cast<float>(rangeEnd + moving.slackAbove);
}

} // namespace gpureg

#endif
