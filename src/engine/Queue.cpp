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

void
FillPiece(const ParallelFor & parallelFor,
          const Filler &      filler,
          std::size_t         elementSize,
          std::int64_t        first,
          std::int64_t        count,
          char *              out)
{
  const std::int64_t tasks = (count + TaskElements - 1) / TaskElements;
  parallelFor(tasks, [&](std::int64_t task) {
    const std::int64_t begin = task * TaskElements;
    filler(first + begin, std::min(TaskElements, count - begin), out + begin * static_cast<std::int64_t>(elementSize));
  });
}
} // namespace

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
    queue.parallelFor((now + TaskElements - 1) / TaskElements, [&](std::int64_t task) {
      const std::int64_t begin = task * TaskElements;
      take(first + begin, std::min(TaskElements, now - begin), values + begin * static_cast<std::int64_t>(elementSize));
    });
  };
  if (const void * direct = queue.GetHostAddress(const_cast<Memory &>(source)))
  {
    takePiece(0, count, static_cast<const char *>(direct));
    return;
  }
  const std::int64_t piece =
    std::clamp<std::int64_t>(PieceBytes / static_cast<std::int64_t>(elementSize), 1, std::max<std::int64_t>(1, count));
  const std::size_t  pieceBytes = static_cast<std::size_t>(piece) * elementSize;
  const std::int64_t pieces = (count + piece - 1) / piece;
  char * const       staging = static_cast<char *>(queue.GetStaging(std::min<std::int64_t>(pieces, 2) * pieceBytes));
  try
  {
    for (std::int64_t n = 0; n <= pieces; ++n)
    {
      if (n < pieces)
      {
        const auto now = static_cast<std::size_t>(std::min(piece, count - n * piece));
        queue.StartDownload(staging + static_cast<std::size_t>(n % 2) * pieceBytes,
                            source,
                            now * elementSize,
                            static_cast<std::size_t>(n) * pieceBytes);
        queue.Mark(static_cast<int>(n % 2));
      }
      if (n > 0)
      {
        const std::int64_t before = n - 1;
        queue.WaitFor(static_cast<int>(before % 2));
        takePiece(before * piece,
                  std::min(piece, count - before * piece),
                  staging + static_cast<std::size_t>(before % 2) * pieceBytes);
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

void
DrainPieces(Queue &                                                    queue,
            std::array<MemoryPointer, 2> &                             buffers,
            std::size_t                                                bytes,
            std::int64_t                                               pieces,
            const std::function<std::size_t(std::int64_t, Memory &)> & make,
            const std::function<void(std::int64_t, const void *)> &    take)
{
  const std::size_t used = pieces > 1 ? 2 : 1;
  for (std::size_t n = 0; n < used; ++n)
  {
    if (!buffers[n] || buffers[n]->GetSize() < bytes)
    {
      buffers[n].reset();
      buffers[n] = queue.Allocate(bytes);
    }
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
  char * const staging = static_cast<char *>(queue.GetStaging(used * bytes));
  try
  {
    for (std::int64_t piece = 0; piece <= pieces; ++piece)
    {
      if (piece < pieces)
      {
        const auto        slot = static_cast<std::size_t>(piece % 2);
        const std::size_t size = make(piece, *buffers[slot]);
        queue.StartDownload(staging + slot * bytes, *buffers[slot], size);
        queue.Mark(static_cast<int>(slot));
      }
      if (piece > 0)
      {
        const auto slot = static_cast<std::size_t>((piece - 1) % 2);
        queue.WaitFor(static_cast<int>(slot));
        take(piece - 1, staging + slot * bytes);
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

} // namespace gpureg
