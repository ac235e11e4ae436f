// SPDX-License-Identifier: Apache-2.0
// A transform derived from a linear one that is not linear itself.
#ifndef BentTransform_h
#define BentTransform_h

#include "itkAffineTransform.h"

#include <cmath>

namespace gpuregtest
{

/** An affine transform plus a wave; only its category says that it is not linear, as for itk::AzimuthElevationToCartesianTransform. */
template <unsigned int VDimension>
class BentTransform : public itk::AffineTransform<double, VDimension>
{
public:
  using Self = BentTransform;
  using Superclass = itk::AffineTransform<double, VDimension>;
  using Pointer = itk::SmartPointer<Self>;
  using typename Superclass::InputPointType;
  using typename Superclass::OutputPointType;
  using typename Superclass::TransformCategoryEnum;
  itkNewMacro(Self);
  itkTypeMacro(BentTransform, itk::AffineTransform);

  OutputPointType
  TransformPoint(const InputPointType & point) const override
  {
    OutputPointType moved = Superclass::TransformPoint(point);
    moved[1] += 0.8 * std::sin(0.6 * point[0]);
    return moved;
  }
  TransformCategoryEnum
  GetTransformCategory() const override
  {
    return TransformCategoryEnum::UnknownTransformCategory;
  }
};

} // namespace gpuregtest

#endif
