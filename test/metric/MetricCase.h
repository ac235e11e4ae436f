// SPDX-License-Identifier: Apache-2.0
// One set-up of a metric: what to register, how it is sampled, by which transform. The metric of this module and the one
// that it is compared with are given the same one.
#ifndef MetricCase_h
#define MetricCase_h

#include "TestAnswer.h"

#include <array>
#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

namespace gpuregtest
{

enum class Measure
{
  Mattes,
  MeanSquares,
  Correlation,
  Demons,
  MeanAbsoluteDifferences,
  NeighborhoodCorrelation,
  JointHistogram
};

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
  AffineThenField, // as added: what was added last is applied first, and optimised
  FieldThenAffine,
  FieldThenField,
  SeveralThenAffine, // field, affine, field
  AffineBehindField, // the field is applied first, and not optimised
  AffineBehindSpline,
  AffineAmongGrids, // and another affine transform, between a field and a B-spline
  Spline,           // along the virtual domain's axes, over most of it
  SplineAside,      // turned against them
  AffineThenSpline,
  FieldThenSpline,
  SplineBehindAffine
};

constexpr Motion LastMotionButSplines = Motion::AffineAmongGrids;

enum class Interpolation
{
  Linear,
  Nearest,
  BSpline
};

struct MetricCase
{
  Measure       measure = Measure::Mattes;
  unsigned int  dimension = 3;
  bool          doublePixels = false;
  Masks         masks = Masks::None;
  Sampling      sampling = Sampling::Dense;
  Geometry      geometry = Geometry::Plain;
  Motion        motion = Motion::Affine;
  Interpolation interpolation = Interpolation::Linear;
  bool          gradientFilter = true;
  bool          fixedGradient = false; // of demons
  bool          flatBackground = false;
  bool          many = false;   // more samples than are computed precisely
  unsigned int  bins = 50;      // of Mattes, and of the joint histogram
  double        variance = 1.5; // of the joint histogram's smoothing
  // Of the neighborhood correlation, along x, y and z.
  std::array<unsigned int, 3> radius{ 2, 2, 2 };
  unsigned int                splineOrder = 3; // of what is optimised
  std::uint64_t               seed = 1;
};

/** One line, enough to make the case again. */
std::ostream &
operator<<(std::ostream & os, const MetricCase & c);

/** What the metric of this module gave on one device. */
struct DeviceAnswer
{
  std::string device;
  Answer      ours;
  bool        isOnDevice = false;
};

/** How far ITK's own value and derivative move, relatively, where moving values change by what a float takes from them. */
struct Sensitivity
{
  double ofValue = 0;
  double ofDerivative = 0;
};

/** What ITK's metric and ours on each device gave, and what the case is like; they are not asked where nothing would follow
 * from it. */
struct MetricComparison
{
  Answer                    itk;
  std::vector<DeviceAnswer> devices;
  std::size_t               samples = 0;
  /** Whether rounding may turn a sample: see MetricCase.hxx. The transform is drawn so that it may not. */
  bool isNearEdge = false;
  /** Whether a mask leaves little but the background. */
  bool isFlat = false;
  /** Where rounding may show (MetricSetUp::IsSensitive, RoundsToFloat). */
  Sensitivity sensitivity;
};

/** Makes the case and asks ITK's metric once, which takes the longest, and ours on each of the devices. */
template <unsigned int VDimension>
MetricComparison
Compare(const MetricCase & c, const std::vector<std::string> & deviceNames);

extern template MetricComparison
Compare<2>(const MetricCase &, const std::vector<std::string> &);
extern template MetricComparison
Compare<3>(const MetricCase &, const std::vector<std::string> &);

} // namespace gpuregtest

#endif
