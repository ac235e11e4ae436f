// SPDX-License-Identifier: Apache-2.0
// The two passes of every metric that has a histogram in OpenCL: launches. The entry points are in
// opencl/HistogramKernels.cl, what a group does is in src/kernels/HistogramKernels.h; the plain version is
// src/host/HostHistogramPasses.h.
#ifndef gpureg_OpenCLHistogramPasses_h
#define gpureg_OpenCLHistogramPasses_h

#include "HistogramPasses.h"

#include "OpenCLSamples.h"

#include <algorithm>
#include <map>
#include <string>
#include <type_traits>

namespace gpureg
{

using namespace kernels;

/** A variant's kernels. One object's own, since setting an argument of a kernel is not thread-safe. */
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

template <typename TArguments>
class OpenCLHistogramPasses : public HistogramPasses<TArguments>
{
public:
  /** \param source the metric's kernels, with their entry points. */
  OpenCLHistogramPasses(OpenCLQueue & queue, const char * source)
    : m_Queue(queue)
    , m_Source(source)
  {}

  SampleGrain
  GetGrain() const override
  {
    return GetSampleGrain(m_Queue.GetDevice());
  }

  void
  Prepare(int variant) override
  {
    // A GPU gets kernels for each variant. On a CPU, where these take longer to compile than they ever save, one set
    // finds its way by the arguments.
    const bool isGpu = m_Queue.GetDevice().IsGpu();
    m_CompiledVariant = isGpu ? variant : AnyVariant;
    if (m_Kernels.count(m_CompiledVariant) == 0)
    {
      const cl::Program program =
        m_Queue.GetDevice().GetProgram(m_Source,
                                       GetSampleOptions<TArguments>(isGpu ? std::to_string(variant) : "variant"));
      CheckOpenCL(m_Queue.GetDeviceName(), [&] { m_Kernels.emplace(m_CompiledVariant, HistogramKernelSet(program)); });
    }
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
      cl::Kernel & kernel = m_Kernels.at(m_CompiledVariant).histogram;
      SetSampleKernelArguments(kernel,
                               a,
                               maps,
                               *arrays.samples,
                               cl_int{ firstChunk },
                               cl::Local(GetBandBytes(a.histogram, a.histogram.columns) * a.histogram.histogramCopies),
                               BufferOf(*arrays.chunkHistograms));
      m_Queue.Launch(kernel, chunkCount, CountBands(a.histogram));
    });
  }

  void
  SumHistograms(const TArguments & a, const HistogramArrays & arrays, int chunkCount, bool accumulate) override
  {
    CheckOpenCL(m_Queue.GetDeviceName(), [&] {
      cl::Kernel & kernel = m_Kernels.at(m_CompiledVariant).sumHistograms;
      const cl_int cells = static_cast<cl_int>(CountCells(a.histogram));
      SetKernelArguments(kernel,
                         a,
                         cl_int{ chunkCount },
                         cl_int{ accumulate },
                         BufferOf(*arrays.chunkHistograms),
                         cl::Local(GetLaneCount() * sizeof(u64)),
                         BufferOf(*arrays.sums));
      m_Queue.Launch(kernel, (cells + SumCellsPerGroup - 1) / SumCellsPerGroup, 1);
    });
  }

  void
  FindForces(const TArguments & a, const SampleMaps & maps, const HistogramArrays & arrays) override
  {
    CheckOpenCL(m_Queue.GetDeviceName(), [&] {
      cl::Kernel &      kernel = m_Kernels.at(m_CompiledVariant).forces;
      const std::size_t scratchBytes =
        std::max(GetBandBytes(a.histogram, a.histogram.tableColumns),
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

protected:
  OpenCLQueue &
  GetQueue() const
  {
    return m_Queue;
  }

  /** Of the variant that Prepare has chosen. */
  HistogramKernelSet &
  GetKernels()
  {
    return m_Kernels.at(m_CompiledVariant);
  }

  std::size_t
  GetLaneCount() const
  {
    return static_cast<std::size_t>(m_Queue.GetDevice().GetLanes());
  }

private:
  /** \throws Error if what local memory is to hold would not fit into it. */
  virtual void
  CheckRows(const TArguments & a) const = 0;

  /** In the place of a variant: kernels for all of them. */
  static constexpr int AnyVariant = -1;

  OpenCLQueue &                     m_Queue;
  const char *                      m_Source;
  std::map<int, HistogramKernelSet> m_Kernels;
  int                               m_CompiledVariant = AnyVariant; // that Prepare has chosen
};

} // namespace gpureg

#endif
