// SPDX-License-Identifier: Apache-2.0
#ifndef Labels_h
#define Labels_h

#include "Volume.h"

#include <string>

namespace example
{

/** A number for each voxel: the region of an atlas to which it belongs, or 0 for none. */
using Labels = itk::Image<short, 3>;

/** \throws std::runtime_error if the file cannot be read, or if a voxel's value is not a whole number that a short holds */
Labels::Pointer
ReadLabels(const std::string & fileName);

void
WriteLabels(const Labels * labels, const std::string & fileName);

/** Resamples labels by nearest neighbour at the grid's voxels mapped by the transform; 0 beyond the edge. */
Labels::Pointer
ResampleLabels(const Labels * moving, const VolumeGrid * grid, const Transform * transform);

} // namespace example

#endif
