// SPDX-License-Identifier: Apache-2.0
#include "engine/resample/ResamplePlan.h"

namespace gpureg
{

namespace
{
// Shares of the memory: up to twelve for output tiles, four for a grid, and the rest for the input.
constexpr std::size_t Shares = 16;
constexpr std::size_t MostOutputShares = 12;
constexpr std::size_t GridShares = 4;

/** Rounds rows down to whole planes if they are at least one plane, because groups of the device are cut by planes. */
std::int64_t
RoundUpToPlanes(const ResampleSizes & s, std::int64_t rows)
{
  return rows < s.rowsOfPlane ? rows : rows / s.rowsOfPlane * s.rowsOfPlane;
}

std::int64_t
CountRows(const ResampleSizes & s, std::size_t bytes)
{
  return RoundUpToPlanes(s, std::clamp<std::int64_t>(static_cast<std::int64_t>(bytes / s.rowBytes), 1, s.rows));
}

/** Returns a plan for everything but the input. */
ResamplePlan
PlanOutput(const ResampleSizes & s, std::int64_t tileRows, std::size_t buffers, bool cutsGrid)
{
  ResamplePlan plan;
  plan.slabs = s.input;
  plan.tileRows = tileRows;
  plan.tileBytes = static_cast<std::size_t>(tileRows) * s.rowBytes;
  plan.outputBuffers = tileRows < s.rows ? buffers : 1;
  plan.gridPlanes = cutsGrid ? s.countGridPlanes(tileRows) : s.gridPlanes;
  plan.gridBytes = static_cast<std::size_t>(plan.gridPlanes) * s.gridPlaneBytes;
  plan.stateBytes = s.stateBytes;
  return plan;
}

std::size_t
GetBytes(const ResampleSizes & s, const ResamplePlan & plan)
{
  return s.otherBytes + s.otherVectorBytes + plan.stateBytes + plan.gridBytes + plan.outputBuffers * plan.tileBytes +
         plan.inputBuffers * plan.inputBytes;
}

bool
Fits(const ResampleSizes & s, const ResamplePlan & plan, const AvailableMemory & memory)
{
  return GetBytes(s, plan) <= memory.free &&
         std::max({ plan.inputBytes, plan.tileBytes, plan.gridBytes + s.otherVectorBytes }) <= memory.largestAllocation;
}

std::size_t
GetSlabBytes(const ResampleSizes & s, int owned)
{
  return std::max(s.leastSlabBytes,
                  static_cast<std::size_t>(std::min(s.input.planes, owned + 2 * s.input.margin)) * s.planeBytes);
}

/** Completes a plan by the thickest slabs that fit into the remaining memory. Returns false if not even slabs of a single plane fit. */
bool
CutInput(const ResampleSizes & s, const AvailableMemory & memory, std::size_t buffers, ResamplePlan & plan)
{
  plan.inputBytes = 0;
  plan.inputBuffers = buffers;
  const std::size_t taken = GetBytes(s, plan);
  const std::size_t left = std::min((memory.free - std::min(taken, memory.free)) / buffers, memory.largestAllocation);
  const auto        planes = s.planeBytes > 0 ? static_cast<std::int64_t>(left / s.planeBytes) : s.input.planes;
  const auto        owned = planes >= s.input.planes ? s.input.planes : planes - 2 * s.input.margin;
  plan.slabs.owned = static_cast<int>(std::max<std::int64_t>(1, owned));
  plan.inputBuffers = plan.slabs.GetCount() > 1 ? buffers : 1;
  plan.inputBytes = plan.slabs.owned == s.input.planes ? static_cast<std::size_t>(s.input.planes) * s.planeBytes
                                                       : GetSlabBytes(s, plan.slabs.owned);
  return Fits(s, plan, memory);
}

/** Returns the cost of a plan in bytes: of the input that is uploaded, with a surcharge if uploads wait for the kernel before; of the
 *  output, if nothing is made while it is downloaded; and of the output that further launches pass over, divided by PassesOfUpload. */
double
CountCost(const ResampleSizes & s, const ResamplePlan & plan)
{
  constexpr double PassesOfUpload = 32;
  constexpr double WaitOfUpload = 0.25;
  const int        heldPlanes = std::min(plan.slabs.planes, plan.slabs.owned + 2 * plan.slabs.margin);
  std::int64_t     planesUp = 0;
  std::int64_t     rowsPassed = 0;
  LoadedSlabs      loaded(plan.inputBuffers);
  for (std::int64_t first = 0; first < s.rows; first += plan.tileRows)
  {
    const RowRange   rows{ first, std::min(plan.tileRows, s.rows - first) };
    const PlaneRange slabs = plan.slabs.FindSlabs(s.findPlanes(rows));
    loaded.ForEachOf(slabs, [&](int slab) {
      if (!loaded.Use(slab))
      {
        loaded.TakeBuffer();
        loaded.Put(slab);
        planesUp += heldPlanes;
      }
    });
    rowsPassed += std::max(0, slabs.GetCount() - 1) * rows.count;
  }
  const double uploads = plan.inputBuffers < s.mostBuffers && plan.slabs.GetCount() > 1 ? 1.0 + WaitOfUpload : 1.0;
  const double rowsWaited = plan.outputBuffers < s.mostBuffers ? static_cast<double>(s.rows) : 0.0;
  return uploads * static_cast<double>(planesUp) * static_cast<double>(s.planeBytes) +
         (rowsWaited + static_cast<double>(rowsPassed) / PassesOfUpload) * static_cast<double>(s.rowBytes);
}

/** Returns the plan with the smallest cost among plans with output tiles of different sizes. */
std::optional<ResamplePlan>
FindBestCut(const ResampleSizes & s, const AvailableMemory & memory, bool cutsGrid)
{
  std::optional<ResamplePlan> best;
  double                      least = 0;
  const auto                  consider = [&](std::size_t shares, std::size_t outputBuffers, std::size_t inputBuffers) {
    const std::size_t bytes = std::min(memory.free / Shares * shares, memory.largestAllocation);
    ResamplePlan      plan = PlanOutput(s, CountRows(s, bytes), outputBuffers, cutsGrid);
    if (CutInput(s, memory, inputBuffers, plan))
    {
      const double cost = CountCost(s, plan);
      if (!best || cost < least)
      {
        best = plan;
        least = cost;
      }
    }
  };
  for (std::size_t outputBuffers = s.mostBuffers; outputBuffers > 0; --outputBuffers)
  {
    for (std::size_t shares = 1; shares <= MostOutputShares / outputBuffers; ++shares)
    {
      for (std::size_t inputBuffers = s.mostBuffers; inputBuffers > 0; --inputBuffers)
      {
        consider(shares, outputBuffers, inputBuffers);
      }
    }
  }
  // If memory is so short that a share holds a single row, tries fewer rows.
  for (std::int64_t rows = RoundUpToPlanes(s, CountRows(s, memory.free / Shares) / 2); !best && rows > 0;
       rows = RoundUpToPlanes(s, rows / 2))
  {
    ResamplePlan plan = PlanOutput(s, rows, 1, cutsGrid);
    if (CutInput(s, memory, 1, plan))
    {
      best = plan;
    }
  }
  return best;
}
} // namespace

std::optional<ResamplePlan>
PlanResampling(const ResampleSizes & s, const AvailableMemory & memory)
{
  ResamplePlan whole = PlanOutput(s, CountRows(s, s.mostTileBytes), s.mostBuffers, false);
  whole.inputBytes = static_cast<std::size_t>(s.input.planes) * s.planeBytes;
  if (Fits(s, whole, memory))
  {
    return whole;
  }
  const std::size_t gridBytes = static_cast<std::size_t>(s.gridPlanes) * s.gridPlaneBytes;
  const bool        isGridLarge = gridBytes > std::min(GridShares * (memory.free / Shares), memory.largestAllocation);
  for (const bool cutsGrid : { isGridLarge, true })
  {
    if (const auto plan = FindBestCut(s, memory, cutsGrid))
    {
      return plan;
    }
  }
  return {};
}

std::size_t
GetLeastBytes(const ResampleSizes & s)
{
  ResamplePlan least = PlanOutput(s, 1, 1, true);
  least.inputBytes = std::min(static_cast<std::size_t>(s.input.planes) * s.planeBytes, GetSlabBytes(s, 1));
  return GetBytes(s, least);
}

} // namespace gpureg
