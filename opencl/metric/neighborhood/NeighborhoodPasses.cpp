// SPDX-License-Identifier: Apache-2.0
// The neighborhood correlation in OpenCL: launches. The entry points are in opencl/metric/neighborhood/NeighborhoodKernels.cl.
#include "engine/metric/neighborhood/NeighborhoodPasses.h"

#include "opencl/runtime/OpenCLKernels.h"
#include "opencl/metric/samples/OpenCLSamples.h"

#include <string>

namespace gpureg
{

namespace
{
/** Parts of the kernels that are compiled together, see NeighborhoodKernels.cl. An evaluation needs one or two parts. */
enum Part
{
  Planes = 1,
  Tiles = 2,
  List = 4,
  Terms = 8,
  AllParts = 15,
  BatchTiles = 16,
  BatchList = 32,
  AllBatches = 48
};

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

  /** Returns true: local memory is too small for circular buffers on most devices, and caches hold those in global memory. */
  bool
  NeedsCircularBuffers(int) const override
  {
    return true;
  }

  /** Compiles the kernels for a variant. On a GPU, each part of each variant is compiled when it is needed, since the compiler may take
   *  ten seconds for one. On a CPU, compiling a variant takes longer than it ever saves, so one set of kernels for all variants looks
   *  them up at run time. */
  void
  Prepare(int variant) override
  {
    const bool isGpu = m_Queue.GetDevice().IsGpu();
    m_SampleOptions = GetSampleOptions(isGpu ? std::to_string(variant) : "variant");
    m_Kernels.Get("MovePlanes", this->GetOptions(Planes));
  }

  void
  MovePlanes(const NeighborhoodArguments & a, const SampleMaps & maps, const NeighborhoodArrays & arrays) override
  {
    this->Launch(Planes, "MovePlanes", a, maps, arrays, this->GetPlaneGroups(a));
  }

  void
  SumAlong(int                           axis,
           const NeighborhoodArguments & a,
           const SampleMaps &            maps,
           const NeighborhoodArrays &    arrays) override
  {
    NeighborhoodArguments ofAxis = a;
    ofAxis.groupCount = CountNeighborhoodGroups(a, axis, GetGrain());
    this->Launch(Planes, axis == 0 ? "SumAlongX" : "SumAlongY", ofAxis, maps, arrays, { ofAxis.groupCount });
  }

  void
  CorrelatePlanes(const NeighborhoodArguments & a, const SampleMaps & maps, const NeighborhoodArrays & arrays) override
  {
    this->Launch(Planes, "CorrelatePlanes", a, maps, arrays, { a.groupCount }, this->GetScratch());
  }

  void
  CorrelateTiles(const NeighborhoodArguments & a, const SampleMaps & maps, const NeighborhoodArrays & arrays) override
  {
    this->Launch(Tiles, "SumAlongZ", a, maps, arrays, this->GetZBlockGroups(a));
    this->Launch(Tiles, "CorrelateTiles", a, maps, arrays, { a.groupCount }, this->GetTile(a));
  }

  void
  CorrelateList(const NeighborhoodArguments & a, const SampleMaps & maps, const NeighborhoodArrays & arrays) override
  {
    this->Launch(List, "CorrelateList", a, maps, arrays, { a.groupCount }, this->GetScratch());
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
    const cl::Buffer & maps = BufferOf(*batch.maps);
    const cl_int       first = range.first;
    const Groups       ofEach{ a.groupCount, 1, range.count };
    if (a.centreCount > 0)
    {
      this->Launch(BatchList, "BatchCorrelateList", a, maps, arrays, ofEach, first, this->GetScratch());
      return;
    }
    this->Launch(BatchTiles, "BatchMovePlanes", a, maps, arrays, this->GetPlaneGroups(a, range.count), first);
    this->Launch(BatchTiles, "BatchSumAlongZ", a, maps, arrays, this->GetZBlockGroups(a, range.count), first);
    this->Launch(BatchTiles, "BatchCorrelateTiles", a, maps, arrays, ofEach, first, this->GetTile(a));
  }

  void
  SumTerms(int axis, const NeighborhoodArguments & a, const Memory & terms, Memory & summed) override
  {
    m_Kernels.Launch("SumTerms",
                     this->GetOptions(Terms),
                     CountVoxels(a),
                     a,
                     cl_int{ axis },
                     CountVoxels(a),
                     BufferOf(terms),
                     BufferOf(summed));
  }

  void
  ComputeForcesOfTerms(const NeighborhoodArguments & a,
                       const SampleMaps &            maps,
                       const NeighborhoodArrays &    arrays,
                       const Memory &                terms,
                       Memory &                      forces) override
  {
    const int lanes = m_Queue.GetDevice().GetLanes();
    this->Launch(Terms,
                 "ComputeForcesOfTerms",
                 a,
                 maps,
                 arrays,
                 { (CountVoxels(a) + lanes - 1) / lanes },
                 CountVoxels(a),
                 BufferOf(terms),
                 BufferOf(forces));
  }

private:
  /** Numbers of groups along each axis. */
  struct Groups
  {
    std::int64_t x;
    int          y = 1;
    int          z = 1;
  };

  /** Returns the numbers of groups in a plane, of planes, and of candidates. */
  Groups
  GetPlaneGroups(const NeighborhoodArguments & a, int candidates = 1) const
  {
    const int lanes = m_Queue.GetDevice().GetLanes();
    return { (VoxelsOfPlane(&a) + lanes - 1) / lanes, a.keptPlanes, candidates };
  }

  /** Returns the numbers of groups in a plane, of blocks of planes, and of candidates. */
  Groups
  GetZBlockGroups(const NeighborhoodArguments & a, int candidates = 1) const
  {
    const int width = m_Queue.GetDevice().GetLanes() / ZBlocksOfGroup;
    return { (VoxelsOfPlane(&a) + width - 1) / width,
             (CountZBlocks(&a) + ZBlocksOfGroup - 1) / ZBlocksOfGroup,
             candidates };
  }

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

  cl::LocalSpaceArg
  GetTile(const NeighborhoodArguments & a) const
  {
    return cl::Local(GetTileBytes(a, a.tileRows, m_Queue.GetDevice().GetLanes()));
  }

  std::string
  GetOptions(Part part) const
  {
    const int parts = m_Queue.GetDevice().IsGpu() ? part : part & AllParts ? AllParts : AllBatches;
    return m_SampleOptions + " -DGPUREG_PARTS=" + std::to_string(parts);
  }

  /** \param maps the SampleMaps of an evaluation, or a buffer of those of a batch. */
  template <typename TMaps, typename... TOthers>
  void
  Launch(Part                          part,
         const char *                  name,
         const NeighborhoodArguments & a,
         const TMaps &                 maps,
         const NeighborhoodArrays &    arrays,
         const Groups &                groups,
         const TOthers &... others)
  {
    cl::Kernel & kernel = m_Kernels.Get(name, this->GetOptions(part));
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
                               orAny(arrays.circularBuffers),
                               BufferOf(*arrays.partials),
                               others...);
      m_Queue.Launch(kernel, groups.x, groups.y, groups.z);
    });
  }

  OpenCLQueue & m_Queue;
  OpenCLKernels m_Kernels;
  std::string   m_SampleOptions; // chosen by Prepare
};
} // namespace

template <>
std::unique_ptr<NeighborhoodPasses>
MakePassesOn<DeviceKind::OpenCL, NeighborhoodPasses>(Queue & queue)
{
  return std::make_unique<OpenCLNeighborhoodPasses>(static_cast<OpenCLQueue &>(queue));
}

} // namespace gpureg
