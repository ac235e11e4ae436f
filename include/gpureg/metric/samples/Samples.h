// SPDX-License-Identifier: Apache-2.0
// Describes the input of a metric: the samples, with their fixed values, the moving image, and the map from samples to the moving image.
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

/** Holds how values are scaled: relative to the minimum, in units of the range. */
struct ValueScale
{
  double minimum = 0;
  double range = 1;
  /** Largest distance of a voxel's value from the minimum. */
  double largest = 1;
  /** True if an interpolated value is rounded to float, the pixels' type, before it is used. */
  bool roundsToFloat = false;
};

class DeviceImage;
class Memory;

/** Determines a value's bin: the first bin, plus the number of edges that are not above the value. The edges are sorted. They have the
 *  image's own type, so that the device puts each value on the same side of an edge as the host does. */
struct BinEdges
{
  int                 first = 0;
  std::vector<double> edges;
};

/** The fixed value of a sample that is not valid. */
constexpr double NoFixedValue = -1e30;

/** Describes how the device computes samples from a fixed image that it already has, in double precision, as the host would compute
 *  them. The image's values are finite. */
struct SampledImage
{
  /** The fixed image, on the samples' device. */
  const DeviceImage * image = nullptr;
  Size                size{};
  /** A mask with the image's voxels: a sample is valid only if the mask is at least a half at its position. Null: use `inside`. */
  const DeviceImage * mask = nullptr;
  /** Validity of each sample: uint8 per sample, 0 if it is not valid, for samples at any positions. Empty, without `mask`: all samples
   *  are valid. */
  Filler inside;
  /** True if the samples are the voxels of the image's planes along z, as many as there are samples, from firstPlane on. */
  bool         isOneGrid = false;
  std::int64_t firstPlane = 0;
  /** If isOneGrid is false, maps a sample's index to a position between the image's voxels, where the value is interpolated linearly. */
  IndexMap toImage;
  /** Edges of the bins, if the samples need bins. */
  std::optional<BinEdges> bins;
  /** The summary of the values (kernels/image/ImageValues.h), on the device, if the host does not know their range. Values are then shares
   *  of the range, as if it were 0 to 1, and bins are of equal width over it: `bins` has their number. Where all values are equal no sample
   *  has a valid bin. */
  const Memory * summary = nullptr;
  /** True if nobody but the samples' queue changes the image, so that it need not be waited for. */
  bool isOfQueue = false;
  /** True if the samples need values: (v - minimum)/unit, or, in double precision, v - minimum. If they need bins as well, the value is
   *  the part of (v - minimum)/unit + placeOfMinimum that lies beyond the bin. */
  bool   wantsValues = false;
  double minimum = 0;
  double unit = 1;
  double placeOfMinimum = 0;
};

/** Describes an image's gradient by recursive Gaussians (Deriche 1993), which the device computes from the values in double precision
 *  (HasDoubles()): along each axis their derivative, smoothed along the other axes, as itk::GradientRecursiveGaussianImageFilter does. */
struct GaussianGradient
{
  int                              dimension = 3;
  std::array<RecursiveGaussian, 3> smoothing{};
  std::array<RecursiveGaussian, 3> derivative{};
  /** Maps the derivatives along the image's axes to the gradient along physical axes, one column per axis of the image. */
  std::array<double, 9> toPhysical{};
  /** True to keep the gradient of the image that was set before, if it was computed in this way and has the same number of voxels: only
   *  values change. */
  bool keepsLast = false;
};

/** Describes the samples: every voxel of a virtual grid, or a list of points in the grid. Indices are relative to the grid's first
 *  voxel. */
struct FixedSamples
{
  /** Double: values, like positions, are computed in 64-bit integers, on any device, which gives derivatives of few samples a better
   *  accuracy than floats would; always used for points. The moving image must have the same precision. */
  Precision precision = Precision::Single;
  Size      virtualSize{};
  /** Number of points, at most 2^31 - 1; 0 to sample every voxel. */
  std::int64_t pointCount = 0;
  /** Writes the fixed bin of each sample, as uint16; 0xFFFF if the sample is not valid. For metrics that use bins. */
  Filler bins;
  /** Writes the fixed value of each sample, or NoFixedValue: float, (v - minimum)/range; or double, v - minimum. For metrics that use
   *  values. */
  Filler values;
  /** How the device computes bins and values from an image, instead of `bins` and `values`, if samples are voxels. */
  std::optional<SampledImage> sampled;
  /** Scale of the fixed values. */
  ValueScale scale;
  /** Writes the fixed image's gradient at each sample, as float[3] along physical axes, scaled. If set, forces go along this gradient. */
  Filler gradients;
  /** How the device computes the fixed image's gradient, if samples are the image's voxels. If set, forces go along this gradient. If
   *  neither this nor `gradients` is set, forces go along the moving image's gradient. */
  std::optional<GaussianGradient> gaussianGradient;
  /** Writes the continuous virtual index of each point, as double[3]. Empty if samples are voxels. */
  Filler points;
};

/** Describes the moving image. Its values are relative to a minimum, and in single precision scaled as the metric needs them: (v -
 *  minimum)/unit; in double precision v - minimum. */
struct MovingImage
{
  Precision precision = Precision::Single;
  Size      size{};
  /** 1: linear, 0: nearest neighbour, 2 to 5: B-spline. */
  int splineOrder = 1;
  /** True if values outside the range make a sample invalid, with a tolerance at either end (slackBelow and slackAbove, scaled). False:
   *  values are clamped to the range. */
  bool   checksRange = false;
  double slackBelow = 0;
  double slackAbove = 0;
  /** Writes the value of each voxel, as float or double. */
  Filler values;
  /** The image on the device from which values are computed with the minimum of the scale and the unit, instead of `values`. */
  const DeviceImage * image = nullptr;
  /** See SampledImage. */
  const Memory * summary = nullptr;
  bool           isOfQueue = false;
  /** Writes the B-spline coefficient of each voxel, for orders of 2 and more, as float or double. */
  Filler     coefficients;
  ValueScale scale;
  double     unit = 1;
  /** Writes the bin of each voxel, as uint8, for a metric that reads nothing else of the image. */
  Filler bins;
  /** Edges of at most 256 bins, for an image on the device, instead of `bins`. */
  std::optional<BinEdges> binEdges;
  /** Writes the gradient at each voxel, as float[3] along physical axes, scaled. */
  Filler gradient;
  /** How the device computes the gradient, instead of `gradient`. */
  std::optional<GaussianGradient> gaussianGradient;
  /** True for forces along the derivative of the linear interpolation itself, with respect to the index in the image's buffer; for
   *  values in single precision. If this, `gradient` and `gaussianGradient` are not set, forces go along central differences of the
   *  values. */
  bool gradientOfInterpolation = false;
  /** For central differences: half a spacing along physical axis d in index units, as column d, stored row by row; and 1/spacing, 0 for
   *  an axis that does not exist. */
  std::array<double, 9> differenceStep{};
  std::array<double, 3> inverseSpacing{};
  /** Writes the mask's voxels, as uint8; empty without a mask. */
  Filler mask;
  /** A mask on the device, instead of `mask`: a position is inside if it is at least a half there. */
  const DeviceImage * maskImage = nullptr;
  Size                maskSize{};
  IndexMap            toMask; // moving index → mask index
};

/** Return true if there is a source of bins, or of values. */
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

/** Returns true if forces go along the fixed image's gradient. */
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

/** Describes an optimised B-spline, which moves samples alone or before a chain. */
struct OptimizedSpline
{
  /** 2 or 3. */
  int dimension = 3;
  /** Control points in mm, of order 1 to 3; toGrid maps virtual indices. Without vectors the control points on the device stay as they
   *  are, for a method that sets them there. */
  DisplacementGrid grid;
};

/** Describes where the samples map to: along a chain's grids, if it has any, and along toMoving, the affine part of the whole map. A
 *  displacement field u comes first: y = chain(x + u(x)), for points; without grids y = toMoving(x) + displacementToIndex·u(x). */
struct SampleMapping
{
  IndexMap toMoving;
  /** Writes the displacement of each virtual voxel in mm, as float[3]; empty without a displacement field. */
  Filler displacement;
  /** Writes the displacements as double[3], which may be used instead if values are in double precision; empty if there are none. */
  VectorFiller displacementInDoubles;
  /** True if the displacements of all virtual voxels lie on the device, in the samples' own array, which the caller fills before each
   *  evaluation. Forces overwrite them. */
  bool isDisplacedOnDevice = false;
  /** A B-spline from which the device computes each sample's displacement, instead of a field. */
  std::optional<OptimizedSpline> spline;
  /** Fixed pre-transforms: grids before an optimised linear transform, instead of a field or a B-spline. They map virtual indices to
   *  points, and their pointToInput is the identity. A sample's displacement by them, in mm, stays on the device as long as they do. */
  std::optional<ChainedGrid> preTransforms;
  /** Maps a displacement to a step in the index of the moving image, or of the chain's first grid. */
  std::array<double, 9> displacementToIndex{};
  /** Maps indices of the virtual grid to those of the moving image. Used only if it has grids. */
  ChainedGrid chain;
  /** True for forces that are derivatives with respect to the index in the chain's first grid, instead of the moving point; the chain's
   *  grids have jacobians. */
  bool forcesFollowChain = false;
  /** True for forces that follow the derivative of the chain itself, if its grids have no jacobians; B-splines may be among the grids. */
  bool derivesChain = false;
  /** Maps the moving image's indices to points, stored row by row; used if forces follow the chain. */
  std::array<double, 9> movingIndexToPoint{};
};

/** Returns the mapping by an affine map. */
inline SampleMapping
MakeLinearMapping(const IndexMap & toMoving)
{
  SampleMapping mapping;
  mapping.toMoving = toMoving;
  return mapping;
}

/** Describes where the samples of many candidates map to, each by a linear map. */
struct CandidateMaps
{
  std::int64_t count = 0;
  /** Writes the maps of candidates first … first + number - 1, from virtual indices to moving indices. Called for any ranges, from
   *  several threads at once, while the device evaluates earlier candidates. */
  std::function<void(std::int64_t first, std::int64_t number, IndexMap * maps)> make;
};

/** Uses of the samples' forces in an evaluation. */
enum class Forces
{
  /** Computes no forces, only the value. */
  None,
  /** Sums the forces, for a transform of global support. */
  Summed,
  /** Stores the force of each sample, for a transform of local support: see Metric::TakeForces(). */
  OfEachSample
};

/** Holds the sums of an evaluation's forces f: derivatives of the metric's value with respect to the position that a sample maps to, up
 *  to a factor that each metric names. */
struct ForceResult
{
  /** Σ f as forceSums[c], and Σ f ⊗ (x - centre) as forceSums[3 + 3 d + c]. */
  std::array<double, 12> forceSums{};
  std::array<double, 3>  centre{};
};

} // namespace gpureg

#endif
