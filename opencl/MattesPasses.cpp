// SPDX-License-Identifier: Apache-2.0
// The two passes of the Mattes histogram in OpenCL: launches. The entry points are in
// opencl/MattesKernels.cl, what a group does is in src/kernels/MattesKernels.h; the plain version is
// src/host/MattesPasses.cpp.
#include "MattesPasses.h"

#include "OpenCLError.h"
#include "OpenCLProgram.h"
#include "OpenCLQueue.h"

#include <algorithm>
#include <map>
#include <type_traits>

namespace gpureg
{

using namespace kernels;

namespace
{
// The kernels get MattesArguments as bytes: they and the host's compiler must lay it out alike. MattesKernels.cl
// compares the size; that its members are 32 bits wide, without a gap, follows from this.
static_assert(std::is_trivially_copyable<MattesArguments>::value && alignof(MattesArguments) == 4,
              "MattesArguments is made of 32-bit members");
static_assert(std::is_trivially_copyable<SampleMaps>::value, "kernels get it as bytes, too");

// What every OpenCL device of the full profile has. More would leave room for fewer groups at once.
constexpr std::size_t MaximumLocalBytes = std::size_t{ 32 } << 10;

/** A variant's kernels. One object's own, since setting an argument of a kernel is not thread-safe. */
struct MattesKernelSet
{
  explicit MattesKernelSet(const cl::Program & program)
    : histogram(program, "MattesHistogram")
    , sumHistograms(program, "MattesSumHistograms")
    , table(program, "MattesTable")
    , forces(program, "MattesForces")
  {}

  cl::Kernel histogram;
  cl::Kernel sumHistograms;
  cl::Kernel table;
  cl::Kernel forces;
};

/** Sets the arguments of a kernel that begins with MattesArguments, SampleMaps and the volumes. In the place of a volume
 *  that the variant does not have stands one that is there. */
template <typename... TArguments>
void
SetSampleKernelArguments(cl::Kernel &            kernel,
                         const MattesArguments & a,
                         const SampleMaps &      maps,
                         const MattesArrays &    arrays,
                         const TArguments &... others)
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

class OpenCLMattesPasses : public MattesPasses
{
public:
  explicit OpenCLMattesPasses(OpenCLQueue & queue)
    : m_Queue(queue)
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
    // A GPU gets kernels for each variant. On a CPU, where these take longer to compile than they ever save, one set
    // finds its way by the arguments.
    const bool isGpu = m_Queue.GetDevice().IsGpu();
    m_CompiledVariant = isGpu ? variant : AnyVariant;
    if (m_Kernels.count(m_CompiledVariant) == 0)
    {
      const cl::Program program =
        m_Queue.GetDevice().GetProgram(OpenCLMattesSource,
                                       "-DGPUREG_REAL=float -DGPUREG_VARIANT=" +
                                         (isGpu ? std::to_string(variant) : std::string("variant")) +
                                         " -DGPUREG_ARGUMENT_BYTES=" + std::to_string(sizeof(MattesArguments)) +
                                         " -DGPUREG_MAPS_BYTES=" + std::to_string(sizeof(SampleMaps)));
      CheckOpenCL(m_Queue.GetDeviceName(), [&] { m_Kernels.emplace(m_CompiledVariant, MattesKernelSet(program)); });
    }
  }

  void
  Histogram(const MattesArguments & a,
            const SampleMaps &      maps,
            const MattesArrays &    arrays,
            int                     firstChunk,
            int                     chunkCount) override
  {
    CheckBins(a);
    CheckOpenCL(m_Queue.GetDeviceName(), [&] {
      cl::Kernel & kernel = m_Kernels.at(m_CompiledVariant).histogram;
      SetSampleKernelArguments(kernel,
                               a,
                               maps,
                               arrays,
                               cl_int{ firstChunk },
                               cl::Local(GetBandBytes(a) * a.histogramCopies),
                               BufferOf(*arrays.chunkHistograms));
      m_Queue.Launch(kernel, chunkCount, GetBandCount(a));
    });
  }

  void
  SumHistograms(const MattesArguments & a, const MattesArrays & arrays, int chunkCount, bool accumulate) override
  {
    CheckOpenCL(m_Queue.GetDeviceName(), [&] {
      cl::Kernel & kernel = m_Kernels.at(m_CompiledVariant).sumHistograms;
      const cl_int cells = a.bins * a.bins;
      SetKernelArguments(kernel,
                         cl_int{ a.samples.variant },
                         cells,
                         cl_int{ chunkCount },
                         cl_int{ accumulate },
                         BufferOf(*arrays.chunkHistograms),
                         cl::Local(GetLaneCount() * sizeof(u64)),
                         BufferOf(*arrays.sums));
      m_Queue.Launch(kernel, (cells + SumCellsPerGroup - 1) / SumCellsPerGroup, 1);
    });
  }

  void
  Table(const MattesArguments & a, const MattesArrays & arrays) override
  {
    CheckOpenCL(m_Queue.GetDeviceName(), [&] {
      cl::Kernel & kernel = m_Kernels.at(m_CompiledVariant).table;
      SetKernelArguments(kernel,
                         a,
                         BufferOf(*arrays.sums),
                         cl::Local(GetLaneCount() * sizeof(float)),
                         cl::Local(GetMarginalBytes(a.bins)),
                         BufferOf(*arrays.table));
      m_Queue.Launch(kernel, 1, 1);
    });
  }

  void
  FindForces(const MattesArguments & a, const SampleMaps & maps, const MattesArrays & arrays) override
  {
    CheckOpenCL(m_Queue.GetDeviceName(), [&] {
      cl::Kernel &      kernel = m_Kernels.at(m_CompiledVariant).forces;
      const std::size_t scratchBytes =
        std::max(GetBandBytes(a), PartialCount(a.samples.variant) * GetLaneCount() * sizeof(float));
      SetSampleKernelArguments(kernel,
                               a,
                               maps,
                               arrays,
                               BufferOf(*arrays.table),
                               cl::Local(scratchBytes),
                               BufferOf(*arrays.sums),
                               BufferOf(arrays.forces ? *arrays.forces : *arrays.sums));
      m_Queue.Launch(kernel, ChunkCount(&a.samples), GetBandCount(a));
    });
  }

private:
  std::size_t
  GetLaneCount() const
  {
    return static_cast<std::size_t>(m_Queue.GetDevice().GetLanes());
  }

  static std::size_t
  GetBandBytes(const MattesArguments & a)
  {
    return static_cast<std::size_t>(a.bandRows) * a.bins * CellBytes(a.samples.variant);
  }

  static int
  GetBandCount(const MattesArguments & a)
  {
    return (a.bins + a.bandRows - 1) / a.bandRows;
  }

  static std::size_t
  GetMarginalBytes(int bins)
  {
    return 2 * static_cast<std::size_t>(bins) * sizeof(float);
  }

  /** \throws Error if a row of the histogram, or its marginals, would not fit into local memory. */
  void
  CheckBins(const MattesArguments & a) const
  {
    const std::size_t available = m_Queue.GetDevice().GetLocalMemorySize();
    const std::size_t needed = std::max(GetBandBytes(a), GetLaneCount() * sizeof(float) + GetMarginalBytes(a.bins));
    if (needed > available)
    {
      const std::size_t most = (available - GetLaneCount() * sizeof(float)) / GetMarginalBytes(1);
      throw UnsupportedError(m_Queue.GetDeviceName() + ": a joint histogram of " + std::to_string(a.bins) +
                             " bins needs " + std::to_string(needed) + " bytes of local memory, and there are " +
                             std::to_string(available) + "; use at most " + std::to_string(most) +
                             " bins, or another device");
    }
  }

  /** In the place of a variant: kernels for all of them. */
  static constexpr int AnyVariant = -1;

  OpenCLQueue &                  m_Queue;
  std::map<int, MattesKernelSet> m_Kernels;
  int                            m_CompiledVariant = AnyVariant; // that Prepare has chosen
};
} // namespace

std::unique_ptr<MattesPasses>
OpenCLQueue::CreateMattesPasses()
{
  return std::make_unique<OpenCLMattesPasses>(*this);
}

} // namespace gpureg
