// SPDX-License-Identifier: Apache-2.0
// The launches of the neighborhood correlation in CUDA. The plain version is src/host/metric/neighborhood/NeighborhoodPasses.cpp.
#include "cuda/metric/neighborhood/CudaNeighborhoodKernels.h"

#include <algorithm>

namespace gpureg
{

namespace
{
NeighborhoodVolumes
GetNeighborhoodVolumes(const NeighborhoodArrays & arrays)
{
  return MakeNeighborhoodVolumes(arrays, [](const MemoryPointer & memory) { return AddressOf<void>(memory); });
}

class CudaNeighborhoodPasses : public NeighborhoodPasses
{
public:
  explicit CudaNeighborhoodPasses(CudaQueue & queue)
    : m_Queue(queue)
  {
    const CudaDeviceScope scope(queue.GetDevice());
    CheckCuda(cudaDeviceGetAttribute(&m_LocalBytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, queue.GetDevice()),
              "asking for the size of shared memory",
              queue.GetDeviceName());
    for (const int variant : { LinearVariant,
                               FieldVariant,
                               FieldForceVariant,
                               SamplesAreFixedPoint | MovingHasMask,
                               SamplesAreFixedPoint | SamplesAreChained })
    {
      WithFixedPointVariant(variant,
                            [this](auto constant) { this->AllowLocalBytes(CorrelateTilesKernel<constant.value>); });
    }
    for (const int variant : { LinearVariant, SamplesAreFixedPoint | MovingHasMask })
    {
      WithBatchVariant(variant,
                       [this](auto constant) { this->AllowLocalBytes(BatchCorrelateTilesKernel<constant.value>); });
    }
  }

  NeighborhoodGrain
  GetGrain() const override
  {
    return { LineLanes, MostGroups, TileLanes, static_cast<std::size_t>(m_LocalBytes) };
  }

  bool
  NeedsCircularBuffers(int length) const override
  {
    return ScratchBytes + GetCircularBufferBytes(length) > MostCircularBufferInLocalMemory;
  }

  void
  Prepare(int) override
  {}

  void
  MovePlanes(const NeighborhoodArguments & a, const SampleMaps & maps, const NeighborhoodArrays & arrays) override
  {
    WithFixedPointVariant(a.samples.variant & ~(WritesForces | GradientByDifferences), [&](auto variant) {
      m_Queue.Launch("moving planes",
                     MovePlanesKernel<variant.value>,
                     GetPlaneGrid(a),
                     PlaneLanes,
                     0,
                     a,
                     GetVolumes(*arrays.samples),
                     GetNeighborhoodVolumes(arrays),
                     maps);
    });
  }

  void
  SumAlong(int                           axis,
           const NeighborhoodArguments & a,
           const SampleMaps &            maps,
           const NeighborhoodArrays &    arrays) override
  {
    NeighborhoodArguments ofAxis = a;
    ofAxis.groupCount = CountNeighborhoodGroups(a, axis, GetGrain());
    m_Queue.Launch("summing over neighborhoods",
                   axis == 0 ? SumAlongKernel<0> : SumAlongKernel<1>,
                   dim3(static_cast<unsigned int>(ofAxis.groupCount)),
                   LineLanes,
                   GetLocalBytes(a, axis),
                   ofAxis,
                   GetVolumes(*arrays.samples),
                   GetNeighborhoodVolumes(arrays),
                   GetCircularBuffers(a, axis, arrays),
                   maps);
  }

  void
  CorrelatePlanes(const NeighborhoodArguments & a, const SampleMaps & maps, const NeighborhoodArrays & arrays) override
  {
    WithFixedPointVariant(a.samples.variant, [&](auto variant) {
      m_Queue.Launch("correlating planes",
                     CorrelatePlanesKernel<variant.value>,
                     dim3(static_cast<unsigned int>(a.groupCount)),
                     LineLanes,
                     GetLocalBytes(a, 2),
                     a,
                     GetVolumes(*arrays.samples),
                     GetNeighborhoodVolumes(arrays),
                     GetCircularBuffers(a, 2, arrays),
                     AddressOf<float>(arrays.partials),
                     maps);
    });
  }

  void
  CorrelateTiles(const NeighborhoodArguments & a, const SampleMaps & maps, const NeighborhoodArrays & arrays) override
  {
    m_Queue.Launch("summing over neighborhoods",
                   SumAlongZKernel,
                   GetZBlockGrid(a),
                   PlaneLanes,
                   0,
                   a,
                   GetVolumes(*arrays.samples),
                   GetNeighborhoodVolumes(arrays),
                   maps);
    // Terms need no gradient, so variants that differ in it share a kernel.
    const int unused = a.forces == TermsOfCentres ? int{ GradientByDifferences } : 0;
    WithFixedPointVariant(a.samples.variant & ~unused, [&](auto variant) {
      m_Queue.Launch("correlating tiles",
                     CorrelateTilesKernel<variant.value>,
                     dim3(static_cast<unsigned int>(a.groupCount)),
                     TileLanes,
                     GetTileBytes(a, a.tileRows, TileLanes),
                     a,
                     GetVolumes(*arrays.samples),
                     GetNeighborhoodVolumes(arrays),
                     AddressOf<float>(arrays.partials),
                     maps);
    });
  }

  void
  CorrelateList(const NeighborhoodArguments & a, const SampleMaps & maps, const NeighborhoodArrays & arrays) override
  {
    WithFixedPointVariant(a.samples.variant, [&](auto variant) {
      m_Queue.Launch("correlating centres",
                     CorrelateListKernel<variant.value>,
                     dim3(static_cast<unsigned int>(a.groupCount)),
                     LineLanes,
                     ScratchBytes,
                     a,
                     GetVolumes(*arrays.samples),
                     GetNeighborhoodVolumes(arrays),
                     AddressOf<float>(arrays.partials),
                     maps);
    });
  }

  bool
  HasBatches() const override
  {
    return true;
  }

  void
  CorrelateBatch(const NeighborhoodArguments & a,
                 BatchRange                    range,
                 const NeighborhoodArrays &    arrays,
                 const BatchArrays &           batch) override
  {
    const SampleVolumes       v = GetVolumes(*arrays.samples);
    const NeighborhoodVolumes n = GetNeighborhoodVolumes(arrays);
    const SampleMaps * const  maps = AddressOf<SampleMaps>(batch.maps);
    float * const             partials = AddressOf<float>(arrays.partials);
    const dim3                grid(static_cast<unsigned int>(a.groupCount), 1, static_cast<unsigned int>(range.count));
    WithBatchVariant(a.samples.variant, [&](auto variant) {
      if (a.centreCount > 0)
      {
        m_Queue.Launch("correlating centres of a batch",
                       BatchCorrelateListKernel<variant.value>,
                       grid,
                       LineLanes,
                       ScratchBytes,
                       a,
                       v,
                       n,
                       maps,
                       range.first,
                       partials);
        return;
      }
      m_Queue.Launch("moving planes of a batch",
                     BatchMovePlanesKernel<variant.value>,
                     GetPlaneGrid(a, range.count),
                     PlaneLanes,
                     0,
                     a,
                     v,
                     n,
                     maps,
                     range.first);
      m_Queue.Launch("summing over neighborhoods of a batch",
                     BatchSumAlongZKernel,
                     GetZBlockGrid(a, range.count),
                     PlaneLanes,
                     0,
                     a,
                     v,
                     n,
                     maps,
                     range.first);
      m_Queue.Launch("correlating tiles of a batch",
                     BatchCorrelateTilesKernel<variant.value>,
                     grid,
                     TileLanes,
                     GetTileBytes(a, a.tileRows, TileLanes),
                     a,
                     v,
                     n,
                     maps,
                     range.first,
                     partials);
    });
  }

  void
  SumTerms(int axis, const NeighborhoodArguments & a, const Memory & terms, Memory & summed) override
  {
    m_Queue.LaunchFor("summing terms of neighborhoods",
                      axis == 0 ? SumTermsKernel<0> : SumTermsKernel<1>,
                      CountVoxels(a),
                      PlaneLanes,
                      a,
                      CountVoxels(a),
                      AddressIn<const float>(terms),
                      AddressIn<float>(summed));
  }

  void
  ComputeForcesOfTerms(const NeighborhoodArguments & a,
                       const SampleMaps &            maps,
                       const NeighborhoodArrays &    arrays,
                       const Memory &                terms,
                       Memory &                      forces) override
  {
    const auto launch = [&](auto variant) {
      m_Queue.LaunchFor("computing forces of neighborhoods",
                        ComputeForcesOfTermsKernel<variant.value>,
                        CountVoxels(a),
                        PlaneLanes,
                        a,
                        CountVoxels(a),
                        GetVolumes(*arrays.samples),
                        AddressIn<const float>(terms),
                        AddressIn<float>(forces),
                        maps);
    };
    if (a.samples.variant == DifferenceVariant)
    {
      launch(std::integral_constant<int, DifferenceVariant>{});
    }
    else
    {
      WithFixedPointVariant(a.samples.variant, launch);
    }
  }

private:
  template <typename TKernel>
  void
  AllowLocalBytes(TKernel * kernel) const
  {
    CheckCuda(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, m_LocalBytes),
              "asking for shared memory",
              m_Queue.GetDeviceName());
  }

  /** Returns the numbers of groups in a plane, of planes, and of candidates. */
  static dim3
  GetPlaneGrid(const NeighborhoodArguments & a, int candidates = 1)
  {
    return MakeGrid((VoxelsOfPlane(&a) + PlaneLanes - 1) / PlaneLanes, a.keptPlanes, candidates);
  }

  /** Returns the numbers of groups in a plane, of blocks of planes, and of candidates. */
  static dim3
  GetZBlockGrid(const NeighborhoodArguments & a, int candidates = 1)
  {
    constexpr int width = PlaneLanes / ZBlocksOfGroup;
    return MakeGrid((VoxelsOfPlane(&a) + width - 1) / width,
                    (CountZBlocks(&a) + ZBlocksOfGroup - 1) / ZBlocksOfGroup,
                    candidates);
  }

  static dim3
  MakeGrid(i64 inPlane, int along, int candidates)
  {
    return dim3(static_cast<unsigned int>(inPlane),
                static_cast<unsigned int>(std::min(along, MostGroupsY)),
                static_cast<unsigned int>(candidates));
  }

  static i64
  CountVoxels(const NeighborhoodArguments & a)
  {
    return VoxelsOfPlane(&a) * a.samples.virtualShape.size[2];
  }

  std::size_t
  GetLocalBytes(const NeighborhoodArguments & a, int axis) const
  {
    const int length = LengthOfWindow(&a, axis);
    return ScratchBytes + (NeedsCircularBuffers(length) ? 0 : GetCircularBufferBytes(length));
  }

  double *
  GetCircularBuffers(const NeighborhoodArguments & a, int axis, const NeighborhoodArrays & arrays) const
  {
    return NeedsCircularBuffers(LengthOfWindow(&a, axis)) ? AddressOf<double>(arrays.circularBuffers) : nullptr;
  }

  CudaQueue & m_Queue;
  int         m_LocalBytes = 0;
};
} // namespace

template <>
std::unique_ptr<NeighborhoodPasses>
MakePassesOn<DeviceKind::Cuda, NeighborhoodPasses>(Queue & queue)
{
  return std::make_unique<CudaNeighborhoodPasses>(static_cast<CudaQueue &>(queue));
}

} // namespace gpureg
