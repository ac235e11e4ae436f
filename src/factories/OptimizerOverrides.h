// SPDX-License-Identifier: Apache-2.0
// Lists the optimizers that the factory overrides.
#ifndef OptimizerOverrides_h
#define OptimizerOverrides_h

#include "itkGPURegistrationFactory.h"

namespace gpuregfactories
{

/** The overrides of ITK's optimizers that search along a line, of float and double. */
void
AddConjugateGradientLineSearch(itk::GPURegistrationFactory & factory);
void
AddGradientDescentLineSearch(itk::GPURegistrationFactory & factory);

} // namespace gpuregfactories

#endif
