// SPDX-License-Identifier: Apache-2.0
#include "Queue.h"

#include <algorithm>

namespace gpureg
{

namespace
{
// Large enough to keep a bus busy, small enough to be pinned without harm.
constexpr std::int64_t PieceBytes = std::int64_t{ 32 } << 20;
// What one thread fills at a time.
constexpr std::int64_t TaskElements = std::int64_t{ 1 } << 16;

/** Calls work(begin, count) for the parts of so many elements that one thread does at a time. */
template <typename TWork>
void
ForEachTask(const ParallelFor & parallelFor, std::int64_t count, const TWork & work)
{
  parallelFor((count + TaskElements - 1) / TaskElements, [&](std::int64_t task) {
    const std::int64_t begin = task * TaskElements;
    work(begin, std::min(TaskElements, count - begin));
  });
}

void
FillPiece(const ParallelFor & parallelFor,
          const Filler &      filler,
          std::size_t         elementSize,
          std::int64_t        first,
          std::int64_t        count,
          char *              out)
{
  ForEachTask(parallelFor, count, [&](std::int64_t begin, std::int64_t now) {
    filler(first + begin, now, out + begin * static_cast<std::int64_t>(elementSize));
  });
}

/** Pieces of so many bytes at most, through two halves of the staging memory: while one is copied, the one before is
 *  taken. start(piece, half) enqueues the copy. */
template <typename TStart, typename TTake>
void
DrainThroughStaging(Queue & queue, std::size_t bytes, std::int64_t pieces, const TStart & start, const TTake & take)
{
  char * const staging =
    static_cast<char *>(queue.GetStaging(static_cast<std::size_t>(std::min<std::int64_t>(pieces, 2)) * bytes));
  const auto halfOf = [&](std::int64_t piece) { return staging + static_cast<std::size_t>(piece % 2) * bytes; };
  try
  {
    for (std::int64_t piece = 0; piece <= pieces; ++piece)
    {
      if (piece < pieces)
      {
        start(piece, halfOf(piece));
        queue.Mark(static_cast<int>(piece % 2));
      }
      if (piece > 0)
      {
        queue.WaitFor(static_cast<int>((piece - 1) % 2));
        take(piece - 1, halfOf(piece - 1));
      }
    }
  }
  catch (...)
  {
    // Copies to the staging memory may be under way.
    try
    {
      queue.Finish();
    }
    catch (...)
    {
      // What is thrown on says more.
    }
    throw;
  }
}
} // namespace

void
Reserve(Queue & queue, MemoryPointer & memory, std::size_t bytes)
{
  if (SizeOf(memory) < bytes)
  {
    memory.reset();
    memory = queue.Allocate(bytes);
  }
}

void
FillArray(Queue &        queue,
          Memory &       target,
          std::size_t    offset,
          std::size_t    elementSize,
          std::int64_t   count,
          const Filler & filler)
{
  if (void * direct = queue.GetHostAddress(target))
  {
    FillPiece(queue.parallelFor, filler, elementSize, 0, count, static_cast<char *>(direct) + offset);
    return;
  }
  // Two halves of the staging memory: one is filled while the other is copied.
  const std::int64_t piece = std::max<std::int64_t>(1, PieceBytes / static_cast<std::int64_t>(elementSize));
  const std::size_t  pieceBytes = static_cast<std::size_t>(std::min(piece, count)) * elementSize;
  char *             staging = static_cast<char *>(queue.GetStaging(2 * pieceBytes));
  bool               second = false;
  for (std::int64_t first = 0; first < count; first += piece)
  {
    const std::int64_t now = std::min(piece, count - first);
    char *             half = staging + (second ? pieceBytes : 0);
    if (first >= 2 * piece)
    {
      queue.WaitFor(second ? 1 : 0);
    }
    FillPiece(queue.parallelFor, filler, elementSize, first, now, half);
    queue.Upload(target,
                 offset + static_cast<std::size_t>(first) * elementSize,
                 half,
                 static_cast<std::size_t>(now) * elementSize);
    queue.Mark(second ? 1 : 0);
    second = !second;
  }
  queue.Finish();
}

void
DrainArray(Queue &                                                               queue,
           const Memory &                                                        source,
           std::size_t                                                           elementSize,
           std::int64_t                                                          count,
           const std::function<void(std::int64_t, std::int64_t, const void *)> & take)
{
  const auto takePiece = [&](std::int64_t first, std::int64_t now, const char * values) {
    ForEachTask(queue.parallelFor, now, [&](std::int64_t begin, std::int64_t part) {
      take(first + begin, part, values + begin * static_cast<std::int64_t>(elementSize));
    });
  };
  if (const void * direct = queue.GetHostAddress(const_cast<Memory &>(source)))
  {
    takePiece(0, count, static_cast<const char *>(direct));
    return;
  }
  const std::int64_t piece =
    std::clamp<std::int64_t>(PieceBytes / static_cast<std::int64_t>(elementSize), 1, std::max<std::int64_t>(1, count));
  const std::size_t pieceBytes = static_cast<std::size_t>(piece) * elementSize;
  DrainThroughStaging(
    queue,
    pieceBytes,
    (count + piece - 1) / piece,
    [&](std::int64_t n, char * half) {
      const auto now = static_cast<std::size_t>(std::min(piece, count - n * piece));
      queue.StartDownload(half, source, now * elementSize, static_cast<std::size_t>(n) * pieceBytes);
    },
    [&](std::int64_t n, const char * half) { takePiece(n * piece, std::min(piece, count - n * piece), half); });
}

void
DrainPieces(Queue &                                                    queue,
            std::array<MemoryPointer, 2> &                             buffers,
            std::size_t                                                bytes,
            std::int64_t                                               pieces,
            const std::function<std::size_t(std::int64_t, Memory &)> & make,
            const std::function<void(std::int64_t, const void *)> &    take)
{
  for (std::int64_t n = 0; n < std::min<std::int64_t>(pieces, 2); ++n)
  {
    Reserve(queue, buffers[static_cast<std::size_t>(n)], bytes);
  }
  // Where the host sees the device's memory there is nothing to copy, and nothing to overlap.
  if (queue.GetHostAddress(*buffers[0]) != nullptr)
  {
    for (std::int64_t piece = 0; piece < pieces; ++piece)
    {
      make(piece, *buffers[0]);
      take(piece, queue.GetHostAddress(*buffers[0]));
    }
    return;
  }
  DrainThroughStaging(
    queue,
    bytes,
    pieces,
    [&](std::int64_t piece, char * half) {
      Memory &          buffer = *buffers[static_cast<std::size_t>(piece % 2)];
      const std::size_t size = make(piece, buffer);
      queue.StartDownload(half, buffer, size);
    },
    take);
}

} // namespace gpureg
