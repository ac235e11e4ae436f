// SPDX-License-Identifier: Apache-2.0
#ifndef RegistrationOverrides_hxx
#define RegistrationOverrides_hxx

#include "RegistrationOverrides.h"

#include "itkGPUSyNImageRegistrationMethod.h"

#include "itkImage.h"

namespace gpuregfactories
{

template <typename TPixel, typename TReal, unsigned int VDimension>
void
OverrideSyN(itk::GPURegistrationFactory & factory)
{
  using ImageType = itk::Image<TPixel, VDimension>;
  using TransformType = itk::DisplacementFieldTransform<TReal, VDimension>;
  factory.Override<itk::SyNImageRegistrationMethod<ImageType, ImageType, TransformType>,
                   itk::GPUSyNImageRegistrationMethod<ImageType, ImageType, TransformType>>();
}

template <unsigned int VDimension>
void
RegistrationOverrides<VDimension>::AddSyN(itk::GPURegistrationFactory & factory)
{
  OverrideSyN<float, double, VDimension>(factory);
  OverrideSyN<double, double, VDimension>(factory);
  OverrideSyN<float, float, VDimension>(factory);
}

} // namespace gpuregfactories

#endif
