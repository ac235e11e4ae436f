// SPDX-License-Identifier: Apache-2.0
// The two passes in plain loops: the reference that every device is tested against, and what runs
// where there is none. src/kernels/MattesKernels.h holds the twins for CUDA and OpenCL.
#include "HostQueue.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace gpureg
{

using namespace kernels;

namespace
{
SampleVolumes
GetVolumes(const MattesArrays & arrays)
{
  return MakeSampleVolumes(*arrays.samples, [](const MemoryPointer & memory) { return AddressOf<void>(memory); });
}

// Samples side by side in a chunk: a tile 32 voxels wide and 8 high.
constexpr int Lanes = 256;

/** Calls visit(walk) at each sample of a chunk, row by row. */
template <typename TVisitor>
void
ForEachSample(int variant, const SampleArguments & a, const SampleMaps & maps, int chunk, const TVisitor & visit)
{
  std::array<LaneWalk, Lanes> walks;
  for (int lane = 0; lane < Lanes; ++lane)
  {
    walks[lane] = StartLaneWalk(variant, &a, &maps, chunk, Lanes, lane);
  }
  for (int step = 0; step < a.tileDepth; ++step)
  {
    for (LaneWalk & walk : walks)
    {
      if (step < walk.count)
      {
        visit(walk);
        AdvanceLaneWalk(variant, &maps, &walk);
      }
    }
  }
}

void
AddWindow(u32 * window, const u32 * weights)
{
  for (int k = 0; k < 4; ++k)
  {
    window[k] += weights[k];
  }
}

/** Compiles work for the plain case on its own, so that it pays for no other. */
template <typename TWork>
void
WithVariant(int variant, const TWork & work)
{
  if (variant == 0)
  {
    work(std::integral_constant<int, 0>{});
  }
  else
  {
    work(variant);
  }
}

class HostMattesPasses : public MattesPasses
{
public:
  explicit HostMattesPasses(HostQueue & queue)
    : m_Queue(queue)
  {}

  SampleGrain
  GetGrain() const override
  {
    return { Lanes, 512, std::size_t{ 1 } << 30, false };
  }

  void
  Prepare(int) override
  {}

  void
  Histogram(const MattesArguments & a,
            const SampleMaps &      maps,
            const MattesArrays &    arrays,
            int                     firstChunk,
            int                     chunkCount) override
  {
    const SampleVolumes v = GetVolumes(arrays);
    const i64           cells = i64{ a.bins } * a.bins;
    const i64           counters = cells * CountersPerCell(a.samples.variant);
    u32 *               chunkHistograms = AddressOf<u32>(arrays.chunkHistograms);
    ++m_Queue.statistics.launches;
    m_Queue.parallelFor(chunkCount, [&](i64 counted) {
      u32 * histogram = chunkHistograms + counted * counters;
      std::fill(histogram, histogram + counters, 0u);
      WithVariant(a.samples.variant, [&](auto variant) {
        const int chunk = firstChunk + static_cast<int>(counted);
        ForEachSample(variant, a.samples, maps, chunk, [&](const LaneWalk & walk) {
          const int row = v.fixedBins[walk.sample];
          float     x[3], t, u = 0;
          i64       position[3];
          u32       weights[4], low[4];
          int       first = 0;
          if (row == InvalidBin)
          {
            return;
          }
          MapSample(variant, &a.samples, &maps, &v, &walk, x, position);
          if (VariantHas(variant, SamplesArePrecise))
          {
            if (FindPreciseWindow(variant, &a, &maps, &v, position, &first, weights, low))
            {
              AddWindow(histogram + row * a.bins + first, weights);
              AddWindow(histogram + cells + row * a.bins + first, low);
            }
          }
          else if (FindMattesValue(variant, &a, &maps, &v, position, &u))
          {
            first = FirstParzenBin(a.lastWhole, u, &t);
            FixedPointParzenWeights(t, a.countUnit, weights);
            AddWindow(histogram + row * a.bins + first, weights);
          }
        });
      });
    });
  }

  void
  SumHistograms(const MattesArguments & a, const MattesArrays & arrays, int chunkCount, bool accumulate) override
  {
    const int   cells = a.bins * a.bins;
    const u32 * chunkHistograms = AddressOf<u32>(arrays.chunkHistograms);
    u64 *       histogram = AddressOf<u64>(arrays.sums);
    ++m_Queue.statistics.launches;
    m_Queue.parallelFor(a.bins, [&](i64 row) {
      u64 * sums = histogram + row * a.bins;
      if (!accumulate)
      {
        std::fill(sums, sums + a.bins, 0u);
      }
      for (int chunk = 0; chunk < chunkCount; ++chunk)
      {
        for (int k = 0; k < a.bins; ++k)
        {
          sums[k] += CountInChunk(a.samples.variant, chunkHistograms, chunk, cells, static_cast<int>(row) * a.bins + k);
        }
      }
    });
  }

  void
  Table(const MattesArguments & a, const MattesArrays & arrays) override
  {
    const u64 *        histogram = AddressOf<u64>(arrays.sums);
    float *            table = AddressOf<float>(arrays.table);
    const int          bins = a.bins;
    std::vector<float> fixedMarginal(bins), movingMarginal(bins);
    std::vector<u64>   columns(bins);
    float              count = 0;
    ++m_Queue.statistics.launches;
    for (int bin = 0; bin < bins; ++bin)
    {
      u64 row = 0, column = 0;
      for (int other = 0; other < bins; ++other)
      {
        row += histogram[bin * bins + other];
        column += histogram[other * bins + bin];
      }
      fixedMarginal[bin] = static_cast<float>(row);
      movingMarginal[bin] = static_cast<float>(column);
      columns[bin] = column;
      count += static_cast<float>(row);
    }
    const float scale = 1.0f / count;
    float       marginalEntropies = 0, jointEntropy = 0;
    for (int bin = 0; bin < bins; ++bin)
    {
      marginalEntropies += EntropyTerm(fixedMarginal[bin] * scale) + EntropyTerm(movingMarginal[bin] * scale);
    }
    for (int cell = 0; cell < bins * bins; ++cell)
    {
      jointEntropy += EntropyTerm(static_cast<float>(histogram[cell]) * scale);
    }
    const float inverseJointEntropy = jointEntropy > 0 ? 1.0f / jointEntropy : 0.0f;
    if (VariantHas(a.samples.variant, SamplesArePrecise))
    {
      i64 * const      preciseTable = AddressOf<i64>(arrays.table);
      std::vector<i64> logarithms(bins);
      std::transform(columns.begin(), columns.end(), logarithms.begin(), LogOfCount);
      for (int cell = 0; cell < bins * bins; ++cell)
      {
        preciseTable[cell] = PreciseTableEntry(a.normalized,
                                               LogOfCount(histogram[cell]),
                                               logarithms[cell % bins],
                                               marginalEntropies * inverseJointEntropy,
                                               inverseJointEntropy);
      }
      return;
    }
    for (int cell = 0; cell < bins * bins; ++cell)
    {
      table[cell] = TableEntry(a.normalized,
                               static_cast<float>(histogram[cell]) * scale,
                               movingMarginal[cell % bins] * scale,
                               scale,
                               marginalEntropies * inverseJointEntropy,
                               inverseJointEntropy);
    }
  }

  void
  FindForces(const MattesArguments & a, const SampleMaps & maps, const MattesArrays & arrays) override
  {
    const SampleVolumes v = GetVolumes(arrays);
    const float *       table = AddressOf<float>(arrays.table);
    const i64 *         preciseTable = AddressOf<i64>(arrays.table);
    float *             partials = reinterpret_cast<float *>(AddressOf<u64>(arrays.sums) + i64{ a.bins } * a.bins);
    float *             forces = AddressOf<float>(arrays.forces);
    ++m_Queue.statistics.launches;
    m_Queue.parallelFor(ChunkCount(&a.samples), [&](i64 chunk) {
      double sums[ForceSumCount] = {};
      WithVariant(a.samples.variant, [&](auto variant) {
        float rowSums[ForceSumCount] = {};
        int   pending = 0;
        ForEachSample(variant, a.samples, maps, static_cast<int>(chunk), [&](const LaneWalk & walk) {
          const int row = v.fixedBins[walk.sample];
          float     force[3] = { 0, 0, 0 };
          float     x[3];
          i64       position[3];
          bool      valid = row != InvalidBin;
          if (valid)
          {
            MapSample(variant, &a.samples, &maps, &v, &walk, x, position);
            valid = VariantHas(variant, SamplesArePrecise)
                      ? FindPreciseForce(variant, &a, &maps, &v, position, preciseTable + row * a.bins, force)
                      : FindForce(variant, &a, &maps, &v, position, table + row * a.bins, force);
          }
          if (VariantHas(variant, WritesForces))
          {
            std::copy(force, force + 3, forces + 3 * walk.sample);
          }
          else if (valid)
          {
            const float fromCentre[3] = { x[0] - a.samples.centre[0],
                                          x[1] - a.samples.centre[1],
                                          x[2] - a.samples.centre[2] };
            AddForce(rowSums, force, fromCentre);
          }
          if (++pending == (VariantHas(variant, SamplesArePrecise) ? 1 : TileWidth))
          {
            pending = 0;
            for (int s = 0; s < ForceSumCount; ++s)
            {
              sums[s] += rowSums[s];
              rowSums[s] = 0;
            }
          }
        });
        for (int s = 0; s < ForceSumCount; ++s)
        {
          sums[s] += rowSums[s];
        }
      });
      if (!VariantHas(a.samples.variant, WritesForces))
      {
        float * const partial = partials + chunk * PartialCount(a.samples.variant);
        std::copy(sums, sums + ForceSumCount, partial);
        for (int s = ForceSumCount; s < PartialCount(a.samples.variant); ++s)
        {
          partial[s] = static_cast<float>(sums[s - ForceSumCount] - partial[s - ForceSumCount]);
        }
      }
    });
  }

private:
  HostQueue & m_Queue;
};
} // namespace

std::unique_ptr<MattesPasses>
HostQueue::CreateMattesPasses()
{
  return std::make_unique<HostMattesPasses>(*this);
}

} // namespace gpureg
