// SPDX-License-Identifier: Apache-2.0
// The arguments of OpenCL's kernels for a metric's samples; opencl/metric/samples/SampleVolumes.cl declares them.
#ifndef gpureg_OpenCLSamples_h
#define gpureg_OpenCLSamples_h

#include "opencl/runtime/OpenCLError.h"
#include "opencl/runtime/OpenCLProgram.h"
#include "opencl/runtime/OpenCLQueue.h"

#include "engine/metric/samples/SampleArrays.h"

#include <algorithm>
#include <map>
#include <string>
#include <type_traits>
#include <utility>

namespace gpureg
{

using namespace kernels;

// SampleMaps and a metric's arguments are passed to the kernels as bytes, so the kernels' and the host's compiler must lay them out
// identically. The sizes of all structures are compared (OpenCLStructSizes.h); it follows that members are 32 bits wide, without padding.
static_assert(std::is_trivially_copyable<SampleMaps>::value, "kernels get it as bytes");
template <typename TArguments>
constexpr bool IsMadeOf32Bits = std::is_trivially_copyable<TArguments>::value && alignof(TArguments) == 4;

// Every OpenCL device of the full profile has this much local memory. With more, fewer groups would fit at once.
constexpr std::size_t MaximumLocalBytes = std::size_t{ 32 } << 10;

inline SampleGrain
GetSampleGrain(const OpenCLDevice & device)
{
  return {
    device.GetLanes(), device.GetTargetGroups(), std::min(device.GetLocalMemorySize(), MaximumLocalBytes), true
  };
}

/** Returns the compiler's options that SampleVolumes.cl needs, for one variant, or for all of them. */
inline std::string
GetSampleOptions(const std::string & variant)
{
  return "-DGPUREG_REAL=float -DGPUREG_VARIANT=" + variant;
}

/** Sets the arguments of a kernel: the metric's arguments, SampleMaps, or a buffer of a batch's, and the volumes. Another array stands
 *  for a volume that the variant does not have. */
template <typename TArguments, typename TMaps, typename... TOthers>
void
SetSampleKernelArguments(cl::Kernel &         kernel,
                         const TArguments &   a,
                         const TMaps &        maps,
                         const SampleArrays & samples,
                         const TOthers &... others)
{
  static_assert(IsMadeOf32Bits<TArguments>, "kernels get it as bytes");
  const MemoryPointer & any = samples.fixedBins ? samples.fixedBins : samples.fixedValues;
  const auto            orAny = [&any](const MemoryPointer & array) { return BufferOf(array ? *array : *any); };
  SetKernelArguments(kernel,
                     a,
                     maps,
                     orAny(samples.fixedBins),
                     orAny(samples.fixedValues),
                     orAny(samples.fixedGradients),
                     orAny(samples.points),
                     orAny(samples.displacement.GetMemory()),
                     orAny(samples.moving),
                     orAny(samples.quads),
                     orAny(samples.coefficients ? samples.coefficients : samples.moving),
                     orAny(samples.gradient),
                     orAny(samples.mask),
                     orAny(samples.movingBins),
                     orAny(samples.chain.parts),
                     orAny(samples.chain.vectors),
                     orAny(samples.chain.jacobians),
                     others...);
}

/** Holds the kernels of a source that reads samples, for each variant.
 *  \tparam TKernelSet a set of kernels, constructed from a program. */
template <typename TKernelSet, typename TArguments>
class OpenCLSampleKernels
{
public:
  /** \param options compiler options besides those for samples. */
  OpenCLSampleKernels(OpenCLQueue & queue, const char * source, std::string options = "")
    : m_Queue(queue)
    , m_Source(source)
    , m_Options(std::move(options))
  {}

  /** Compiles or loads the kernels of a variant. */
  void
  Prepare(int variant)
  {
    // A GPU has kernels for each variant. On a CPU, compiling these takes longer than it ever saves, so one set looks the variant up at run
    // time.
    const bool isGpu = m_Queue.GetDevice().IsGpu();
    m_CompiledVariant = isGpu ? variant : AnyVariant;
    if (m_Kernels.count(m_CompiledVariant) == 0)
    {
      const cl::Program program =
        m_Queue.GetDevice().GetProgram(m_Source,
                                       GetSampleOptions(isGpu ? std::to_string(variant) : "variant") + m_Options);
      CheckOpenCL(m_Queue.GetDeviceName(), [&] { m_Kernels.emplace(m_CompiledVariant, TKernelSet(program)); });
    }
  }

  /** Returns the kernels of the variant that Prepare has chosen. */
  TKernelSet &
  Get()
  {
    return m_Kernels.at(m_CompiledVariant);
  }

private:
  /** Stands for kernels of all variants. */
  static constexpr int AnyVariant = -1;

  OpenCLQueue &             m_Queue;
  const char *              m_Source;
  std::string               m_Options;
  std::map<int, TKernelSet> m_Kernels;
  int                       m_CompiledVariant = AnyVariant; // chosen by Prepare
};

} // namespace gpureg

#endif
