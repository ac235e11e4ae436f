// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_SampleMover_h
#define gpureg_SampleMover_h

#include "engine/metric/samples/ControlPoints.h"
#include "engine/metric/samples/PreTransforms.h"
#include "engine/metric/samples/SampleProblem.h"
#include "engine/transform/ChainOnDevice.h"
#include "engine/runtime/MemoryLedger.h"

#include <cstdint>
#include <optional>
#include <string>

namespace gpureg
{

/** Displaces the samples along a mapping's field, B-spline, fixed pre-transforms and chain. */
class SampleMover
{
public:
  /** All arguments must outlive this object. samples describes what arrays hold. */
  SampleMover(Queue & queue, const SampleDescription & samples, SampleArrays & arrays)
    : m_Queue(queue)
    , m_Samples(samples)
    , m_Arrays(arrays)
    , m_Chain(queue, arrays.chain)
    , m_ControlPoints(queue)
    , m_PreTransforms(queue)
  {}

  /** Uploads the displacement field or the spline's control points, and the chain's grids, if there are any.
   *  \param forces the forces that will be computed */
  void
  Upload(const SampleMapping & mapping, Forces forces);

  /** Writes down the arrays that Upload() makes for a mapping without pre-transforms and without a field of the host.
   *  \param name what their names begin with
   *  \return true if displacements are as large as forces */
  bool
  Plan(const SampleMapping & mapping, const std::string & name, MemoryLedger & ledger);

  /** Enqueues the computation of the samples' displacements from the mapping that Upload() uploaded. */
  void
  Move();

  /** \throws std::logic_error if the last mapping displaces the samples, and the array does not hold their displacements */
  void
  CheckAreMoved() const
  {
    if (m_HasDisplacements)
    {
      m_Arrays.displacement.GetDisplacements();
    }
  }

  /** Returns the B-spline of the last mapping, without its vectors, if it had one. */
  const std::optional<OptimizedSpline> &
  GetSpline() const
  {
    return m_Spline;
  }

  /** Returns the array for the displacements of the last mapping, if that said that they lie on the device. */
  Memory &
  FillWithDisplacements()
  {
    return m_Arrays.displacement.FillWithDisplacements();
  }

  /** Returns true if the last mapping had displacements on the device that are as large as forces: float[3] per sample. */
  bool
  HasDisplacementsLikeForces() const
  {
    return m_IsDisplacedOnDevice || (m_Spline && !m_SplineIsFixedPoint);
  }

  /** Returns true if the last mapping had fixed pre-transforms. */
  bool
  HasPreTransforms() const
  {
    return m_HasPreTransforms;
  }

  ControlPoints &
  GetControlPoints()
  {
    return m_ControlPoints;
  }
  const ControlPoints &
  GetControlPoints() const
  {
    return m_ControlPoints;
  }

  PreTransforms &
  GetPreTransforms()
  {
    return m_PreTransforms;
  }

  std::int64_t
  GetDeviceBytes() const
  {
    return m_ControlPoints.GetDeviceBytes() + m_PreTransforms.GetDeviceBytes();
  }

private:
  /** Returns a chain's grid enlarged to the farthest point, because points may lie beside the grid, whose size limits how far a chain may
   *  lead. */
  ChainedGrid
  WidenToPoints(ChainedGrid grid) const;
  void
  UploadChain(const SampleMapping & mapping, Forces forces, bool isFixedPoint);
  void
  UploadSpline(const SampleMapping & mapping, bool isFixedPoint);

  Queue &                   m_Queue;
  const SampleDescription & m_Samples;
  SampleArrays &            m_Arrays;
  ChainOnDevice             m_Chain;
  ControlPoints             m_ControlPoints;
  PreTransforms             m_PreTransforms;
  // The parts of the last mapping.
  bool                           m_HasDisplacements = false;
  bool                           m_HasPreTransforms = false;
  bool                           m_IsDisplacedOnDevice = false;
  bool                           m_SplineIsFixedPoint = false;
  std::optional<OptimizedSpline> m_Spline; // without its vectors
};

} // namespace gpureg

#endif
