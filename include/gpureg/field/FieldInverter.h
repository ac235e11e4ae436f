// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_FieldInverter_h
#define gpureg_FieldInverter_h

#include "GPURegistrationExport.h"
#include "gpureg/core/EvaluationStatistics.h"
#include "gpureg/core/Geometry.h"
#include "gpureg/core/ParallelFor.h"
#include "gpureg/runtime/EngineUser.h"
#include "gpureg/transform/TransformChain.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace gpureg
{

/** Describes a deformation x + u(x) by its field of displacements u, and receives the inverse. */
struct FieldToInvert
{
  /** 2 or 3. */
  int      dimension = 3;
  Size     size{};
  IndexMap indexToPoint;
  /** Writes the displacements, float[3] a voxel, in mm; the third is 0 in two dimensions. */
  Filler displacements;
  /** Takes the inverse's displacements, float[3] a voxel, in mm, on the same grid, from several threads at once. */
  std::function<void(std::int64_t first, std::int64_t count, const float * in)> take;
};

/** Describes a deformation by the transform that moves points, such as a B-spline, and receives the inverse on any grid. */
struct TransformToInvert
{
  /** Grids of displacements, without affine maps or with affine maps whose product is the identity. Its dimension is that of the grid. */
  TransformChain transform;
  /** Give the size of the inverse's grid, and the map from its indices to points in mm. */
  Size     size{};
  IndexMap indexToPoint;
  /** Takes the inverse as FieldToInvert::take does. */
  std::function<void(std::int64_t first, std::int64_t count, const float * in)> take;
};

/** Describes how well an inverse undoes its deformation. With w the inverse's displacement, the error at a voxel y is the length of
 *  w(y) + u(y + w(y)). */
struct InverseErrors
{
  /** Mean and maximum, in voxels, over all voxels but unmappedVoxels. */
  double mean = 0;
  double largest = 0;
  /** Number of those voxels with an error above a tenth of a voxel. */
  std::int64_t offVoxels = 0;
  /** Number of voxels with an error above 0.001 voxels whose inverse leads to the grid's outer cells or beyond: most probably no point of
   *  the grid is mapped to them. They count in no other number but foldedVoxels. */
  std::int64_t unmappedVoxels = 0;
  /** Number of voxels at which the deformation folds: the determinant of its Jacobian is 0 or less. There several points are mapped to one,
   *  and the inverse leads to one of them. */
  std::int64_t foldedVoxels = 0;
};

/** Inverts deformations, on one device, by Newton's method at each voxel, with the exact derivative of the field's linear interpolation or
 *  of the transform. Where that does not converge, it begins again from a neighbour's result. As in ITK, displacements are 0 outside of a
 *  grid.
 *
 *  Use one object from one thread at a time. Every function throws gpureg::Error, and the object can be used again after an error. */
class GPURegistration_EXPORT FieldInverter : public Engine
{
public:
  /** Makes an engine on one device.
   *  \throws Error if there is no such device; the message lists the devices. */
  explicit FieldInverter(const std::string & deviceName);
  ~FieldInverter() override;
  FieldInverter(const FieldInverter &) = delete;
  FieldInverter &
  operator=(const FieldInverter &) = delete;

  const std::string &
  GetDeviceName() const override;

  std::size_t
  GetHeldBytes() const override;

  /** Inverts a field.
   *  \throws BadInputError if it has no voxels, axes that are not linearly independent, or a number that is not finite. */
  InverseErrors
  Invert(const FieldToInvert & field, const ParallelFor & parallelFor);

  /** Inverts a transform on a grid: first the field of its displacements at the grid's voxels, then by Newton's steps with the transform
   *  itself, by which the errors are measured, too. Folds are counted in that field.
   *  \throws BadInputError as the other function does, or if the transform is linear or has affine maps that are not 1 together. */
  InverseErrors
  Invert(const TransformToInvert & transform, const ParallelFor & parallelFor);

  /** Returns the statistics of the last inversion. */
  EvaluationStatistics
  GetStatistics() const;

private:
  class Implementation;
  std::unique_ptr<Implementation> m_Implementation;
};

} // namespace gpureg

#endif
