// SPDX-License-Identifier: Apache-2.0
// The neighborhood correlation in plain loops: the reference that every device is tested against.
// src/kernels/metric/neighborhood/NeighborhoodKernels.h has the counterparts for CUDA and OpenCL.
#include "engine/metric/neighborhood/NeighborhoodPasses.h"

#include "host/metric/samples/HostSamples.h"

#include <algorithm>
#include <array>
#include <functional>
#include <vector>

namespace gpureg
{

namespace
{
// The number of lines that are processed side by side. Lines along y and z are neighbours along x: they share cache lines, and their
// circular buffers stay in the cache.
constexpr int Bundle = 16;
// The most groups, which share the lines; a group is the work of one thread at a time.
constexpr int MostGroups = 512;
// The number of rows whose moving values one thread computes at a time.
constexpr i64 TaskRows = 64;

NeighborhoodVolumes
GetNeighborhoodVolumes(const NeighborhoodArrays & arrays)
{
  return MakeNeighborhoodVolumes(arrays, [](const MemoryPointer & memory) { return AddressOf<void>(memory); });
}

/** Compiles work for the usual variants separately, so that they do not pay for the others. */
template <typename TWork>
void
WithFixedPointVariant(int variant, const TWork & work)
{
  switch (variant)
  {
    case SamplesAreFixedPoint:
      return work(std::integral_constant<int, SamplesAreFixedPoint>{});
    case SamplesAreFixedPoint | SamplesAreDisplaced:
      return work(std::integral_constant<int, SamplesAreFixedPoint | SamplesAreDisplaced>{});
    case SamplesAreFixedPoint | SamplesAreDisplaced | WritesForces:
      return work(std::integral_constant<int, SamplesAreFixedPoint | SamplesAreDisplaced | WritesForces>{});
    case SamplesAreFixedPoint | SamplesAreDisplaced | WritesForces | GradientByDifferences:
      return work(
        std::integral_constant<int,
                               SamplesAreFixedPoint | SamplesAreDisplaced | WritesForces | GradientByDifferences>{});
    default:
      return work(variant | SamplesAreFixedPoint);
  }
}

class HostNeighborhoodPasses : public NeighborhoodPasses
{
public:
  explicit HostNeighborhoodPasses(HostQueue & queue)
    : m_Queue(queue)
  {}

  NeighborhoodGrain
  GetGrain() const override
  {
    return { Bundle, MostGroups, Bundle, 0 };
  }

  bool
  NeedsCircularBuffers(int) const override
  {
    return false;
  }

  void
  Prepare(int) override
  {}

  void
  MovePlanes(const NeighborhoodArguments & a, const SampleMaps & maps, const NeighborhoodArrays & arrays) override
  {
    const SampleVolumes       v = GetVolumes(*arrays.samples);
    const NeighborhoodVolumes n = GetNeighborhoodVolumes(arrays);
    const int *               size = a.samples.virtualShape.size;
    const i64                 rows = static_cast<i64>(size[1]) * a.keptPlanes;
    m_Queue.CountLaunch();
    m_Queue.ForEachTask((rows + TaskRows - 1) / TaskRows, [&](i64 task) {
      WithFixedPointVariant(a.samples.variant & ~WritesForces, [&](auto variant) {
        for (i64 row = task * TaskRows; row < std::min(rows, (task + 1) * TaskRows); ++row)
        {
          const int j = static_cast<int>(row % size[1]);
          const int k = a.firstStored + static_cast<int>(row / size[1]);
          for (int i = 0; i < size[0]; ++i)
          {
            const LaneWalk at = StartWalkAtVoxel(&a.samples, &maps, i, j, k);
            n.moved[row * size[0] + i] = ComputeMovedValue(variant, &a, &maps, &v, &at);
          }
        }
      });
    });
  }

  void
  SumAlong(int                           axis,
           const NeighborhoodArguments & a,
           const SampleMaps &            maps,
           const NeighborhoodArrays &    arrays) override
  {
    const SampleVolumes       v = GetVolumes(*arrays.samples);
    const NeighborhoodVolumes n = GetNeighborhoodVolumes(arrays);
    ForEachBundle(a, axis, [&](int, i64 first, int lanes, double * circularBuffer) {
      std::array<SumWalk, Bundle> walks;
      for (int lane = 0; lane < lanes; ++lane)
      {
        walks[lane] = StartSumWalk(axis, &a, first + lane);
      }
      for (int i = 0; i < CountSumSteps(&a, axis); ++i)
      {
        for (int lane = 0; lane < lanes; ++lane)
        {
          StepSumWalk(axis, &a, &maps, &v, &n, i, circularBuffer + lane, Bundle, &walks[lane]);
        }
      }
    });
  }

  void
  CorrelatePlanes(const NeighborhoodArguments & a, const SampleMaps & maps, const NeighborhoodArrays & arrays) override
  {
    const SampleVolumes       v = GetVolumes(*arrays.samples);
    const NeighborhoodVolumes n = GetNeighborhoodVolumes(arrays);
    std::vector<CentreSums>   sums(a.groupCount);
    ForEachBundle(a, 2, [&](int group, i64 first, int lanes, double * circularBuffer) {
      WithFixedPointVariant(a.samples.variant, [&](auto variant) {
        std::array<CentreWalk, Bundle> walks;
        for (int lane = 0; lane < lanes; ++lane)
        {
          walks[lane] = StartCentreWalk(&a, first + lane);
        }
        // A bundle may end in the segment after that of its first line, and that segment may be shorter.
        for (bool isAtEnd = false; !isAtEnd;)
        {
          isAtEnd = true;
          for (int lane = 0; lane < lanes; ++lane)
          {
            if (!IsCentreWalkAtEnd(&a, &walks[lane]))
            {
              isAtEnd = false;
              StepCentreWalk(variant, &a, &maps, &v, &n, circularBuffer + lane, Bundle, &walks[lane], &sums[group]);
            }
          }
        }
      });
    });
    WritePartials(a, sums, arrays);
  }

  /** Does nothing: without local memory there are no tiles. */
  void
  CorrelateTiles(const NeighborhoodArguments &, const SampleMaps &, const NeighborhoodArrays &) override
  {}

  void
  CorrelateList(const NeighborhoodArguments & a, const SampleMaps & maps, const NeighborhoodArrays & arrays) override
  {
    const SampleVolumes       v = GetVolumes(*arrays.samples);
    const NeighborhoodVolumes n = GetNeighborhoodVolumes(arrays);
    std::vector<CentreSums>   sums(a.groupCount);
    m_Queue.CountLaunch();
    m_Queue.ForEachTask(a.groupCount, [&](i64 group) {
      WithFixedPointVariant(a.samples.variant, [&](auto variant) {
        for (i64 place = group * Bundle; place < a.centreCount; place += static_cast<i64>(a.groupCount) * Bundle)
        {
          for (i64 lane = place; lane < std::min<i64>(a.centreCount, place + Bundle); ++lane)
          {
            CorrelateListedCentre(variant, &a, &maps, &v, &n, lane, &sums[group]);
          }
        }
      });
    });
    WritePartials(a, sums, arrays);
  }

  void
  SumTerms(int axis, const NeighborhoodArguments & a, const Memory & terms, Memory & summed) override
  {
    const auto * const in = m_Queue.AddressIn<const float>(terms);
    auto * const       out = m_Queue.AddressIn<float>(summed);
    const int * const  size = a.samples.virtualShape.size;
    ForEachRow(a, [&](int j, int k, std::vector<float> & row) {
      float * const to = out + 3 * VoxelOffset(&a.samples.virtualShape, 0, j, k);
      if (axis == 0)
      {
        for (int i = 0; i < size[0]; ++i)
        {
          SumTermsAlong(0, &a, i, j, k, in, to + 3 * i);
        }
        return;
      }
      SumRows(axis, a, j, k, in, row);
      std::copy(row.begin(), row.end(), to);
    });
  }

  void
  ComputeForcesOfTerms(const NeighborhoodArguments & a,
                       const SampleMaps &            maps,
                       const NeighborhoodArrays &    arrays,
                       const Memory &                terms,
                       Memory &                      forces) override
  {
    const SampleVolumes v = GetVolumes(*arrays.samples);
    const auto * const  in = m_Queue.AddressIn<const float>(terms);
    auto * const        out = m_Queue.AddressIn<float>(forces);
    ForEachRow(a, [&](int j, int k, std::vector<float> & row) {
      SumRows(2, a, j, k, in, row);
      WithFixedPointVariant(a.samples.variant, [&](auto variant) {
        for (int i = 0; i < a.samples.virtualShape.size[0]; ++i)
        {
          const int place[3] = { i, j, k };
          WriteForceOfTerms(variant, &a, &maps, &v, place, row.data() + 3 * i, out);
        }
      });
    });
  }

private:
  /** Computes SumTermsAlong() y or z for a whole row, adding in the order of SumTermsAlong(). */
  static void
  SumRows(int axis, const NeighborhoodArguments & a, int j, int k, const float * terms, std::vector<float> & row)
  {
    const int centre = axis == 1 ? j : k;
    std::fill(row.begin(), row.end(), 0.0f);
    for (int at = FirstWithin(centre, a.radius[axis]);
         at < EndWithin(centre, a.radius[axis], a.samples.virtualShape.size[axis]);
         ++at)
    {
      const float * const from =
        terms + 3 * VoxelOffset(&a.samples.virtualShape, 0, axis == 1 ? at : j, axis == 2 ? at : k);
      std::transform(row.begin(), row.end(), from, row.begin(), std::plus<>());
    }
  }

  /** Calls work(j, k, row) for all rows, where row has three floats per voxel. One thread processes a plane's rows. */
  template <typename TWork>
  void
  ForEachRow(const NeighborhoodArguments & a, const TWork & work)
  {
    const int * const size = a.samples.virtualShape.size;
    m_Queue.CountLaunch();
    m_Queue.ForEachTask(size[2], [&](i64 plane) {
      std::vector<float> row(3 * static_cast<std::size_t>(size[0]));
      for (int j = 0; j < size[1]; ++j)
      {
        work(j, static_cast<int>(plane), row);
      }
    });
  }

  /** Calls work(group, first line, lines, buffer) with each bundle of lines. */
  template <typename TWork>
  void
  ForEachBundle(const NeighborhoodArguments & a, int axis, const TWork & work)
  {
    const i64 lines = CountNeighborhoodLines(&a, axis);
    const int groups = axis == 2 ? a.groupCount : CountNeighborhoodGroups(a, axis, GetGrain());
    m_Queue.CountLaunch();
    m_Queue.ForEachTask(groups, [&](i64 group) {
      std::vector<double> circularBuffer(static_cast<std::size_t>(LengthOfWindow(&a, axis)) * NeighborhoodSumCount *
                                         Bundle);
      for (i64 first = group * Bundle; first < lines; first += static_cast<i64>(groups) * Bundle)
      {
        work(static_cast<int>(group),
             first,
             static_cast<int>(std::min<i64>(Bundle, lines - first)),
             circularBuffer.data());
      }
    });
  }

  static void
  WritePartials(const NeighborhoodArguments &   a,
                const std::vector<CentreSums> & sums,
                const NeighborhoodArrays &      arrays)
  {
    const int count = NeighborhoodPartialCount(&a);
    float *   out = AddressOf<float>(arrays.partials) + static_cast<i64>(a.firstPartial) * count;
    for (const CentreSums & ofGroup : sums)
    {
      std::copy(ofGroup.ofCentres, ofGroup.ofCentres + 2 * MostCentreSums, out);
      std::copy(ofGroup.forces, ofGroup.forces + count - 2 * MostCentreSums, out + 2 * MostCentreSums);
      out += count;
    }
  }

  HostQueue & m_Queue;
};
} // namespace

template <>
std::unique_ptr<NeighborhoodPasses>
MakePassesOn<DeviceKind::Host, NeighborhoodPasses>(Queue & queue)
{
  return std::make_unique<HostNeighborhoodPasses>(static_cast<HostQueue &>(queue));
}

} // namespace gpureg
