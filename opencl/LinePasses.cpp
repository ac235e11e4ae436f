// SPDX-License-Identifier: Apache-2.0
// Filters along lines in OpenCL: launches. The entry points are in opencl/LineKernels.cl, what a work-item does
// in src/kernels/LineKernels.h and LineConvolution.h; the plain version is src/host/LinePasses.cpp.
#include "LinePasses.h"

#include "OpenCLError.h"
#include "OpenCLProgram.h"
#include "OpenCLQueue.h"

#include <map>
#include <type_traits>

namespace gpureg
{

using namespace kernels;

namespace
{
// The kernels get these as bytes: they and the host's compiler must lay them out alike. LineKernels.cl compares
// the sizes.
static_assert(std::is_trivially_copyable<RecursionArguments>::value &&
                std::is_trivially_copyable<ConvolutionArguments>::value &&
                std::is_trivially_copyable<GridInterpolationArguments>::value,
              "kernels get these as bytes");

// Lines so close together are read through local memory.
constexpr i64 NearLines = 8;

class OpenCLLinePasses : public LinePasses
{
public:
  explicit OpenCLLinePasses(OpenCLQueue & queue)
    : m_Queue(queue)
  {}

  std::size_t
  GetStateBytes(int kind, int length, std::int64_t lines) const override
  {
    return sizeof(double) * static_cast<std::size_t>(CountKeptStates(kind)) *
           static_cast<std::size_t>(CountBlocks(length)) * static_cast<std::size_t>(lines);
  }

  void
  Recurse(int kind, const RecursionArguments & a, Precision precision, Memory & volume, Memory * states) override
  {
    const bool   isTiled = a.inner < NearLines && HasTiles(precision);
    cl::Kernel & kernel = GetKernel(isTiled ? "RecurseTiles" : "RecurseLines", kind, precision);
    CheckOpenCL(m_Queue.GetDeviceName(), [&] {
      SetKernelArguments(kernel, a, BufferOf(volume), BufferOf(*states));
      m_Queue.Launch(kernel, CountGroups(a.lineCount), 1);
    });
  }

  void
  Convolve(const ConvolutionArguments & a, Precision precision, const Memory & input, Memory & output) override
  {
    cl::Kernel & kernel = GetKernel("Convolve", RecursionOfGaussian, precision);
    CheckOpenCL(m_Queue.GetDeviceName(), [&] {
      SetKernelArguments(kernel, a, BufferOf(input), BufferOf(output));
      m_Queue.Launch(kernel, CountGroups(a.inner * a.outputLength * a.outer), 1);
    });
  }

  void
  Interpolate(const GridInterpolationArguments & a,
              Precision                          precision,
              const Memory &                     places,
              const Memory &                     input,
              Memory &                           output) override
  {
    cl::Kernel & kernel = GetKernel("Interpolate", RecursionOfGaussian, precision);
    CheckOpenCL(m_Queue.GetDeviceName(), [&] {
      const cl_long count = CountElements(a);
      SetKernelArguments(kernel, a, BufferOf(places), BufferOf(input), BufferOf(output), count);
      m_Queue.Launch(kernel, CountGroups(count), 1);
    });
  }

private:
  /** Whether a group's lines fit into local memory, a block of each and one sample more: LineKernels.h. */
  bool
  HasTiles(Precision precision) const
  {
    const auto lanes = static_cast<std::size_t>(m_Queue.GetDevice().GetLanes());
    return BytesOf(precision) * (RecursionBlock + 1) * lanes <= m_Queue.GetDevice().GetLocalMemorySize();
  }

  int
  CountGroups(i64 items) const
  {
    const int lanes = m_Queue.GetDevice().GetLanes();
    return static_cast<int>((items + lanes - 1) / lanes);
  }

  /** Compiled or loaded at the first call. \throws Error if the device cannot compute in doubles. */
  cl::Kernel &
  GetKernel(const char * name, int kind, Precision precision)
  {
    if (!m_Queue.GetDevice().HasDoubles())
    {
      throw UnsupportedError(m_Queue.GetDeviceName() + " cannot compute in double precision; use another device");
    }
    const std::string options =
      std::string("-DGPUREG_REAL=") + (precision == Precision::Double ? "double" : "float") +
      " -DGPUREG_RECURSION=" + std::to_string(kind) + " -DGPUREG_HAS_TILES=" + (HasTiles(precision) ? "1" : "0") +
      " -DGPUREG_RECURSION_BYTES=" + std::to_string(sizeof(RecursionArguments)) +
      " -DGPUREG_CONVOLUTION_BYTES=" + std::to_string(sizeof(ConvolutionArguments)) +
      " -DGPUREG_INTERPOLATION_BYTES=" + std::to_string(sizeof(GridInterpolationArguments) + sizeof(GridPlace));
    const auto found = m_Kernels.find(name + options);
    if (found != m_Kernels.end())
    {
      return found->second;
    }
    const cl::Program program = m_Queue.GetDevice().GetProgram(OpenCLLineSource, options);
    const cl::Kernel  kernel = CheckOpenCL(m_Queue.GetDeviceName(), [&] { return cl::Kernel(program, name); });
    return m_Kernels.emplace(name + options, kernel).first->second;
  }

  OpenCLQueue & m_Queue;
  /** By name and options. One object's own, since setting an argument of a kernel is not thread-safe. */
  std::map<std::string, cl::Kernel> m_Kernels;
};
} // namespace

std::unique_ptr<LinePasses>
OpenCLQueue::CreateLinePasses()
{
  return std::make_unique<OpenCLLinePasses>(*this);
}

} // namespace gpureg
