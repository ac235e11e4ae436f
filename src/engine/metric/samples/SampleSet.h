// SPDX-License-Identifier: Apache-2.0
// The samples of a metric on a device, the moving image that they read, and their division into chunks.
#ifndef gpureg_SampleSet_h
#define gpureg_SampleSet_h

#include "gpureg/metric/samples/Samples.h"

#include "engine/transform/ChainOnDevice.h"
#include "engine/metric/samples/ControlPoints.h"
#include "engine/metric/samples/FixedGradients.h"
#include "engine/metric/samples/ImageSampler.h"
#include "engine/metric/samples/PreTransforms.h"
#include "engine/metric/samples/MovingVolumes.h"
#include "engine/metric/samples/SampleArrays.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace gpureg
{

/** Describes what a metric requires of its samples. */
struct SampleNeeds
{
  /** The least number of samples in a chunk that justifies sums of its own, and the largest number that the sums can hold. */
  int leastOfChunk;
  int mostOfChunk;
  /** The range that the moving image's values are scaled to. */
  double scaledRange;
};

/** All arguments of kernels that read samples, except the arrays. */
struct SampleProblem
{
  kernels::SampleArguments arguments{};
  kernels::SampleMaps      maps{};
};

class SampleSet
{
public:
  explicit SampleSet(Queue & queue)
    : m_Queue(queue)
    , m_Sampler(queue)
    , m_Derivatives(queue, m_Sampler)
    , m_FixedGradients(queue, m_Sampler, m_Derivatives)
    , m_MovingVolumes(queue, m_Sampler, m_Derivatives)
    , m_Chain(queue, m_Arrays.chain)
    , m_ControlPoints(queue)
    , m_PreTransforms(queue)
    , m_PlaceControls(queue)
  {}

  /** Uploads the samples. If the domain has no voxels, there is one sample, which is invalid.
   *  \throws Error if there are more samples than 32 bits count */
  void
  SetFixed(const FixedSamples & samples, const ParallelFor & parallelFor);

  /** Uploads the moving image. \throws Error if it has more rows, or more voxels in a slice, than 32 bits count */
  void
  SetMoving(const MovingImage & image, bool readsQuads, const ParallelFor & parallelFor);

  /** \throws Error unless samples and moving image are set, have one precision, and the samples have their values, or their bins if
   *  readsFixedValues is false */
  void
  CheckIsComplete(bool readsFixedValues) const;

  /** Returns true if fixed and moving values have one unit and one minimum. */
  bool
  AreCountedAlike() const;

  const FixedSamples &
  GetFixed() const
  {
    return m_Fixed;
  }

  /** Returns true if the samples' domain has no voxels. */
  bool
  IsEmpty() const
  {
    return m_IsEmpty;
  }

  /** Returns a number that changes with each SetFixed(); 0 before the first call. */
  std::uint64_t
  GetFixedStamp() const
  {
    return m_FixedStamp;
  }

  const MovingImage &
  GetMoving() const
  {
    return m_Moving;
  }

  bool
  IsPrecise() const
  {
    return m_Fixed.precision == Precision::Double;
  }

  std::int64_t
  GetCount() const;

  /** Uploads the displacement field or the spline's control points, and the chain's grids, if there are any.
   *  \param forces the forces that will be computed */
  void
  UploadMapping(const SampleMapping & mapping, Forces forces);

  /** Enqueues the computation of the samples' displacements from the mapping that UploadMapping() uploaded. */
  void
  Move();

  /** Returns memory for the force of each sample, float[3]; to be called after UploadMapping(). With a spline, the forces overwrite the
   *  displacements if these are float[3], too: Move() computes them anew for each evaluation, and a kernel reads a sample's displacement
   *  before it writes the sample's force. */
  Memory &
  ReserveForces();

  /** Sets other places for forces than the samples, one force per place: i64[3], virtual indices in units of 2^-32. Null for the
   *  samples. */
  void
  SetForcePlaces(std::int64_t count, const Memory * places)
  {
    m_ForcePlaceCount = count;
    m_ForcePlaces = places;
    ++m_ForcePlaceStamp;
  }

  /** Enqueues the adjoint B-spline interpolation of forces, float[3] per sample, to the control points, float4 each. Returns false if the
   *  last mapping had no spline. */
  bool
  Gather(const Memory & forces, MemoryPointer & gathered);

  /** Returns true if the last mapping had fixed pre-transforms. */
  bool
  HasPreTransforms() const
  {
    return m_HasPreTransforms;
  }

  /** Enqueues the sums of forces, float[3] per sample, about the samples displaced by the fixed pre-transforms. */
  void
  SumForces(const Memory & forces);

  /** Downloads the sums that SumForces() computed. */
  ForceResult
  DownloadForceSums();

  SampleProblem
  MakeProblem(const SampleMapping & mapping, Forces forces, const SampleGrain & grain, const SampleNeeds & needs) const;

  /** Returns the arguments for samples that are not cut into chunks. */
  SampleProblem
  MakeProblem(const SampleMapping & mapping, Forces forces, double scaledRange) const;

  /** Returns the arguments of samples cut into other chunks, for a pass that sums no forces: the centre of the sums is not restored. */
  SampleProblem
  CutAnew(SampleProblem problem, const SampleGrain & grain, const SampleNeeds & needs) const;

  /** Returns the maps of another linear mapping, for the samples described by the arguments of a problem. */
  kernels::SampleMaps
  MakeMaps(const IndexMap & toMoving, const kernels::SampleArguments & arguments, double scaledRange) const;

  /** Returns the number of floats to which chunks sum their forces, if each chunk has parts sets of sums. */
  static std::size_t
  CountPartials(const kernels::SampleArguments & arguments, int parts);

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
    return m_ControlPoints;
  }
  const ControlPoints &
  GetControlPoints() const
  {
    return m_ControlPoints;
  }

  const SampleArrays &
  GetArrays() const
  {
    return m_Arrays;
  }

  std::int64_t
  GetDeviceBytes() const;

private:
  /** Returns true if the displacements, by field, spline or chain, are stored in fixed point. */
  bool
  MovesPrecisely(const SampleMapping & mapping) const;
  /** Returns the virtual index that the first-order sums of forces refer to. */
  Vector3
  GetCentre() const;
  /** Returns a chain's grid enlarged to the farthest point, because points may lie beside the grid, whose size limits how far a chain may
   *  lead. */
  ChainedGrid
  WidenToPoints(ChainedGrid grid) const;
  int
  FindVariant(const SampleMapping & mapping, Forces forces) const;
  kernels::SampleMaps
  MakeMaps(const IndexMap & toMoving, double scaledRange) const;
  static Precision
  GetPrecision(const FixedSamples & samples);
  void
  FillFixed(const FixedSamples & samples, const ParallelFor & parallelFor);
  /** Computes the samples' values and bins from an image on the device. */
  void
  TakeFixed(const FixedSamples & samples);
  /** \param leaveOut returns a filler of the samples' values in which points that are too far away get an invalid value */
  template <typename TLeaveOut>
  void
  FillFixedValues(const FixedSamples & samples, std::int64_t count, const TLeaveOut & leaveOut);

  Queue &             m_Queue;
  ImageSampler        m_Sampler;
  GaussianDerivatives m_Derivatives;
  FixedGradients      m_FixedGradients;
  MovingVolumes       m_MovingVolumes;
  // The fillers of m_Fixed are only tested for being set.
  FixedSamples  m_Fixed;
  bool          m_IsEmpty = false;
  std::uint64_t m_FixedStamp = 0;
  MovingImage   m_Moving;
  bool          m_ReadsQuads = false;
  double        m_FarthestPoint = 0;
  SampleArrays  m_Arrays;
  MemoryPointer m_Forces; // null where forces overwrite the displacements
  ChainOnDevice m_Chain;
  ControlPoints m_ControlPoints;
  // The spline of the last mapping, without its vectors.
  bool             m_HasSpline = false;
  bool             m_SplineIsPrecise = false;
  int              m_SplineDimension = 3;
  DisplacementGrid m_SplineGrid;
  PreTransforms    m_PreTransforms;
  bool             m_HasPreTransforms = false; // of the last mapping
  // Computes the adjoint interpolation from the places of forces; displaces nothing.
  ControlPoints  m_PlaceControls;
  std::int64_t   m_ForcePlaceCount = 0;
  const Memory * m_ForcePlaces = nullptr;
  std::uint64_t  m_ForcePlaceStamp = 0;
};

} // namespace gpureg

#endif
