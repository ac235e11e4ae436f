// SPDX-License-Identifier: Apache-2.0
// The schemes of the correlation ratio's first pass in OpenCL.
#include "CorrelationRatioSchemePasses.h"

#include "OpenCLHistogramPasses.h"

#include <cstring>
#include <vector>

namespace gpureg
{

namespace
{
/** A variant's kernels. One object's own, since setting an argument of a kernel is not thread-safe. */
struct SchemeKernelSet
{
  explicit SchemeKernelSet(const cl::Program & program)
    : globalAtomic(program, "GlobalAtomic")
    , globalMerge(program, "GlobalMerge")
    , sharedAtomic(program, "SharedAtomic")
    , sharedWarp(program, "SharedWarp")
    , conflictFree(program, "ConflictFree")
    , joinParts(program, "JoinParts")
  {}

  cl::Kernel globalAtomic;
  cl::Kernel globalMerge;
  cl::Kernel sharedAtomic;
  cl::Kernel sharedWarp;
  cl::Kernel conflictFree;
  cl::Kernel joinParts;
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

  /** On the host: a sort on the device would be many kernels, for what is done once. */
  void
  Sort(const MemoryPointer & fixedBins, std::int64_t count, int bins, SortedSamples & sorted) override
  {
    const auto       samples = static_cast<std::size_t>(count);
    std::vector<u16> binOf(samples);
    std::vector<u32> indices(samples);
    m_Queue.Download(binOf.data(), *fixedBins, samples * sizeof(u16));
    sorted.firstOfBin = SortByFixedBin(binOf.data(), samples, bins, indices.data());
    ReserveExactly(m_Queue, sorted.indices, samples * sizeof(u32));
    FillArray(
      m_Queue, *sorted.indices, 0, sizeof(u32), count, [&indices](std::int64_t first, std::int64_t number, void * out) {
        std::memcpy(out, indices.data() + first, static_cast<std::size_t>(number) * sizeof(u32));
      });
  }

  void
  Clear(const Arguments & a, const HistogramArrays & arrays) override
  {
    CheckOpenCL(m_Queue.GetDeviceName(), [&] { m_Queue.Clear(*arrays.sums, CountCells(a.histogram) * sizeof(u64)); });
  }

  void
  Count(CorrelationRatioScheme  scheme,
        const Arguments &       a,
        const SampleMaps &      maps,
        const HistogramArrays & arrays,
        int                     firstChunk,
        int                     chunkCount) override
  {
    const cl::LocalSpaceArg local =
      cl::Local(GetBandBytes(a.histogram) * static_cast<std::size_t>(a.histogram.histogramCopies));
    CheckOpenCL(m_Queue.GetDeviceName(), [&] {
      const auto launch = [&](cl::Kernel & kernel, int bands, const auto &... others) {
        SetSampleKernelArguments(kernel, a, maps, *arrays.samples, cl_int{ firstChunk }, others...);
        m_Queue.Launch(kernel, chunkCount, bands);
      };
      SchemeKernelSet & kernels = m_Kernels.Get();
      switch (scheme)
      {
        case CorrelationRatioScheme::GlobalAtomic:
          launch(kernels.globalAtomic, 1, BufferOf(*arrays.sums));
          break;
        case CorrelationRatioScheme::GlobalMerge:
          launch(kernels.globalMerge, 1, BufferOf(*arrays.chunkHistograms));
          break;
        case CorrelationRatioScheme::SharedAtomic:
          launch(kernels.sharedAtomic, CountBands(a.histogram), local, BufferOf(*arrays.sums));
          break;
        case CorrelationRatioScheme::SharedWarp:
          launch(kernels.sharedWarp, CountBands(a.histogram), local, BufferOf(*arrays.chunkHistograms));
          break;
        case CorrelationRatioScheme::SharedMerge:
        case CorrelationRatioScheme::ConflictFree:
          break; // HistogramPasses', and CountParts
      }
    });
  }

  void
  CountParts(const Arguments &       a,
             const SampleMaps &      maps,
             const HistogramArrays & arrays,
             const SchemeArrays &    schemes) override
  {
    const cl::LocalSpaceArg scratch =
      cl::Local(static_cast<std::size_t>(m_Queue.GetDevice().GetLanes()) * CorrelationRatioColumns * sizeof(u64));
    CheckOpenCL(m_Queue.GetDeviceName(), [&] {
      SchemeKernelSet & kernels = m_Kernels.Get();
      if (schemes.partCount > 0)
      {
        SetSampleKernelArguments(kernels.conflictFree,
                                 a,
                                 maps,
                                 *arrays.samples,
                                 BufferOf(*schemes.sorted.indices),
                                 BufferOf(*schemes.parts),
                                 scratch,
                                 BufferOf(*schemes.sumsOfParts));
        m_Queue.Launch(kernels.conflictFree, schemes.partCount, 1);
      }
      SetKernelArguments(kernels.joinParts,
                         BufferOf(*schemes.firstParts),
                         BufferOf(*schemes.sumsOfParts),
                         scratch,
                         BufferOf(*arrays.sums));
      m_Queue.Launch(kernels.joinParts, a.histogram.rows, 1);
    });
  }

private:
  OpenCLQueue &                                   m_Queue;
  OpenCLSampleKernels<SchemeKernelSet, Arguments> m_Kernels;
};
} // namespace

std::unique_ptr<CorrelationRatioSchemePasses>
OpenCLQueue::CreateCorrelationRatioSchemePasses()
{
  return std::make_unique<OpenCLCorrelationRatioSchemePasses>(*this);
}

} // namespace gpureg
