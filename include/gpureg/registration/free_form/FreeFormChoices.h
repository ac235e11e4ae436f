// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_FreeFormChoices_h
#define gpureg_FreeFormChoices_h

#include "GPURegistrationExport.h"

#include <cstdint>
#include <iosfwd>
#include <string>

namespace gpureg
{

/** What both images are compared by. */
enum class SimilarityKind : std::uint8_t
{
  /** Of a joint histogram with Parzen windows: for images of different contrasts. */
  NormalizedMutualInformation,
  /** η of the moving values by the fixed bins (Roche 1998): for images of different contrasts, where the moving one has less noise. */
  CorrelationRatio,
  /** Mean of (f - m)², of values from 0 to 1: for images of one scanner and scale. */
  MeanSquares,
  /** Square of Pearson's correlation: for images of one contrast, whatever their scale. */
  Correlation,
  /** Its mean over the neighborhoods of all voxels: for images of one contrast with shading. */
  NeighborhoodCorrelation
};

/** How control points go down along the cost. */
enum class FreeFormOptimizer : std::uint8_t
{
  /** Kingma & Ba 2015: a step an evaluation, along running means of the gradient, each component over its own mean size. */
  Adam,
  /** Modat 2010, section 2.1.4: along conjugate directions (Polak & Ribière 1969), on each as far as trials find lower costs. */
  ConjugateGradient,
  /** Klein 2009: along gradients of few samples, by steps that become shorter as gradients turn round: see
   *  gpureg/registration/StochasticGain.h. */
  AdaptiveStochasticGradientDescent
};

/** Such as "MeanSquares"; \throws BadInputError if there is no such one. */
GPURegistration_EXPORT
const char *
GetName(SimilarityKind kind);
GPURegistration_EXPORT
const char *
GetName(FreeFormOptimizer optimizer);

/** The one of that name. \throws BadInputError, which lists them, if there is none. */
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
