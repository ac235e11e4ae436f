// SPDX-License-Identifier: Apache-2.0
#include "ResamplePlan.h"

namespace gpureg
{

namespace
{
// What a share of the memory is: an eighth each for the output's two pieces, two for a grid, the rest for the input.
constexpr std::size_t Shares = 8;

std::int64_t
CountRows(const ResampleSizes & s, std::size_t bytes)
{
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(bytes / s.rowBytes), 1, s.rows);
}

/** Everything but the input. */
ResamplePlan
PlanOutput(const ResampleSizes & s, std::int64_t pieceRows, bool cutsGrid)
{
  ResamplePlan plan;
  plan.slabs = s.input;
  plan.pieceRows = pieceRows;
  plan.pieceBytes = static_cast<std::size_t>(pieceRows) * s.rowBytes;
  plan.gridPlanes = cutsGrid ? s.countGridPlanes(pieceRows) : s.gridPlanes;
  plan.gridBytes = static_cast<std::size_t>(plan.gridPlanes) * s.gridPlaneBytes;
  plan.stateBytes = s.stateBytes;
  return plan;
}

std::size_t
GetBytes(const ResampleSizes & s, const ResamplePlan & plan)
{
  const std::size_t pieces = plan.pieceRows < s.rows ? 2 : 1;
  return s.otherBytes + s.otherVectorBytes + plan.stateBytes + plan.gridBytes + pieces * plan.pieceBytes +
         plan.inputBytes;
}

bool
Fits(const ResampleSizes & s, const ResamplePlan & plan, const Room & room)
{
  return GetBytes(s, plan) <= room.free &&
         std::max({ plan.inputBytes, plan.pieceBytes, plan.gridBytes + s.otherVectorBytes }) <= room.largestAllocation;
}

std::size_t
GetSlabBytes(const ResampleSizes & s, int owned)
{
  return std::max(s.leastSlabBytes,
                  static_cast<std::size_t>(std::min(s.input.planes, owned + 2 * s.input.margin)) * s.planeBytes);
}

/** The thickest slabs that there is room for beside the rest; false if there is none for a single plane's. */
bool
CutInput(const ResampleSizes & s, const Room & room, ResamplePlan & plan)
{
  const std::size_t taken = GetBytes(s, plan);
  const std::size_t left = std::min(room.free - std::min(taken, room.free), room.largestAllocation);
  const auto        planes = static_cast<std::int64_t>(left / s.planeBytes);
  const auto        owned = planes >= s.input.planes ? s.input.planes : planes - 2 * s.input.margin;
  plan.slabs.owned = static_cast<int>(std::max<std::int64_t>(1, owned));
  plan.inputBytes = plan.slabs.owned == s.input.planes ? static_cast<std::size_t>(s.input.planes) * s.planeBytes
                                                       : GetSlabBytes(s, plan.slabs.owned);
  return Fits(s, plan, room);
}
} // namespace

std::optional<ResamplePlan>
PlanResampling(const ResampleSizes & s, const Room & room)
{
  ResamplePlan whole = PlanOutput(s, CountRows(s, s.mostPieceBytes), false);
  whole.inputBytes = static_cast<std::size_t>(s.input.planes) * s.planeBytes;
  if (Fits(s, whole, room))
  {
    return whole;
  }
  const std::size_t gridBytes = static_cast<std::size_t>(s.gridPlanes) * s.gridPlaneBytes;
  const bool        isGridLarge = gridBytes > std::min(2 * (room.free / Shares), room.largestAllocation);
  for (const bool cutsGrid : { isGridLarge, true })
  {
    // The larger a piece, the fewer times a slab goes up.
    for (std::int64_t rows = CountRows(s, std::min(room.free / Shares, room.largestAllocation)); rows > 0; rows /= 2)
    {
      ResamplePlan plan = PlanOutput(s, rows, cutsGrid);
      if (CutInput(s, room, plan))
      {
        return plan;
      }
    }
  }
  return {};
}

std::size_t
GetLeastBytes(const ResampleSizes & s)
{
  ResamplePlan least = PlanOutput(s, 1, true);
  least.inputBytes = std::min(static_cast<std::size_t>(s.input.planes) * s.planeBytes, GetSlabBytes(s, 1));
  return GetBytes(s, least);
}

} // namespace gpureg
