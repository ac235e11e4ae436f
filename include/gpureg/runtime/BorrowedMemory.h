// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_BorrowedMemory_h
#define gpureg_BorrowedMemory_h

#include "gpureg/core/NumberType.h"

#include <cstdint>
#include <memory>
#include <optional>

namespace gpureg
{

/** Describes contiguous values that are already on a device, in memory that the engine does not own. */
struct BorrowedMemory
{
  /** Address of the first value: a pointer on the GPU, or on the host. */
  void *       address = nullptr;
  NumberType   type = NumberType::Float32;
  std::int64_t count = 0;
  /** For CUDA, the stream in which the values are being computed (a cudaStream_t as a number; 1: the legacy default stream, 2: the
   *  per-thread default stream); empty if they are complete. The host ignores it. */
  std::optional<std::uintptr_t> stream;
  /** Keeps the memory alive; released together with the image. */
  std::shared_ptr<const void> owner;
};

} // namespace gpureg

#endif
