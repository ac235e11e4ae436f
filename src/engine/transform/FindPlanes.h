// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_FindPlanes_h
#define gpureg_FindPlanes_h

#include "kernels/core/Prelude.h"
#include "kernels/transform/FixedMap.h"

#include "engine/transform/PlaneRange.h"

#include "gpureg/core/Geometry.h"

namespace gpureg
{

/** The planes along an axis that rows of an output come to lie between, by a map and a displacement of at most reach,
 *  and so many on either side: those that there are of them. */
PlaneRange
FindPlanes(const kernels::FixedMap & map,
           int                       axis,
           const Size &              outputSize,
           const RowRange &          rows,
           double                    reach,
           int                       margin,
           int                       planeCount);

} // namespace gpureg

#endif
