// SPDX-License-Identifier: Apache-2.0
// Interpolation between control points at samples, and its adjoint, in plain loops.
#include "host/runtime/HostQueue.h"

#include "engine/metric/samples/ControlGridPasses.h"

#include <algorithm>
#include <vector>

namespace gpureg
{

using namespace kernels;

namespace
{
// The number of samples in a task. A sample takes part of a microsecond, so that sixteen threads share 2000 samples.
constexpr i64 TaskSamples = 128;
// The number of neighbouring lines that the adjoint interpolation processes side by side: as many as the nearest cache holds.
constexpr i64 BlockLines = 512;
// Up to this number, samples' weights are computed once, and not by each control point that reads them; the weights take 72 MiB.
constexpr i64 MostSamplesWeighedOnce = i64{ 1 } << 20;

/** The weights and the force of a sample, for the control points that influence it. */
struct WeighedSample
{
  int   first[3];
  float weights[3][MostControlTaps];
  float force[3];
};

class HostControlGridPasses : public ControlGridPasses
{
public:
  explicit HostControlGridPasses(HostQueue & queue)
    : m_Queue(queue)
  {}

  void
  MoveRows(const ControlGridArguments & a,
           const ControlTables &        tables,
           const Memory &               expanded,
           Memory &                     displacement) override
  {
    const auto * const weights = AddressOf<const ControlWeights>(tables.weights);
    const auto * const rowWeights = AddressOf<const float4>(tables.rowWeights);
    const auto * const firsts = AddressOf<const int>(tables.rowFirsts);
    const auto * const in = m_Queue.AddressIn<const float4>(expanded);
    auto * const       out = m_Queue.AddressIn<float>(displacement);
    const i64          rowFloats = i64{ 3 } * a.virtualSize[0];
    this->ForEach(i64{ a.virtualSize[1] } * a.virtualSize[2], [&](i64 row) {
      const ControlWeights * const wy = weights + a.firstWeights[1] + row % a.virtualSize[1];
      const float4 * const         plane = in + row / a.virtualSize[1] * a.size[0] * a.size[1];
      float *                      moved = out + row * rowFloats;
      std::fill_n(moved, rowFloats, 0.0f);
      if (wy->first < 0)
      {
        return;
      }
      std::vector<float> columns(3 * static_cast<std::size_t>(a.size[0]));
      for (int column = 0; column < a.size[0]; ++column)
      {
        SumControlColumn(&a, plane, column, wy, &columns[3 * static_cast<std::size_t>(column)]);
      }
      for (int x = 0; x < a.virtualSize[0]; ++x, moved += 3)
      {
        if (firsts[x] >= 0)
        {
          SumControlRow(a.taps[0], &columns[3 * static_cast<std::size_t>(firsts[x])], rowWeights[x], moved);
        }
      }
    });
  }

  /** Processes neighbouring lines side by side, in vectors. The sums are those of ApplyAdjointAlongLines(). */
  void
  ApplyAdjointAlong(const AdjointArguments & a, const ControlTables & tables, const Memory & in, Memory & out) override
  {
    const auto * const weights = AddressOf<const ControlWeights>(tables.weights) + a.firstWeights;
    const auto * const tiles = AddressOf<const ControlTile>(tables.tiles) + a.firstTile;
    const auto * const from = m_Queue.AddressIn<const float>(in);
    auto * const       to = m_Queue.AddressIn<float>(out);
    const i64          blocks = (a.inner + BlockLines - 1) / BlockLines;
    this->ForEach(i64{ a.outer } * a.tileCount * blocks, [&](i64 task) {
      const i64           outer = task / blocks / a.tileCount;
      const i64           first = task % blocks * BlockLines;
      const auto          lines = static_cast<std::size_t>(std::min(BlockLines, a.inner - first));
      const ControlTile & tile = tiles[task / blocks % a.tileCount];
      std::vector<float>  sums(static_cast<std::size_t>(tile.endControl - tile.firstControl) * BlockLines);
      const float * const line = from + outer * a.length * a.inner + first;
      for (int n = 0; n < tile.end - tile.begin; ++n)
      {
        const int              t = a.isBackwards ? tile.end - 1 - n : tile.begin + n;
        const ControlWeights & w = weights[t];
        const float * const    values = line + i64{ t } * a.inner;
        for (int tap = 0; tap < MostControlTaps; ++tap)
        {
          const int control = w.first + tap;
          if (w.weight[tap] != 0.0f && control >= tile.firstControl && control < tile.endControl)
          {
            float * const ofControl = &sums[static_cast<std::size_t>(control - tile.firstControl) * BlockLines];
            for (std::size_t i = 0; i < lines; ++i)
            {
              ofControl[i] = MultiplyAdd(w.weight[tap], values[i], ofControl[i]);
            }
          }
        }
      }
      for (int control = tile.firstControl; control < tile.endControl; ++control)
      {
        std::copy_n(&sums[static_cast<std::size_t>(control - tile.firstControl) * BlockLines],
                    lines,
                    to + (outer * a.controls + control) * a.inner + first);
      }
    });
  }

  void
  ApplyAdjointAlongX(const AdjointArguments & a, const ControlTables & tables, const Memory & in, Memory & out) override
  {
    const auto * const weights = AddressOf<const ControlWeights>(tables.weights);
    const auto * const tiles = AddressOf<const ControlTile>(tables.tiles) + a.firstTile;
    const auto * const from = m_Queue.AddressIn<const float>(in);
    auto * const       to = m_Queue.AddressIn<float4>(out);
    this->ForEach(a.outer, [&](i64 row) {
      for (int control = 0; control < a.controls; ++control)
      {
        ApplyAdjointAlongRow(&a, weights, tiles + control, control, from + row * a.length * 3, to + row * a.controls);
      }
    });
  }

  void
  ApplyAdjointAtSamples(const ChainPart &    part,
                        const VolumeShape &  shape,
                        const SortedByCell & sorted,
                        const Memory *       samplePoints,
                        const Memory &       forces,
                        Memory &             out) override
  {
    const i64 * const   at = samplePoints ? m_Queue.AddressIn<const i64>(*samplePoints) : nullptr;
    const auto * const  order = AddressOf<const u32>(sorted.order);
    const auto * const  begins = AddressOf<const u32>(sorted.begins);
    const auto * const  from = m_Queue.AddressIn<const float>(forces);
    auto * const        to = m_Queue.AddressIn<float4>(out);
    const SampleCells & cells = sorted.cells;
    const i64           count = begins[i64{ cells.size[0] } * cells.size[1] * cells.size[2]];
    if (count <= MostSamplesWeighedOnce)
    {
      const auto samples = this->WeighSamples(part, shape, count, at, order, from);
      this->SumOverEntries(part, cells, begins, to, [&](i64 begin, i64 end, const int * control, float * sum) {
        for (i64 s = begin; s < end; ++s)
        {
          AddWeighed(samples[static_cast<std::size_t>(s)], control, sum);
        }
      });
      return;
    }
    this->SumOverEntries(part, cells, begins, to, [&](i64 begin, i64 end, const int * control, float * sum) {
      AddForcesOfCell(&part, &shape, cells.isOfPoints, at, order, begin, end, 1, control, from, sum);
    });
  }

private:
  /** Returns sorted samples with their weights. Samples outside of the valid region have weights of 0. */
  std::vector<WeighedSample>
  WeighSamples(const ChainPart &   part,
               const VolumeShape & shape,
               i64                 count,
               const i64 *         points,
               const u32 *         order,
               const float *       forces)
  {
    std::vector<WeighedSample> samples(static_cast<std::size_t>(count));
    this->ForEach((count + TaskSamples - 1) / TaskSamples, [&](i64 task) {
      for (i64 s = task * TaskSamples; s < std::min(count, (task + 1) * TaskSamples); ++s)
      {
        WeighedSample & sample = samples[static_cast<std::size_t>(s)];
        i64             position[3];
        ComputeSamplePosition(&shape, points != nullptr, points, order[s], position);
        if (!ComputeControlWeights(&part, position, sample.first, sample.weights))
        {
          sample = {};
        }
        std::copy_n(forces + 3 * i64{ order[s] }, 3, sample.force);
      }
    });
    return samples;
  }

  /** Adds the weighted force of one sample, as AddForcesOfCell() does. The control point must be one of those that influence the sample's
   *  cell. */
  static void
  AddWeighed(const WeighedSample & sample, const int * control, float * sum)
  {
    float weight = 1.0f;
    for (int axis = 0; axis < 3; ++axis)
    {
      const int tap = control[axis] - sample.first[axis];
      weight = tap >= 0 && tap < MostControlTaps ? weight * sample.weights[axis][tap] : 0.0f;
    }
    for (int r = 0; r < 3; ++r)
    {
      sum[r] = MultiplyAdd(weight, sample.force[r], sum[r]);
    }
  }

  /** Calls addForces(first sorted sample, end, control point, sum) for the cells that each control point influences, one row of cells at a
   *  time. */
  template <typename TAddForces>
  void
  SumOverEntries(const ChainPart &   part,
                 const SampleCells & cells,
                 const u32 *         begins,
                 float4 *            controlForces,
                 const TAddForces &  addForces)
  {
    this->ForEach(CountControlPoints(part), [&](i64 n) {
      const i64 row = n / part.size[0];
      const int control[3] = { static_cast<int>(n % part.size[0]),
                               static_cast<int>(row % part.size[1]),
                               static_cast<int>(row / part.size[1]) };
      float     sum[3] = {};
      for (int z = std::max(0, control[2] - cells.taps[2] + 1); z < std::min(cells.size[2], control[2] + 1); ++z)
      {
        for (int y = std::max(0, control[1] - cells.taps[1] + 1); y < std::min(cells.size[1], control[1] + 1); ++y)
        {
          const u32 * const cell = begins + (i64{ z } * cells.size[1] + y) * cells.size[0];
          addForces(cell[std::max(0, control[0] - cells.taps[0] + 1)],
                    cell[std::min(cells.size[0], control[0] + 1)],
                    control,
                    sum);
        }
      }
      controlForces[n] = TurnSum(cells.matrix, sum);
    });
  }

  template <typename TWork>
  void
  ForEach(i64 count, const TWork & work)
  {
    m_Queue.CountLaunch();
    m_Queue.ForEachTask(count, work);
  }

  HostQueue & m_Queue;
};
} // namespace

template <>
std::unique_ptr<ControlGridPasses>
MakePassesOn<DeviceKind::Host, ControlGridPasses>(Queue & queue)
{
  return std::make_unique<HostControlGridPasses>(static_cast<HostQueue &>(queue));
}

} // namespace gpureg
