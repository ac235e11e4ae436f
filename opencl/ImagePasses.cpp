// SPDX-License-Identifier: Apache-2.0
// What is made of a loaded image's values, in OpenCL: launches. The entry points are in opencl/ImageKernels.cl, the formulas
// in src/kernels/ImageValues.h; the plain version is src/host/ImagePasses.cpp.
#include "ImagePasses.h"

#include "OpenCLError.h"
#include "OpenCLProgram.h"
#include "OpenCLQueue.h"

#include <array>
#include <string>
#include <type_traits>

namespace gpureg
{

using namespace kernels;

namespace
{
static_assert(std::is_trivially_copyable<ImageSampling>::value, "kernels get it as bytes");

class OpenCLImagePasses : public ImagePasses
{
public:
  explicit OpenCLImagePasses(OpenCLQueue & queue)
    : m_Queue(queue)
  {}

  void
  Summarize(std::int64_t   count,
            Precision      precision,
            double         factor,
            int            strips,
            const Memory & values,
            Memory &       summaries) override
  {
    Launch(KernelsOf(precision).summarize,
           "Summarize",
           precision,
           strips,
           BufferOf(values),
           cl_long{ count },
           cl_int{ strips },
           cl_double{ factor },
           BufferOf(summaries));
  }

  void
  Keep(const ImageSampling & a,
       std::int64_t          count,
       Precision             precision,
       const Memory &        values,
       const Memory &        edges,
       Memory &              kept) override
  {
    Launch(KernelsOf(precision).keep,
           "Keep",
           precision,
           count,
           a,
           cl_long{ count },
           BufferOf(values),
           BufferOf(edges),
           BufferOf(kept));
  }

private:
  struct Kernels
  {
    cl::Kernel summarize;
    cl::Kernel keep;
  };

  Kernels &
  KernelsOf(Precision precision)
  {
    return m_Kernels[precision == Precision::Double ? 1 : 0];
  }

  /** The kernel is compiled or loaded at the first call. \throws Error if the device cannot compute in doubles. */
  template <typename... TArguments>
  void
  Launch(
    cl::Kernel & kernel, const char * name, Precision precision, std::int64_t items, const TArguments &... arguments)
  {
    OpenCLDevice & device = m_Queue.GetDevice();
    if (!device.HasDoubles())
    {
      throw UnsupportedError(m_Queue.GetDeviceName() + " cannot compute in double precision; use another device");
    }
    if (!kernel())
    {
      const std::string options = std::string("-DGPUREG_REAL=") +
                                  (precision == Precision::Double ? "double" : "float") +
                                  " -DGPUREG_SAMPLING_BYTES=" + std::to_string(sizeof(ImageSampling));
      const cl::Program program = device.GetProgram(OpenCLImageSource, options);
      kernel = CheckOpenCL(m_Queue.GetDeviceName(), [&] { return cl::Kernel(program, name); });
    }
    CheckOpenCL(m_Queue.GetDeviceName(), [&] {
      SetKernelArguments(kernel, arguments...);
      m_Queue.Launch(kernel, (items + device.GetLanes() - 1) / device.GetLanes(), 1);
    });
  }

  OpenCLQueue & m_Queue;
  // By precision. One object's own, since setting an argument of a kernel is not thread-safe.
  std::array<Kernels, 2> m_Kernels;
};
} // namespace

std::unique_ptr<ImagePasses>
OpenCLQueue::CreateImagePasses()
{
  return std::make_unique<OpenCLImagePasses>(*this);
}

} // namespace gpureg
