// SPDX-License-Identifier: Apache-2.0
// The options of a joint histogram's value, in the kernels' form.
#ifndef gpureg_JointDensityArguments_h
#define gpureg_JointDensityArguments_h

#include "gpureg/core/Error.h"
#include "gpureg/metric/histogram/JointHistogramMetric.h"

#include "engine/metric/histogram/JointHistogramPasses.h"

#include <algorithm>
#include <string>
#include <vector>

namespace gpureg
{

/** Converts options to kernel arguments. \throws BadInputError if there are no smoothing weights, or more than the kernels can hold */
inline kernels::JointDensityArguments
MakeDensityArguments(const JointHistogramOptions & options)
{
  const std::vector<double> & weights = options.smoothing;
  if (weights.empty() || weights.size() > kernels::MostSmoothingWeights)
  {
    throw BadInputError("a joint histogram is smoothed by 1 to " + std::to_string(kernels::MostSmoothingWeights) +
                        " weights, not " + std::to_string(weights.size()) + "; set a smaller variance");
  }
  kernels::JointDensityArguments a{};
  std::copy(weights.begin(), weights.end(), a.smoothing);
  a.smoothingRadius = static_cast<int>(weights.size()) - 1;
  a.least = options.leastDensity;
  a.swapsMarginals = options.usesMarginalOfFixed;
  return a;
}

} // namespace gpureg

#endif
