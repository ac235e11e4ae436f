// SPDX-License-Identifier: Apache-2.0
// The set-up of a comparison: images, samples, transform and metric. Our metric and the one it is compared with get the same set-up.
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
  Versor, // a second class of rigid transform in 3D; the same as Rigid in 2D
  Similarity,
  Affine,
  Scale,
  CompositeOfTwo,
  MovingInitial,
  FixedInitial,
  Field,
  FieldInComposite,
  AffineThenField, // in the order of adding: the last transform is applied first, and optimized
  FieldThenAffine,
  FieldThenField,
  SeveralThenAffine, // field, affine, field
  AffineBehindField, // the field is applied first, and not optimised
  AffineBehindSpline,
  AffineAmongGrids, // and another affine transform, between a field and a B-spline
  Spline,           // parallel to the virtual domain's axes, over most of the domain
  SplineAside,      // rotated against the virtual domain's axes
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
  bool          fixedGradient = false; // for demons
  bool          flatBackground = false;
  bool          many = false;   // more samples than are computed in fixed point
  unsigned int  bins = 50;      // of Mattes' metric and of the joint histogram
  double        variance = 1.5; // of the Gaussian that smooths the joint histogram
  // The radius of the neighborhood correlation along x, y and z.
  std::array<unsigned int, 3> radius{ 2, 2, 2 };
  unsigned int                splineOrder = 3; // of the optimized spline
  std::uint64_t               seed = 1;
};

/** Writes one line that is sufficient to repeat the case. */
std::ostream &
operator<<(std::ostream & os, const MetricCase & c);

/** The results of our metric on one device. */
struct DeviceAnswer
{
  std::string device;
  Answer      ours;
  bool        isOnDevice = false;
};

/** The relative change of ITK's value and derivative if moving values change by the devices' rounding errors. */
struct Sensitivity
{
  double ofValue = 0;
  double ofDerivative = 0;
};

/** The results of ITK's metric and of ours on each device, and properties of the case; the results are not computed for a case from
 *  which nothing would follow. */
struct MetricComparison
{
  /** ITK's result: of the case's images, or, if isInDoubles, of images of doubles that have the same values. */
  Answer                    itk;
  bool                      isInDoubles = false;
  std::vector<DeviceAnswer> devices;
  std::size_t               samples = 0;
  /** True if rounding may decide about a sample: see UndecidedSamples.hxx. The transform is drawn again to avoid this. */
  bool isNearEdge = false;
  /** True if a mask excludes nearly all but the background. */
  bool isFlat = false;
  /** Computed for cases in which rounding may show (MetricSetUp::IsSensitive). */
  Sensitivity sensitivity;
};

/** Makes the case and evaluates ITK's metric once, which takes the longest, and ours on each of the devices. */
template <unsigned int VDimension>
MetricComparison
Compare(const MetricCase & c, const std::vector<std::string> & deviceNames);

extern template MetricComparison
Compare<2>(const MetricCase &, const std::vector<std::string> &);
extern template MetricComparison
Compare<3>(const MetricCase &, const std::vector<std::string> &);

} // namespace gpuregtest

#endif
