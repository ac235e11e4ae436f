// SPDX-License-Identifier: Apache-2.0
#include "OptimizerOverrides.h"

#include "GPURegistrationDetail/registration/itkGPULineSearch.h"

#include "itkConjugateGradientLineSearchOptimizerv4.h"
#include "itkGradientDescentLineSearchOptimizerv4.h"

namespace gpuregfactories
{

namespace
{
template <template <typename> class TOptimizer>
void
OverrideLineSearch(itk::GPURegistrationFactory & factory)
{
  using itk::GPURegistrationDetail::LineSearch;
  factory.Override<TOptimizer<double>, LineSearch<TOptimizer<double>>>();
  factory.Override<TOptimizer<float>, LineSearch<TOptimizer<float>>>();
}
} // namespace

void
AddConjugateGradientLineSearch(itk::GPURegistrationFactory & factory)
{
  OverrideLineSearch<itk::ConjugateGradientLineSearchOptimizerv4Template>(factory);
}

void
AddGradientDescentLineSearch(itk::GPURegistrationFactory & factory)
{
  OverrideLineSearch<itk::GradientDescentLineSearchOptimizerv4Template>(factory);
}

} // namespace gpuregfactories
