// SPDX-License-Identifier: Apache-2.0
// Which of an image's values are looked at, where some are outliers.
#ifndef gpureg_ValueRange_h
#define gpureg_ValueRange_h

#include "gpureg/image/RegisteredImage.h"

#include <vector>

namespace gpureg
{

/** A range of an image's values without its outliers, and what an outlier below it becomes, and one above, that has no better neighbours. */
struct FoundRange
{
  ValueRange range{};
  ValueRange becomes{};
};

/** Finds the range that an image's values have without its outliers: all of them, unless some are far from the rest. A span is from the
 *  low quantile to the high one of the rest, which is what is left without values that a large share of the voxels has exactly: the
 *  smallest, the largest, and what more than half have. 0 is one of the rest where it is such a value, however far it is: a background.
 *
 *  - Few voxels are outliers if some lie more than 5 spans beyond the quantiles of 0.1 %, or 10 beyond those of 1 %. The range ends a
 *    span beyond the former, or half a one beyond the latter.
 *  - The smallest or largest value is an outlier, however many voxels have it, if it lies more than 5 spans beyond: what a program has
 *    written where there is no image. The range ends a span beyond the quantile, so that its outline stays.
 *  - Of a CT, what is below air is padding, if it is of one value. It becomes air.
 *
 *  An image of fewer than 32 different values is one of labels, or a mask: there a hundred times as many spans make an outlier.
 *
 *  \param sample of the values, in any order; 8192 are enough.
 *  \param all from the smallest of all values to the largest. */
FoundRange
FindValueRange(std::vector<double> sample, const ValueRange & all);

} // namespace gpureg

#endif
