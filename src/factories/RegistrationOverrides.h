// SPDX-License-Identifier: Apache-2.0
// Lists the registration methods that the factory overrides; Registrations2D.cxx and Registrations3D.cxx compile them.
#ifndef RegistrationOverrides_h
#define RegistrationOverrides_h

#include "itkGPURegistrationFactory.h"

namespace gpuregfactories
{

/** The overrides of a dimension: with transforms of double for images of float and double, with transforms of float for images of
 *  float. Linear registrations are those by Euler's, similarity, affine and translation transforms, and those that name none,
 *  as ITK's Python has them. */
template <unsigned int VDimension>
struct RegistrationOverrides
{
  static void
  AddSyN(itk::GPURegistrationFactory & factory);
  static void
  AddLinear(itk::GPURegistrationFactory & factory);
};

} // namespace gpuregfactories

#endif
