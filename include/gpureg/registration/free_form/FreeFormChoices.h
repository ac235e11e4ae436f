// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_FreeFormChoices_h
#define gpureg_FreeFormChoices_h

#include "GPURegistrationExport.h"
#include "gpureg/metric/Similarity.h"

#include <cstdint>
#include <iosfwd>
#include <string>

namespace gpureg
{

/** Optimizers of control points. */
enum class FreeFormOptimizer : std::uint8_t
{
  /** Takes one step per evaluation, along running means of the gradient, with each component divided by its own mean size (Kingma & Ba
   *  2015). */
  Adam,
  /** Searches along conjugate directions (Polak & Ribière 1969), along each as far as trials find lower costs (Modat 2010, section
   *  2.1.4). */
  ConjugateGradient,
  /** Steps along gradients of few samples, with steps that become shorter when successive gradients oppose each other (Klein 2009): see
   *  gpureg/registration/StochasticGain.h. */
  AdaptiveStochasticGradientDescent
};

/** Returns a name, such as "Adam".
 *  \throws BadInputError if the value is not in the enumeration. */
GPURegistration_EXPORT
const char *
GetName(FreeFormOptimizer optimizer);

/** Return the enumerator with a name; the similarity is one that free-form deformations may use.
 *  \throws BadInputError if there is none; the message lists the names. */
GPURegistration_EXPORT
SimilarityKind
GetSimilarityKind(const std::string & name);
GPURegistration_EXPORT
FreeFormOptimizer
GetFreeFormOptimizer(const std::string & name);

GPURegistration_EXPORT
std::ostream &
operator<<(std::ostream & out, FreeFormOptimizer optimizer);

} // namespace gpureg

#endif
