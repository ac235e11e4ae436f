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

/** Is the base class of all metrics on one device. The samples and the moving image stay on the device between evaluations; an
 *  evaluation uploads a map, and downloads sums.
 *
 *  Objects are independent of each other, and may run on several host threads at once; use one object from one thread at a time. Every
 *  function throws gpureg::Error. After a failed SetFixedSamples() or SetMovingImage() the samples or the image are missing, and an
 *  evaluation says so; the object can be given them again. */
class GPURegistration_EXPORT Metric
{
public:
  Metric(const Metric &) = delete;
  Metric &
  operator=(const Metric &) = delete;

  const std::string &
  GetDeviceName() const;

  /** Returns the precision of the fixed samples. */
  Precision
  GetPrecision() const;

  /** Uploads what the samples take from the fixed image, or makes it on the device. */
  void
  SetFixedSamples(const FixedSamples & samples, const ParallelFor & parallelFor);

  /** Uploads the moving image, or makes it on the device. */
  void
  SetMovingImage(const MovingImage & image, const ParallelFor & parallelFor);

  /** Passes the forces of the last evaluation, which must have been of Forces::OfEachSample, to take: float[3] per sample, 0 for
   *  samples that are not valid, in chunks, from several threads at once.
   *  \param take a function (first sample, number of samples, their forces).
   *  \param parallelFor the threads to use. */
  void
  TakeForces(const std::function<void(std::int64_t, std::int64_t, const float *)> & take,
             const ParallelFor &                                                    parallelFor);

  /** Returns, for each control point of the spline along which the last evaluation mapped its samples, the sum Σ w f of the samples'
   *  forces f, with their B-spline weights w (adjoint B-spline interpolation). */
  std::vector<std::array<float, 3>>
  InterpolateForcesAdjointly(const ParallelFor & parallelFor);

  /** Returns the sums of the last evaluation's forces about the samples, or about the positions to which fixed pre-transforms move them, as
   *  virtual indices: see SampleMapping::preTransforms. The evaluation must have been of Forces::OfEachSample. */
  ForceResult
  SumForces(const ParallelFor & parallelFor);

  /** Measures kernel times from now on. */
  void
  SetTiming(bool on);

  /** Returns the statistics of the last evaluation. */
  EvaluationStatistics
  GetStatistics() const;

protected:
  /** Makes a metric on one device.
   *  \throws Error if there is no such device; the message lists the devices. */
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
