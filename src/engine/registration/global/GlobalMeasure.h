// SPDX-License-Identifier: Apache-2.0
// The cost of a level's images along linear maps, for global searches and for metrics by themselves: of many maps together, or of one
// map with its derivative.
#ifndef gpureg_GlobalMeasure_h
#define gpureg_GlobalMeasure_h

#include "gpureg/core/EvaluationStatistics.h"
#include "gpureg/metric/Similarity.h"
#include "gpureg/metric/samples/Samples.h"

#include "engine/registration/LevelSamples.h"

#include <memory>
#include <string>
#include <vector>

namespace gpureg
{

/** The value of one map. */
struct MeasuredValue
{
  /** The number of valid samples. */
  double count = 0;
  double value = 0;
  /** False where no sample is valid, or the samples' values do not vary. */
  bool isKnown = false;
};

/** The value of one map with its derivative by the samples' positions: factor times the forces. The derivative is by the moving image's
 *  index, except for a similarity with neighborhoods, whose derivative is by points. */
struct MeasuredForces : MeasuredValue
{
  ForceResult forces;
  double      factor = 0;
};

/** Returns the value's derivative along a change of the map, without the factor. */
double
SumAlong(const ForceResult & forces, const IndexMap & change);

class GlobalMeasure
{
public:
  virtual ~GlobalMeasure() = default;

  /** \param samples samples of the fixed image, whose scale or bins are not set yet */
  virtual void
  SetImages(const LevelImage &  fixed,
            const LevelImage &  moving,
            FixedSamples        samples,
            MovingImage         image,
            const ParallelFor & parallelFor) = 0;

  /** Sets other samples of the images. */
  virtual void
  SetSamples(FixedSamples samples, const ParallelFor & parallelFor) = 0;

  virtual std::vector<MeasuredValue>
  ComputeValues(const CandidateMaps & candidates, const ParallelFor & parallelFor) = 0;

  virtual MeasuredForces
  ComputeForces(const IndexMap & toMoving, const ParallelFor & parallelFor) = 0;

  /** Returns the statistics of the last call of a function above. */
  virtual EvaluationStatistics
  GetStatistics() const = 0;

  /** Sets whether the time of kernels is measured. */
  virtual void
  SetTiming(bool on) = 0;
};

/** Makes the measure of a similarity. \param settings its settings, which CheckSettings() has checked */
std::unique_ptr<GlobalMeasure>
MakeGlobalMeasure(const SimilaritySettings & settings, const std::string & deviceName);

} // namespace gpureg

#endif
