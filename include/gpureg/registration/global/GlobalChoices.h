// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_GlobalChoices_h
#define gpureg_GlobalChoices_h

#include "GPURegistrationExport.h"
#include "gpureg/metric/Similarity.h"

#include <cstdint>
#include <iosfwd>
#include <string>

namespace gpureg
{

/** Costs that a global search minimises: similarities, with the sign that makes a small cost good. */
using GlobalCost = SimilarityKind;

/** Local optimizers from the level of 4 mm on. At 8 mm every local search goes along lines. */
enum class GlobalOptimizer : std::uint8_t
{
  /** Takes quasi-Newton steps along the derivative (Broyden, Fletcher, Goldfarb & Shanno 1970). */
  QuasiNewton,
  /** Searches along the axis of one parameter after the other (Powell 1964), by values alone, as FLIRT does. */
  Lines
};

/** Returns a name, such as "QuasiNewton".
 *  \throws BadInputError if the value is not in the enumeration. */
GPURegistration_EXPORT
const char *
GetName(GlobalOptimizer optimizer);

/** Return the enumerator with a name; the cost is one that global searches may use.
 *  \throws BadInputError if there is none; the message lists the names. */
GPURegistration_EXPORT
GlobalCost
GetGlobalCost(const std::string & name);
GPURegistration_EXPORT
GlobalOptimizer
GetGlobalOptimizer(const std::string & name);

GPURegistration_EXPORT
std::ostream &
operator<<(std::ostream & out, GlobalOptimizer optimizer);

} // namespace gpureg

#endif
