// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_MattesMetric_h
#define gpureg_MattesMetric_h

#include "gpureg/core/Error.h"
#include "gpureg/metric/histogram/JointDensity.h"
#include "gpureg/metric/Metric.h"

#include <cstdint>
#include <string>
#include <vector>

namespace gpureg
{

namespace kernels
{
struct MattesArguments;
}

struct MattesResult : ForceResult
{
  /** Joint histogram, fixed bins × moving bins, moving bins fastest, in units of 1/countUnit. */
  std::vector<std::uint64_t> histogram;
  double                     countUnit = 1;
};

/** Computes a similarity of two images from the entropies of Parzen-windowed histograms. Moving values are scaled to bins above the
 *  minimum, in [0, bins - 4]. A force is f = gradient · Σ_k B3'(arg_k)·table.
 *
 *  An evaluation takes two passes, without an array of samples × parameters: the first sums the joint histogram in fixed point, so that
 *  its sums do not depend on the order; in the second each sample looks up its weight, and computes its force. */
class GPURegistration_EXPORT MattesMetric : public Metric
{
public:
  /** Makes a metric with bins bins for each image.
   *  \throws Error if there is no such device; the message lists the devices. */
  MattesMetric(const std::string & deviceName, int bins);
  ~MattesMetric();

  int
  GetNumberOfBins() const
  {
    return m_Bins;
  }

  /** Computes the joint histogram, and the forces.
   *  \param mapping where the samples map to.
   *  \param forces what to do with the forces.
   *  \param normalized true for forces of normalised mutual information, false for those of Mattes' mutual information.
   *  \param parallelFor the threads to use. */
  MattesResult
  Evaluate(const SampleMapping & mapping, Forces forces, bool normalized, const ParallelFor & parallelFor);

  /** Evaluates many candidates in batches, with values good to 1e-6. */
  std::vector<MutualInformation>
  EvaluateBatch(const CandidateMaps & candidates, const ParallelFor & parallelFor);

private:
  class Implementation;
  void
  SetArguments(kernels::MattesArguments & arguments) const;

  int                             m_Bins;
  std::unique_ptr<Implementation> m_Implementation;
};

} // namespace gpureg

#endif
