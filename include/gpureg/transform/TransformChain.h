// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_TransformChain_h
#define gpureg_TransformChain_h

#include "GPURegistrationExport.h"
#include "gpureg/core/Geometry.h"
#include "gpureg/image/Source.h"

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

namespace gpureg
{

/** Writes vectors first … first + count - 1 of a grid, double[3] each, x fastest. Called for disjoint
 *  ranges, from several threads at once. */
using VectorFiller = std::function<void(std::int64_t first, std::int64_t count, double * out)>;

/** The same of matrices, double[9] each, by rows. */
using MatrixFiller = VectorFiller;

/** What the vectors of a grid are. */
enum class GridKind
{
  BSpline, // coefficients
  Field,   // displacements, interpolated linearly
  OfOutput // a displacement for each voxel of the output that is made: for the chain's first step alone
};

/** Displacement vectors on a grid. */
struct DisplacementGrid
{
  GridKind     kind = GridKind::BSpline;
  int          order = 3; // of a B-spline, 0 to 3
  Size         size{};
  IndexMap     toGrid; // point → continuous index of the grid; not looked at where it is the output's
  VectorFiller vectors;
  Source       source; // of the vectors
  /** Of a B-spline, whether the upper end of its valid region is outside, as itk::BSplineDeformableTransform has it. */
  bool isOpen = false;
  /** Of a field, the derivative of x + u(x) by x at each of its voxels, of points. Empty where that is not known. */
  MatrixFiller jacobians;
};

/** One step of a chain: out = map·in + vectorMatrix·u(toGrid·in), of points. Outside of the grid u is 0. */
struct ChainStep
{
  IndexMap              map;
  DisplacementGrid      grid;
  std::array<double, 9> vectorMatrix{ 1, 0, 0, 0, 1, 0, 0, 0, 1 };
};

/** A transform of points as the engine takes it: an affine map, then steps, in the order in which they are
 *  applied. Whatever is affine between two steps is part of the step before, see Append(). */
struct GPURegistration_EXPORT TransformChain
{
  /** 2 or 3. */
  int                    dimension = 3;
  IndexMap               first;
  std::vector<ChainStep> steps;

  /** Applies an affine map after all that is there. */
  void
  Append(const IndexMap & map);

  /** Applies a grid's displacement after all that is there. */
  void
  Append(DisplacementGrid grid);
};

/** A grid whose indices a chain leads to those of an image. */
struct ChainedGrid
{
  /** Voxels of the grid's region, e.g. that of an output. */
  Size           size{};
  IndexMap       outputToPoint; // index of the grid → point
  TransformChain transform;     // point of the grid's space → point of the image's
  IndexMap       pointToInput;  // point → index of the image
  /** The region's first voxel, and the first one that the image holds, as indices of those maps: so that an output
   *  made region by region is the same, to the bit, as one made whole. */
  std::array<std::int64_t, 3> firstOutput{};
  std::array<std::int64_t, 3> firstInput{};
};

/** x ↦ outer(inner(x)). */
GPURegistration_EXPORT
IndexMap
Compose(const IndexMap & outer, const IndexMap & inner);

} // namespace gpureg

#endif
