// SPDX-License-Identifier: Apache-2.0
// Transforms whose parameters are overwritten in place without a new time stamp, as programs do that do not call Modified().
#ifndef RefilledInPlace_h
#define RefilledInPlace_h

#include "TestSplines.h"

#include "itkDisplacementFieldTransform.h"
#include "itkImage.h"
#include "itkImageRegionIteratorWithIndex.h"

#include <cmath>

namespace gpuregtest
{
using SplineTransformType = itk::BSplineTransform<double, 3, 3>;
using FieldTransformType = itk::DisplacementFieldTransform<double, 3>;

/** Writes to the coefficients' images, which share memory with the parameters. \param size of the largest coefficient. */
inline void
RefillTransform(const SplineTransformType & spline, double size)
{
  for (unsigned int d = 0; d < 3; ++d)
  {
    auto &     coefficients = *spline.GetCoefficientImages()[d];
    const auto count = coefficients.GetBufferedRegion().GetNumberOfPixels();
    for (itk::SizeValueType i = 0; i < count; ++i)
    {
      // Avoids GetBufferPointer() and similar functions, some of which modify the time stamp.
      coefficients.GetPixelContainer()->GetImportPointer()[i] = size * std::sin(0.1 * static_cast<double>(i * (d + 1)));
    }
  }
}

/** Returns a field with a vector of 0 for each of an image's voxels. */
inline FieldTransformType::Pointer
MakeFieldOver(const itk::Image<float, 3> & image)
{
  const auto field = FieldTransformType::DisplacementFieldType::New();
  field->CopyInformation(&image);
  field->SetRegions(image.GetBufferedRegion());
  field->Allocate(true);
  const auto transform = FieldTransformType::New();
  transform->SetDisplacementField(field);
  return transform;
}

inline void
RefillTransform(FieldTransformType & transform, double shift)
{
  using FieldType = FieldTransformType::DisplacementFieldType;
  FieldType & field = *transform.GetModifiableDisplacementField();
  for (itk::ImageRegionIteratorWithIndex<FieldType> it(&field, field.GetBufferedRegion()); !it.IsAtEnd(); ++it)
  {
    it.Value()[0] = shift + 0.01 * static_cast<double>(it.GetIndex()[1]);
    it.Value()[1] = -0.5 * shift;
    it.Value()[2] = 0.25;
  }
}

} // namespace gpuregtest

#endif
