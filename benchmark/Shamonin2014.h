// SPDX-License-Identifier: Apache-2.0
// The text's numbers in Shamonin 2014 about its figures 4 and 5 (section 4.2), its tables 2 and 3 and its figure 6 (section 4.3). Numbers
// that are only in tables' cells and figures, which were pictures, are not given here.
#ifndef Shamonin2014_h
#define Shamonin2014_h

#include "Table.h"

#include <string>

namespace bench::shamonin2014
{

/** Section 4.2, figure 4: an iteration by mutual information of 2000 samples and 5·10⁴ parameters, ms, with the old code and on one
 *  thread; for 8 threads on 8 cores the speedup over the old code, and the efficiency. */
inline const std::string IterationBefore = "27";
inline const std::string IterationOfOneThread = "18";
inline const std::string IterationSpeedup = "4–5";
inline const std::string IterationEfficiency = "0.6–0.7";

/** Section 4.3.1: the speedup of pyramids and their difference from the old code, for all sizes. */
inline const std::string PyramidSpeedup = "about 2";
inline const std::string PyramidNrmse = "< 1e-6";

/** Section 4.3.2, for all sizes together. It gives no number for B-splines combined with other transforms. */
inline std::string
GetSpeedup(const std::string & transform, const std::string & interpolator)
{
  const bool isCubic = interpolator == "cubic";
  if (transform == "affine.bspline")
  {
    return Table::none;
  }
  if (transform == "bspline")
  {
    return isCubic ? "35–45" : "45–65";
  }
  return isCubic ? "15–20" : "1–3";
}

/** Figure 7: the largest error of table 3. */
inline std::string
GetDifferingVoxels(const std::string & transform, const std::string & interpolator, unsigned int size)
{
  return transform == "affine" && interpolator == "nearest" && size == 100 ? "79" : Table::none;
}

} // namespace bench::shamonin2014

#endif
