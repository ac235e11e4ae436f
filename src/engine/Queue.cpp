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
FillArray(Queue & queue, Memory & target, std::size_t elementSize, std::int64_t count, const Filler & filler)
{
  if (void * direct = queue.GetHostAddress(target))
  {
    FillPiece(queue.parallelFor, filler, elementSize, 0, count, static_cast<char *>(direct));
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
      queue.WaitForUpload(second ? 1 : 0);
    }
    FillPiece(queue.parallelFor, filler, elementSize, first, now, half);
    queue.Upload(target, static_cast<std::size_t>(first) * elementSize, half, static_cast<std::size_t>(now) * elementSize);
    queue.MarkUpload(second ? 1 : 0);
    second = !second;
  }
  queue.Finish();
}

} // namespace gpureg
