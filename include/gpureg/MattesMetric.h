// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_MattesMetric_h
#define gpureg_MattesMetric_h

#include "GPURegistrationExport.h"
#include "gpureg/Error.h"
#include "gpureg/EvaluationStatistics.h"
#include "gpureg/Geometry.h"
#include "gpureg/ParallelFor.h"
#include "gpureg/Precision.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace gpureg
{

/** The samples: every voxel of a virtual grid, or a list of points in it. Indices are relative to the
 *  grid's first voxel. */
struct MattesFixedSide
{
  /** Double: values are computed in 64-bit integers, as positions always are, by which derivatives of few samples come
   *  closer than by floats, on any device; for points always. The moving side is to be of the same. */
  Precision precision = Precision::Single;
  Size      virtualSize{};
  /** Number of points; 0 samples every voxel. At most 2^31 - 1. */
  std::int64_t pointCount = 0;
  /** uint16, one a sample: its fixed bin, or 0xFFFF where it is not valid. */
  Filler bins;
  /** double[3], one a point: its continuous virtual index. Empty for voxels. */
  Filler points;
};

/** The moving image. In single precision in bin units above its minimum, (v - min)/binSize, in [0, bins - 4]; in double
 *  precision above its minimum, v - min, in [0, range]. */
struct MattesMovingSide
{
  Precision precision = Precision::Single;
  Size      size{};
  /** 1 linear, 0 nearest, 2 to 5 B-spline. */
  int splineOrder = 1;
  /** Values outside of the histogram's range, beyond the slack at either end (in bin units), make a sample
   *  invalid. Without, all are clamped into the range. */
  bool   checksRange = false;
  double slackBelow = 0;
  double slackAbove = 0;
  /** float, or double, one a voxel. */
  Filler values;
  /** The same: B-spline coefficients, for orders of 2 and more. */
  Filler coefficients;
  /** For double precision: the histogram's range, what values are counted from, and the largest distance of a voxel's
   *  value from there. */
  double range = 0;
  double minimum = 0;
  double largest = 0;
  /** An interpolated value is rounded to float, the pixels' type, before it is used. */
  bool roundsToFloat = false;
  /** float[3], one a voxel, along physical axes. Empty: central differences of the values. */
  Filler gradient;
  /** For central differences: half a spacing along physical axis d in index units, column d of rows;
   *  and 1/spacing, 0 for an axis that is not there. */
  std::array<double, 9> differenceStep{};
  std::array<double, 3> inverseSpacing{};
  /** uint8, one a mask voxel; empty without a mask. */
  Filler   mask;
  Size     maskSize{};
  IndexMap toMask; // moving index → mask index
};

/** Where the samples map to: y = toMoving(x) + displacementToIndex·u(x). */
struct MattesMapping
{
  IndexMap toMoving;
  /** float[3], one a virtual voxel, in mm; empty for a linear map. */
  Filler                displacement;
  std::array<double, 9> displacementToIndex{};
};

/** What an evaluation gives. */
struct MattesResult
{
  /** Joint histogram, fixed bins × moving bins, moving fastest, in units of 1/countUnit. */
  std::vector<std::uint64_t> histogram;
  double                     countUnit = 1;
  /** Σ f and Σ f ⊗ (x - centre), f = gradient · Σ_k B3'(arg_k)·table: sums[c], sums[3 + 3 d + c].
   *  For a transform of global support. */
  std::array<double, 12> forceSums{};
  std::array<double, 3>  centre{};
  /** float[3] a sample, 0 where it is not valid; for a transform of local support. Valid until ReleaseForces(), or the
   *  next call to the object. */
  const float * forces = nullptr;
};

enum class MattesDerivative
{
  None,
  ForceSums,
  Forces
};

/** Entropy-based similarity of two images on one device. The images, their gradient and the fixed
 *  bins stay there between evaluations: a map goes up, sums come down.
 *
 *  Two passes (no array of samples × parameters): the joint histogram, in fixed point, so that its sums
 *  do not depend on order; then each sample looks its weight up and gives a force.
 *
 *  Objects are independent of each other and may run on several host threads at once; one object
 *  serves one thread at a time. Every function throws gpureg::Error. After a failed SetFixedSide or
 *  SetMovingSide that side is empty, Evaluate says so, and the object can be given it again. */
class GPURegistration_EXPORT MattesMetric
{
public:
  /** \throws Error if there is no such device; the message lists those there are. */
  MattesMetric(const std::string & deviceName, int bins);
  ~MattesMetric();
  MattesMetric(const MattesMetric &) = delete;
  MattesMetric &
  operator=(const MattesMetric &) = delete;

  const std::string &
  GetDeviceName() const;

  int
  GetNumberOfBins() const;

  /** The fixed side's. */
  Precision
  GetPrecision() const;

  /** Copies the samples' fixed bins to the device. */
  void
  SetFixedSide(const MattesFixedSide & side, const ParallelFor & parallelFor);

  /** Copies the moving image to the device. */
  void
  SetMovingSide(const MattesMovingSide & side, const ParallelFor & parallelFor);

  /** \param normalized which table weighs the derivative: normalised MI or Mattes' MI. */
  MattesResult
  Evaluate(const MattesMapping & mapping,
           MattesDerivative      derivative,
           bool                  normalized,
           const ParallelFor &   parallelFor);

  /** Gives back the memory in which the last result's forces are, which is shared by all that use the device. */
  void
  ReleaseForces();

  /** Measures kernel times from now on. */
  void
  SetTiming(bool on);

  /** Of the last Evaluate. */
  EvaluationStatistics
  GetStatistics() const;

private:
  class Implementation;
  std::unique_ptr<Implementation> m_Implementation;
};

} // namespace gpureg

#endif
