// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_DiffeomorphicChoices_h
#define gpureg_DiffeomorphicChoices_h

#include "GPURegistrationExport.h"
#include "gpureg/metric/Similarity.h"

#include <cstdint>
#include <iosfwd>
#include <string>

namespace gpureg
{

/** Says how a deformation is found. */
enum class DiffeomorphicScheme : std::uint8_t
{
  /** Finds one field, and composes each step with it. */
  Greedy,
  /** Finds two fields, to the middle and back, and keeps their inverses, as itk::SyNImageRegistrationMethod does (Avants 2008). */
  SyN,
  /** Finds a stationary velocity v; the deformation is exp(v), and its inverse exp(-v) (Arsigny 2006; Vercauteren 2008). */
  Velocity
};

/** Says how long a step along an update is. */
enum class DiffeomorphicOptimizer : std::uint8_t
{
  /** The longest vector of each step has the same length. */
  LongestVector,
  /** Adam (Kingma & Ba 2015) scales each component of each vector by its past, and steps become shorter where their directions disagree. */
  Adam
};

/** Says how the Gaussians that smooth updates and fields are computed. */
enum class DiffeomorphicSmoothing : std::uint8_t
{
  /** With the weights of a discrete Gaussian, that are cut off where a thousandth is left: those of itk::GaussianOperator. The time grows with
   *  sigma. */
  Discrete,
  /** By recursions, as itk::RecursiveGaussianImageFilter. The time is the same for any sigma; below a sigma of half a voxel the result is no
   *  Gaussian. */
  Recursive
};

/** Returns a name, such as "Greedy".
 *  \throws BadInputError if the value is not in the enumeration. */
GPURegistration_EXPORT
const char *
GetName(DiffeomorphicScheme scheme);

/** Returns the scheme with a name.
 *  \throws BadInputError if there is none; the message lists the names. */
GPURegistration_EXPORT
DiffeomorphicScheme
GetDiffeomorphicScheme(const std::string & name);

GPURegistration_EXPORT
std::ostream &
operator<<(std::ostream & out, DiffeomorphicScheme scheme);

/** Returns the similarity with a name that serves fields (SimilarityDescription::isForFields).
 *  \throws BadInputError if there is none; the message lists the names. */
GPURegistration_EXPORT
SimilarityKind
GetFieldSimilarityKind(const std::string & name);

/** Returns a name, such as "Adam".
 *  \throws BadInputError if the value is not in the enumeration. */
GPURegistration_EXPORT
const char *
GetName(DiffeomorphicOptimizer optimizer);

/** Returns the optimizer with a name.
 *  \throws BadInputError if there is none; the message lists the names. */
GPURegistration_EXPORT
DiffeomorphicOptimizer
GetDiffeomorphicOptimizer(const std::string & name);

GPURegistration_EXPORT
std::ostream &
operator<<(std::ostream & out, DiffeomorphicOptimizer optimizer);

/** Returns a name, such as "Recursive".
 *  \throws BadInputError if the value is not in the enumeration. */
GPURegistration_EXPORT
const char *
GetName(DiffeomorphicSmoothing smoothing);

/** Returns the smoothing with a name.
 *  \throws BadInputError if there is none; the message lists the names. */
GPURegistration_EXPORT
DiffeomorphicSmoothing
GetDiffeomorphicSmoothing(const std::string & name);

GPURegistration_EXPORT
std::ostream &
operator<<(std::ostream & out, DiffeomorphicSmoothing smoothing);

} // namespace gpureg

#endif
