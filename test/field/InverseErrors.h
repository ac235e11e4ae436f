// SPDX-License-Identifier: Apache-2.0
// How far an inverse leads past each voxel, by ITK's transform in double precision.
#ifndef InverseErrors_h
#define InverseErrors_h

#include "FieldCase.h"

#include "itkDisplacementFieldTransform.h"
#include "itkImageRegionConstIteratorWithIndex.h"

#include <array>
#include <cmath>
#include <vector>

namespace gpuregtest
{

/** Returns how far, in voxels, the field's transform leads from each voxel's inverse past that voxel. */
template <unsigned int VDimension>
std::vector<double>
ComputeErrors(const FieldCase<VDimension> & its, const Floats & field, const Floats & inverse)
{
  const auto transform = itk::DisplacementFieldTransform<double, VDimension>::New();
  const auto image = its.MakeImage(field);
  const auto back = its.MakeImage(inverse);
  transform->SetDisplacementField(image);
  std::vector<double>                                            errors;
  itk::ImageRegionConstIteratorWithIndex<FieldImage<VDimension>> voxel(back, back->GetBufferedRegion());
  for (; !voxel.IsAtEnd(); ++voxel)
  {
    itk::Point<double, VDimension> point;
    back->TransformIndexToPhysicalPoint(voxel.GetIndex(), point);
    const auto            led = transform->TransformPoint(point + voxel.Get());
    std::array<double, 3> error{ 0, 0, 0 };
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      error[d] = led[d] - point[d];
    }
    const auto steps = gpureg::Multiply(its.toVoxels, error);
    errors.push_back(std::sqrt(steps[0] * steps[0] + steps[1] * steps[1] + steps[2] * steps[2]));
  }
  return errors;
}

} // namespace gpuregtest

#endif
