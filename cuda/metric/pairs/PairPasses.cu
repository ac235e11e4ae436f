// SPDX-License-Identifier: Apache-2.0
// The metrics that are sums over pairs of values in CUDA: entry points and launches. src/kernels/metric/pairs/ValuePairKernels.h has the
// work of a group; the plain version is src/host/metric/pairs/PairPasses.cpp.
#include "cuda/metric/samples/CudaSamples.h"

#include "engine/metric/pairs/PairPasses.h"

#include "kernels/metric/pairs/ValuePairKernels.h"

namespace gpureg
{

namespace
{
/** Returns the number of blocks on a multiprocessor: as in CudaSamples.h, but one block for forces in fixed point, whose three sums and
 *  their rounding errors need more registers. */
constexpr int
BlocksOf(int variant, int task)
{
  if (!(task & PairsFindForces))
  {
    return IsChained(variant) ? ChainedValueBlocks : IsFixedPoint(variant) ? FixedPointBlocks : ValueBlocks;
  }
  return IsChained(variant) ? ChainedForceBlocks : IsFixedPoint(variant) ? 1 : ForceBlocks;
}

// Variants besides those of CudaSamples.h: displacement fields over a grid, with forces along the moving image's gradient, and along the
// fixed image's.
constexpr int FieldForceVariant = FieldValueVariant | WritesForces;
constexpr int FixedFieldForceVariant = FieldForceVariant | GradientOfFixed;

/** Calls work with the compiled variant that serves a variant. */
template <typename TWork>
void
WithPairVariant(int variant, const TWork & work)
{
  switch (variant)
  {
    case FieldValueVariant:
      return work(std::integral_constant<int, FieldValueVariant>{});
    case FieldForceVariant:
      return work(std::integral_constant<int, FieldForceVariant>{});
    case FixedFieldForceVariant:
      return work(std::integral_constant<int, FixedFieldForceVariant>{});
    case SlopeForceVariant:
      return work(std::integral_constant<int, SlopeForceVariant>{});
    default:
      return WithVariant<PairArguments>(variant, work);
  }
}

/** Returns true if a task can occur with a variant. */
constexpr bool
IsPossible(int variant, int task)
{
  const bool findsForces = (task & PairsFindForces) != 0;
  const int  measure = task & PairsMeasureBits;
  const bool isField =
    variant == FieldForceVariant || variant == FixedFieldForceVariant || variant == SlopeForceVariant;
  if ((task & PairsCentred) != 0)
  {
    // The forces of a centred correlation are written for each sample.
    return findsForces && measure == PairsCorrelation &&
           (variant == FieldForceVariant || variant == SlopeForceVariant || variant < 0);
  }
  // The value of demons is that of mean squares. Their forces, and those of a field, are written for each sample.
  return variant == FieldValueVariant ? !findsForces && measure != PairsDemons
         : isField                    ? findsForces && measure != PairsCorrelation
                                      : findsForces || measure != PairsDemons;
}

template <int VVariant, int VTask>
__global__ void
__launch_bounds__(Lanes, BlocksOf(VVariant, VTask)) PairKernel(const __grid_constant__ PairArguments a,
                                                               const SampleVolumes                   v,
                                                               const float *                         evaluated,
                                                               float *                               partials,
                                                               float *                               forces,
                                                               const __grid_constant__ SampleMaps    maps)
{
  PairGroup(VariantOf<VVariant>(a.samples),
            VTask,
            &a,
            &maps,
            &v,
            evaluated,
            GroupIndex(),
            GroupIndex(),
            reinterpret_cast<float *>(localMemory),
            partials,
            forces);
}

/** Evaluates a batch of candidates, values only. */
template <int VVariant, int VTask>
__global__ void
__launch_bounds__(Lanes, BlocksOf(VVariant, VTask)) BatchPairKernel(const __grid_constant__ PairArguments a,
                                                                    const SampleVolumes                   v,
                                                                    const SampleMaps *                    batch,
                                                                    int     firstCandidate,
                                                                    float * partials)
{
  BatchPairGroup(VariantOf<VVariant>(a.samples),
                 VTask,
                 &a,
                 batch,
                 firstCandidate,
                 &v,
                 reinterpret_cast<float *>(localMemory),
                 partials);
}

/** Calls work with a task's constant, one of the tasks that are possible with a variant. */
template <int VVariant, int VTask = 0, typename TWork>
void
WithTask(int task, const TWork & work)
{
  if constexpr (IsPossible(VVariant, VTask))
  {
    if (task == VTask)
    {
      work(std::integral_constant<int, VTask>{});
      return;
    }
  }
  if constexpr (VTask < (PairsMeasureBits | PairsFindForces | PairsCentred))
  {
    WithTask<VVariant, VTask + 1>(task, work);
  }
}

// The shared memory that a launch may have without setting an attribute.
static_assert(2 * ForceSumCount * Lanes * sizeof(float) <= 48 << 10, "so much shared memory there is");

std::size_t
GetLocalBytes(int variant)
{
  return FloatsOfSum(variant) * ForceSumCount * Lanes * sizeof(float);
}

class CudaPairPasses : public PairPasses
{
public:
  explicit CudaPairPasses(CudaQueue & queue)
    : m_Queue(queue)
  {}

  SampleGrain
  GetGrain() const override
  {
    return { Lanes, TargetChunks, 0, true };
  }

  void
  Prepare(int, int) override
  {}

  void
  SumPairs(const PairArguments & a, const SampleMaps & maps, const PairArrays & arrays) override
  {
    WithPairVariant(a.samples.variant, [&](auto variant) {
      WithTask<variant.value>(a.task, [&](auto task) {
        m_Queue.Launch("summing pairs of values",
                       PairKernel<variant.value, task.value>,
                       dim3(static_cast<unsigned int>(ChunkCount(&a.samples))),
                       Lanes,
                       GetLocalBytes(a.samples.variant),
                       a,
                       GetVolumes(*arrays.samples),
                       AddressOf<float>(arrays.evaluated),
                       AddressOf<float>(arrays.partials),
                       arrays.forces ? AddressIn<float>(*arrays.forces) : nullptr,
                       maps);
      });
    });
  }

  bool
  HasBatches() const override
  {
    return true;
  }

  void
  SumBatch(const PairArguments & a, BatchRange range, const PairArrays & arrays, const BatchArrays & batch) override
  {
    WithVariant<PairArguments>(a.samples.variant, [&](auto variant) {
      WithTask<variant.value>(a.task, [&](auto task) {
        if constexpr (CanBeBatched(variant.value) && !(task.value & PairsFindForces))
        {
          m_Queue.Launch("summing pairs of values of a batch",
                         BatchPairKernel<variant.value, task.value>,
                         dim3(static_cast<unsigned int>(range.count * ChunkCount(&a.samples))),
                         Lanes,
                         GetLocalBytes(a.samples.variant),
                         a,
                         GetVolumes(*arrays.samples),
                         AddressOf<SampleMaps>(batch.maps),
                         range.first,
                         AddressOf<float>(arrays.partials));
        }
      });
    });
  }

private:
  CudaQueue & m_Queue;
};
} // namespace

template <>
std::unique_ptr<PairPasses>
MakePassesOn<DeviceKind::Cuda, PairPasses>(Queue & queue)
{
  return std::make_unique<CudaPairPasses>(static_cast<CudaQueue &>(queue));
}

} // namespace gpureg
