// SPDX-License-Identifier: Apache-2.0
#include "engine/runtime/Queue.h"

#include "engine/runtime/Backend.h"

#include <algorithm>
#include <utility>

namespace gpureg
{

namespace
{
// Large enough to keep a bus busy, small enough to be pinned without harm.
constexpr std::int64_t PortionBytes = std::int64_t{ 16 } << 20;
// What one thread fills at a time.
constexpr std::int64_t TaskBytes = std::int64_t{ 64 } << 10;

/** Calls work(begin, count) for the portions of so many elements that one thread does at a time. */
template <typename TWork>
void
ForEachTask(const ParallelFor & parallelFor, std::size_t elementSize, std::int64_t count, const TWork & work)
{
  const std::int64_t portion = std::max<std::int64_t>(1, TaskBytes / static_cast<std::int64_t>(elementSize));
  parallelFor((count + portion - 1) / portion, [&](std::int64_t task) {
    const std::int64_t begin = task * portion;
    work(begin, std::min(portion, count - begin));
  });
}

void
FillPortion(const ParallelFor & parallelFor,
            const Filler &      filler,
            std::size_t         elementSize,
            std::int64_t        first,
            std::int64_t        count,
            char *              out)
{
  ForEachTask(parallelFor, elementSize, count, [&](std::int64_t begin, std::int64_t now) {
    filler(first + begin, now, out + begin * static_cast<std::int64_t>(elementSize));
  });
}

/** Fills an array where it is, if the host can. Otherwise calls upload(byte offset, staging memory, bytes) for portion by
 *  portion of it: one slot of staging memory is filled while the other is copied. */
template <typename TUpload>
void
Fill(Queue &         queue,
     Memory &        target,
     std::size_t     offset,
     std::size_t     elementSize,
     std::int64_t    count,
     const Filler &  filler,
     const TUpload & upload)
{
  if (void * direct = queue.GetHostAddress(target))
  {
    FillPortion(queue.parallelFor, filler, elementSize, 0, count, static_cast<char *>(direct) + offset);
    return;
  }
  const std::int64_t portion = std::max<std::int64_t>(1, PortionBytes / static_cast<std::int64_t>(elementSize));
  for (std::int64_t first = 0; first < count; first += portion)
  {
    const std::int64_t now = std::min(portion, count - first);
    const std::size_t  bytes = static_cast<std::size_t>(now) * elementSize;
    const int          slot = queue.nextUpSlot;
    queue.nextUpSlot = 1 - slot;
    queue.WaitForStaging(Direction::Up, slot);
    char * const staging = static_cast<char *>(queue.GetStaging(Direction::Up, slot, bytes));
    FillPortion(queue.parallelFor, filler, elementSize, first, now, staging);
    upload(offset + static_cast<std::size_t>(first) * elementSize, staging, bytes);
    queue.MarkStaging(Direction::Up, slot);
  }
}

/** The pieces of an array, and the portions of a piece that staging memory takes at a time. */
struct Drainage
{
  explicit Drainage(const ArrayInPieces & a)
    : array(a)
    , portionCount(std::clamp<std::int64_t>(PortionBytes / static_cast<std::int64_t>(a.elementSize), 1, a.pieceCount))
    , portionsOfPiece((a.pieceCount + portionCount - 1) / portionCount)
    , pieces((a.count + a.pieceCount - 1) / a.pieceCount)
  {}

  std::int64_t
  CountElements(std::int64_t piece) const
  {
    return std::min(array.pieceCount, array.count - piece * array.pieceCount);
  }

  std::size_t
  BufferOf(std::int64_t piece) const
  {
    return static_cast<std::size_t>(piece) % array.bufferCount;
  }

  std::int64_t
  CountPortions() const
  {
    return (pieces - 1) * portionsOfPiece + (CountElements(pieces - 1) + portionCount - 1) / portionCount;
  }

  const ArrayInPieces & array;
  std::int64_t          portionCount; // elements
  std::int64_t          portionsOfPiece;
  std::int64_t          pieces;
};

void
TakePortion(
  const Queue & queue, const ArrayInPieces & array, std::int64_t first, std::int64_t count, const char * values)
{
  ForEachTask(queue.parallelFor, array.elementSize, count, [&](std::int64_t begin, std::int64_t now) {
    array.take(first + begin, now, values + begin * static_cast<std::int64_t>(array.elementSize));
  });
  if (array.progress)
  {
    array.progress(first + count);
  }
}

void
MakePiece(Queue & queue, const Drainage & d, std::array<const Memory *, 2> buffers, std::int64_t piece)
{
  const std::size_t buffer = d.BufferOf(piece);
  if (d.array.make)
  {
    d.array.make(piece * d.array.pieceCount, d.CountElements(piece), const_cast<Memory &>(*buffers[buffer]));
  }
  queue.MarkMade(static_cast<int>(buffer));
}

/** Portion by portion, through two slots of staging memory: while one is copied, the one before is taken. */
void
DrainThroughStaging(Queue & queue, const Drainage & d, std::array<const Memory *, 2> buffers)
{
  const auto stagingOf = [&](std::int64_t portion) {
    const std::size_t bytes = static_cast<std::size_t>(d.portionCount) * d.array.elementSize;
    return static_cast<char *>(queue.GetStaging(Direction::Down, static_cast<int>(portion % 2), bytes));
  };
  const auto firstOf = [&](std::int64_t portion) { return portion % d.portionsOfPiece * d.portionCount; };
  const auto countOf = [&](std::int64_t portion) {
    return std::min(d.portionCount, d.CountElements(portion / d.portionsOfPiece) - firstOf(portion));
  };
  const auto start = [&](std::int64_t portion) {
    const std::size_t buffer = d.BufferOf(portion / d.portionsOfPiece);
    queue.StartDownload(stagingOf(portion),
                        *buffers[buffer],
                        static_cast<std::size_t>(countOf(portion)) * d.array.elementSize,
                        static_cast<std::size_t>(firstOf(portion)) * d.array.elementSize,
                        static_cast<int>(buffer));
    queue.MarkStaging(Direction::Down, static_cast<int>(portion % 2));
  };
  const std::int64_t portions = d.CountPortions();
  std::int64_t       made = 0;
  std::int64_t       started = 0;
  // A piece is made once its buffer has been copied; a portion is copied once its piece is made and its slot was taken.
  const auto goOn = [&](std::int64_t copiedPieces, std::int64_t takenPortions) {
    for (; made < std::min(d.pieces, copiedPieces + static_cast<std::int64_t>(d.array.bufferCount)); ++made)
    {
      MakePiece(queue, d, buffers, made);
    }
    for (; started < std::min({ portions, takenPortions + 2, made * d.portionsOfPiece }); ++started)
    {
      start(started);
    }
  };
  for (std::int64_t portion = 0; portion < portions; ++portion)
  {
    goOn(portion / d.portionsOfPiece, portion);
    queue.WaitForStaging(Direction::Down, static_cast<int>(portion % 2));
    goOn((portion + 1) / d.portionsOfPiece, portion);
    const std::int64_t first = portion / d.portionsOfPiece * d.array.pieceCount + firstOf(portion);
    TakePortion(queue, d.array, first, countOf(portion), stagingOf(portion));
  }
}

/** False where the device has memory of its own. */
bool
MakeInPlace(Queue & queue, const ArrayInPieces & array)
{
  const Drainage d(array);
  for (std::int64_t piece = 0; piece < d.pieces; ++piece)
  {
    const std::int64_t  first = piece * array.pieceCount;
    const std::int64_t  count = d.CountElements(piece);
    const MemoryPointer out =
      queue.Wrap(static_cast<char *>(array.target) + static_cast<std::size_t>(first) * array.elementSize,
                 static_cast<std::size_t>(count) * array.elementSize);
    if (!out)
    {
      return false;
    }
    array.make(first, count, *out);
    if (array.progress)
    {
      array.progress(first + count);
    }
  }
  return true;
}

void
Drain(Queue & queue, std::array<const Memory *, 2> buffers, const ArrayInPieces & array)
{
  const Drainage d(array);
  if (queue.GetHostAddress(const_cast<Memory &>(*buffers[0])) != nullptr)
  {
    for (std::int64_t piece = 0; piece < d.pieces; ++piece)
    {
      MakePiece(queue, d, { buffers[0], buffers[0] }, piece);
      TakePortion(queue,
                  array,
                  piece * array.pieceCount,
                  d.CountElements(piece),
                  static_cast<const char *>(queue.GetHostAddress(const_cast<Memory &>(*buffers[0]))));
    }
    return;
  }
  try
  {
    DrainThroughStaging(queue, d, buffers);
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

Queue::Queue(Backend & backend)
  : m_Backend(backend)
{}

Queue::~Queue()
{
  for (auto & slots : m_Staging)
  {
    for (StagingPointer & staging : slots)
    {
      m_Backend.GetStagingPool().Discard(std::move(staging));
    }
  }
}

MemoryPointer
Queue::Allocate(std::size_t bytes)
{
  ++statistics.allocations;
  IdleEngines & idle = m_Backend.GetIdleEngines();
  for (;;)
  {
    const std::uint64_t frees = idle.CountFrees();
    try
    {
      return DoAllocate(bytes);
    }
    catch (const OutOfMemoryError &)
    {
      // What another thread has freed since is as good as what this one frees.
      if (!idle.DropAll() && idle.CountFrees() == frees)
      {
        throw;
      }
    }
  }
}

void *
Queue::GetStaging(Direction direction, int slot, std::size_t bytes)
{
  StagingPointer & staging = m_Staging[static_cast<int>(direction)][slot];
  if (staging && staging->GetSize() < bytes)
  {
    Finish();
    m_Backend.GetStagingPool().GiveBack(std::move(staging));
  }
  if (!staging)
  {
    StagingPool::Taken taken = m_Backend.GetStagingPool().Take(bytes);
    statistics.allocations += taken.isNew ? 1 : 0;
    staging = std::move(taken.memory);
  }
  return staging->GetAddress();
}

void
Queue::GiveStagingBack()
{
  for (const Direction direction : { Direction::Up, Direction::Down })
  {
    for (const int slot : { 0, 1 })
    {
      if (StagingPointer & staging = m_Staging[static_cast<int>(direction)][slot])
      {
        WaitForStaging(direction, slot);
        m_Backend.GetStagingPool().GiveBack(std::move(staging));
      }
    }
  }
}

void
Queue::CheckIsUsable() const
{
  m_Backend.CheckIsUsable();
}

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
ReserveExactly(Queue & queue, MemoryPointer & memory, std::size_t bytes)
{
  if (queue.keepsLargerArrays && bytes > 0)
  {
    Reserve(queue, memory, bytes);
  }
  else if (SizeOf(memory) != bytes)
  {
    memory.reset();
    memory = bytes > 0 ? queue.Allocate(bytes) : nullptr;
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
  Fill(queue, target, offset, elementSize, count, filler, [&](std::size_t at, const void * staging, std::size_t bytes) {
    queue.Upload(target, at, staging, bytes);
  });
}

void
FillExactly(Queue & queue, MemoryPointer & memory, std::size_t elementSize, std::int64_t count, const Filler & filler)
{
  ReserveExactly(queue, memory, filler ? elementSize * static_cast<std::size_t>(count) : 0);
  if (filler)
  {
    FillArray(queue, *memory, 0, elementSize, count, filler);
  }
}

void
FillBuffer(
  Queue & queue, Memory & target, int buffer, std::size_t elementSize, std::int64_t count, const Filler & filler)
{
  Fill(queue, target, 0, elementSize, count, filler, [&](std::size_t at, const void * staging, std::size_t bytes) {
    queue.StartUpload(target, at, staging, bytes, buffer);
  });
  queue.OrderAfterUploads();
}

void
DrainArray(Queue & queue, const Memory & source, std::size_t elementSize, std::int64_t count, const Taker & take)
{
  ArrayInPieces array;
  array.elementSize = elementSize;
  array.count = count;
  array.pieceCount = count;
  array.take = take;
  Drain(queue, { &source, &source }, array);
}

void
DrainPieces(Queue & queue, std::array<MemoryPointer, 2> & buffers, const ArrayInPieces & array)
{
  if (array.target && MakeInPlace(queue, array))
  {
    return;
  }
  const std::size_t bytes = static_cast<std::size_t>(array.pieceCount) * array.elementSize;
  Reserve(queue, buffers[0], bytes);
  if (array.bufferCount == 2)
  {
    Reserve(queue, buffers[1], bytes);
  }
  Drain(queue, { buffers[0].get(), buffers[1] ? buffers[1].get() : buffers[0].get() }, array);
}

} // namespace gpureg
