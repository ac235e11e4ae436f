// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_FreeFormChoices_h
#define gpureg_FreeFormChoices_h

#include "GPURegistrationExport.h"

#include <cstdint>
#include <iosfwd>
#include <string>

namespace gpureg
{

/** Similarities of two images. */
enum class SimilarityKind : std::uint8_t
{
  /** Normalised mutual information of a joint histogram with Parzen windows, for images of different contrasts. */
  NormalizedMutualInformation,
  /** Correlation ratio η of the moving values given the fixed bins (Roche 1998), for images of different contrasts of which the moving
   *  one has less noise. */
  CorrelationRatio,
  /** Mean of (f - m)² of values from 0 to 1, for images of one scanner and scale. */
  MeanSquares,
  /** Square of Pearson's correlation, for images of one contrast, whatever their scale. */
  Correlation,
  /** Mean of the squared correlation over the neighborhoods of all voxels, for images of one contrast with shading. */
  NeighborhoodCorrelation
};

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

/** Returns a name, such as "MeanSquares".
 *  \throws BadInputError if the value is not in the enumeration. */
GPURegistration_EXPORT
const char *
GetName(SimilarityKind kind);
GPURegistration_EXPORT
const char *
GetName(FreeFormOptimizer optimizer);

/** Returns the enumerator with a name.
 *  \throws BadInputError if there is none; the message lists the names. */
GPURegistration_EXPORT
SimilarityKind
GetSimilarityKind(const std::string & name);
GPURegistration_EXPORT
FreeFormOptimizer
GetFreeFormOptimizer(const std::string & name);

GPURegistration_EXPORT
std::ostream &
operator<<(std::ostream & out, SimilarityKind kind);
GPURegistration_EXPORT
std::ostream &
operator<<(std::ostream & out, FreeFormOptimizer optimizer);

} // namespace gpureg

#endif
