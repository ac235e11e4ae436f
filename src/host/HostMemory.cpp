// SPDX-License-Identifier: Apache-2.0
#include "gpureg/HostMemory.h"

#ifdef __linux__
#  include <cstdint>
#  include <sys/mman.h>
#endif

namespace gpureg
{

void
PreferLargePages([[maybe_unused]] void * memory, [[maybe_unused]] std::size_t bytes) noexcept
{
#ifdef __linux__
  constexpr std::uintptr_t LargePage = std::uintptr_t{ 2 } << 20;
  const auto               address = reinterpret_cast<std::uintptr_t>(memory);
  const std::uintptr_t     begin = (address + LargePage - 1) / LargePage * LargePage;
  const std::uintptr_t     end = (address + bytes) / LargePage * LargePage;
  if (begin < end)
  {
    // A kernel without large pages refuses, and small ones do.
    madvise(reinterpret_cast<void *>(begin), end - begin, MADV_HUGEPAGE);
  }
#endif
}

} // namespace gpureg
