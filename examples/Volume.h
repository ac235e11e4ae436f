// SPDX-License-Identifier: Apache-2.0
#ifndef Volume_h
#define Volume_h

#include "itkAffineTransform.h"
#include "itkImage.h"
#include "itkMatrixOffsetTransformBase.h"

#include <string>

namespace example
{

using Volume = itk::Image<float, 3>;
using VolumeGrid = itk::ImageBase<3>;
using Transform = itk::Transform<double, 3, 3>;
using LinearTransform = itk::MatrixOffsetTransformBase<double, 3, 3>;

/** Reads a three-dimensional image of any format and pixel type that ITK knows.
 * \throws std::runtime_error that names the file and says what is wrong with it. */
Volume::Pointer
ReadVolume(const std::string & fileName);

void
WriteVolume(const Volume * volume, const std::string & fileName);

/** So many voxels, larger than the image's by a factor, about the same centre. */
VolumeGrid::Pointer
MakeCentredGrid(const VolumeGrid * image, double factor, const VolumeGrid::SizeType & size);

/** Voxels longer than the image's by a whole factor, about the same centre: as many as it takes to leave none of its edges out. */
VolumeGrid::Pointer
MakeCoarserGrid(const VolumeGrid * image, unsigned int factor);

/** The moving image, linearly interpolated where the transform takes the voxels of the grid; 0 beyond its edge. */
Volume::Pointer
Resample(const Volume * moving, const VolumeGrid * grid, const Transform * transform);

/** As an ITK transform file, .tfm. */
void
WriteTransform(const Transform * transform, const std::string & fileName);

/** The first transform in a file. */
Transform::Pointer
ReadTransform(const std::string & fileName);

} // namespace example

#endif
