// SPDX-License-Identifier: Apache-2.0
// Runs the kernels of fields on a device, between arrays of the host.
#ifndef FieldsOnDevice_h
#define FieldsOnDevice_h

#include "DeviceArrays.h"

#include "engine/field/FieldKernels.h"
#include "engine/field/FieldReducer.h"
#include "engine/runtime/ForEachItem.h"

#include "gpureg/core/Precision.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

namespace gpuregtest
{

/** A queue of a device, arrays of fields there, and what adds them up. */
class FieldsOnDevice : public DeviceArrays
{
public:
  explicit FieldsOnDevice(const std::string & device)
    : DeviceArrays(device)
    , m_Reducer(*m_Queue)
  {}

  gpureg::FieldReducer &
  GetReducer()
  {
    return m_Reducer;
  }

  /** Returns an array of so many numbers, each of which is NaN until it is written. */
  template <typename TReal = float>
  gpureg::MemoryPointer
  MakeUnwritten(std::int64_t elements)
  {
    return this->Upload(
      std::vector<TReal>(static_cast<std::size_t>(elements), std::numeric_limits<TReal>::quiet_NaN()));
  }

  /** Enqueues a kernel for count items as gpureg::ForEachItem() does. TReal: real, of a kernel that is over real. */
  template <typename TKernel, typename TReal = float, typename... TArguments>
  void
  Run(std::int64_t count, const TArguments &... arguments)
  {
    if constexpr (TKernel::isOverReal)
    {
      constexpr bool isDouble = std::is_same_v<TReal, double>;
      gpureg::ForEachItem<TKernel>(*m_Queue,
                                   count,
                                   isDouble ? gpureg::Precision::Double : gpureg::Precision::Single,
                                   arguments...);
    }
    else
    {
      gpureg::ForEachItem<TKernel>(*m_Queue, count, arguments...);
    }
  }

  /** Runs a kernel, and returns the array of so many elements that it writes, which its last parameter points to. arguments: those before
   *  that one. */
  template <typename TKernel, typename TReal = float, typename... TArguments>
  std::vector<TReal>
  Compute(std::int64_t count, std::int64_t elements, const TArguments &... arguments)
  {
    using NumberType = std::conditional_t<TKernel::isOverReal, gpureg::RealNumber, TReal>;
    const auto written = this->MakeUnwritten<TReal>(elements);
    this->Run<TKernel, TReal>(count, arguments..., gpureg::Output<NumberType>(*written));
    return this->Download<TReal>(written);
  }

private:
  gpureg::FieldReducer m_Reducer;
};

} // namespace gpuregtest

#endif
