// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_TransformChain_h
#define gpureg_TransformChain_h

#include "GPURegistrationExport.h"
#include "gpureg/core/Geometry.h"
#include "gpureg/image/Source.h"

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace gpureg
{

class DeviceField;

/** Writes vectors first … first + count - 1 of a grid to out, as double[3] each, x fastest. Called for disjoint ranges, from several
 *  threads at once. */
using VectorFiller = std::function<void(std::int64_t first, std::int64_t count, double * out)>;

/** Writes matrices first … first + count - 1 of a grid, as double[9] each, row by row. Called as a VectorFiller is. */
using MatrixFiller = VectorFiller;

/** Kinds of vectors on a grid. */
enum class GridKind
{
  BSpline, // coefficients
  Field,   // displacements, interpolated linearly
  OfOutput // a displacement for each voxel of the output; only in a chain's first step
};

/** Holds displacement vectors on a grid. */
struct DisplacementGrid
{
  GridKind     kind = GridKind::BSpline;
  int          order = 3; // 0 to 3, for a B-spline
  Size         size{};
  IndexMap     toGrid; // point → continuous index of the grid; unused for GridKind::OfOutput
  VectorFiller vectors;
  Source       source; // of the vectors
  /** For a B-spline, true if the upper end of its valid region is outside, as in itk::BSplineDeformableTransform. */
  bool isOpen = false;
  /** For a field, the derivative of x + u(x) with respect to x, both points, at each of its voxels. Empty if unknown. */
  MatrixFiller jacobians;
  /** For a field, the same vectors on a device: see MakeDisplacementGrid(). A chain that is applied on that device reads them there. On any
   *  other device it takes `vectors` or, if that is empty, downloads these; so it does where devices have no double precision. */
  std::shared_ptr<const DeviceField> field;
};

/** One step of a chain, which maps points: out = map·in + vectorMatrix·u(toGrid·in). Outside the grid u is 0. */
struct ChainStep
{
  IndexMap              map;
  DisplacementGrid      grid;
  std::array<double, 9> vectorMatrix{ 1, 0, 0, 0, 1, 0, 0, 0, 1 };
};

/** Describes a transform of points to the engine: an affine map, then steps in the order in which they are applied. Append() folds an
 *  affine map between two steps into the earlier step. */
struct GPURegistration_EXPORT TransformChain
{
  /** 2 or 3. */
  int                    dimension = 3;
  IndexMap               first;
  std::vector<ChainStep> steps;

  /** Appends an affine map, which is applied last. */
  void
  Append(const IndexMap & map);

  /** Appends a grid's displacement, which is applied last. */
  void
  Append(DisplacementGrid grid);
};

/** A grid of voxels that a chain of transforms maps to the indices of an image. */
struct ChainedGrid
{
  /** Size of the grid's region, such as an output's, in voxels. */
  Size           size{};
  IndexMap       outputToPoint; // index of the grid → point
  TransformChain transform;     // point of the grid's space → point of the image's
  IndexMap       pointToInput;  // point → index of the image
  /** First voxel of the grid's region, and first voxel that the image's memory holds, as indices of outputToPoint and pointToInput. An
   *  output made region by region is thus the same, to the bit, as one made whole. */
  std::array<std::int64_t, 3> firstOutput{};
  std::array<std::int64_t, 3> firstInput{};
};

/** Returns the map x ↦ outer(inner(x)). */
GPURegistration_EXPORT
IndexMap
Compose(const IndexMap & outer, const IndexMap & inner);

} // namespace gpureg

#endif
