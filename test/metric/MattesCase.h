// SPDX-License-Identifier: Apache-2.0
// One set-up of a metric: what to register, how it is sampled, by which transform. Both metrics are
// given the same one.
#ifndef MattesCase_h
#define MattesCase_h

#include "TestAnswer.h"

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

namespace gpuregtest
{

enum class Masks
{
  None,
  Fixed,
  Moving,
  Both
};

enum class Sampling
{
  Dense,
  FixedPoints,
  VirtualPoints
};

enum class Geometry
{
  Plain,
  Anisotropic,
  Oblique,
  StartIndex,
  FarOrigin,
  OddSizes,
  OneSlice,
  OtherVirtualDomain
};

enum class Motion
{
  Translation,
  Rigid,
  Versor, // a second class of rigid transform in 3D; as Rigid in 2D
  Similarity,
  Affine,
  Scale,
  CompositeOfTwo,
  MovingInitial,
  FixedInitial,
  Field,
  FieldInComposite,
  AffineThenField
};

enum class Interpolation
{
  Linear,
  Nearest,
  BSpline
};

struct MattesCase
{
  unsigned int  dimension = 3;
  bool          doublePixels = false;
  Masks         masks = Masks::None;
  Sampling      sampling = Sampling::Dense;
  Geometry      geometry = Geometry::Plain;
  Motion        motion = Motion::Affine;
  Interpolation interpolation = Interpolation::Linear;
  bool          gradientFilter = true;
  bool          flatBackground = false;
  bool          many = false; // more samples than are computed precisely
  unsigned int  bins = 50;
  std::uint64_t seed = 1;
};

/** One line, enough to make the case again. */
std::ostream &
operator<<(std::ostream & os, const MattesCase & c);

/** What both metrics gave, and what the case is like; they are not asked where nothing would follow from it. */
struct MattesComparison
{
  Answer      itk;
  Answer      ours;
  std::size_t samples = 0;
  /** Whether rounding may turn a sample: see MattesCase.hxx. The transform is drawn so that it may not. */
  bool isNearEdge = false;
  /** Whether a mask leaves little but the background. */
  bool isFlat = false;
};

template <unsigned int VDimension>
MattesComparison
Compare(const MattesCase & c, const std::string & deviceName);

extern template MattesComparison
Compare<2>(const MattesCase &, const std::string &);
extern template MattesComparison
Compare<3>(const MattesCase &, const std::string &);

} // namespace gpuregtest

#endif
