// SPDX-License-Identifier: Apache-2.0
// Moves the control points of a registration in OpenCL: launches. The entry points are in
// opencl/registration/free_form/ControlStepKernels.cl, the formulas in src/kernels/registration/free_form/ControlSteps.h; the plain version is src/host/registration/free_form/ControlStepPasses.cpp.
#include "engine/registration/free_form/ControlStepPasses.h"

#include "opencl/runtime/OpenCLKernels.h"

#include <string>
#include <type_traits>

namespace gpureg
{

using namespace kernels;

namespace
{
static_assert(std::is_trivially_copyable<AdamStep>::value && alignof(AdamStep) == 4 &&
                std::is_trivially_copyable<Refinement>::value && alignof(Refinement) == 4,
              "kernels get these as bytes");

class OpenCLControlStepPasses : public ControlStepPasses
{
public:
  explicit OpenCLControlStepPasses(OpenCLQueue & queue)
    : m_Lanes(queue.GetDevice().GetLanes())
    , m_Kernels(queue, OpenCLControlStepSource)
  {}

  void
  Clear(std::int64_t count, Memory & vectors) override
  {
    m_Kernels.Launch("Clear", GetRealOption(Precision::Single), count, cl_long{ count }, BufferOf(vectors));
  }

  void
  MoveByAdam(const AdamStep & a, std::int64_t count, const StepArrays & arrays) override
  {
    m_Kernels.Launch("StepByAdam",
                     GetRealOption(Precision::Single),
                     count,
                     a,
                     cl_long{ count },
                     BufferOf(*arrays.evaluated),
                     cl_long{ arrays.evaluatedPlace },
                     BufferOf(*arrays.values),
                     cl_long{ arrays.valuePlace },
                     BufferOf(*arrays.gathered),
                     BufferOf(arrays.penalty ? *arrays.penalty : *arrays.gathered),
                     BufferOf(*arrays.firstMeans),
                     BufferOf(*arrays.secondMeans),
                     BufferOf(*arrays.points));
  }

  void
  KeepValue(const StepArrays & arrays) override
  {
    m_Kernels.Launch("KeepValue",
                     GetRealOption(Precision::Single),
                     1,
                     BufferOf(*arrays.evaluated),
                     cl_long{ arrays.evaluatedPlace },
                     BufferOf(*arrays.values),
                     cl_long{ arrays.valuePlace });
  }

  void
  FindGradient(float similarity, std::int64_t count, const StepArrays & arrays, Memory & gradient) override
  {
    m_Kernels.Launch("FindGradient",
                     GetRealOption(Precision::Single),
                     count,
                     cl_float{ similarity },
                     cl_long{ count },
                     BufferOf(*arrays.evaluated),
                     cl_long{ arrays.evaluatedPlace },
                     BufferOf(*arrays.gathered),
                     cl_int{ arrays.penalty != nullptr },
                     BufferOf(arrays.penalty ? *arrays.penalty : *arrays.gathered),
                     BufferOf(gradient));
  }

  void
  TurnLine(std::int64_t count, bool isConjugate, const LineArrays & arrays) override
  {
    const std::string options = GetRealOption(Precision::Single);
    m_Kernels.Launch("Conjugate",
                     options,
                     m_Lanes,
                     cl_long{ count },
                     cl_int{ isConjugate },
                     BufferOf(*arrays.gradient),
                     BufferOf(*arrays.lastGradient),
                     BufferOf(*arrays.numbers),
                     GetScratch());
    m_Kernels.Launch("Turn",
                     options,
                     count,
                     cl_long{ count },
                     BufferOf(*arrays.numbers),
                     BufferOf(*arrays.gradient),
                     BufferOf(*arrays.lastGradient),
                     BufferOf(*arrays.direction));
    m_Kernels.Launch("FindLongest",
                     options,
                     m_Lanes,
                     cl_long{ count },
                     BufferOf(*arrays.direction),
                     BufferOf(*arrays.numbers),
                     GetScratch());
  }

  void
  PlaceOnLine(
    std::int64_t count, float length, const LineArrays & arrays, const Memory & begin, Memory & points) override
  {
    m_Kernels.Launch("PlacePoints",
                     GetRealOption(Precision::Single),
                     count,
                     cl_long{ count },
                     cl_float{ length },
                     BufferOf(*arrays.numbers),
                     BufferOf(begin),
                     BufferOf(*arrays.direction),
                     BufferOf(points));
  }

  void
  Refine(const Refinement & a, const Memory & coarse, Memory & fine) override
  {
    const cl_long count = CountFinePoints(a);
    m_Kernels.Launch("Refine", GetRealOption(Precision::Single), count, a, count, BufferOf(coarse), BufferOf(fine));
  }

private:
  cl::LocalSpaceArg
  GetScratch() const
  {
    return cl::Local(sizeof(float) * static_cast<std::size_t>(m_Lanes));
  }

  std::int64_t  m_Lanes;
  OpenCLKernels m_Kernels;
};
} // namespace

template <>
std::unique_ptr<ControlStepPasses>
MakePassesOn<DeviceKind::OpenCL, ControlStepPasses>(Queue & queue)
{
  return std::make_unique<OpenCLControlStepPasses>(static_cast<OpenCLQueue &>(queue));
}

} // namespace gpureg
