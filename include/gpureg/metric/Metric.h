// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_Metric_h
#define gpureg_Metric_h

#include "GPURegistrationExport.h"
#include "gpureg/core/EvaluationStatistics.h"
#include "gpureg/metric/samples/Samples.h"

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace gpureg
{

class MetricCore;

/** What all metrics are on one device: the samples and the moving image, which stay there between evaluations. A map goes
 *  up, sums come down.
 *
 *  Objects are independent of each other and may run on several host threads at once; one object
 *  serves one thread at a time. Every function throws gpureg::Error. After a failed SetFixedSamples or SetMovingImage
 *  that one is missing, an evaluation says so, and the object can be given it again. */
class GPURegistration_EXPORT Metric
{
public:
  Metric(const Metric &) = delete;
  Metric &
  operator=(const Metric &) = delete;

  const std::string &
  GetDeviceName() const;

  /** The fixed samples'. */
  Precision
  GetPrecision() const;

  /** Copies what the fixed image says of the samples to the device. */
  void
  SetFixedSamples(const FixedSamples & samples, const ParallelFor & parallelFor);

  /** Copies the moving image to the device. */
  void
  SetMovingImage(const MovingImage & image, const ParallelFor & parallelFor);

  /** Hands out the forces of the last evaluation, if it was of Forces::OfEachSample: float[3] a sample, 0 where it is not
   *  valid, in chunks from several threads at once.
   *  \param take (first sample, their number, their forces). */
  void
  TakeForces(const std::function<void(std::int64_t, std::int64_t, const float *)> & take,
             const ParallelFor &                                                    parallelFor);

  /** The same, gathered by the control points of the spline that the last evaluation's samples were moved by: Σ w f, with a
   *  sample's weight w; float[3] a control point. */
  std::vector<std::array<float, 3>>
  GatherForces(const ParallelFor & parallelFor);

  /** The same, summed about where fixed pre-transforms have moved the samples, as virtual indices: SampleMapping::preTransforms. */
  ForceResult
  SumForces(const ParallelFor & parallelFor);

  /** Measures kernel times from now on. */
  void
  SetTiming(bool on);

  /** Of the last evaluation. */
  EvaluationStatistics
  GetStatistics() const;

protected:
  /** \throws Error if there is no such device; the message lists those there are. */
  explicit Metric(const std::string & deviceName);
  ~Metric();

  MetricCore &
  GetCore() const
  {
    return *m_Core;
  }

private:
  std::unique_ptr<MetricCore> m_Core;
};

} // namespace gpureg

#endif
