// SPDX-License-Identifier: Apache-2.0
// The neighborhood correlation in OpenCL: launches. The entry points are in opencl/NeighborhoodKernels.cl.
#include "NeighborhoodPasses.h"

#include "OpenCLKernels.h"
#include "OpenCLSamples.h"

#include <string>

namespace gpureg
{

namespace
{
class OpenCLNeighborhoodPasses : public NeighborhoodPasses
{
public:
  explicit OpenCLNeighborhoodPasses(OpenCLQueue & queue)
    : m_Queue(queue)
    , m_Kernels(queue, OpenCLNeighborhoodSource)
  {}

  NeighborhoodGrain
  GetGrain() const override
  {
    const OpenCLDevice & device = m_Queue.GetDevice();
    return { device.GetLanes(), MostGroups, device.GetLanes(), device.GetLocalMemorySize() };
  }

  /** Local memory is too small on most devices, and their caches hold the rings. */
  bool
  NeedsRings(int) const override
  {
    return true;
  }

  /** A GPU gets kernels for each variant; on a CPU, where these take longer to compile than they ever save, one set finds its
   *  way by the arguments. */
  void
  Prepare(int variant) override
  {
    const bool isGpu = m_Queue.GetDevice().IsGpu();
    m_Options = GetSampleOptions<NeighborhoodArguments>(isGpu ? std::to_string(variant) : "variant");
    m_Kernels.Get("MovePlanes", m_Options); // compiles all
  }

  void
  MovePlanes(const NeighborhoodArguments & a, const SampleMaps & maps, const NeighborhoodArrays & arrays) override
  {
    const int lanes = m_Queue.GetDevice().GetLanes();
    this->Launch("MovePlanes", a, maps, arrays, (VoxelsOfPlane(&a) + lanes - 1) / lanes, a.keptPlanes);
  }

  void
  SumAlong(int                           axis,
           const NeighborhoodArguments & a,
           const SampleMaps &            maps,
           const NeighborhoodArrays &    arrays) override
  {
    NeighborhoodArguments ofAxis = a;
    ofAxis.groupCount = CountNeighborhoodGroups(a, axis, GetGrain());
    this->Launch(axis == 0 ? "SumAlongX" : "SumAlongY", ofAxis, maps, arrays, ofAxis.groupCount, 1);
  }

  void
  CorrelatePlanes(const NeighborhoodArguments & a, const SampleMaps & maps, const NeighborhoodArrays & arrays) override
  {
    this->Launch("CorrelatePlanes", a, maps, arrays, a.groupCount, 1, this->GetScratch());
  }

  void
  CorrelateTiles(const NeighborhoodArguments & a, const SampleMaps & maps, const NeighborhoodArrays & arrays) override
  {
    const int lanes = m_Queue.GetDevice().GetLanes();
    const int width = lanes / ZBlocksOfGroup;
    const int blocks = (CountZBlocks(&a) + ZBlocksOfGroup - 1) / ZBlocksOfGroup;
    this->Launch("SumAlongZ", a, maps, arrays, (VoxelsOfPlane(&a) + width - 1) / width, blocks);
    this->Launch("CorrelateTiles", a, maps, arrays, a.groupCount, 1, cl::Local(GetTileBytes(a, a.tileRows, lanes)));
  }

  void
  CorrelateList(const NeighborhoodArguments & a, const SampleMaps & maps, const NeighborhoodArrays & arrays) override
  {
    this->Launch("CorrelateList", a, maps, arrays, a.groupCount, 1, this->GetScratch());
  }

  void
  SumTerms(int axis, const NeighborhoodArguments & a, const Memory & terms, Memory & summed) override
  {
    m_Kernels.Launch(
      "SumTerms", m_Options, CountVoxels(a), a, cl_int{ axis }, CountVoxels(a), BufferOf(terms), BufferOf(summed));
  }

  void
  FindForcesOfTerms(const NeighborhoodArguments & a,
                    const SampleMaps &            maps,
                    const NeighborhoodArrays &    arrays,
                    const Memory &                terms,
                    Memory &                      forces) override
  {
    const int lanes = m_Queue.GetDevice().GetLanes();
    this->Launch("FindForcesOfTerms",
                 a,
                 maps,
                 arrays,
                 (CountVoxels(a) + lanes - 1) / lanes,
                 1,
                 CountVoxels(a),
                 BufferOf(terms),
                 BufferOf(forces));
  }

private:
  static cl_long
  CountVoxels(const NeighborhoodArguments & a)
  {
    return VoxelsOfPlane(&a) * a.samples.virtualShape.size[2];
  }

  static constexpr int MostGroups = 1024;

  cl::LocalSpaceArg
  GetScratch() const
  {
    return cl::Local(2 * ForceSumCount * static_cast<std::size_t>(m_Queue.GetDevice().GetLanes()) * sizeof(float));
  }

  template <typename... TOthers>
  void
  Launch(const char *                  name,
         const NeighborhoodArguments & a,
         const SampleMaps &            maps,
         const NeighborhoodArrays &    arrays,
         std::int64_t                  groups,
         int                           groupsY,
         const TOthers &... others)
  {
    cl::Kernel & kernel = m_Kernels.Get(name, m_Options);
    CheckOpenCL(m_Queue.GetDeviceName(), [&] {
      const auto orAny = [&arrays](const MemoryPointer & array) { return BufferOf(array ? *array : *arrays.partials); };
      SetSampleKernelArguments(kernel,
                               a,
                               maps,
                               *arrays.samples,
                               orAny(arrays.moved),
                               orAny(arrays.sums),
                               orAny(arrays.centres),
                               orAny(arrays.forces),
                               orAny(arrays.rings),
                               BufferOf(*arrays.partials),
                               others...);
      m_Queue.Launch(kernel, groups, groupsY);
    });
  }

  OpenCLQueue & m_Queue;
  OpenCLKernels m_Kernels;
  std::string   m_Options; // that Prepare has chosen
};
} // namespace

std::unique_ptr<NeighborhoodPasses>
OpenCLQueue::CreateNeighborhoodPasses()
{
  return std::make_unique<OpenCLNeighborhoodPasses>(*this);
}

} // namespace gpureg
