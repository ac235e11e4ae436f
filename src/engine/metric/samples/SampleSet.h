// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_SampleSet_h
#define gpureg_SampleSet_h

#include "engine/metric/samples/MovingVolumes.h"
#include "engine/metric/samples/SampleForces.h"
#include "engine/metric/samples/SampleLoader.h"
#include "engine/metric/samples/SampleMover.h"
#include "engine/metric/samples/SamplePartition.h"
#include "engine/runtime/MemoryLedger.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace gpureg
{

/** The samples of a metric on a device, and the moving image that they read. SampleLoader and MovingVolumes fill the arrays, SampleMover
 *  displaces the samples, SampleForces holds their forces, and SampleProblem.h and SamplePartition.h make the arguments of kernels. */
class SampleSet
{
public:
  /** queue must outlive this object. */
  explicit SampleSet(Queue & queue)
    : m_Queue(queue)
    , m_Sampler(queue)
    , m_Derivatives(queue, m_Sampler)
    , m_Loader(queue, m_Sampler, m_Derivatives)
    , m_MovingVolumes(queue, m_Sampler, m_Derivatives)
    , m_Mover(queue, m_Samples, m_Arrays)
    , m_Forces(queue, m_Samples, m_Arrays, m_Mover)
  {}
  SampleSet(const SampleSet &) = delete;
  SampleSet &
  operator=(const SampleSet &) = delete;

  /** Uploads the samples. If the domain has no voxels, there is one sample, which is invalid.
   *  \throws Error if there are more samples than 32 bits count */
  void
  SetFixed(const FixedSamples & samples, const ParallelFor & parallelFor);

  /** Uploads the moving image. \throws Error if it has more rows, or more voxels in a slice, than 32 bits count */
  void
  SetMoving(const MovingImage & image, bool readsQuads, const ParallelFor & parallelFor);

  /** Describes samples and moving image, which need be on no device, instead of setting them, and writes down the arrays that SetFixed()
   *  and SetMoving() make of images on the device. MakeProblem() then makes the arguments of evaluations, whose arrays can be counted.
   *  \param name what the arrays' names begin with */
  void
  Plan(const FixedSamples & samples,
       const MovingImage &  image,
       bool                 readsQuads,
       const std::string &  name,
       MemoryLedger &       ledger);

  /** Writes down the arrays of a mapping that UploadMapping() makes, and those of the forces of each sample, if there are such forces. */
  void
  PlanMapping(const SampleMapping & mapping, Forces forces, const std::string & name, MemoryLedger & ledger);

  /** \throws Error unless samples and moving image are set, have one precision, and the samples have their values, or their bins if
   *  readsFixedValues is false */
  void
  CheckIsComplete(bool readsFixedValues) const;

  /** Returns true if fixed and moving values have one unit and one minimum. */
  bool
  HaveOneUnit() const;

  const FixedSamples &
  GetFixed() const
  {
    return m_Samples.fixed;
  }

  /** Returns true if the samples' domain has no voxels. */
  bool
  IsEmpty() const
  {
    return m_Samples.isEmpty;
  }

  /** Returns a number that changes with each SetFixed(); 0 before the first call. */
  std::uint64_t
  GetFixedStamp() const
  {
    return m_Samples.stamp;
  }

  const MovingImage &
  GetMoving() const
  {
    return m_Samples.moving;
  }

  bool
  IsFixedPoint() const
  {
    return m_Samples.IsFixedPoint();
  }

  std::int64_t
  GetCount() const
  {
    return m_Samples.GetCount();
  }

  /** Uploads what a mapping needs; see SampleMover::Upload(). */
  void
  UploadMapping(const SampleMapping & mapping, Forces forces);

  /** Enqueues the computation of the samples' displacements from the mapping that UploadMapping() uploaded. */
  void
  Move()
  {
    m_Mover.Move();
  }

  /** Returns the array for the displacements of the mapping that UploadMapping() was given, float[3] a virtual voxel, if they lie on the
   *  device. */
  Memory &
  FillWithDisplacements()
  {
    return m_Mover.FillWithDisplacements();
  }

  /** \throws std::logic_error if the mapping displaces the samples, and they have not been moved since the last forces were computed */
  void
  CheckAreMoved() const
  {
    m_Mover.CheckAreMoved();
  }

  SampleForces &
  GetForces()
  {
    return m_Forces;
  }
  const SampleForces &
  GetForces() const
  {
    return m_Forces;
  }

  SampleProblem
  MakeProblem(const SampleMapping & mapping, Forces forces, const SampleGrain & grain, const SampleNeeds & needs) const;

  /** Returns the arguments for samples that are not cut into chunks. */
  SampleProblem
  MakeProblem(const SampleMapping & mapping, Forces forces, double scaledRange) const;

  /** Returns the arguments of samples cut into other chunks, for a pass that sums no forces: the centre of the sums is not restored. */
  SampleProblem
  CutDifferently(SampleProblem problem, const SampleGrain & grain, const SampleNeeds & needs) const;

  /** Returns the maps of another linear mapping, for the samples described by the arguments of a problem. */
  kernels::SampleMaps
  MakeMaps(const IndexMap & toMoving, const kernels::SampleArguments & arguments, double scaledRange) const;

  /** Adds up the sums of forces of all chunks and parts. */
  ForceResult
  SumPartials(const kernels::SampleArguments & arguments, const float * partials, std::size_t count) const;

  /** Returns the sums of forces of all chunks in terms of the virtual grid. */
  ForceResult
  MakeForceResult(const kernels::SampleArguments &                   arguments,
                  const std::array<double, kernels::ForceSumCount> & sums) const;

  ControlPoints &
  GetControlPoints()
  {
    return m_Mover.GetControlPoints();
  }
  const ControlPoints &
  GetControlPoints() const
  {
    return m_Mover.GetControlPoints();
  }

  const SampleArrays &
  GetArrays() const
  {
    return m_Arrays;
  }

  std::int64_t
  GetDeviceBytes() const;

private:
  Queue &             m_Queue;
  ImageSampler        m_Sampler;
  GaussianDerivatives m_Derivatives;
  SampleLoader        m_Loader;
  MovingVolumes       m_MovingVolumes;
  SampleDescription   m_Samples;
  SampleArrays        m_Arrays;
  SampleMover         m_Mover;
  SampleForces        m_Forces;
};

} // namespace gpureg

#endif
