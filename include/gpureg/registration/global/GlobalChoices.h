// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_GlobalChoices_h
#define gpureg_GlobalChoices_h

#include "GPURegistrationExport.h"

#include <cstdint>
#include <iosfwd>
#include <string>

namespace gpureg
{

/** What a global search makes small. */
enum class GlobalCost : std::uint8_t
{
  /** 1 - η of the moving values by the fixed bins (Roche 1998; Li 2015): for images of different contrasts. */
  CorrelationRatio,
  /** The negative of Mattes' mutual information, … */
  MattesMutualInformation,
  /** … and of (H_f + H_m)/H_fm, of the same joint histogram. */
  NormalizedMutualInformation,
  /** -r², r Pearson's correlation: for images of one contrast, whatever their scale. */
  Correlation,
  /** Mean of (f - m)², of values from 0 to 1: for images of one scanner and scale. */
  MeanSquares,
  /** Mean of |f - m|, of the same. */
  MeanAbsoluteDifferences
};

/** How a local search goes down from 4 mm on. At 8 mm, each goes along lines. */
enum class GlobalOptimizer : std::uint8_t
{
  /** Along the derivative: quasi-Newton steps (Broyden, Fletcher, Goldfarb & Shanno 1970). */
  QuasiNewton,
  /** Along one parameter's axis after the other (Powell 1964), by values alone, as FLIRT does. */
  Lines
};

/** Such as "CorrelationRatio"; \throws BadInputError if there is no such one. */
GPURegistration_EXPORT
const char *
GetName(GlobalCost cost);
GPURegistration_EXPORT
const char *
GetName(GlobalOptimizer optimizer);

/** The one of that name. \throws BadInputError, which lists them, if there is none. */
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
