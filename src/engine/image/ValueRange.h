// SPDX-License-Identifier: Apache-2.0
// The range of an image's values without outliers.
#ifndef gpureg_ValueRange_h
#define gpureg_ValueRange_h

#include "gpureg/image/RegisteredImage.h"

#include <vector>

namespace gpureg
{

/** The range of an image's values without outliers, and the values that replace outliers below and above it that have no neighbour in the
 *  range. */
struct FoundRange
{
  ValueRange range{};
  ValueRange becomes{};
};

/** Returns the range of an image's values without outliers: the range of all values, unless some are far from the rest. The rest is the
 *  sample without values that a large share of the voxels has exactly: the smallest value, the largest value, and a value of more than half
 *  of the voxels. A background of 0 counts as part of the rest, however far away it is. The distance from the low quantile of the rest to
 *  the high one is the unit of the limits below.
 *
 *  - Rare values are outliers if some lie more than 5 units beyond the quantiles of 0.1 %, or more than 10 units beyond those of 1 %. The
 *  range ends one unit beyond the former, or half a unit beyond the latter.
 *  - The smallest or largest value is an outlier, however many voxels have it, if it lies more than 5 units beyond: programs write such
 *  values where there is no image. The range ends one unit beyond the quantile, so that the outline of those voxels stays visible.
 *  - In a CT, a single value below air is padding. It becomes air.
 *
 *  An image with fewer than 32 different values has labels or is a mask. Its outliers must lie a hundred times as many units away.
 *
 *  \param sample some of the values, in any order; 8192 are enough
 *  \param all the smallest and the largest of all values */
FoundRange
ComputeValueRange(std::vector<double> sample, const ValueRange & all);

} // namespace gpureg

#endif
