// SPDX-License-Identifier: Apache-2.0
// The measurement of a row of a metric's benchmark.
#ifndef MetricRows_h
#define MetricRows_h

#include "LoadedMetrics.h"
#include "Stopwatch.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>

namespace bench
{

/** Columns of counts of one evaluation. */
const std::vector<std::string> MetricCounts{ "launches",    "copies_up",        "copies_down",
                                             "allocations", "synchronisations", "bytes_up",
                                             "bytes_down",  "device_MB",        "x_two_volumes" };

/** Measures Initialize() of a new metric, its first evaluation, and a second Initialize(). */
template <typename TMetric>
void
MeasureInitialize(benchmark::State & state, TMetric & metric)
{
  const auto time = [](const auto & step) {
    const example::Stopwatch watch;
    step();
    return 1000 * watch.GetSeconds();
  };
  for (auto _ : state)
  {
    metric.Initialize();
  }
  MetricResult result;
  state.counters["first_evaluation_ms"] = time([&] { result.Evaluate(metric, Quantity::ValueAndDerivative); });
  state.counters["initialize_again_ms"] = time([&] { metric.Initialize(); });
}

template <typename TLoaded>
void
MeasureITK(benchmark::State & state, TLoaded & loaded, Quantity quantity)
{
  const auto & metric = loaded.GetITK();
  for (auto _ : state)
  {
    loaded.result.Evaluate(metric, quantity);
  }
}

/** Measures a row. \param leastTraffic bytes of an evaluation.
 *  \param isITKs true if the metric has ITK's formula. */
template <typename TLoaded>
void
MeasureOurs(benchmark::State &     state,
            TLoaded &              loaded,
            Quantity               quantity,
            const itk::GPUDevice & device,
            double                 leastTraffic,
            bool                   isITKs)
{
  auto &         metric = loaded.GetOurs(device);
  MetricResult & result = loaded.result;
  metric.SetMeasuresKernelTime(false);
  double withTransfers = 0;
  for (auto _ : state)
  {
    result.Evaluate(metric, quantity);
    withTransfers += metric.GetEvaluationStatistics().evaluateMilliseconds;
  }
  const gpureg::EvaluationStatistics counts = metric.GetEvaluationStatistics();
  // Measured separately, so that the events affect no other figure.
  metric.SetMeasuresKernelTime(true);
  const auto kernelCalls = std::min<benchmark::IterationCount>(state.iterations(), 10);
  double     kernels = 0;
  for (benchmark::IterationCount n = 0; n < kernelCalls; ++n)
  {
    result.Evaluate(metric, quantity);
    kernels += metric.GetEvaluationStatistics().kernelMilliseconds / static_cast<double>(kernelCalls);
  }

  state.counters["kernels_ms"] = kernels;
  state.counters["with_transfers_ms"] = withTransfers / static_cast<double>(state.iterations());
  state.counters["GB/s"] = leastTraffic / kernels * 1e-6;
  state.counters["launches"] = counts.launches;
  state.counters["copies_up"] = counts.copiesUp;
  state.counters["copies_down"] = counts.copiesDown;
  state.counters["allocations"] = counts.allocations;
  state.counters["synchronisations"] = counts.synchronizations;
  state.counters["bytes_up"] = static_cast<double>(counts.bytesUp);
  state.counters["bytes_down"] = static_cast<double>(counts.bytesDown);
  state.counters["device_MB"] = static_cast<double>(counts.deviceBytes) * 1e-6;
  state.counters["x_two_volumes"] = static_cast<double>(counts.deviceBytes) / loaded.input.GetVolumeBytes();
  if (isITKs)
  {
    const MetricResult & reference = loaded.GetReference();
    state.counters["value_difference"] = std::abs(result.value - reference.value) / std::abs(reference.value);
    if (quantity == Quantity::ValueAndDerivative)
    {
      state.counters["derivative_difference"] = result.GetDerivativeDifference(reference);
    }
  }
}

} // namespace bench

#endif
