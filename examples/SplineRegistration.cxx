// SPDX-License-Identifier: Apache-2.0
#include "SplineRegistration.h"

#include "RegisterRigidly/BestPosition.h"

#include "itkBSplineTransformInitializer.h"
#include "itkBSplineTransformParametersAdaptor.h"
#include "itkConjugateGradientLineSearchOptimizerv4.h"
#include "itkCudaMattesNMI.h"
#include "itkImageRegistrationMethodv4.h"
#include "itkRegistrationParameterScalesFromPhysicalShift.h"

#include <algorithm>
#include <cmath>

namespace example
{

namespace
{
using Registration = itk::ImageRegistrationMethodv4<Volume, Volume, SplineTransform>;
using Adaptor = itk::BSplineTransformParametersAdaptor<SplineTransform>;

/** Returns the number of cells along each axis with which their edges are closest to a length. */
SplineTransform::MeshSizeType
ComputeMeshSize(const Volume * fixed, double edge)
{
  SplineTransform::MeshSizeType mesh;
  for (unsigned int d = 0; d < 3; ++d)
  {
    const double extent = fixed->GetSpacing()[d] * static_cast<double>(fixed->GetLargestPossibleRegion().GetSize(d));
    mesh[d] = static_cast<itk::SizeValueType>(std::max(1.0, std::round(extent / edge)));
  }
  return mesh;
}

void
SetPyramid(Registration & registration, unsigned int levels)
{
  Registration::ShrinkFactorsArrayType   factors(levels);
  Registration::SmoothingSigmasArrayType sigmas(levels);
  for (unsigned int level = 0; level < levels; ++level)
  {
    factors[level] = 1u << (levels - 1 - level);
    sigmas[level] = level + 1 == levels ? 0.0 : 0.5 * factors[level];
  }
  registration.SetNumberOfLevels(levels);
  registration.SetShrinkFactorsPerLevel(factors);
  registration.SetSmoothingSigmasPerLevel(sigmas);
  registration.SmoothingSigmasAreSpecifiedInPhysicalUnitsOff();
}

/** Sets the adaptors from the mesh of one level to the next one's. */
void
SetAdaptors(Registration & registration, const SplineTransform & spline, const Volume * fixed, double spacing)
{
  Registration::TransformParametersAdaptorsContainerType adaptors;
  const auto                                             levels = registration.GetNumberOfLevels();
  for (unsigned int level = 0; level < levels; ++level)
  {
    const auto adaptor = Adaptor::New();
    adaptor->SetRequiredTransformDomainOrigin(spline.GetTransformDomainOrigin());
    adaptor->SetRequiredTransformDomainDirection(spline.GetTransformDomainDirection());
    adaptor->SetRequiredTransformDomainPhysicalDimensions(spline.GetTransformDomainPhysicalDimensions());
    adaptor->SetRequiredTransformDomainMeshSize(
      ComputeMeshSize(fixed, std::ldexp(spacing, static_cast<int>(levels - 1 - level))));
    adaptors.push_back(adaptor.GetPointer());
  }
  registration.SetTransformParametersAdaptorsPerLevel(adaptors);
}
} // namespace

SplineTransform::Pointer
RegisterBySpline(const Volume * fixed, const Volume * moving, const SplineSettings & settings)
{
  const auto metric = itk::CudaMattesNMI<Volume, Volume>::New(); // or itk::MattesMutualInformationImageToImageMetricv4
  metric->SetDevice(settings.device);

  const auto scales =
    itk::RegistrationParameterScalesFromPhysicalShift<itk::ImageToImageMetricv4<Volume, Volume>>::New();
  scales->SetMetric(metric);
  const auto optimizer =
    BestPosition<itk::ConjugateGradientLineSearchOptimizerv4>::New(); // the best of its lines' ends counts
  optimizer->SetScalesEstimator(scales);
  optimizer->SetLowerLimit(0);
  optimizer->SetUpperLimit(4);
  optimizer->SetEpsilon(0.1);
  optimizer->SetMaximumLineSearchIterations(10);
  optimizer->SetNumberOfIterations(settings.iterations);
  optimizer->SetConvergenceWindowSize(5);
  optimizer->SetMinimumConvergenceValue(1e-6);

  const auto spline = SplineTransform::New();
  const auto initializer = itk::BSplineTransformInitializer<SplineTransform, Volume>::New();
  initializer->SetTransform(spline);
  initializer->SetImage(fixed);
  initializer->SetTransformDomainMeshSize(
    ComputeMeshSize(fixed, std::ldexp(settings.spacing, static_cast<int>(settings.levels) - 1)));
  initializer->InitializeTransform();
  spline->SetIdentity();

  const auto registration = Registration::New();
  registration->SetFixedImage(fixed);
  registration->SetMovingImage(moving);
  registration->SetMetric(metric);
  registration->SetOptimizer(optimizer);
  registration->SetInitialTransform(spline);
  registration->InPlaceOn();
  SetPyramid(*registration, settings.levels);
  SetAdaptors(*registration, *spline, fixed, settings.spacing);
  registration->Update();
  return spline;
}

} // namespace example
