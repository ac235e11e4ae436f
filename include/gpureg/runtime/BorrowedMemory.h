// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_BorrowedMemory_h
#define gpureg_BorrowedMemory_h

#include "gpureg/core/NumberType.h"

#include <cstdint>
#include <memory>
#include <optional>

namespace gpureg
{

/** Values that are on a device already, in memory of somebody else's, one behind the other. */
struct BorrowedMemory
{
  /** Of the first one: a pointer of that GPU, or of the host. */
  void *       address = nullptr;
  NumberType   type = NumberType::Float32;
  std::int64_t count = 0;
  /** Of CUDA, the stream (a cudaStream_t as a number; 1: the legacy default one, 2: the thread's own) in which they are made; empty:
   *  they are made. Not looked at on the host. */
  std::optional<std::uintptr_t> stream;
  /** Keeps the memory; released with the image. */
  std::shared_ptr<const void> owner;
};

} // namespace gpureg

#endif
