// SPDX-License-Identifier: Apache-2.0
#include "engine/filter/LinePasses.h"

#include "engine/runtime/ForEachItem.h"
#include "engine/runtime/LaunchGroups.h"

#include "kernels/filter/LineKernels.h"

namespace gpureg
{

using namespace kernels;

namespace
{
// Lines that are at most this many elements apart are read through local memory: otherwise less than half of a 32-byte sector that is read
// would be used.
constexpr i64 NearLines = 8;

class GroupLinePasses : public LinePasses
{
public:
  explicit GroupLinePasses(Queue & queue)
    : m_Queue(queue)
  {}

  std::size_t
  GetStateBytes(int kind, int length, std::int64_t lines) const override
  {
    return sizeof(double) * static_cast<std::size_t>(CountStoredStates(kind)) *
           static_cast<std::size_t>(CountBlocks(length)) * static_cast<std::size_t>(lines);
  }

  void
  Recurse(int kind, const RecursionArguments & a, Precision precision, Memory & volume, Memory * states) override
  {
    if (a.inner < NearLines && this->HasTiles(precision))
    {
      this->Launch<RecurseTileKernel>(kind, a, precision, volume, states);
    }
    else
    {
      this->Launch<RecurseLinesKernel>(kind, a, precision, volume, states);
    }
  }

  void
  Convolve(const ConvolutionArguments & a, Precision precision, const Memory & input, Memory & output) override
  {
    ForEachItem<ConvolveElementKernel>(
      m_Queue, a.inner * a.outputLength * a.outer, precision, a, Input<RealNumber>(input), Output<RealNumber>(output));
  }

  void
  Interpolate(const GridInterpolationArguments & a,
              Precision                          precision,
              const Memory &                     places,
              const Memory &                     input,
              Memory &                           output) override
  {
    ForEachItem<InterpolateElementKernel>(m_Queue,
                                          CountElements(a),
                                          precision,
                                          a,
                                          Input<RealNumber>(input),
                                          Input<GridPlace>(places),
                                          Output<RealNumber>(output));
  }

private:
  template <typename TKernel>
  void
  Launch(int kind, const RecursionArguments & a, Precision precision, Memory & volume, Memory * states)
  {
    LaunchGroups<TKernel>(m_Queue,
                          CountGroupsFor<TKernel>(m_Queue, a.lineCount),
                          precision,
                          kind,
                          a,
                          Output<RealNumber>(volume),
                          Output<double>(states));
  }

  /** Returns true if local memory holds a tile: a block of each of a group's lines and one sample more, see LineKernels.h. */
  bool
  HasTiles(Precision precision) const
  {
    const auto lanes = static_cast<std::size_t>(GetGroupLanes<RecurseTileKernel>(m_Queue));
    return BytesOf(precision) * RecursionTileWidth * lanes <= m_Queue.GetGroupTraits().localBytes;
  }

  Queue & m_Queue;
};
} // namespace

GPUREG_DEFINE_GROUP_PASSES(LinePasses, GroupLinePasses)

} // namespace gpureg
