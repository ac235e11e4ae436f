// SPDX-License-Identifier: Apache-2.0
// The schemes of the correlation ratio's first pass in OpenCL.
#include "engine/metric/histogram/CorrelationRatioSchemePasses.h"

#include "opencl/metric/histogram/OpenCLHistogramPasses.h"

#include "gpureg/core/Error.h"
#include "engine/runtime/Transfer.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

namespace gpureg
{

namespace
{
/** Holds the kernels of a variant. Each object has kernels of its own, since setting a kernel's arguments is not thread-safe. */
struct SchemeKernelSet
{
  explicit SchemeKernelSet(const cl::Program & program)
    : globalAtomic(program, "GlobalAtomic")
    , globalMerge(program, "GlobalMerge")
    , sharedAtomic(program, "SharedAtomic")
    , sharedMerge(program, "SharedMerge")
    , sharedWarp(program, "SharedWarp")
    , conflictFree(program, "ConflictFree")
    , joinWorkloads(program, "JoinWorkloads")
  {}

  cl::Kernel globalAtomic;
  cl::Kernel globalMerge;
  cl::Kernel sharedAtomic;
  cl::Kernel sharedMerge;
  cl::Kernel sharedWarp;
  cl::Kernel conflictFree;
  cl::Kernel joinWorkloads;
};

class OpenCLCorrelationRatioSchemePasses : public CorrelationRatioSchemePasses
{
public:
  explicit OpenCLCorrelationRatioSchemePasses(OpenCLQueue & queue)
    : m_Queue(queue)
    , m_Kernels(queue, OpenCLCorrelationRatioSchemesSource)
  {}

  void
  Prepare(int variant) override
  {
    m_Kernels.Prepare(variant);
  }

  /** Returns the number of lanes for which the kernels are compiled. */
  int
  ChooseLanes(CorrelationRatioScheme, int set) const override
  {
    const int lanes = m_Queue.GetDevice().GetLanes();
    if (set != 0 && set != lanes)
    {
      throw UnsupportedError(m_Queue.GetDeviceName() + " has groups of " + std::to_string(lanes) +
                             " lanes alone, through OpenCL, not of " + std::to_string(set) + "; set 0, or " +
                             std::to_string(lanes));
    }
    return lanes;
  }

  /** Sorts on the host: a sort on the device would need many kernels, for work that is done once. */
  void
  Sort(const MemoryPointer & fixedBins, std::int64_t count, int bins, SortedSamples & sorted) override
  {
    const auto       samples = static_cast<std::size_t>(count);
    std::vector<u16> binOf(samples);
    std::vector<u32> indices(samples);
    m_Queue.Download(binOf.data(), *fixedBins, samples * sizeof(u16));
    sorted.firstOfBin = SortByFixedBin(binOf.data(), samples, bins, indices.data());
    ReserveExactly(m_Queue, sorted.indices, samples * sizeof(u32));
    UploadArray(
      m_Queue, *sorted.indices, 0, sizeof(u32), count, [&indices](std::int64_t first, std::int64_t number, void * out) {
        std::memcpy(out, indices.data() + first, static_cast<std::size_t>(number) * sizeof(u32));
      });
  }

  void
  Clear(const Arguments & a, const HistogramArrays & arrays) override
  {
    CheckOpenCL(m_Queue.GetDeviceName(), [&] { m_Queue.Clear(*arrays.sums, CountEntries(a.histogram) * sizeof(u64)); });
  }

  void
  Count(CorrelationRatioScheme  scheme,
        const SchemeLaunch &    launch,
        const HistogramArrays & arrays,
        int                     firstChunk,
        int                     chunkCount) override
  {
    const Arguments &       a = launch.arguments;
    const cl::LocalSpaceArg local =
      cl::Local(GetBandBytes(a.histogram) * static_cast<std::size_t>(a.histogram.histogramCopies));
    CheckOpenCL(m_Queue.GetDeviceName(), [&] {
      const auto enqueue = [&](cl::Kernel & kernel, int bands, const auto &... others) {
        SetSampleKernelArguments(
          kernel, a, launch.maps, *arrays.samples, cl_int{ firstChunk }, cl_int{ chunkCount }, others...);
        m_Queue.Launch(kernel, std::min(launch.shape.groups, chunkCount), bands);
      };
      SchemeKernelSet & kernels = m_Kernels.Get();
      switch (scheme)
      {
        case CorrelationRatioScheme::GlobalAtomic:
          enqueue(kernels.globalAtomic, 1, BufferOf(*arrays.sums));
          break;
        case CorrelationRatioScheme::GlobalMerge:
          enqueue(kernels.globalMerge, 1, BufferOf(*arrays.chunkHistograms));
          break;
        case CorrelationRatioScheme::SharedAtomic:
          enqueue(kernels.sharedAtomic, CountBands(a.histogram), local, BufferOf(*arrays.sums));
          break;
        case CorrelationRatioScheme::SharedMerge:
          enqueue(kernels.sharedMerge, CountBands(a.histogram), local, BufferOf(*arrays.chunkHistograms));
          break;
        case CorrelationRatioScheme::SharedWarp:
          enqueue(kernels.sharedWarp, CountBands(a.histogram), local, BufferOf(*arrays.chunkHistograms));
          break;
        case CorrelationRatioScheme::ConflictFree:
          break; // CountWorkloads
      }
    });
  }

  void
  CountWorkloads(const SchemeLaunch & launch, const HistogramArrays & arrays, const SchemeArrays & schemes) override
  {
    const Arguments &       a = launch.arguments;
    const cl::LocalSpaceArg scratch =
      cl::Local(static_cast<std::size_t>(m_Queue.GetDevice().GetLanes()) * CorrelationRatioColumns * sizeof(u64));
    CheckOpenCL(m_Queue.GetDeviceName(), [&] {
      SchemeKernelSet & kernels = m_Kernels.Get();
      if (schemes.workloadCount > 0)
      {
        SetSampleKernelArguments(kernels.conflictFree,
                                 a,
                                 launch.maps,
                                 *arrays.samples,
                                 BufferOf(*schemes.sorted.indices),
                                 BufferOf(*schemes.workloads),
                                 scratch,
                                 BufferOf(*schemes.sumsOfWorkloads));
        m_Queue.Launch(kernels.conflictFree, schemes.workloadCount, 1);
      }
      SetKernelArguments(kernels.joinWorkloads,
                         cl_int{ a.histogram.columns },
                         BufferOf(*schemes.firstWorkloads),
                         BufferOf(*schemes.sumsOfWorkloads),
                         scratch,
                         BufferOf(*arrays.sums));
      m_Queue.Launch(kernels.joinWorkloads, a.histogram.rows, 1);
    });
  }

private:
  OpenCLQueue &                                   m_Queue;
  OpenCLSampleKernels<SchemeKernelSet, Arguments> m_Kernels;
};
} // namespace

template <>
std::unique_ptr<CorrelationRatioSchemePasses>
MakePassesOn<DeviceKind::OpenCL, CorrelationRatioSchemePasses>(Queue & queue)
{
  return std::make_unique<OpenCLCorrelationRatioSchemePasses>(static_cast<OpenCLQueue &>(queue));
}

} // namespace gpureg
