// SPDX-License-Identifier: Apache-2.0
// Filters along lines in OpenCL: launches. The entry points are in opencl/filter/LineKernels.cl; src/kernels/filter/LineKernels.h and
// LineConvolution.h have the work of a work-item; the plain version is src/host/filter/LinePasses.cpp.
#include "engine/filter/LinePasses.h"

#include "opencl/runtime/OpenCLKernels.h"

namespace gpureg
{

using namespace kernels;

namespace
{
// Lines that are at most this many elements apart are read through local memory.
constexpr i64 NearLines = 8;

class OpenCLLinePasses : public LinePasses
{
public:
  explicit OpenCLLinePasses(OpenCLQueue & queue)
    : m_Queue(queue)
    , m_Kernels(queue, OpenCLLineSource)
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
    const bool isTiled = a.inner < NearLines && HasTiles(precision);
    m_Kernels.Launch(isTiled ? "RecurseTiles" : "RecurseLines",
                     GetOptions(kind, precision),
                     a.lineCount,
                     a,
                     BufferOf(volume),
                     BufferOf(*states));
  }

  void
  Convolve(const ConvolutionArguments & a, Precision precision, const Memory & input, Memory & output) override
  {
    m_Kernels.Launch("Convolve",
                     GetOptions(RecursionOfGaussian, precision),
                     a.inner * a.outputLength * a.outer,
                     a,
                     BufferOf(input),
                     BufferOf(output));
  }

  void
  Interpolate(const GridInterpolationArguments & a,
              Precision                          precision,
              const Memory &                     places,
              const Memory &                     input,
              Memory &                           output) override
  {
    const cl_long count = CountElements(a);
    m_Kernels.Launch("Interpolate",
                     GetOptions(RecursionOfGaussian, precision),
                     count,
                     a,
                     BufferOf(places),
                     BufferOf(input),
                     BufferOf(output),
                     count);
  }

private:
  /** Returns true if local memory holds a tile: a block of each of a group's lines and one sample more, see LineKernels.h. */
  bool
  HasTiles(Precision precision) const
  {
    const auto lanes = static_cast<std::size_t>(m_Queue.GetDevice().GetLanes());
    return BytesOf(precision) * (RecursionBlock + 1) * lanes <= m_Queue.GetDevice().GetLocalMemorySize();
  }

  /** \throws Error if the device cannot compute in doubles. */
  std::string
  GetOptions(int kind, Precision precision) const
  {
    CheckHasDoubles(m_Queue.GetDevice());
    return GetRealOption(precision) + " -DGPUREG_RECURSION=" + std::to_string(kind) +
           " -DGPUREG_HAS_TILES=" + (HasTiles(precision) ? "1" : "0");
  }

  OpenCLQueue & m_Queue;
  OpenCLKernels m_Kernels;
};
} // namespace

template <>
std::unique_ptr<LinePasses>
MakePassesOn<DeviceKind::OpenCL, LinePasses>(Queue & queue)
{
  return std::make_unique<OpenCLLinePasses>(static_cast<OpenCLQueue &>(queue));
}

} // namespace gpureg
