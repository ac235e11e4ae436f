// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_SampleForces_h
#define gpureg_SampleForces_h

#include "engine/metric/samples/SampleMover.h"

#include <cstdint>
#include <vector>

namespace gpureg
{

/** Stores the force of each sample, float[3], and sums forces for the derivative: by the adjoint B-spline interpolation to control points,
 *  or about the samples, displaced by fixed pre-transforms if there are any. */
class SampleForces
{
public:
  /** All arguments must outlive this object. mover moves the samples that samples describes. */
  SampleForces(Queue & queue, const SampleDescription & samples, SampleArrays & arrays, SampleMover & mover)
    : m_Queue(queue)
    , m_Samples(samples)
    , m_Arrays(arrays)
    , m_Mover(mover)
    , m_PlaceControls(queue)
  {}

  /** Reserves memory for the force of each sample, for the mapping that was uploaded last. Along a B-spline forces overwrite the
   *  displacements if these are float[3], too: a kernel reads a sample's displacement before it writes the sample's force. */
  void
  Reserve();

  /** Calls enqueue(), which enqueues the work that computes the forces of the moved samples. Until it returns, target is the memory for the
   *  force of each sample, or null if forces are not kept of each sample. */
  template <typename TEnqueue>
  void
  Write(Forces forces, Memory *& target, const TEnqueue & enqueue)
  {
    m_Mover.CheckAreMoved();
    const bool overwrites = m_Mover.HasDisplacementsLikeForces();
    if (forces == Forces::OfEachSample)
    {
      target = overwrites ? &m_Arrays.displacement.OverwriteByForces() : m_Own.get();
    }
    enqueue();
    target = nullptr;
  }

  /** Returns the forces that were written last. \throws std::logic_error if the samples' displacements have overwritten them */
  Memory &
  Get() const
  {
    return m_Mover.HasDisplacementsLikeForces() ? m_Arrays.displacement.GetForces() : *m_Own;
  }

  /** Sets other places for forces than the samples, one force per place: i64[3], virtual indices in units of 2^-32. Without places, forces
   *  are those of the samples. */
  void
  SetPlaces(const std::vector<kernels::i64> & places);

  bool
  HasPlaces() const
  {
    return m_PlaceCount > 0;
  }

  /** Enqueues the adjoint B-spline interpolation of forces, float[3] per sample or place, to the control points, float4 each. Returns false
   *  if the last mapping had no spline. */
  bool
  ApplyAdjoint(const Memory & forces, MemoryPointer & controlForces);

  /** Enqueues the sums of forces, float[3] per sample or place, about the samples, displaced by fixed pre-transforms if there are any. */
  void
  Sum(const Memory & forces);

  /** Downloads the sums that Sum() computed. */
  ForceResult
  DownloadSums();

  std::int64_t
  GetDeviceBytes() const
  {
    return static_cast<std::int64_t>(SizeOf(m_Own) + SizeOf(m_Places)) + m_PlaceControls.GetDeviceBytes();
  }

private:
  MovedSamples
  GetMovedPlaces() const
  {
    return { m_Samples.fixed.virtualSize, m_PlaceCount, m_Places.get(), m_PlaceStamp };
  }

  Queue &                   m_Queue;
  const SampleDescription & m_Samples;
  SampleArrays &            m_Arrays;
  SampleMover &             m_Mover;
  MemoryPointer             m_Own; // null where forces overwrite the displacements
  MemoryPointer             m_Places;
  std::int64_t              m_PlaceCount = 0;
  std::uint64_t             m_PlaceStamp = 0;
  // Computes the adjoint interpolation from the places; displaces nothing.
  ControlPoints m_PlaceControls;
};

} // namespace gpureg

#endif
