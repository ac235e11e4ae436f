// SPDX-License-Identifier: Apache-2.0
// The variants and tasks of pairs of values for which kernels are compiled. For C++ and CUDA C++; OpenCL C compiles what it needs.
#ifndef gpureg_kernels_PairVariants_h
#define gpureg_kernels_PairVariants_h

#include <array>
#include <cstddef>

namespace gpureg
{
namespace kernels
{

/** Returns the compiled variant that serves a variant. */
constexpr int
ChoosePairVariant(int variant)
{
  const bool isOfField = variant == FieldValueVariant || variant == FieldForceVariant ||
                         variant == FixedFieldForceVariant || variant == SlopeForceVariant;
  return isOfField ? variant : ChooseVariant(variant);
}

/** Returns true if a task can occur with a compiled variant. */
constexpr bool
IsPossible(int variant, int task)
{
  const bool findsForces = (task & PairsComputeForces) != 0;
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

/** Says whether a batch, which has values only, may have a compiled variant and a task. */
constexpr bool
IsPossibleInBatch(int variant, int task)
{
  return CanBeBatched(variant) && !(task & PairsComputeForces) &&
         ChoosePairVariant(variant) == ChooseVariant(variant) && IsPossible(variant, task);
}

/** Visits each compiled variant with each task that is possible. */
template <typename TVisitor>
constexpr void
ForEachPairVariant(bool isBatch, TVisitor & visit)
{
  for (const int variant : { +PlainVariant,
                             +PlainFixedPointVariant,
                             +PlainPointsVariant,
                             +FieldValueVariant,
                             +FieldForceVariant,
                             +FixedFieldForceVariant,
                             +SlopeForceVariant,
                             +AnyVariant,
                             +FixedPointVariant,
                             +ChainedVariant,
                             +FixedPointChainedVariant })
  {
    for (int task = 0; task <= (PairsMeasureBits | PairsComputeForces | PairsCentred); ++task)
    {
      if (isBatch ? IsPossibleInBatch(variant, task) : IsPossible(variant, task))
      {
        visit.Add(variant, task);
      }
    }
  }
}

struct PairVariantCount
{
  constexpr void
  Add(int, int)
  {
    ++count;
  }
  std::size_t count = 0;
};

constexpr std::size_t
CountPairVariants(bool isBatch)
{
  PairVariantCount variants;
  ForEachPairVariant(isBatch, variants);
  return variants.count;
}

template <std::size_t count>
struct PairVariantList
{
  constexpr void
  Add(int variant, int task)
  {
    values[size][0] = variant;
    values[size][1] = task;
    ++size;
  }
  int         values[count][2] = {};
  std::size_t size = 0;
};

template <bool isBatch>
constexpr PairVariantList<CountPairVariants(isBatch)>
ListPairVariants()
{
  PairVariantList<CountPairVariants(isBatch)> variants;
  ForEachPairVariant(isBatch, variants);
  return variants;
}

/** A compiled variant and a task. On a processor one kernel is for all. */
template <bool isBatch>
struct PairVariantsOf
{
  static constexpr int    constants = 2;
  static constexpr auto   list = ListPairVariants<isBatch>();
  static constexpr auto & values = list.values;
  static constexpr bool   areLookedUp = true;
};
using PairVariants = PairVariantsOf<false>;
using PairBatchVariants = PairVariantsOf<true>;

} // namespace kernels
} // namespace gpureg

#endif
