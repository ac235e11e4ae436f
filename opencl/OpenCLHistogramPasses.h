// SPDX-License-Identifier: Apache-2.0
// The two passes of every metric that has a histogram in OpenCL: launches. The entry points are in
// opencl/HistogramKernels.cl, what a group does is in src/kernels/HistogramKernels.h; the plain version is
// src/host/HostHistogramPasses.h.
#ifndef gpureg_OpenCLHistogramPasses_h
#define gpureg_OpenCLHistogramPasses_h

#include "HistogramPasses.h"

#include "OpenCLError.h"
#include "OpenCLProgram.h"
#include "OpenCLQueue.h"

#include <algorithm>
#include <map>
#include <string>
#include <type_traits>

namespace gpureg
{

using namespace kernels;

// What every OpenCL device of the full profile has. More would leave room for fewer groups at once.
constexpr std::size_t MaximumLocalBytes = std::size_t{ 32 } << 10;

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

/** Sets the arguments of a kernel that begins with the metric's arguments, SampleMaps and the volumes. In the place of a volume
 *  that the variant does not have stands one that is there. */
template <typename TArguments, typename... TOthers>
void
SetSampleKernelArguments(cl::Kernel &            kernel,
                         const TArguments &      a,
                         const SampleMaps &      maps,
                         const HistogramArrays & arrays,
                         const TOthers &... others)
{
  const SampleArrays & samples = *arrays.samples;
  const auto orAny = [&samples](const MemoryPointer & array) { return BufferOf(array ? *array : *samples.fixedBins); };
  SetKernelArguments(kernel,
                     a,
                     maps,
                     orAny(samples.fixedBins),
                     orAny(samples.points),
                     orAny(samples.displacement),
                     orAny(samples.moving),
                     orAny(samples.quads),
                     orAny(samples.coefficients ? samples.coefficients : samples.moving),
                     orAny(samples.gradient),
                     orAny(samples.mask),
                     others...);
}

/** The kernels of a source that reads samples, by their variant.
 *  TArguments and SampleMaps go to the kernels as bytes: they and the host's compiler must lay them out alike.
 *  SampleVolumes.cl compares the sizes; that members are 32 bits wide, without a gap, follows from this.
 *  \tparam TKernelSet made from a program. */
template <typename TKernelSet, typename TArguments>
class OpenCLSampleKernels
{
  static_assert(std::is_trivially_copyable<TArguments>::value && alignof(TArguments) == 4, "made of 32-bit members");
  static_assert(std::is_trivially_copyable<SampleMaps>::value, "kernels get it as bytes, too");

public:
  OpenCLSampleKernels(OpenCLQueue & queue, const char * source)
    : m_Queue(queue)
    , m_Source(source)
  {}

  /** Compiles or loads those of a variant. */
  void
  Prepare(int variant)
  {
    // A GPU gets kernels for each variant. On a CPU, where these take longer to compile than they ever save, one set
    // finds its way by the arguments.
    const bool isGpu = m_Queue.GetDevice().IsGpu();
    m_CompiledVariant = isGpu ? variant : AnyVariant;
    if (m_Kernels.count(m_CompiledVariant) == 0)
    {
      const cl::Program program =
        m_Queue.GetDevice().GetProgram(m_Source,
                                       "-DGPUREG_REAL=float -DGPUREG_VARIANT=" +
                                         (isGpu ? std::to_string(variant) : std::string("variant")) +
                                         " -DGPUREG_ARGUMENT_BYTES=" + std::to_string(sizeof(TArguments)) +
                                         " -DGPUREG_MAPS_BYTES=" + std::to_string(sizeof(SampleMaps)));
      CheckOpenCL(m_Queue.GetDeviceName(), [&] { m_Kernels.emplace(m_CompiledVariant, TKernelSet(program)); });
    }
  }

  /** Of the variant that Prepare has chosen. */
  TKernelSet &
  Get()
  {
    return m_Kernels.at(m_CompiledVariant);
  }

private:
  /** In the place of a variant: kernels for all of them. */
  static constexpr int AnyVariant = -1;

  OpenCLQueue &             m_Queue;
  const char *              m_Source;
  std::map<int, TKernelSet> m_Kernels;
  int                       m_CompiledVariant = AnyVariant; // that Prepare has chosen
};

template <typename TArguments>
class OpenCLHistogramPasses : public HistogramPasses<TArguments>
{
public:
  /** \param source the metric's kernels, with their entry points. */
  OpenCLHistogramPasses(OpenCLQueue & queue, const char * source)
    : m_Queue(queue)
    , m_Kernels(queue, source)
  {}

  SampleGrain
  GetGrain() const override
  {
    return { m_Queue.GetDevice().GetLanes(),
             m_Queue.GetDevice().GetTargetGroups(),
             std::min(m_Queue.GetDevice().GetLocalMemorySize(), MaximumLocalBytes),
             true };
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
                               arrays,
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
      cl::Kernel &      kernel = m_Kernels.Get().forces;
      const std::size_t scratchBytes =
        std::max(GetTableBandBytes(a.histogram),
                 PartialCount(a.histogram.samples.variant) * GetLaneCount() * sizeof(float));
      SetSampleKernelArguments(kernel,
                               a,
                               maps,
                               arrays,
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
    return m_Kernels.Get();
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

  OpenCLQueue &                                       m_Queue;
  OpenCLSampleKernels<HistogramKernelSet, TArguments> m_Kernels;
};

} // namespace gpureg

#endif
