// SPDX-License-Identifier: Apache-2.0
// The two passes of every metric that has a histogram in OpenCL: launches. The entry points are in
// opencl/metric/histogram/HistogramKernels.cl; src/kernels/metric/histogram/HistogramKernels.h has the work of a group; the plain version
// is src/host/metric/histogram/HostHistogramPasses.h.
#ifndef gpureg_OpenCLHistogramPasses_h
#define gpureg_OpenCLHistogramPasses_h

#include "engine/metric/histogram/HistogramPasses.h"

#include "opencl/metric/samples/OpenCLSamples.h"

#include <algorithm>

namespace gpureg
{

using namespace kernels;

/** Holds the kernels of a variant. Each object has kernels of its own, since setting a kernel's arguments is not thread-safe. */
struct HistogramKernelSet
{
  explicit HistogramKernelSet(const cl::Program & program)
    : histogram(program, "Histogram")
    , sumHistograms(program, "SumHistograms")
    , table(program, "Table")
    , forces(program, "Forces")
  {}

  cl::Kernel histogram;
  cl::Kernel sumHistograms;
  cl::Kernel table;
  cl::Kernel forces;
};

/** Holds the kernels of batches. */
struct BatchKernelSet
{
  explicit BatchKernelSet(const cl::Program & program)
    : histograms(program, "BatchHistograms")
    , sums(program, "BatchSums")
  {}

  cl::Kernel histograms;
  cl::Kernel sums;
};

/** Holds the kernels of summaries. */
struct SummaryKernelSet
{
  explicit SummaryKernelSet(const cl::Program & program)
    : summaries(program, "BatchSummaries")
  {}

  cl::Kernel summaries;
};

/** \tparam TSummaryArguments see HistogramPasses. */
template <typename TArguments, typename TSummaryArguments = TArguments>
class OpenCLHistogramPasses : public HistogramPasses<TArguments, TSummaryArguments>
{
public:
  /** \param source the metric's kernels, with their entry points.
   *  \param summarySource the kernels of the metric's summaries. */
  OpenCLHistogramPasses(OpenCLQueue & queue, const char * source, const char * summarySource)
    : m_Queue(queue)
    , m_Kernels(queue, source)
    , m_BatchKernels(queue, source, " -DGPUREG_BATCH")
    , m_SummaryKernels(queue, summarySource, " -DGPUREG_BATCH")
  {}

  /** Makes the passes of a metric that has all kernels in one source, and so in one program. */
  OpenCLHistogramPasses(OpenCLQueue & queue, const char * source)
    : OpenCLHistogramPasses(queue, source, source)
  {}

  SampleGrain
  GetGrain() const override
  {
    return GetSampleGrain(m_Queue.GetDevice());
  }

  void
  Prepare(int variant) override
  {
    m_Kernels.Prepare(variant);
  }

  void
  Histogram(const TArguments &      a,
            const SampleMaps &      maps,
            const HistogramArrays & arrays,
            int                     firstChunk,
            int                     chunkCount) override
  {
    CheckRows(a);
    CheckOpenCL(m_Queue.GetDeviceName(), [&] {
      cl::Kernel & kernel = m_Kernels.Get().histogram;
      SetSampleKernelArguments(kernel,
                               a,
                               maps,
                               *arrays.samples,
                               cl_int{ firstChunk },
                               cl::Local(GetBandBytes(a.histogram) * a.histogram.histogramCopies),
                               BufferOf(*arrays.chunkHistograms));
      m_Queue.Launch(kernel, chunkCount, CountBands(a.histogram));
    });
  }

  void
  SumHistograms(const TArguments & a, const HistogramArrays & arrays, int chunkCount, bool accumulate) override
  {
    CheckOpenCL(m_Queue.GetDeviceName(), [&] {
      cl::Kernel & kernel = m_Kernels.Get().sumHistograms;
      SetKernelArguments(kernel,
                         a,
                         cl_int{ chunkCount },
                         cl_int{ accumulate },
                         BufferOf(*arrays.chunkHistograms),
                         cl::Local(GetLaneCount() * sizeof(u64)),
                         BufferOf(*arrays.sums));
      m_Queue.Launch(kernel, CountSumGroups(&a.histogram, LeastSumEntries), 1);
    });
  }

  void
  ComputeForces(const TArguments & a, const SampleMaps & maps, const HistogramArrays & arrays) override
  {
    CheckOpenCL(m_Queue.GetDeviceName(), [&] {
      cl::Kernel &      kernel = m_Kernels.Get().forces;
      const std::size_t scratchBytes =
        std::max(GetTableBandBytes(a.histogram),
                 PartialCount(a.histogram.samples.variant) * GetLaneCount() * sizeof(float));
      SetSampleKernelArguments(kernel,
                               a,
                               maps,
                               *arrays.samples,
                               BufferOf(*arrays.table),
                               cl::Local(scratchBytes),
                               BufferOf(*arrays.sums),
                               BufferOf(arrays.forces ? *arrays.forces : *arrays.sums));
      m_Queue.Launch(kernel, ChunkCount(&a.histogram.samples), CountBands(a.histogram));
    });
  }

  bool
  HasBatches() const override
  {
    return true;
  }

  void
  SumBatch(const TArguments &      a,
           BatchRange              range,
           const HistogramArrays & arrays,
           const Memory &          maps,
           Memory &                histograms) override
  {
    CheckRows(a);
    m_BatchKernels.Prepare(a.histogram.samples.variant);
    CheckOpenCL(m_Queue.GetDeviceName(), [&] {
      auto & kernels = m_BatchKernels.Get();
      SetSampleKernelArguments(kernels.histograms,
                               a,
                               BufferOf(maps),
                               *arrays.samples,
                               cl_int{ range.first },
                               cl::Local(GetBandBytes(a.histogram) * a.histogram.histogramCopies),
                               BufferOf(*arrays.chunkHistograms));
      m_Queue.Launch(kernels.histograms,
                     std::int64_t{ range.count } * ChunkCount(&a.histogram.samples),
                     CountBands(a.histogram));
      SetKernelArguments(kernels.sums,
                         a,
                         BufferOf(*arrays.chunkHistograms),
                         cl::Local(GetLaneCount() * sizeof(u64)),
                         BufferOf(histograms));
      const int sumEntries = SumEntriesOfBatch(ChunkCount(&a.histogram.samples), static_cast<int>(GetLaneCount()));
      m_Queue.Launch(kernels.sums, std::int64_t{ range.count } * CountSumGroups(&a.histogram, sumEntries), 1);
    });
  }

  bool
  HasSummaries(const TSummaryArguments & a) const override
  {
    return this->GetSummaryBytes(a) <= m_Queue.GetDevice().GetLocalMemorySize();
  }

  void
  Summarize(const TSummaryArguments & a, BatchRange range, const Memory & histograms, Memory & summaries) override
  {
    m_SummaryKernels.Prepare(a.histogram.samples.variant);
    CheckOpenCL(m_Queue.GetDeviceName(), [&] {
      cl::Kernel & kernel = m_SummaryKernels.Get().summaries;
      SetKernelArguments(kernel,
                         a,
                         cl_int{ range.first },
                         BufferOf(histograms),
                         cl::Local(this->GetSummaryBytes(a)),
                         BufferOf(summaries));
      m_Queue.Launch(kernel, range.count, 1);
    });
  }

protected:
  OpenCLQueue &
  GetQueue() const
  {
    return m_Queue;
  }

  /** Returns the kernels of the variant that Prepare has chosen. */
  HistogramKernelSet &
  GetKernels()
  {
    return m_Kernels.Get();
  }

  std::size_t
  GetLaneCount() const
  {
    return static_cast<std::size_t>(m_Queue.GetDevice().GetLanes());
  }

private:
  /** \throws Error if a row of the histogram, or of the table, does not fit into local memory. */
  virtual void
  CheckRows(const TArguments & a) const = 0;

  /** Returns the bytes of local memory that SummaryGroup() needs. */
  virtual std::size_t
  GetSummaryBytes(const TSummaryArguments &) const
  {
    return GetLaneCount() * sizeof(u64);
  }

  OpenCLQueue &                                            m_Queue;
  OpenCLSampleKernels<HistogramKernelSet, TArguments>      m_Kernels;
  OpenCLSampleKernels<BatchKernelSet, TArguments>          m_BatchKernels;
  OpenCLSampleKernels<SummaryKernelSet, TSummaryArguments> m_SummaryKernels;
};

} // namespace gpureg

#endif
