// SPDX-License-Identifier: Apache-2.0
#include "engine/runtime/Transfer.h"

#include <algorithm>
#include <utility>

namespace gpureg
{

namespace
{
// Large enough to keep the bus busy, and small enough to pin without harm.
constexpr std::int64_t ChunkBytes = std::int64_t{ 16 } << 20;
// The bytes that one thread fills at a time.
constexpr std::int64_t TaskBytes = std::int64_t{ 64 } << 10;

/** Calls work(begin, count) on several threads. The calls divide count elements into tasks of TaskBytes. */
template <typename TWork>
void
ForEachTask(const ParallelFor & parallelFor, std::size_t elementSize, std::int64_t count, const TWork & work)
{
  const std::int64_t chunk = std::max<std::int64_t>(1, TaskBytes / static_cast<std::int64_t>(elementSize));
  parallelFor((count + chunk - 1) / chunk, [&](std::int64_t task) {
    const std::int64_t begin = task * chunk;
    work(begin, std::min(chunk, count - begin));
  });
}

void
FillChunk(const ParallelFor & parallelFor,
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

/** Fills target in place, if the host can. Otherwise calls upload(byte offset, staging memory, bytes) chunk by chunk: one slot of staging
 *  memory is filled while the other one is copied. */
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
    FillChunk(queue.GetParallelFor(), filler, elementSize, 0, count, static_cast<char *>(direct) + offset);
    return;
  }
  const std::int64_t chunk = std::max<std::int64_t>(1, ChunkBytes / static_cast<std::int64_t>(elementSize));
  for (std::int64_t first = 0; first < count; first += chunk)
  {
    const std::int64_t now = std::min(chunk, count - first);
    const std::size_t  bytes = static_cast<std::size_t>(now) * elementSize;
    const int          slot = queue.TakeUpSlot();
    queue.WaitForStaging(Direction::Up, slot);
    char * const staging = static_cast<char *>(queue.GetStaging(Direction::Up, slot, bytes));
    FillChunk(queue.GetParallelFor(), filler, elementSize, first, now, staging);
    upload(offset + static_cast<std::size_t>(first) * elementSize, staging, bytes);
    queue.MarkStaging(Direction::Up, slot);
  }
}

/** Counts the tiles of an array, and the chunks of a tile that staging memory takes at a time. */
struct TileChunks
{
  explicit TileChunks(const TiledArray & a)
    : array(a)
    , chunkCount(std::clamp<std::int64_t>(ChunkBytes / static_cast<std::int64_t>(a.elementSize), 1, a.tileElements))
    , chunksOfTile((a.tileElements + chunkCount - 1) / chunkCount)
    , tiles((a.count + a.tileElements - 1) / a.tileElements)
  {}

  std::int64_t
  CountElements(std::int64_t tile) const
  {
    return std::min(array.tileElements, array.count - tile * array.tileElements);
  }

  std::size_t
  BufferOf(std::int64_t tile) const
  {
    return static_cast<std::size_t>(tile) % array.bufferCount;
  }

  std::int64_t
  CountChunks() const
  {
    return (tiles - 1) * chunksOfTile + (CountElements(tiles - 1) + chunkCount - 1) / chunkCount;
  }

  const TiledArray & array;
  std::int64_t       chunkCount; // elements
  std::int64_t       chunksOfTile;
  std::int64_t       tiles;
};

void
TakeChunk(const Queue & queue, const TiledArray & array, std::int64_t first, std::int64_t count, const char * values)
{
  ForEachTask(queue.GetParallelFor(), array.elementSize, count, [&](std::int64_t begin, std::int64_t now) {
    array.take(first + begin, now, values + begin * static_cast<std::int64_t>(array.elementSize));
  });
  if (array.progress)
  {
    array.progress(first + count);
  }
}

void
MakeTile(Queue & queue, const TileChunks & d, std::array<const Memory *, 2> buffers, std::int64_t tile)
{
  const std::size_t buffer = d.BufferOf(tile);
  if (d.array.make)
  {
    d.array.make(tile * d.array.tileElements, d.CountElements(tile), const_cast<Memory &>(*buffers[buffer]));
  }
  queue.MarkMade(static_cast<int>(buffer));
}

/** Downloads chunk by chunk through two slots of staging memory: while the device copies one, the host reads the one before. */
void
DrainThroughStaging(Queue & queue, const TileChunks & d, std::array<const Memory *, 2> buffers)
{
  const auto stagingOf = [&](std::int64_t chunk) {
    const std::size_t bytes = static_cast<std::size_t>(d.chunkCount) * d.array.elementSize;
    return static_cast<char *>(queue.GetStaging(Direction::Down, static_cast<int>(chunk % 2), bytes));
  };
  const auto firstOf = [&](std::int64_t chunk) { return chunk % d.chunksOfTile * d.chunkCount; };
  const auto countOf = [&](std::int64_t chunk) {
    return std::min(d.chunkCount, d.CountElements(chunk / d.chunksOfTile) - firstOf(chunk));
  };
  const auto start = [&](std::int64_t chunk) {
    const std::size_t buffer = d.BufferOf(chunk / d.chunksOfTile);
    queue.StartDownload(stagingOf(chunk),
                        *buffers[buffer],
                        static_cast<std::size_t>(countOf(chunk)) * d.array.elementSize,
                        static_cast<std::size_t>(d.array.firstOfBuffer + firstOf(chunk)) * d.array.elementSize,
                        static_cast<int>(buffer));
    queue.MarkStaging(Direction::Down, static_cast<int>(chunk % 2));
  };
  const std::int64_t chunks = d.CountChunks();
  std::int64_t       made = 0;
  std::int64_t       started = 0;
  // A tile is made after its buffer has been copied. A chunk is copied after its tile was made and its slot was taken.
  const auto goOn = [&](std::int64_t copiedTiles, std::int64_t takenChunks) {
    for (; made < std::min(d.tiles, copiedTiles + static_cast<std::int64_t>(d.array.bufferCount)); ++made)
    {
      MakeTile(queue, d, buffers, made);
    }
    for (; started < std::min({ chunks, takenChunks + 2, made * d.chunksOfTile }); ++started)
    {
      start(started);
    }
  };
  for (std::int64_t chunk = 0; chunk < chunks; ++chunk)
  {
    goOn(chunk / d.chunksOfTile, chunk);
    queue.WaitForStaging(Direction::Down, static_cast<int>(chunk % 2));
    goOn((chunk + 1) / d.chunksOfTile, chunk);
    const std::int64_t first = chunk / d.chunksOfTile * d.array.tileElements + firstOf(chunk);
    TakeChunk(queue, d.array, first, countOf(chunk), stagingOf(chunk));
  }
}

/** Makes an array directly at its target. Returns false where the device has its own memory. */
bool
MakeInPlace(Queue & queue, const TiledArray & array)
{
  const TileChunks d(array);
  for (std::int64_t tile = 0; tile < d.tiles; ++tile)
  {
    const std::int64_t  first = tile * array.tileElements;
    const std::int64_t  count = d.CountElements(tile);
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
Drain(Queue & queue, std::array<const Memory *, 2> buffers, const TiledArray & array)
{
  const TileChunks d(array);
  if (const void * const address = queue.GetHostAddress(const_cast<Memory &>(*buffers[0])))
  {
    const std::size_t before = static_cast<std::size_t>(array.firstOfBuffer) * array.elementSize;
    for (std::int64_t tile = 0; tile < d.tiles; ++tile)
    {
      MakeTile(queue, d, { buffers[0], buffers[0] }, tile);
      TakeChunk(
        queue, array, tile * array.tileElements, d.CountElements(tile), static_cast<const char *>(address) + before);
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
      // The first error is more informative.
    }
    throw;
  }
}
} // namespace

void
UploadArray(Queue &        queue,
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
UploadExactly(Queue & queue, MemoryPointer & memory, std::size_t elementSize, std::int64_t count, const Filler & filler)
{
  ReserveExactly(queue, memory, filler ? elementSize * static_cast<std::size_t>(count) : 0);
  if (filler)
  {
    UploadArray(queue, *memory, 0, elementSize, count, filler);
  }
}

void
UploadToBuffer(
  Queue & queue, Memory & target, int buffer, std::size_t elementSize, std::int64_t count, const Filler & filler)
{
  Fill(queue, target, 0, elementSize, count, filler, [&](std::size_t at, const void * staging, std::size_t bytes) {
    queue.StartUpload(target, at, staging, bytes, buffer);
  });
  queue.OrderAfterUploads();
}

void
DownloadArray(Queue &        queue,
              const Memory & source,
              std::size_t    elementSize,
              std::int64_t   count,
              const Taker &  take,
              std::int64_t   first)
{
  if (count == 0)
  {
    return;
  }
  TiledArray array;
  array.elementSize = elementSize;
  array.count = count;
  array.tileElements = count;
  array.firstOfBuffer = first;
  array.take = take;
  Drain(queue, { &source, &source }, array);
}

void
DownloadTiles(Queue & queue, std::array<MemoryPointer, 2> & buffers, const TiledArray & array)
{
  if (array.target && MakeInPlace(queue, array))
  {
    return;
  }
  const std::size_t bytes = static_cast<std::size_t>(array.tileElements) * array.elementSize;
  Reserve(queue, buffers[0], bytes);
  if (array.bufferCount == 2)
  {
    Reserve(queue, buffers[1], bytes);
  }
  Drain(queue, { buffers[0].get(), buffers[1] ? buffers[1].get() : buffers[0].get() }, array);
}

} // namespace gpureg
