// SPDX-License-Identifier: Apache-2.0
#ifndef Brightness_h
#define Brightness_h

#include "Volume.h"

#include "itkLinearInterpolateImageFunction.h"

namespace example
{

/** An image as brightness in [0, 1] at physical points: 0 is dark, and one voxel in a hundred is at 1. */
class Brightness
{
public:
  explicit Brightness(const Volume * image);

  double
  At(const Volume::PointType & point) const;

private:
  itk::LinearInterpolateImageFunction<Volume>::Pointer m_Values = itk::LinearInterpolateImageFunction<Volume>::New();
  double                                               m_Brightest;
};

} // namespace example

#endif
