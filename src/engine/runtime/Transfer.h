// SPDX-License-Identifier: Apache-2.0
// Copies of arrays between the host and a device, in chunks through staging memory.
#ifndef gpureg_Transfer_h
#define gpureg_Transfer_h

#include "engine/runtime/Queue.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace gpureg
{

/** Uploads count elements of elementSize bytes, which filler gives, to target from byte offset on. The last copies may still be under way
 *  when it returns. */
void
UploadArray(Queue &        queue,
            Memory &       target,
            std::size_t    offset,
            std::size_t    elementSize,
            std::int64_t   count,
            const Filler & filler);

/** Uploads elements to target, from its first byte on. The last copies may still be under way when it returns. */
template <typename T>
void
UploadArray(Queue & queue, Memory & target, const std::vector<T> & elements)
{
  UploadArray(queue,
              target,
              0,
              sizeof(T),
              static_cast<std::int64_t>(elements.size()),
              [&elements](std::int64_t first, std::int64_t count, void * out) {
                std::copy_n(elements.data() + first, count, static_cast<T *>(out));
              });
}

/** Makes memory hold just count elements of elementSize bytes, and uploads them; frees it where filler is empty. */
void
UploadExactly(
  Queue & queue, MemoryPointer & memory, std::size_t elementSize, std::int64_t count, const Filler & filler);

/** Uploads count elements to target, which is input buffer 0 or 1, while work that was enqueued after the buffer's last MarkRead still
 *  runs. Work that is enqueued from now on waits for the upload. */
void
UploadToBuffer(
  Queue & queue, Memory & target, int buffer, std::size_t elementSize, std::int64_t count, const Filler & filler);

/** Takes elements first … first + count - 1 from host memory at in. Called for disjoint ranges, from several threads at once. */
using Taker = std::function<void(std::int64_t first, std::int64_t count, const void * in)>;

/** Downloads count elements of source, from a first one on, and hands them to take, numbered from 0 on: while one chunk is copied, the
 *  chunk before is taken. */
void
DownloadArray(Queue &        queue,
              const Memory & source,
              std::size_t    elementSize,
              std::int64_t   count,
              const Taker &  take,
              std::int64_t   first = 0);

/** Describes an array that the device makes tile by tile, because its memory does not hold the whole, or to overlap copies. */
struct TiledArray
{
  std::size_t  elementSize = 0;
  std::int64_t count = 0;
  /** Elements of a tile. */
  std::int64_t tileElements = 0;
  /** The element of its buffer with which a tile begins. */
  std::int64_t firstOfBuffer = 0;
  /** 2: a tile is copied while the next tile is made; 1: the next tile is made after the copy. */
  std::size_t bufferCount = 1;
  /** Enqueues the work that makes elements first … first + count - 1, at the beginning of out. */
  std::function<void(std::int64_t first, std::int64_t count, Memory & out)> make;
  Taker                                                                     take;
  /** The host address at which the host makes the elements, if they need no take(); null if take() receives them. */
  void * target = nullptr;
  /** Called from the caller's thread with the number of elements that have been taken so far. */
  std::function<void(std::int64_t)> progress;
};

/** Makes an array tile by tile in buffers, and downloads each tile while the next one is made. array.make and array.take must not call
 *  this function for the same queue. */
void
DownloadTiles(Queue & queue, std::array<MemoryPointer, 2> & buffers, const TiledArray & array);

} // namespace gpureg

#endif
