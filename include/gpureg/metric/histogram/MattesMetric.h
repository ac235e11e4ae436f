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
  /** Joint histogram, fixed bins × moving bins, moving fastest, in units of 1/countUnit. */
  std::vector<std::uint64_t> histogram;
  double                     countUnit = 1;
};

/** Entropy-based similarity of two images. Moving values are scaled to bins above the minimum, in [0, bins - 4]. A force is
 *  f = gradient · Σ_k B3'(arg_k)·table.
 *
 *  Two passes (no array of samples × parameters): the joint histogram, in fixed point, so that its sums
 *  do not depend on order; then each sample looks its weight up and gives a force. */
class GPURegistration_EXPORT MattesMetric : public Metric
{
public:
  /** \throws Error if there is no such device; the message lists those there are. */
  MattesMetric(const std::string & deviceName, int bins);
  ~MattesMetric();

  int
  GetNumberOfBins() const
  {
    return m_Bins;
  }

  /** \param normalized which table weighs the forces: normalised MI or Mattes' MI. */
  MattesResult
  Evaluate(const SampleMapping & mapping, Forces forces, bool normalized, const ParallelFor & parallelFor);

  /** Of many candidates together, known to 1e-6. */
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
