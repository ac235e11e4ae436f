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

/** Reads a three-dimensional image of any format and pixel type that ITK supports.
 *  \throws std::runtime_error that names the file and the problem. */
Volume::Pointer
ReadVolume(const std::string & fileName);

void
WriteVolume(const Volume * volume, const std::string & fileName);

/** Returns a grid of `size` voxels, larger than the image's by a factor, about the same centre. */
VolumeGrid::Pointer
MakeCentredGrid(const VolumeGrid * image, double factor, const VolumeGrid::SizeType & size);

/** Returns a grid of voxels longer than the image's by an integer factor, about the same centre, with as many voxels as cover the image. */
VolumeGrid::Pointer
MakeCoarserGrid(const VolumeGrid * image, unsigned int factor);

/** Resamples the moving image, by linear interpolation at the grid's voxels mapped by the transform; 0 beyond its edge. */
Volume::Pointer
Resample(const Volume * moving, const VolumeGrid * grid, const Transform * transform);

/** Writes a transform to an ITK transform file, .tfm. */
void
WriteTransform(const Transform * transform, const std::string & fileName);

/** Reads the first transform of a file. */
Transform::Pointer
ReadTransform(const std::string & fileName);

/** Returns an image with voxels longer by an integer factor, smoothed by a Gaussian with a sigma of half of the new voxels' edge; the image
 *  itself if the factor is 1. */
Volume::ConstPointer
ShrinkVolume(const Volume * image, unsigned int factor);

} // namespace example

#endif
