// SPDX-License-Identifier: Apache-2.0
// The host's passes of metrics that are a mutual information of their joint histogram.
// src/kernels/metric/histogram/EntropyTableKernels.h has the counterpart of the table for CUDA and OpenCL.
#ifndef gpureg_HostEntropyPasses_h
#define gpureg_HostEntropyPasses_h

#include "host/metric/histogram/HostHistogramPasses.h"

#include "kernels/metric/histogram/EntropyTable.h"

#include <algorithm>
#include <vector>

namespace gpureg
{

/** \tparam TArguments the metric's arguments, which have a member normalized */
template <typename TArguments>
class HostEntropyPasses : public HostHistogramPasses<TArguments>
{
public:
  using HostHistogramPasses<TArguments>::HostHistogramPasses;

  void
  Table(const TArguments & a, const HistogramArrays & arrays) override
  {
    const u64 *        histogram = AddressOf<u64>(arrays.sums);
    float *            table = AddressOf<float>(arrays.table);
    const int          bins = a.histogram.rows;
    std::vector<float> fixedMarginal(bins), movingMarginal(bins);
    std::vector<u64>   columns(bins);
    float              count = 0;
    this->GetQueue().CountLaunch();
    for (int bin = 0; bin < bins; ++bin)
    {
      u64 row = 0, column = 0;
      for (int other = 0; other < bins; ++other)
      {
        row += histogram[bin * bins + other];
        column += histogram[other * bins + bin];
      }
      fixedMarginal[bin] = static_cast<float>(row);
      movingMarginal[bin] = static_cast<float>(column);
      columns[bin] = column;
      count += static_cast<float>(row);
    }
    const float scale = 1.0f / count;
    float       marginalEntropies = 0, jointEntropy = 0;
    for (int bin = 0; bin < bins; ++bin)
    {
      marginalEntropies += EntropyTerm(fixedMarginal[bin] * scale) + EntropyTerm(movingMarginal[bin] * scale);
    }
    float information = 0;
    for (int entry = 0; entry < bins * bins; ++entry)
    {
      const float joint = static_cast<float>(histogram[entry]) * scale;
      jointEntropy += EntropyTerm(joint);
      information +=
        MutualInformationTerm(joint, fixedMarginal[entry / bins] * scale, movingMarginal[entry % bins] * scale);
    }
    const float   inverseJointEntropy = jointEntropy > 0 ? 1.0f / jointEntropy : 0.0f;
    const float   value = a.normalized ? marginalEntropies * inverseJointEntropy : information;
    float * const numbers =
      table + bins * bins * (TableEntryBytes(a.histogram.samples.variant) / static_cast<int>(sizeof(float)));
    numbers[EvaluatedFactor] = count > 0 ? scale : 0.0f;
    numbers[EvaluatedValue] = count > 0 ? value : GPUREG_NO_EVALUATED_VALUE;
    if (VariantHas(a.histogram.samples.variant, SamplesAreFixedPoint))
    {
      i64 * const      fixedPointTable = AddressOf<i64>(arrays.table);
      std::vector<i64> logarithms(bins);
      std::transform(columns.begin(), columns.end(), logarithms.begin(), LogOfCount);
      for (int entry = 0; entry < bins * bins; ++entry)
      {
        fixedPointTable[entry] = FixedPointTableEntry(a.normalized,
                                                      LogOfCount(histogram[entry]),
                                                      logarithms[entry % bins],
                                                      marginalEntropies * inverseJointEntropy,
                                                      inverseJointEntropy);
      }
      return;
    }
    for (int entry = 0; entry < bins * bins; ++entry)
    {
      table[entry] = TableEntry(a.normalized,
                                static_cast<float>(histogram[entry]) * scale,
                                movingMarginal[entry % bins] * scale,
                                scale,
                                marginalEntropies * inverseJointEntropy,
                                inverseJointEntropy);
    }
  }
};

} // namespace gpureg

#endif
