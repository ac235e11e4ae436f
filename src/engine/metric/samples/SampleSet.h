// SPDX-License-Identifier: Apache-2.0
// A metric's samples on a device, the moving image that they read, and how a device goes through them.
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

/** What a metric wants of them. */
struct SampleNeeds
{
  /** Samples of a chunk: what pays for its sums, and what they can hold. */
  int leastOfChunk;
  int mostOfChunk;
  /** What the moving image's range is scaled to. */
  double scaledRange;
};

/** All that kernels are told of the samples, but for the arrays. */
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

  /** Of a domain without voxels there is one sample, which is not valid.
   *  \throws Error if there are more than 32 bits count. */
  void
  SetFixed(const FixedSamples & samples, const ParallelFor & parallelFor);

  /** \throws Error if it has more rows, or more voxels in a slice, than 32 bits count. */
  void
  SetMoving(const MovingImage & image, bool readsQuads, const ParallelFor & parallelFor);

  /** \throws Error unless both are there, in one precision, the samples with their values, or with their bins. */
  void
  CheckIsComplete(bool readsFixedValues) const;

  /** Whether fixed and moving values are in one unit, from one minimum. */
  bool
  AreCountedAlike() const;

  const FixedSamples &
  GetFixed() const
  {
    return m_Fixed;
  }

  /** Whether its domain has no voxels. */
  bool
  IsEmpty() const
  {
    return m_IsEmpty;
  }

  /** Another number after each SetFixed(); 0 before the first. */
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

  /** Sends the displacement field or the spline's control points, and the chain's grids, if there are any.
   *  \param forces what is asked for. */
  void
  UploadMapping(const SampleMapping & mapping, Forces forces);

  /** Enqueues what moves the samples, of what UploadMapping has sent. */
  void
  Move();

  /** Room for the forces of each sample, float[3]: after UploadMapping. Along a spline they take the place of the displacements, if these are
   *  float[3], too, which Move makes anew for each evaluation: who finds a sample's force has read its displacement. */
  Memory &
  ReserveForces();

  /** Forces are not one a sample, but one for each of so many places: i64[3], virtual indices in units of 2^-32. Null for samples. */
  void
  SetForcePlaces(std::int64_t count, const Memory * places)
  {
    m_ForcePlaceCount = count;
    m_ForcePlaces = places;
    ++m_ForcePlaceStamp;
  }

  /** Enqueues what gathers forces, float[3] a sample, by the spline's control points: float4 each. False if the last mapping had no
   *  spline. */
  bool
  Gather(const Memory & forces, MemoryPointer & gathered);

  /** Whether the last mapping had fixed pre-transforms. */
  bool
  HasPreTransforms() const
  {
    return m_HasPreTransforms;
  }

  /** Enqueues what sums forces, float[3] a sample, about where these have moved the samples. */
  void
  SumForces(const Memory & forces);

  /** What they were summed to. */
  ForceResult
  DownloadForceSums();

  SampleProblem
  MakeProblem(const SampleMapping & mapping, Forces forces, const SampleGrain & grain, const SampleNeeds & needs) const;

  /** The same, of samples that are not cut into chunks. */
  SampleProblem
  MakeProblem(const SampleMapping & mapping, Forces forces, double scaledRange) const;

  /** The same samples cut into other chunks, for a pass that sums no forces: what their centre is, is not kept. */
  SampleProblem
  CutAnew(SampleProblem problem, const SampleGrain & grain, const SampleNeeds & needs) const;

  /** The maps of another linear mapping of the same samples as in a problem's arguments. */
  kernels::SampleMaps
  MakeMaps(const IndexMap & toMoving, const kernels::SampleArguments & arguments, double scaledRange) const;

  /** The floats in which the chunks' forces are summed, if each chunk has so many parts. */
  static std::size_t
  CountPartials(const kernels::SampleArguments & arguments, int parts);

  /** Adds them up. */
  ForceResult
  SumPartials(const kernels::SampleArguments & arguments, const float * partials, std::size_t count) const;

  /** Sums of forces of all chunks, in terms of the virtual grid. */
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
  /** Whether what moves samples, field or spline and chain, is kept in fixed point. */
  bool
  MovesPrecisely(const SampleMapping & mapping) const;
  /** The virtual index that the first moments of forces refer to. */
  Vector3
  GetCentre() const;
  /** Points may lie beside a grid, which is looked at for how far a chain may lead. */
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
  /** What the samples keep of an image that is there. */
  void
  TakeFixed(const FixedSamples & samples);
  /** \param leaveOut from the samples' values and one that is not valid to those that are kept. */
  template <typename TLeaveOut>
  void
  FillFixedValues(const FixedSamples & samples, std::int64_t count, const TLeaveOut & leaveOut);

  Queue &             m_Queue;
  ImageSampler        m_Sampler;
  GaussianDerivatives m_Derivatives;
  FixedGradients      m_FixedGradients;
  MovingVolumes       m_MovingVolumes;
  // Of their fillers it is only asked from now on whether they are there.
  FixedSamples  m_Fixed;
  bool          m_IsEmpty = false;
  std::uint64_t m_FixedStamp = 0;
  MovingImage   m_Moving;
  bool          m_ReadsQuads = false;
  double        m_FarthestPoint = 0;
  SampleArrays  m_Arrays;
  MemoryPointer m_Forces; // where they have an array of their own
  ChainOnDevice m_Chain;
  ControlPoints m_ControlPoints;
  // The spline of the last mapping, without its vectors.
  bool             m_HasSpline = false;
  bool             m_SplineIsPrecise = false;
  int              m_SplineDimension = 3;
  DisplacementGrid m_SplineGrid;
  PreTransforms    m_PreTransforms;
  bool             m_HasPreTransforms = false; // the last mapping
  // What gathers from force places: it moves nothing.
  ControlPoints  m_PlaceControls;
  std::int64_t   m_ForcePlaceCount = 0;
  const Memory * m_ForcePlaces = nullptr;
  std::uint64_t  m_ForcePlaceStamp = 0;
};

} // namespace gpureg

#endif
