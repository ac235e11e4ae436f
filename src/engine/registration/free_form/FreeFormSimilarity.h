// SPDX-License-Identifier: Apache-2.0
// The similarities that a free-form deformation optimises: one class for each kind of evaluation.
#ifndef gpureg_FreeFormSimilarity_h
#define gpureg_FreeFormSimilarity_h

#include "gpureg/registration/free_form/FreeFormRegistration.h"

#include "engine/registration/LevelSamples.h"
#include "engine/metric/MetricCore.h"
#include "engine/metric/samples/RegularSubsample.h"

#include <cstdint>
#include <memory>
#include <string>

namespace gpureg
{

/** The similarity of a level's images along a spline. The results of an evaluation stay on the device. */
class FreeFormSimilarity
{
public:
  FreeFormSimilarity(MetricCore & core, const FreeFormSettings & settings)
    : m_Core(core)
    , m_SampleCount(settings.samples)
    , m_Seed(settings.seed)
  {}
  virtual ~FreeFormSimilarity() = default;
  FreeFormSimilarity(const FreeFormSimilarity &) = delete;
  FreeFormSimilarity &
  operator=(const FreeFormSimilarity &) = delete;

  /** Sets the images of the samples. \param level each level has its own random numbers */
  void
  SetImages(
    const LevelImage & fixed, const LevelImage & moving, int dimension, int level, const ParallelFor & parallelFor);

  /** Returns true if each iteration draws its own samples, because fewer samples than voxels are requested. */
  bool
  DrawsSamples() const
  {
    return !m_Subsample.TakesAll();
  }

  /** Uses the samples of an iteration. Prepare() must be called again. */
  void
  Draw(std::uint32_t iteration);
  void
  TakeAllVoxels();

  /** Returns the map from the samples' indices to the level's voxels. */
  const IndexMap &
  GetSampleToVoxel() const
  {
    return m_SampleToVoxel;
  }

  /** Makes the arguments of evaluations along a mapping, and reserves their memory. */
  virtual void
  Prepare(const SampleMapping & mapping) = 0;

  /** Enqueues an evaluation with forces; the samples must have been moved. */
  virtual void
  EnqueueForces() = 0;

  /** Enqueues an evaluation without forces; the samples must have been moved. */
  virtual void
  EnqueueValue() = 0;

  virtual const Memory &
  GetForces() const = 0;

  /** Returns the numbers of the last evaluation: float, from GetEvaluatedPlace() on; see kernels/Evaluated.h. */
  virtual const Memory &
  GetEvaluated() const = 0;
  virtual std::int64_t
  GetEvaluatedPlace() const
  {
    return 0;
  }

  /** Returns 1 if a good value is small, or -1 if it is large. The similarity's part of the cost is the sign times the value. */
  virtual double
  GetSign() const = 0;

  /** Returns the unit of forces: the derivative of the similarity's part of the cost by a sample's position is the unit times the
   *  evaluated factor times the sample's force. */
  virtual double
  GetForceUnit() const = 0;

  /** Returns true if forces are derivatives by the moving image's index, and not by points. */
  virtual bool
  HasForcesByIndex() const
  {
    return true;
  }

protected:
  MetricCore &
  GetCore() const
  {
    return m_Core;
  }

  /** Sets how values are scaled, and which values the samples store. */
  virtual void
  Describe(const LevelImage & fixed, const LevelImage & moving, FixedSamples & samples, MovingImage & image) const = 0;

private:
  void
  SetFixed(const FixedSamples & samples);

  MetricCore &     m_Core;
  std::int64_t     m_SampleCount;
  std::uint64_t    m_Seed;
  int              m_Number = 0; // of the level
  FixedSamples     m_All;        // with all voxels
  RegularSubsample m_Subsample;
  IndexMap         m_SampleToVoxel;
  ParallelFor      m_ParallelFor;
};

/** Makes the similarity of the settings. \param core the core of the level, which the similarity uses */
std::unique_ptr<FreeFormSimilarity>
MakeFreeFormSimilarity(const FreeFormSettings & settings, MetricCore & core);

} // namespace gpureg

#endif
