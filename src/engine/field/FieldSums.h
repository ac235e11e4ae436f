// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_FieldSums_h
#define gpureg_FieldSums_h

#include "engine/field/FieldKernels.h"
#include "engine/runtime/ForEachItem.h"

#include <algorithm>
#include <cstdint>

namespace gpureg
{

/** Returns a weighted sum's arguments; every component has the same weight. */
inline kernels::FieldWeights
MakeWeights(float first, float second)
{
  kernels::FieldWeights weights{};
  std::fill_n(weights.first, 3, first);
  std::fill_n(weights.second, 3, second);
  weights.hasSecond = second != 0;
  return weights;
}

/** Enqueues a weighted sum of two fields of so many elements; sum may be either of them. */
inline void
AddFields(Queue &                       queue,
          std::int64_t                  elements,
          const kernels::FieldWeights & weights,
          const Memory &                first,
          const Memory &                second,
          Memory &                      sum)
{
  ForEachItem<kernels::AddFieldsKernel>(queue,
                                        elements,
                                        Precision::Single,
                                        weights,
                                        Input<RealNumber>(first),
                                        Input<RealNumber>(second),
                                        Output<RealNumber>(sum));
}

/** Enqueues the multiplication of a field's elements by the factor of the outer field; see kernels::ScaleField. */
inline void
ScaleField(Queue & queue, std::int64_t elements, const Memory & factors, Memory & field)
{
  ForEachItem<kernels::ScaleFieldKernel>(
    queue, elements, Precision::Single, Input<float>(factors), Input<RealNumber>(field), Output<RealNumber>(field));
}

} // namespace gpureg

#endif
