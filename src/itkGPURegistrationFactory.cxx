// SPDX-License-Identifier: Apache-2.0
#include "itkGPURegistrationFactory.h"

#include "itkGPUError.h"

#include "factories/FilterOverrides.h"

#include <algorithm>
#include <map>
#include <mutex>

namespace itk
{

namespace
{
/** Adds a filter's overrides. */
using AddOverrides = void (*)(GPURegistrationFactory &);

/** Calls add with a factory and the overrides of each pixel type and dimension. */
template <typename TAdd>
void
AddEach(GPURegistrationFactory & factory, const TAdd & add)
{
  gpuregfactories::ForEachFilterOverrides([&](const auto & overrides) { add(factory, overrides); });
}

const std::map<std::string, AddOverrides> &
GetFilters()
{
  using Factory = GPURegistrationFactory;
  static const std::map<std::string, AddOverrides> filters{
    { "BSplineDecompositionImageFilter",
      [](Factory & factory) { AddEach(factory, [](Factory & f, auto of) { of.AddBSplineDecomposition(f); }); } },
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
        gpuregfactories::OtherResampleOverrides<2>::Add(factory);
        gpuregfactories::OtherResampleOverrides<3>::Add(factory);
      } },
    { "ShrinkImageFilter", [](Factory & factory) { AddEach(factory, [](Factory & f, auto of) { of.AddShrink(f); }); } },
    { "SmoothingRecursiveGaussianImageFilter",
      [](Factory & factory) { AddEach(factory, [](Factory & f, auto of) { of.AddSmoothingRecursiveGaussian(f); }); } },
  };
  return filters;
}

/** Those that RegisterFilter() has registered, by the filter's name. ITK may have forgotten them since. */
struct Registered
{
  std::mutex                                             mutex;
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
  return "ITK's filters on GPUs and host threads, by GPURegistration";
}

std::vector<std::string>
GPURegistrationFactory::GetFilterNames()
{
  std::vector<std::string> names;
  for (const auto & filter : GetFilters())
  {
    names.push_back(filter.first);
  }
  return names;
}

GPURegistrationFactory::Pointer
GPURegistrationFactory::Create(const std::string & filterName)
{
  // Not by a factory's New(), which would ask the factories.
  Pointer factory = new Self;
  factory->UnRegister();
  if (!filterName.empty() && GetFilters().count(filterName) == 0)
  {
    std::string names;
    for (const auto & filter : GetFilters())
    {
      names += (names.empty() ? "" : ", ") + filter.first;
    }
    itkSpecializedMessageExceptionMacro(GPUBadInputError,
                                        "GPURegistrationFactory has no \"" << filterName << "\"; it has " << names
                                                                           << '.');
  }
  for (const auto & filter : GetFilters())
  {
    if (filterName.empty() || filter.first == filterName)
    {
      filter.second(*factory);
    }
  }
  return factory;
}

void
GPURegistrationFactory::RegisterFilter(const std::string & filterName)
{
  Registered &                      registered = GetRegistered();
  const std::lock_guard<std::mutex> lock(registered.mutex);
  const auto                        found = registered.factories.find(filterName);
  if (found == registered.factories.end() || !IsKnownToITK(found->second))
  {
    const Pointer factory = Create(filterName);
    ObjectFactoryBase::RegisterFactory(factory, InsertionPositionEnum::INSERT_AT_FRONT);
    registered.factories[filterName] = factory;
  }
}

void
GPURegistrationFactory::RegisterAll()
{
  for (const std::string & name : GetFilterNames())
  {
    RegisterFilter(name);
  }
}

void
GPURegistrationFactory::UnRegisterAll()
{
  Registered &                      registered = GetRegistered();
  const std::lock_guard<std::mutex> lock(registered.mutex);
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
