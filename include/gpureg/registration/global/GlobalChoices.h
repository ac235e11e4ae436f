// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_GlobalChoices_h
#define gpureg_GlobalChoices_h

#include "GPURegistrationExport.h"

#include <cstdint>
#include <iosfwd>
#include <string>

namespace gpureg
{

/** Costs that a global search minimises. */
enum class GlobalCost : std::uint8_t
{
  /** 1 - η of the moving values given the fixed bins (Roche 1998; Li 2015), for images of different contrasts. */
  CorrelationRatio,
  /** The negative of Mattes' mutual information, for images of different contrasts. */
  MattesMutualInformation,
  /** The negative of (H_f + H_m)/H_fm of the joint histogram of Mattes' mutual information, for images of different contrasts. */
  NormalizedMutualInformation,
  /** -r², with Pearson's correlation r, for images of one contrast, whatever their scale. */
  Correlation,
  /** Mean of (f - m)² of values from 0 to 1, for images of one scanner and scale. */
  MeanSquares,
  /** Mean of |f - m| of values from 0 to 1, for images of one scanner and scale. */
  MeanAbsoluteDifferences
};

/** Local optimizers from the level of 4 mm on. At 8 mm every local search goes along lines. */
enum class GlobalOptimizer : std::uint8_t
{
  /** Takes quasi-Newton steps along the derivative (Broyden, Fletcher, Goldfarb & Shanno 1970). */
  QuasiNewton,
  /** Searches along the axis of one parameter after the other (Powell 1964), by values alone, as FLIRT does. */
  Lines
};

/** Returns a name, such as "CorrelationRatio".
 *  \throws BadInputError if the value is not in the enumeration. */
GPURegistration_EXPORT
const char *
GetName(GlobalCost cost);
GPURegistration_EXPORT
const char *
GetName(GlobalOptimizer optimizer);

/** Returns the enumerator with a name.
 *  \throws BadInputError if there is none; the message lists the names. */
GPURegistration_EXPORT
GlobalCost
GetGlobalCost(const std::string & name);
GPURegistration_EXPORT
GlobalOptimizer
GetGlobalOptimizer(const std::string & name);

GPURegistration_EXPORT
std::ostream &
operator<<(std::ostream & out, GlobalCost cost);
GPURegistration_EXPORT
std::ostream &
operator<<(std::ostream & out, GlobalOptimizer optimizer);

} // namespace gpureg

#endif
