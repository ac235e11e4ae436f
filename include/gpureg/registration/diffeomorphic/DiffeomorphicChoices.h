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

/** Names the scheme that computes a deformation. */
enum class DiffeomorphicScheme : std::uint8_t
{
  /** Computes one field, with which each step is composed. */
  Greedy,
  /** Computes two fields, from the middle to either image, and stores their inverses, as itk::SyNImageRegistrationMethod does (Avants
   *  2008). */
  SyN,
  /** Computes a stationary velocity v; the deformation is exp(v), and its inverse exp(-v) (Arsigny 2006; Vercauteren 2008). */
  Velocity
};

/** Names the rule for the length of a step along an update. */
enum class DiffeomorphicOptimizer : std::uint8_t
{
  /** The longest vector of each step has the same length. */
  LongestVector,
  /** Adam (Kingma & Ba 2015) scales each component of each vector by its past, and steps become shorter where their directions disagree. */
  Adam
};

/** Names the algorithm of the Gaussians that smooth updates and fields. */
enum class DiffeomorphicSmoothing : std::uint8_t
{
  /** Convolves with the weights of itk::GaussianOperator, a discrete Gaussian that is cut off where a thousandth of its sum is left. The
   *  time grows with sigma. */
  Discrete,
  /** Computes recursions, as itk::RecursiveGaussianImageFilter does. The time is the same for any sigma; below a sigma of half a voxel the
   *  result is no Gaussian. */
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

/** Holds the standard deviations, in a level's voxels, of the Gaussians that smooth each update, and the field, or the velocity, after
 *  it. */
struct SmoothingSigmas
{
  double update = 0;
  double field = 0;
};

/** Returns the smoothing by which a scheme measured best; SyN's is that of itk::SyNImageRegistrationMethod as ANTs calls it. The
 *  exponential of a velocity smooths further, so it needs less. */
constexpr SmoothingSigmas
GetUsualSigmas(DiffeomorphicScheme scheme)
{
  return scheme == DiffeomorphicScheme::Velocity ? SmoothingSigmas{ 1.414, 0.4 }
         : scheme == DiffeomorphicScheme::SyN    ? SmoothingSigmas{ 1.7320508075688772, 0 }
                                                 : SmoothingSigmas{ 1.732, 0.6 };
}

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
