// SPDX-License-Identifier: Apache-2.0
// The two passes of every metric that has a histogram, in plain loops: the reference that every device is tested against,
// and the code that runs where there is no device. src/kernels/metric/histogram/HistogramKernels.h has the counterparts for CUDA and
// OpenCL.
#ifndef gpureg_HostHistogramPasses_h
#define gpureg_HostHistogramPasses_h

#include "host/metric/samples/HostSamples.h"
#include "host/core/HostSums.h"

#include "engine/metric/histogram/HistogramPasses.h"

#include "kernels/core/LaneSum.h"
#include "kernels/metric/histogram/WindowCount.h"

#include <algorithm>

namespace gpureg
{

using namespace kernels;

/** \tparam TSummaryArguments see HistogramPasses */
template <typename TArguments, typename TSummaryArguments = TArguments>
class HostHistogramPasses : public HistogramPasses<TArguments, TSummaryArguments>
{
public:
  explicit HostHistogramPasses(HostQueue & queue)
    : m_Queue(queue)
  {}

  SampleGrain
  GetGrain() const override
  {
    return { HostLanes, 512, std::size_t{ 1 } << 30, false };
  }

  void
  Prepare(int) override
  {}

  void
  Histogram(const TArguments &      a,
            const SampleMaps &      maps,
            const HistogramArrays & arrays,
            int                     firstChunk,
            int                     chunkCount) override
  {
    const SampleVolumes v = GetVolumes(*arrays.samples);
    const i64           counters = CountCounters(a.histogram);
    u32 *               chunkHistograms = AddressOf<u32>(arrays.chunkHistograms);
    m_Queue.CountLaunch();
    m_Queue.ForEachTask(chunkCount, [&](i64 counted) {
      CountChunk(a, maps, v, firstChunk + static_cast<int>(counted), chunkHistograms + counted * counters);
    });
  }

  void
  SumHistograms(const TArguments & a, const HistogramArrays & arrays, int chunkCount, bool accumulate) override
  {
    const HistogramArguments & h = a.histogram;
    const u32 *                chunkHistograms = AddressOf<u32>(arrays.chunkHistograms);
    u64 *                      histogram = AddressOf<u64>(arrays.sums);
    m_Queue.CountLaunch();
    m_Queue.ForEachTask(h.rows, [&](i64 row) {
      u64 * sums = histogram + row * h.columns;
      if (!accumulate)
      {
        std::fill(sums, sums + h.columns, 0u);
      }
      AddEntries(a, chunkHistograms, chunkCount, static_cast<int>(row) * h.columns, h.columns, sums);
    });
  }

  /** Counts all candidates at once, so that threads are woken twice, and not twice per candidate. */
  void
  SumBatch(const TArguments &      a,
           BatchRange              range,
           const HistogramArrays & arrays,
           const Memory &          maps,
           Memory &                histograms) override
  {
    const SampleVolumes v = GetVolumes(*arrays.samples);
    const auto          entries = static_cast<int>(CountEntries(a.histogram));
    const i64           chunks = ChunkCount(&a.histogram.samples);
    const i64           counters = CountCounters(a.histogram);
    u32 *               chunkHistograms = AddressOf<u32>(arrays.chunkHistograms);
    const SampleMaps *  ofCandidates = m_Queue.AddressIn<SampleMaps>(maps) + range.first;
    u64 *               sums = m_Queue.AddressIn<u64>(histograms);
    m_Queue.CountLaunch(2);
    m_Queue.ForEachTask(range.count * chunks, [&](i64 counted) {
      CountChunk(
        a, ofCandidates[counted / chunks], v, static_cast<int>(counted % chunks), chunkHistograms + counted * counters);
    });
    m_Queue.ForEachTask(range.count, [&](i64 n) {
      std::fill_n(sums + n * entries, entries, 0u);
      AddEntries(a, chunkHistograms + n * chunks * counters, static_cast<int>(chunks), 0, entries, sums + n * entries);
    });
  }

  void
  ComputeForces(const TArguments & a, const SampleMaps & maps, const HistogramArrays & arrays) override
  {
    const HistogramArguments & h = a.histogram;
    const SampleVolumes        v = GetVolumes(*arrays.samples);
    const float *              table = AddressOf<float>(arrays.table);
    const i64 *                fixedPointTable = AddressOf<i64>(arrays.table);
    float * partials = reinterpret_cast<float *>(AddressOf<u64>(arrays.sums) + static_cast<i64>(CountEntries(h)));
    float * forces = arrays.forces ? m_Queue.AddressIn<float>(*arrays.forces) : nullptr;
    m_Queue.CountLaunch();
    m_Queue.ForEachTask(ChunkCount(&h.samples), [&](i64 chunk) {
      double sums[ForceSumCount] = {};
      WithVariant(h.samples.variant, [&](auto variant) {
        float rowSums[ForceSumCount] = {};
        int   pending = 0;
        ForEachSample(variant, h.samples, maps, static_cast<int>(chunk), [&](const LaneWalk & walk) {
          const int row = v.fixedBins[walk.sample];
          float     force[3] = { 0, 0, 0 };
          float     x[3];
          i64       position[3];
          bool      valid = row != InvalidBin;
          if (valid)
          {
            MapSample(variant, &h.samples, &maps, &v, &walk, x, position);
            valid =
              VariantHas(variant, SamplesAreFixedPoint)
                ? ComputeFixedPointForce(
                    variant, &a, &maps, &v, walk.sample, position, fixedPointTable + row * h.tableColumns, force)
                : ComputeForce(variant, &a, &maps, &v, walk.sample, position, table + row * h.tableColumns, force);
            FollowForceBack(variant, &h.samples, &v, &walk, force);
          }
          if (VariantHas(variant, WritesForces))
          {
            std::copy(force, force + 3, forces + 3 * walk.sample);
          }
          else if (valid)
          {
            float fromCentre[3];
            ComputeOffsetFromCentre(&h.samples, x, fromCentre);
            AddForce(rowSums, force, fromCentre);
          }
          if (++pending == (VariantHas(variant, SamplesAreFixedPoint) ? 1 : TileWidth))
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
      if (!VariantHas(h.samples.variant, WritesForces))
      {
        const int floats = PartialCount(h.samples.variant);
        WriteSums(sums, ForceSumCount, floats / ForceSumCount, partials + chunk * floats);
      }
    });
  }

protected:
  HostQueue &
  GetQueue()
  {
    return m_Queue;
  }

private:
  /** Returns the number of 32-bit counters of a chunk's histogram. */
  static i64
  CountCounters(const HistogramArguments & h)
  {
    return static_cast<i64>(CountEntries(h)) * CountersPerEntry(h.samples.variant);
  }

  /** Counts the histogram of one chunk. */
  static void
  CountChunk(const TArguments & a, const SampleMaps & maps, const SampleVolumes & v, int chunk, u32 * histogram)
  {
    const HistogramArguments & h = a.histogram;
    const auto                 entries = static_cast<int>(CountEntries(h));
    std::fill_n(histogram, CountCounters(h), 0u);
    WithVariant(h.samples.variant, [&](auto variant) {
      u64 laneSum = 0;
      ForEachSample(variant, h.samples, maps, chunk, [&](const LaneWalk & walk) {
        const int row = v.fixedBins[walk.sample];
        float     x[3];
        i64       position[3];
        if (row == InvalidBin)
        {
          return;
        }
        MapSample(variant, &h.samples, &maps, &v, &walk, x, position);
        CountSample(variant, &a, &maps, &v, position, histogram, row * h.columns, entries, 1, &laneSum);
      });
      CountLaneSum(variant, &a, laneSum, 0, h.rows, histogram, 1);
    });
  }

  /** Adds entries of the chunks' histograms to the sums. */
  static void
  AddEntries(const TArguments & a, const u32 * chunkHistograms, int chunks, int firstEntry, int entries, u64 * sums)
  {
    for (int chunk = 0; chunk < chunks; ++chunk)
    {
      for (int n = 0; n < entries; ++n)
      {
        sums[n] += ReadChunk(a.histogram.samples.variant, &a, chunkHistograms, chunk, firstEntry + n);
      }
    }
  }

  HostQueue & m_Queue;
};

} // namespace gpureg

#endif
