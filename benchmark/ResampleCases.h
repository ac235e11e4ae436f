// SPDX-License-Identifier: Apache-2.0
// What resampling is measured on: cubes, and the transforms of Shamonin 2014, section 4.3.2.
#ifndef ResampleCases_h
#define ResampleCases_h

#include "itkImage.h"
#include "itkTransform.h"

#include <string>

namespace bench
{

using ImageType = itk::Image<float, 3>;
using TransformType = itk::Transform<double, 3, 3>;

/** Waves and noise. */
ImageType::Pointer
MakeCube(unsigned int size);

/** \param name of a class, or affine.bspline: the B-spline first, then the affine transform. A new one is another one
 *  each time, see LoadedResampleCase. */
TransformType::Pointer
MakeTransform(const std::string & name, unsigned int size);

} // namespace bench

#endif
