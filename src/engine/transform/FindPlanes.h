// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_FindPlanes_h
#define gpureg_FindPlanes_h

#include "kernels/core/Prelude.h"
#include "kernels/transform/FixedMap.h"

#include "engine/transform/PlaneRange.h"

#include "gpureg/core/Geometry.h"

namespace gpureg
{

/** Returns the planes along an axis between which an output's rows are mapped, and margin planes on either side, limited to the planeCount
 *  planes that exist. The map is followed by a displacement of at most reach voxels. */
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
