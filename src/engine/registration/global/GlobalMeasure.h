// SPDX-License-Identifier: Apache-2.0
// The cost that a global search minimises, of a level's images: for many maps together, or for one with its derivative.
#ifndef gpureg_GlobalMeasure_h
#define gpureg_GlobalMeasure_h

#include "gpureg/core/EvaluationStatistics.h"
#include "gpureg/registration/global/GlobalChoices.h"
#include "gpureg/metric/samples/Samples.h"

#include "engine/registration/LevelSamples.h"

#include <memory>
#include <string>
#include <vector>

namespace gpureg
{

/** Of one map. */
struct MeasuredValue
{
  /** Of valid samples. */
  double count = 0;
  double value = 0;
  /** Not where no sample is valid, or their values do not vary. */
  bool isKnown = false;
};

/** The same, with its derivative by where samples map to, as GlobalMeasure::HasForcesByIndex() says: factor times the forces. */
struct MeasuredForces : MeasuredValue
{
  ForceResult forces;
  double      factor = 0;
};

/** The value's derivative along a change of the map, but for the factor. */
double
SumAlong(const ForceResult & forces, const IndexMap & change);

class GlobalMeasure
{
public:
  virtual ~GlobalMeasure() = default;

  /** \param samples of the fixed image, of which nothing is said yet of how values are counted. */
  virtual void
  SetImages(const LevelImage &  fixed,
            const LevelImage &  moving,
            FixedSamples        samples,
            MovingImage         image,
            const ParallelFor & parallelFor) = 0;

  /** Other samples of the same images. */
  virtual void
  SetSamples(FixedSamples samples, const ParallelFor & parallelFor) = 0;

  virtual std::vector<MeasuredValue>
  FindValues(const CandidateMaps & candidates, const ParallelFor & parallelFor) = 0;

  virtual MeasuredForces
  FindForces(const IndexMap & toMoving, const ParallelFor & parallelFor) = 0;

  /** Whether forces are derivatives by the moving image's index; else they are by points of its space. Those of global searches are by
   *  the index. */
  virtual bool
  HasForcesByIndex() const
  {
    return true;
  }

  /** Of images that have nothing to do with each other.
   *  \param fixed, moving values of a level's images, in any order. */
  virtual double
  FindUnrelated(const std::vector<double> & fixed, const std::vector<double> & moving) const
  {
    static_cast<void>(fixed);
    static_cast<void>(moving);
    return 0;
  }

  /** Of the last of the above. */
  virtual EvaluationStatistics
  GetStatistics() const = 0;

  /** Whether kernels are timed. */
  virtual void
  SetTiming(bool on) = 0;
};

/** \param bins of a histogram, where the cost has one. */
std::unique_ptr<GlobalMeasure>
MakeGlobalMeasure(GlobalCost cost, const std::string & deviceName, int bins);

} // namespace gpureg

#endif
