// SPDX-License-Identifier: Apache-2.0
#include "itkGPURegistrationFactory.h"

#include "itkGPUError.h"

#include "engine/runtime/Fork.h"
#include "factories/FilterOverrides.h"
#include "factories/MetricOverrides.h"
#include "factories/OptimizerOverrides.h"
#include "factories/RegistrationOverrides.h"

#include <algorithm>
#include <map>
#include <mutex>

namespace itk
{

namespace
{
/** Adds a class' overrides. */
using AddOverrides = void (*)(GPURegistrationFactory &);

/** Calls add with a factory and the metrics' overrides of each internal type and dimension. */
template <typename TAdd>
void
AddEachMetric([[maybe_unused]] GPURegistrationFactory & factory, [[maybe_unused]] const TAdd & add)
{
#ifndef GPUREG_FILTER_OVERRIDES_ONLY
  add(factory, gpuregfactories::MetricOverrides<double, 3>{});
#endif
#ifndef GPUREG_FEW_OVERRIDES
  add(factory, gpuregfactories::MetricOverrides<double, 2>{});
  add(factory, gpuregfactories::MetricOverrides<float, 3>{});
  add(factory, gpuregfactories::MetricOverrides<float, 2>{});
#endif
}

/** Calls add with a factory and the overrides of three dimensions and of two.
 *  \tparam TOverrides the overrides of a dimension */
template <template <unsigned int> class TOverrides, typename TAdd>
void
AddEachDimension([[maybe_unused]] GPURegistrationFactory & factory, [[maybe_unused]] const TAdd & add)
{
#ifndef GPUREG_FILTER_OVERRIDES_ONLY
  add(factory, TOverrides<3>{});
#endif
#ifndef GPUREG_FEW_OVERRIDES
  add(factory, TOverrides<2>{});
#endif
}

/** Calls add with a factory and the filters' overrides of each pixel type and dimension. */
template <typename TAdd>
void
AddEach(GPURegistrationFactory & factory, const TAdd & add)
{
  gpuregfactories::ForEachFilterOverrides([&](const auto & overrides) { add(factory, overrides); });
}

const std::map<std::string, AddOverrides> &
GetClasses()
{
  using Factory = GPURegistrationFactory;
  static const std::map<std::string, AddOverrides> classes{
    { "ANTSNeighborhoodCorrelationImageToImageMetricv4",
      [](Factory & factory) {
        AddEachMetric(factory, [](Factory & f, auto of) { of.AddANTSNeighborhoodCorrelation(f); });
      } },
    { "BSplineDecompositionImageFilter",
      [](Factory & factory) { AddEach(factory, [](Factory & f, auto of) { of.AddBSplineDecomposition(f); }); } },
    { "ConjugateGradientLineSearchOptimizerv4Template",
      [](Factory & factory) { gpuregfactories::AddConjugateGradientLineSearch(factory); } },
    { "CorrelationImageToImageMetricv4",
      [](Factory & factory) { AddEachMetric(factory, [](Factory & f, auto of) { of.AddCorrelation(f); }); } },
    { "DemonsImageToImageMetricv4",
      [](Factory & factory) { AddEachMetric(factory, [](Factory & f, auto of) { of.AddDemons(f); }); } },
    { "GradientDescentLineSearchOptimizerv4Template",
      [](Factory & factory) { gpuregfactories::AddGradientDescentLineSearch(factory); } },
    { "ImageRegistrationMethodv4",
      [](Factory & factory) {
        AddEachDimension<gpuregfactories::RegistrationOverrides>(factory,
                                                                 [](Factory & f, auto of) { of.AddLinear(f); });
      } },
    { "JointHistogramMutualInformationImageToImageMetricv4",
      [](Factory & factory) { AddEachMetric(factory, [](Factory & f, auto of) { of.AddJointHistogram(f); }); } },
    { "MattesMutualInformationImageToImageMetricv4",
      [](Factory & factory) { AddEachMetric(factory, [](Factory & f, auto of) { of.AddMattes(f); }); } },
    { "MeanSquaresImageToImageMetricv4",
      [](Factory & factory) { AddEachMetric(factory, [](Factory & f, auto of) { of.AddMeanSquares(f); }); } },
    { "MultiResolutionPyramidImageFilter",
      [](Factory & factory) { AddEach(factory, [](Factory & f, auto of) { of.AddMultiResolutionPyramid(f); }); } },
    { "RecursiveGaussianImageFilter",
      [](Factory & factory) { AddEach(factory, [](Factory & f, auto of) { of.AddRecursiveGaussian(f); }); } },
    { "RecursiveMultiResolutionPyramidImageFilter",
      [](Factory & factory) {
        AddEach(factory, [](Factory & f, auto of) { of.AddRecursiveMultiResolutionPyramid(f); });
      } },
    { "ResampleImageFilter",
      [](Factory & factory) {
        AddEach(factory, [](Factory & f, auto of) { of.AddResample(f); });
        AddEachDimension<gpuregfactories::OtherResampleOverrides>(factory, [](Factory & f, auto of) { of.Add(f); });
      } },
    { "ShrinkImageFilter", [](Factory & factory) { AddEach(factory, [](Factory & f, auto of) { of.AddShrink(f); }); } },
    { "SmoothingRecursiveGaussianImageFilter",
      [](Factory & factory) { AddEach(factory, [](Factory & f, auto of) { of.AddSmoothingRecursiveGaussian(f); }); } },
    { "SyNImageRegistrationMethod",
      [](Factory & factory) {
        AddEachDimension<gpuregfactories::RegistrationOverrides>(factory, [](Factory & f, auto of) { of.AddSyN(f); });
      } },
  };
  return classes;
}

/** The factories that RegisterClass() has registered, by the class' name. ITK may have unregistered some of them since. */
struct Registered
{
  gpureg::ForkSafeMutex                                  mutex;
  std::map<std::string, GPURegistrationFactory::Pointer> factories;
};

bool
IsKnownToITK(const GPURegistrationFactory * factory)
{
  const auto known = ObjectFactoryBase::GetRegisteredFactories();
  return std::find(known.begin(), known.end(), factory) != known.end();
}

Registered &
GetRegistered()
{
  static Registered registered;
  return registered;
}
} // namespace

const char *
GPURegistrationFactory::GetDescription() const
{
  return "ITK's filters, metrics and registration methods on GPUs and host threads, by GPURegistration";
}

std::vector<std::string>
GPURegistrationFactory::GetClassNames()
{
  std::vector<std::string> names;
  for (const auto & replaced : GetClasses())
  {
    names.push_back(replaced.first);
  }
  return names;
}

GPURegistrationFactory::Pointer
GPURegistrationFactory::Create(const std::string & className)
{
  // Not by a factory's New(), which would ask the factories.
  Pointer factory = new Self;
  factory->UnRegister();
  if (!className.empty() && GetClasses().count(className) == 0)
  {
    std::string names;
    for (const auto & replaced : GetClasses())
    {
      names += (names.empty() ? "" : ", ") + replaced.first;
    }
    itkSpecializedMessageExceptionMacro(GPUBadInputError,
                                        "GPURegistrationFactory has no \"" << className << "\"; it has " << names
                                                                           << '.');
  }
  for (const auto & replaced : GetClasses())
  {
    if (className.empty() || replaced.first == className)
    {
      replaced.second(*factory);
    }
  }
  return factory;
}

void
GPURegistrationFactory::RegisterClass(const std::string & className)
{
  Registered &                                 registered = GetRegistered();
  const std::lock_guard<gpureg::ForkSafeMutex> lock(registered.mutex);
  const auto                                   found = registered.factories.find(className);
  if (found == registered.factories.end() || !IsKnownToITK(found->second))
  {
    const Pointer factory = Create(className);
    ObjectFactoryBase::RegisterFactory(factory, InsertionPositionEnum::INSERT_AT_FRONT);
    registered.factories[className] = factory;
  }
}

void
GPURegistrationFactory::RegisterAll()
{
  for (const std::string & name : GetClassNames())
  {
    RegisterClass(name);
  }
}

void
GPURegistrationFactory::UnRegisterAll()
{
  Registered &                                 registered = GetRegistered();
  const std::lock_guard<gpureg::ForkSafeMutex> lock(registered.mutex);
  for (const auto & factory : registered.factories)
  {
    ObjectFactoryBase::UnRegisterFactory(factory.second);
  }
  registered.factories.clear();
}

LightObject::Pointer
GPURegistrationFactory::CreateObject(const char * itkclassname)
{
  try
  {
    return Superclass::CreateObject(itkclassname);
  }
  catch (const GPUBadInputError & error)
  {
    if (!m_HasWarned.exchange(true))
    {
      itkWarningMacro(<< error.GetDescription() << " ITK's own class does the work. This is said once.");
    }
    return nullptr;
  }
}

} // namespace itk
