// SPDX-License-Identifier: Apache-2.0
// What a metric is given: the samples with what the fixed image says of them, the moving image, and the map from one to
// the other.
#ifndef gpureg_Samples_h
#define gpureg_Samples_h

#include "gpureg/core/Geometry.h"
#include "gpureg/core/ParallelFor.h"
#include "gpureg/core/Precision.h"
#include "gpureg/filter/RecursiveGaussian.h"
#include "gpureg/transform/TransformChain.h"

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace gpureg
{

/** How values are counted: from the minimum, in terms of their range. */
struct ValueScale
{
  double minimum = 0;
  double range = 1;
  /** The largest distance of a voxel's value from the minimum. */
  double largest = 1;
  /** An interpolated value is rounded to float, the pixels' type, before it is used. */
  bool roundsToFloat = false;
};

class DeviceImage;

/** A value's bin: the first one and so many more as there are edges that are not above it. The edges are in order, and in the
 *  image's own type, so that a value is on the side of an edge that it is on for the host. */
struct BinEdges
{
  int                 first = 0;
  std::vector<double> edges;
};

/** The fixed value of a sample that is not valid. */
constexpr double NoFixedValue = -1e30;

/** What fixed samples take from an image that is on the device already, each at its place: there they are made, in doubles,
 *  as the host would make them. Its values are finite. */
struct SampledImage
{
  /** On the samples' device. */
  const DeviceImage * image = nullptr;
  Size                size{};
  /** A sample is not valid unless this image, of the same voxels, is a half there at least; … */
  const DeviceImage * mask = nullptr;
  /** … or where this is 0: uint8, one a sample, of any samples. Neither: all are. */
  Filler inside;
  /** Sample n is voxel n; … */
  bool isOneGrid = false;
  /** … or it lies between voxels, where this leads from its index, and has the linear interpolation of eight. */
  IndexMap toImage;
  /** Bins are wanted; … */
  std::optional<BinEdges> bins;
  /** … values are: (v - minimum)/unit, or, in double precision, v - minimum; and where there are bins as well, what of (v -
   *  minimum)/unit + placeOfMinimum lies beyond the bin. */
  bool   wantsValues = false;
  double minimum = 0;
  double unit = 1;
  double placeOfMinimum = 0;
};

/** An image's gradient by recursive Gaussians (Deriche 1993), which the device makes of the values, in doubles
 *  (HasDoubles()): along each axis their derivative, then smoothed along the others, as
 *  itk::GradientRecursiveGaussianImageFilter. */
struct GaussianGradient
{
  int                              dimension = 3;
  std::array<RecursiveGaussian, 3> smoothing{};
  std::array<RecursiveGaussian, 3> derivative{};
  /** Columns: from the derivative along an axis of the image to the gradient along physical axes. */
  std::array<double, 9> toPhysical{};
  /** Instead, the gradient of the image that was set before stays, if it was made so, and had as many voxels: only values
   *  change. */
  bool keepsLast = false;
};

/** The samples: every voxel of a virtual grid, or a list of points in it. Indices are relative to the
 *  grid's first voxel. */
struct FixedSamples
{
  /** Double: values are computed in 64-bit integers, as positions always are, by which derivatives of few samples come
   *  closer than by floats, on any device; for points always. The moving image is to be of the same. */
  Precision precision = Precision::Single;
  Size      virtualSize{};
  /** Number of points; 0 samples every voxel. At most 2^31 - 1. */
  std::int64_t pointCount = 0;
  /** uint16, one a sample: its fixed bin, or 0xFFFF where it is not valid; … */
  Filler bins;
  /** … or, for metrics that want that, its value, or NoFixedValue: float, (v - minimum)/range; or double, v - minimum. */
  Filler values;
  /** Instead of both, where samples are voxels: where the device takes them from. */
  std::optional<SampledImage> sampled;
  /** Of the values. */
  ValueScale scale;
  /** float[3], one a sample: the fixed image's gradient there, along physical axes, scaled. Forces then go along it; … */
  Filler gradients;
  /** … or how to make it of the image that samples are taken from, if they are its voxels. Neither: along the moving image's. */
  std::optional<GaussianGradient> gaussianGradient;
  /** double[3], one a point: its continuous virtual index. Empty for voxels. */
  Filler points;
};

/** The moving image. Its values are counted from a minimum, and in single precision scaled, as the metric wants them:
 *  (v - minimum)/unit; in double precision v - minimum. */
struct MovingImage
{
  Precision precision = Precision::Single;
  Size      size{};
  /** 1 linear, 0 nearest, 2 to 5 B-spline. */
  int splineOrder = 1;
  /** Values outside of the range, beyond the slack at either end (scaled), make a sample invalid. Without, all are clamped
   *  into the range. */
  bool   checksRange = false;
  double slackBelow = 0;
  double slackAbove = 0;
  /** float, or double, one a voxel; … */
  Filler values;
  /** … or the image, on the device, that it makes them of, by the minimum of the scale and the unit. */
  const DeviceImage * image = nullptr;
  /** The same: B-spline coefficients, for orders of 2 and more. */
  Filler     coefficients;
  ValueScale scale;
  double     unit = 1;
  /** uint8, one a voxel: its bin, for a metric that reads nothing else of the image; … */
  Filler bins;
  /** … or, of an image on the device, at most 256 of them. */
  std::optional<BinEdges> binEdges;
  /** float[3], one a voxel, along physical axes, scaled; … */
  Filler gradient;
  /** … or how to make it. … */
  std::optional<GaussianGradient> gaussianGradient;
  /** … or forces go along the derivative of the linear interpolation itself, by the index in the image's buffer; of values in
   *  single precision. None of these: central differences of the values. */
  bool gradientOfInterpolation = false;
  /** For central differences: half a spacing along physical axis d in index units, column d of rows;
   *  and 1/spacing, 0 for an axis that is not there. */
  std::array<double, 9> differenceStep{};
  std::array<double, 3> inverseSpacing{};
  /** uint8, one a mask voxel; empty without a mask; … */
  Filler mask;
  /** … or an image on the device, inside where it is a half at least. */
  const DeviceImage * maskImage = nullptr;
  Size                maskSize{};
  IndexMap            toMask; // moving index → mask index
};

/** Whether there is something to make bins, or values, of. */
inline bool
HasBins(const FixedSamples & samples)
{
  return samples.bins || (samples.sampled && samples.sampled->bins);
}

inline bool
HasValues(const FixedSamples & samples)
{
  return samples.values || (samples.sampled && samples.sampled->wantsValues);
}

/** Whether forces go along the fixed image's gradient. */
inline bool
HasGradient(const FixedSamples & samples)
{
  return samples.gradients || samples.gaussianGradient;
}

inline bool
HasBins(const MovingImage & image)
{
  return image.bins || image.binEdges;
}

inline bool
HasValues(const MovingImage & image)
{
  return image.values || image.image != nullptr;
}

/** A B-spline that is optimised, alone or before a chain. */
struct OptimizedSpline
{
  /** 2 or 3. */
  int dimension = 3;
  /** Its control points, in mm; of order 1 to 3. Its toGrid leads from virtual indices. Without vectors they stay as they are on the
   *  device, for a method that sets them there. */
  DisplacementGrid grid;
};

/** Where the samples map to: by a chain's grids, if it has any, and by what is affine of the whole, which toMoving is. The
 *  displacement field comes first: y = chain(x + u(x)), for points; without grids y = toMoving(x) + displacementToIndex·u(x). */
struct SampleMapping
{
  IndexMap toMoving;
  /** float[3], one a virtual voxel, in mm; empty where there is none. */
  Filler displacement;
  /** The same in double[3], which may be read instead where values are of double precision. Empty: it is not. */
  VectorFiller preciseDisplacement;
  /** Instead of a field: what makes each sample's displacement on the device. */
  std::optional<OptimizedSpline> spline;
  /** Instead of both: grids before a linear transform that is optimised. They lead from virtual indices to points, and their
   *  pointToInput is the identity; what they move a sample by, in mm, is its displacement, which stays on the device as long as
   *  they do. */
  std::optional<ChainedGrid> preTransforms;
  /** From a displacement to an index of the moving image, or of the chain's first grid. */
  std::array<double, 9> displacementToIndex{};
  /** From indices of the virtual grid to those of the moving image. Only looked at if it has grids. */
  ChainedGrid chain;
  /** Forces are not derivatives by the moving point, but by the index in the chain's first grid, whose grids have jacobians, … */
  bool forcesFollowChain = false;
  /** … or, without these, by the derivative of how the chain itself moves samples; B-splines may be among its grids. */
  bool derivesChain = false;
  /** From the moving image's indices to points, by rows: where forces do. */
  std::array<double, 9> movingIndexToPoint{};
};

/** Along an affine map. */
inline SampleMapping
MakeLinearMapping(const IndexMap & toMoving)
{
  SampleMapping mapping;
  mapping.toMoving = toMoving;
  return mapping;
}

/** Where the samples of many candidates map to, by a linear map each. */
struct CandidateMaps
{
  std::int64_t count = 0;
  /** Writes those of candidates first … first + number - 1, from virtual indices to moving ones; called for any ranges,
   *  from several threads at once, while the device deals with those before. */
  std::function<void(std::int64_t first, std::int64_t number, IndexMap * maps)> make;
};

/** What an evaluation does with the samples' forces. */
enum class Forces
{
  /** There are none: the value alone. */
  None,
  /** Sums, for a transform of global support. */
  Summed,
  /** Keeps each, for a transform of local support: see Metric::TakeForces(). */
  OfEachSample
};

/** The forces f of an evaluation: the derivative of the metric's value by where a sample maps to, up to the factor that the
 *  metric names. */
struct ForceResult
{
  /** Σ f and Σ f ⊗ (x - centre): sums[c], sums[3 + 3 d + c]. */
  std::array<double, 12> forceSums{};
  std::array<double, 3>  centre{};
};

} // namespace gpureg

#endif
