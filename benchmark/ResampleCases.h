// SPDX-License-Identifier: Apache-2.0
// The cases for which resampling is measured: cubes, and the transforms of Shamonin 2014, section 4.3.2.
#ifndef ResampleCases_h
#define ResampleCases_h

#include "itkImage.h"
#include "itkTransform.h"

#include <string>

namespace bench
{

using ImageType = itk::Image<float, 3>;
using TransformType = itk::Transform<double, 3, 3>;

/** Returns a cube of waves and noise. */
ImageType::Pointer
MakeCube(unsigned int size);

/** Returns a transform. \param name of a class, or affine.bspline: the B-spline is applied first, then the affine transform. Each call
 *  returns a different transform, see LoadedResampleCase. */
TransformType::Pointer
MakeTransform(const std::string & name, unsigned int size);

} // namespace bench

#endif
