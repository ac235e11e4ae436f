// SPDX-License-Identifier: Apache-2.0
// The unit in which costs of several pairs are added.
#ifndef gpureg_Information_h
#define gpureg_Information_h

#include "gpureg/metric/Similarity.h"

#include <vector>

namespace gpureg
{

/** Returns the cost of unrelated images. \param fixed, moving values of a level's images, in any order */
double
ComputeUnrelatedCost(SimilarityKind kind, const std::vector<double> & fixed, const std::vector<double> & moving);

/** Returns the mean square of differences of unrelated images' values, in the values' own unit. */
double
ComputeUnrelatedSquare(const std::vector<double> & fixed, const std::vector<double> & moving);

/** A cost in nats a voxel, and its derivative by the cost itself. */
struct Information
{
  double nats = 0;
  double slope = 0;
};

/** Describes a cost in nats: a multiple of the logarithm of base + cost/unit + rest; or, if there is no logarithm, the cost itself
 *  relative to that of unrelated images. */
struct InformationTerms
{
  bool   hasLogarithm = false;
  double multiple = 1;
  double base = 0;
  double unit = 1;
  /** The share of the values' variance by which equal images are taken to differ, as resampled ones do. The logarithm of less would hide
   *  all other pairs, and has valleys too sharp for a search. */
  double rest = 1e-3;
};

/** Returns the unit that all costs share: minus the logarithm of a voxel's likelihood relative to that of unrelated images (Roche 2000).
 *  Residuals are taken as normal for mean squares, correlation and correlation ratio, and as Laplace-distributed for absolute differences.
 *  Mutual information has this unit already; its normalised form is taken as it is. \param unrelated the cost of unrelated images */
InformationTerms
GetInformationTerms(SimilarityKind kind, double unrelated);

/** Returns a cost in that unit. */
Information
ComputeInformation(SimilarityKind kind, double cost, double unrelated);

} // namespace gpureg

#endif
