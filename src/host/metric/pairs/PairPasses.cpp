// SPDX-License-Identifier: Apache-2.0
// The metrics that are sums over pairs of values, in plain loops: the reference that every device is tested against.
// src/kernels/metric/pairs/ValuePairKernels.h has the counterpart for CUDA and OpenCL.
#include "engine/metric/pairs/PairPasses.h"

#include "host/metric/samples/HostSamples.h"
#include "host/core/HostSums.h"

#include <algorithm>
#include <array>

namespace gpureg
{

namespace
{
constexpr int MostForceSums = MostPairWeights * ForceSumCount;

double
AsDouble(const FloatAndRest & number)
{
  return double{ number.value } + number.rest;
}

/** The sums of a chunk's samples: floats for a row of samples, doubles for all rows. */
struct PairSums
{
  std::array<float, MostPairSums>   ofRow{};
  std::array<float, MostForceSums>  forcesOfRow{};
  std::array<double, MostPairSums>  ofPairs{};
  std::array<double, MostForceSums> forces{};

  void
  FinishRow()
  {
    for (int s = 0; s < MostPairSums; ++s)
    {
      ofPairs[s] += ofRow[s];
    }
    for (int s = 0; s < MostForceSums; ++s)
    {
      forces[s] += forcesOfRow[s];
    }
    ofRow = {};
    forcesOfRow = {};
  }
};

class HostPairPasses : public PairPasses
{
public:
  explicit HostPairPasses(HostQueue & queue)
    : m_Queue(queue)
  {}

  SampleGrain
  GetGrain() const override
  {
    return { HostLanes, 512, std::size_t{ 1 } << 30, false };
  }

  void
  Prepare(int, int) override
  {}

  void
  SumPairs(const PairArguments & a, const SampleMaps & maps, const PairArrays & arrays) override
  {
    const SampleVolumes v = GetVolumes(*arrays.samples);
    const PairCentring  centring = LoadCentring(a.task, AddressOf<float>(arrays.evaluated));
    float * const       partials = AddressOf<float>(arrays.partials);
    float * const       forces = arrays.forces ? m_Queue.AddressIn<float>(*arrays.forces) : nullptr;
    m_Queue.CountLaunch();
    m_Queue.ForEachTask(ChunkCount(&a.samples), [&](i64 chunk) {
      PairSums sums;
      WithVariant(a.samples.variant, [&](auto variant) {
        WithTask(a.task, [&](auto task) {
          SumChunk(variant, task, a, maps, v, centring, static_cast<int>(chunk), forces, sums);
        });
      });
      const int variant = a.samples.variant;
      float *   out = partials + chunk * PairPartialCount(variant, a.task);
      out = WriteSums(sums.ofPairs.data(), PairSumCount(a.task), FloatsOfSum(variant), out);
      for (int k = 0; k < PairForceSums(variant, a.task); ++k)
      {
        out = WriteSums(sums.forces.data() + k * ForceSumCount, ForceSumCount, FloatsOfSum(variant), out);
      }
    });
  }

private:
  /** Compiles work for each task separately. */
  template <typename TWork>
  static void
  WithTask(int task, const TWork & work)
  {
    switch (task)
    {
      case PairsMeanSquares:
        return work(std::integral_constant<int, PairsMeanSquares>{});
      case PairsMeanSquares | PairsComputeForces:
        return work(std::integral_constant<int, PairsMeanSquares | PairsComputeForces>{});
      case PairsCorrelation:
        return work(std::integral_constant<int, PairsCorrelation>{});
      case PairsCorrelation | PairsComputeForces:
        return work(std::integral_constant<int, PairsCorrelation | PairsComputeForces>{});
      default:
        return work(task);
    }
  }

  template <typename TVariant, typename TTask>
  static void
  SumChunk(TVariant              variant,
           TTask                 task,
           const PairArguments & a,
           const SampleMaps &    maps,
           const SampleVolumes & v,
           const PairCentring &  centring,
           int                   chunk,
           float *               forces,
           PairSums &            sums)
  {
    int pending = 0;
    ForEachSample(variant, a.samples, maps, chunk, [&](const LaneWalk & walk) {
      float     x[3], gradient[3] = {}, weights[MostPairWeights] = {};
      i64       position[3];
      ValuePair pair;
      bool      isValid = HasFixedValue(variant, &v, walk.sample);
      if (isValid)
      {
        MapSample(variant, &a.samples, &maps, &v, &walk, x, position);
        isValid = ComputePair(variant, &a, task, &maps, &v, walk.sample, position, &pair, gradient);
      }
      if (isValid)
      {
        AddSummands(variant, task, pair, sums);
        if (TaskFindsForces(task))
        {
          ComputePairWeights(&a, task, &centring, &pair, gradient, weights);
          FollowForceBack(variant, &a.samples, &v, &walk, gradient);
        }
        float fromCentre[3];
        ComputeOffsetFromCentre(&a.samples, x, fromCentre);
        for (int k = 0; k < PairForceSums(variant, task); ++k)
        {
          if (VariantHas(variant, SamplesAreFixedPoint))
          {
            FloatAndRest force[3];
            WeighGradientExactly(ComputeFixedPointWeight(task, &maps, &pair, k, weights[k]), gradient, force);
            const double whole[3] = { AsDouble(force[0]), AsDouble(force[1]), AsDouble(force[2]) };
            AddForceInDoubles(whole, fromCentre, sums.forces.data() + k * ForceSumCount);
          }
          else
          {
            const float force[3] = { weights[k] * gradient[0], weights[k] * gradient[1], weights[k] * gradient[2] };
            AddForce(sums.forcesOfRow.data() + k * ForceSumCount, force, fromCentre);
          }
        }
      }
      if (VariantHas(variant, WritesForces))
      {
        for (int r = 0; r < 3; ++r)
        {
          forces[3 * walk.sample + r] = isValid ? weights[0] * gradient[r] : 0.0f;
        }
      }
      if (++pending == (VariantHas(variant, SamplesAreFixedPoint) ? 1 : TileWidth))
      {
        pending = 0;
        sums.FinishRow();
      }
    });
    sums.FinishRow();
  }

  template <typename TVariant, typename TTask>
  static void
  AddSummands(TVariant variant, TTask task, const ValuePair & pair, PairSums & sums)
  {
    if (VariantHas(variant, SamplesAreFixedPoint))
    {
      FloatAndRest summands[MostPairSums];
      ComputeFixedPointSummands(task, &pair, summands);
      for (int s = 0; s < PairSumCount(task); ++s)
      {
        sums.ofPairs[s] += AsDouble(summands[s]);
      }
      return;
    }
    float summands[MostPairSums];
    ComputeSummands(task, &pair, summands);
    for (int s = 0; s < PairSumCount(task); ++s)
    {
      sums.ofRow[s] += summands[s];
    }
  }

  HostQueue & m_Queue;
};
} // namespace

template <>
std::unique_ptr<PairPasses>
MakePassesOn<DeviceKind::Host, PairPasses>(Queue & queue)
{
  return std::make_unique<HostPairPasses>(static_cast<HostQueue &>(queue));
}

} // namespace gpureg
