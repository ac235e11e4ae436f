// SPDX-License-Identifier: Apache-2.0
// The unit in which costs of several pairs are added.
#ifndef gpureg_Information_h
#define gpureg_Information_h

#include "gpureg/metric/Similarity.h"

namespace gpureg
{

/** A cost in nats a voxel, and its derivative by the cost itself. */
struct Information
{
  double nats = 0;
  double slope = 0;
};

/** Returns a cost in the unit that all costs share: minus the logarithm of a voxel's likelihood relative to that of unrelated images (Roche
 *  2000). Residuals are taken as normal for mean squares, correlation and correlation ratio, and as Laplace-distributed for absolute
 *  differences. Mutual information has this unit already; its normalised form is taken as it is. \param unrelated the cost of unrelated
 *  images */
Information
ComputeInformation(SimilarityKind kind, double cost, double unrelated);

} // namespace gpureg

#endif
