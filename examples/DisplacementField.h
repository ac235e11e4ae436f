// SPDX-License-Identifier: Apache-2.0
#ifndef DisplacementField_h
#define DisplacementField_h

#include "Volume.h"

#include "itkVector.h"

#include <string>

namespace example
{

/** Vectors in mm, from a fixed point to the moving one, as in itk::DisplacementFieldTransform. */
using DisplacementField = itk::Image<itk::Vector<double, 3>, 3>;

/** Returns a transform's displacement of each voxel of the grid, computed on ITK's threads. */
DisplacementField::Pointer
SampleDisplacements(const Transform * transform, const VolumeGrid * grid);

/** Writes a field as vectors of floats. */
void
WriteDisplacements(const DisplacementField * field, const std::string & fileName);

/** The change of volumes by a field. */
struct FieldJacobian
{
  /** The smallest determinant: 1 where volumes do not change, 0 or less where the field folds. */
  double smallest;
  /** The number of voxels whose determinant is not above 0. */
  itk::SizeValueType folded;
};

/** Computes the determinant of the Jacobian of the map x → x + factor·u(x), by central differences of a field u, over the voxels that
 *  have both neighbours along each axis; on ITK's threads.
 *  \throws std::runtime_error if the field has fewer than three voxels along an axis */
FieldJacobian
MeasureJacobian(const DisplacementField * field, double factor = 1.0);

} // namespace example

#endif
