// SPDX-License-Identifier: Apache-2.0
// What a free-form deformation makes large, or small: one class a kind of evaluation.
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

/** The similarity of a level's images along a spline. What an evaluation comes to stays on the device. */
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

  /** Gives the samples the images. \param level another one has other random numbers. */
  void
  SetImages(
    const LevelImage & fixed, const LevelImage & moving, int dimension, int level, const ParallelFor & parallelFor);

  /** Whether each iteration has its own samples: where fewer than all voxels are asked for. */
  bool
  DrawsSamples() const
  {
    return !m_Subsample.TakesAll();
  }

  /** Takes the samples of an iteration from now on, or all voxels; what was prepared is to be prepared again. */
  void
  Draw(std::uint32_t iteration);
  void
  TakeAllVoxels();

  /** From the samples' indices to the voxels of the level. */
  const IndexMap &
  GetSampleToVoxel() const
  {
    return m_SampleToVoxel;
  }

  /** Finds out what evaluations along a mapping take, and makes room for them. */
  virtual void
  Prepare(const SampleMapping & mapping) = 0;

  /** Enqueues an evaluation, with forces; the samples are where they have been moved. */
  virtual void
  EnqueueForces() = 0;

  /** The same without. */
  virtual void
  EnqueueValue() = 0;

  virtual const Memory &
  GetForces() const = 0;

  /** float: from GetEvaluatedPlace() on what the last evaluation has left, see kernels/Evaluated.h. */
  virtual const Memory &
  GetEvaluated() const = 0;
  virtual std::int64_t
  GetEvaluatedPlace() const
  {
    return 0;
  }

  /** The similarity's part of the cost is this times the value: 1 where a small value is good, -1 where a large one is. */
  virtual double
  GetSign() const = 0;

  /** That part's derivative by where a sample maps to is this times the evaluated factor times its force. */
  virtual double
  GetForceUnit() const = 0;

  /** Whether forces are by the index in the moving image, not by the moving point. */
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

  /** Says how values are counted, and what is kept of them. */
  virtual void
  Describe(const LevelImage & fixed, const LevelImage & moving, FixedSamples & samples, MovingImage & image) const = 0;

private:
  void
  SetFixed(const FixedSamples & samples);

  MetricCore &     m_Core;
  std::int64_t     m_SampleCount;
  std::uint64_t    m_Seed;
  int              m_Number = 0; // of the level
  FixedSamples     m_All;        // of all voxels
  RegularSubsample m_Subsample;
  IndexMap         m_SampleToVoxel;
  ParallelFor      m_ParallelFor;
};

/** \param core the level's, on which the similarity lives. */
std::unique_ptr<FreeFormSimilarity>
MakeFreeFormSimilarity(const FreeFormSettings & settings, MetricCore & core);

} // namespace gpureg

#endif
