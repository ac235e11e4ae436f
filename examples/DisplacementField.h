// SPDX-License-Identifier: Apache-2.0
#ifndef DisplacementField_h
#define DisplacementField_h

#include "Volume.h"

#include "itkVector.h"

#include <string>

namespace example
{

/** Vectors in mm, from a fixed point to the moving one: as itk::DisplacementFieldTransform has them. */
using DisplacementField = itk::Image<itk::Vector<double, 3>, 3>;

/** Where a transform moves each voxel of the grid, on ITK's threads. */
DisplacementField::Pointer
SampleDisplacements(const Transform * transform, const VolumeGrid * grid);

/** As vectors of floats. */
void
WriteDisplacements(const DisplacementField * field, const std::string & fileName);

/** How a field stretches space. */
struct FieldJacobian
{
  /** The smallest determinant: 1 where volumes stay as they are, 0 or less where the field folds. */
  double smallest;
  /** Voxels whose determinant is not above 0. */
  itk::SizeValueType folded;
};

/** The determinant of the Jacobian of the map x → x + factor·u(x), by central differences of a field u, over the voxels
 * that have both neighbours along each axis; on ITK's threads.
 * \throws std::runtime_error if the field has fewer than three voxels along an axis */
FieldJacobian
MeasureJacobian(const DisplacementField * field, double factor = 1.0);

} // namespace example

#endif
