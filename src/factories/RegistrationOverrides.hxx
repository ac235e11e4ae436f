// SPDX-License-Identifier: Apache-2.0
#ifndef RegistrationOverrides_hxx
#define RegistrationOverrides_hxx

#include "RegistrationOverrides.h"

#include "itkGPUImageRegistrationMethodv4.h"
#include "itkGPUSyNImageRegistrationMethod.h"

#include "itkAffineTransform.h"
#include "itkEuler2DTransform.h"
#include "itkEuler3DTransform.h"
#include "itkImage.h"
#include "itkSimilarity2DTransform.h"
#include "itkSimilarity3DTransform.h"
#include "itkTransform.h"
#include "itkTranslationTransform.h"

#include <type_traits>

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

template <typename TImage, typename... TTransforms>
void
OverrideRegistration(itk::GPURegistrationFactory & factory)
{
  (factory.Override<itk::ImageRegistrationMethodv4<TImage, TImage, TTransforms>,
                    itk::GPUImageRegistrationMethodv4<TImage, TImage, TTransforms>>(),
   ...);
}

template <typename TPixel, typename TReal, unsigned int VDimension>
void
OverrideLinear(itk::GPURegistrationFactory & factory)
{
  OverrideRegistration<
    itk::Image<TPixel, VDimension>,
    std::conditional_t<VDimension == 2, itk::Euler2DTransform<TReal>, itk::Euler3DTransform<TReal>>,
    std::conditional_t<VDimension == 2, itk::Similarity2DTransform<TReal>, itk::Similarity3DTransform<TReal>>,
    itk::AffineTransform<TReal, VDimension>,
    itk::TranslationTransform<TReal, VDimension>,
    itk::Transform<TReal, VDimension, VDimension>>(factory);
}

template <unsigned int VDimension>
void
RegistrationOverrides<VDimension>::AddLinear(itk::GPURegistrationFactory & factory)
{
  OverrideLinear<float, double, VDimension>(factory);
  OverrideLinear<double, double, VDimension>(factory);
  OverrideLinear<float, float, VDimension>(factory);
}

} // namespace gpuregfactories

#endif
