// SPDX-License-Identifier: Apache-2.0
// What the text of Shamonin 2014 says of its figures 4 and 5 (section 4.2), and of its tables 2 and 3 and its figure 6 (section 4.3).
// What stands in tables' cells and figures alone, which were pictures, is not given here.
#ifndef Shamonin2014_h
#define Shamonin2014_h

#include "Table.h"

#include <string>

namespace bench::shamonin2014
{

/** Section 4.2, figure 4: an iteration by mutual information of 2000 samples and 5·10⁴ parameters, ms, before and on one thread; and of
 *  8 threads on 8 cores the speedup over one before, and the efficiency. */
inline const std::string IterationBefore = "27";
inline const std::string IterationOfOneThread = "18";
inline const std::string IterationSpeedup = "4–5";
inline const std::string IterationEfficiency = "0.6–0.7";

/** Section 4.3.1, of all sizes. */
inline const std::string PyramidSpeedup = "about 2";
inline const std::string PyramidNrmse = "< 1e-6";

/** Section 4.3.2, of the sizes together. It says nothing of B-splines combined with other transforms. */
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

/** Figure 7: the highest error of table 3. */
inline std::string
GetDifferingVoxels(const std::string & transform, const std::string & interpolator, unsigned int size)
{
  return transform == "affine" && interpolator == "nearest" && size == 100 ? "79" : Table::none;
}

} // namespace bench::shamonin2014

#endif
