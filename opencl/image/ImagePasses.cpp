// SPDX-License-Identifier: Apache-2.0
// Computes with the values of a loaded image in OpenCL: launches. The entry points are in opencl/image/ImageKernels.cl, the formulas
// in src/kernels/image/ImageValues.h; the plain version is src/host/image/ImagePasses.cpp.
#include "engine/image/ImagePasses.h"

#include "opencl/runtime/OpenCLKernels.h"

#include <string>

namespace gpureg
{

using namespace kernels;

namespace
{
class OpenCLImagePasses : public ImagePasses
{
public:
  explicit OpenCLImagePasses(OpenCLQueue & queue)
    : m_Queue(queue)
    , m_Kernels(queue, OpenCLImageSource)
  {}

  void
  Summarize(std::int64_t   count,
            Precision      precision,
            double         factor,
            int            strips,
            const Memory & values,
            Memory &       summaries) override
  {
    m_Kernels.Launch("Summarize",
                     GetOptions(precision),
                     strips,
                     BufferOf(values),
                     cl_long{ count },
                     cl_int{ strips },
                     cl_double{ factor },
                     BufferOf(summaries));
  }

  void
  Pick(std::int64_t count, Precision precision, std::int64_t parts, const Memory & values, Memory & picked) override
  {
    m_Kernels.Launch(
      "Pick", GetOptions(precision), parts, BufferOf(values), cl_long{ count }, cl_long{ parts }, BufferOf(picked));
  }

  void
  Clamp(const ClampArguments & a,
        Precision              precision,
        int                    strips,
        const Memory &         values,
        Memory &               clamped,
        Memory &               numbers) override
  {
    m_Kernels.Launch("Clamp",
                     GetOptions(precision),
                     strips,
                     a,
                     BufferOf(values),
                     cl_int{ strips },
                     BufferOf(clamped),
                     BufferOf(numbers));
  }

  void
  Hash(std::int64_t count, const Memory & bytes, Memory & states) override
  {
    m_Kernels.Launch("Hash",
                     GetOptions(Precision::Single),
                     CountHashLanes(count),
                     BufferOf(bytes),
                     cl_long{ count },
                     cl_long{ CountHashLanes(count) },
                     BufferOf(states));
  }

  void
  Keep(const ImageSampling & a,
       std::int64_t          count,
       Precision             precision,
       const Memory &        values,
       const Memory &        edges,
       const Memory *        mask,
       Memory &              kept) override
  {
    m_Kernels.Launch("Keep",
                     GetOptions(precision),
                     count,
                     a,
                     cl_long{ count },
                     BufferOf(values),
                     BufferOf(edges),
                     BufferOf(mask != nullptr ? *mask : values),
                     BufferOf(kept));
  }

private:
  /** \throws Error if the device cannot compute in doubles. */
  std::string
  GetOptions(Precision precision) const
  {
    CheckHasDoubles(m_Queue.GetDevice());
    return GetRealOption(precision);
  }

  OpenCLQueue & m_Queue;
  OpenCLKernels m_Kernels;
};
} // namespace

template <>
std::unique_ptr<ImagePasses>
MakePassesOn<DeviceKind::OpenCL, ImagePasses>(Queue & queue)
{
  return std::make_unique<OpenCLImagePasses>(static_cast<OpenCLQueue &>(queue));
}

} // namespace gpureg
