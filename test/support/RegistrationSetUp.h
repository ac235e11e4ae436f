// SPDX-License-Identifier: Apache-2.0
#ifndef RegistrationSetUp_h
#define RegistrationSetUp_h

#include "itkGradientDescentOptimizerv4.h"
#include "itkRegistrationParameterScalesFromPhysicalShift.h"

#include <utility>
#include <vector>

namespace gpuregtest
{

/** Sets what every registration method needs: images, the transform to optimize, the metric, and each level's shrink factors and
 *  smoothing sigmas. */
template <typename TRegistration, typename TImagePointer, typename TTransformPointer, typename TMetricPointer>
void
SetUpRegistration(TRegistration &                                      registration,
                  const TImagePointer &                                fixed,
                  const TImagePointer &                                moving,
                  const TTransformPointer &                            transform,
                  const TMetricPointer &                               metric,
                  const std::vector<std::pair<unsigned int, double>> & levels)
{
  registration.SetFixedImage(fixed);
  registration.SetMovingImage(moving);
  registration.SetInitialTransform(transform);
  registration.InPlaceOn();
  registration.SetMetric(metric);
  typename TRegistration::ShrinkFactorsArrayType   shrinking(levels.size());
  typename TRegistration::SmoothingSigmasArrayType smoothing(levels.size());
  for (unsigned int level = 0; level < levels.size(); ++level)
  {
    shrinking[level] = levels[level].first;
    smoothing[level] = levels[level].second;
  }
  registration.SetNumberOfLevels(levels.size());
  registration.SetShrinkFactorsPerLevel(shrinking);
  registration.SetSmoothingSigmasPerLevel(smoothing);
}

/** Returns an optimizer of the metric's scalar type, whose scales follow from the shifts that parameters cause. \param step the largest
 *  step, mm. */
template <typename TMetric>
auto
MakeGradientDescent(const itk::SmartPointer<TMetric> & metric, unsigned int iterations, double step)
{
  const auto scales = itk::RegistrationParameterScalesFromPhysicalShift<TMetric>::New();
  scales->SetMetric(metric);
  const auto optimizer = itk::GradientDescentOptimizerv4Template<typename TMetric::MeasureType>::New();
  optimizer->SetScalesEstimator(scales);
  optimizer->SetNumberOfIterations(iterations);
  optimizer->SetMaximumStepSizeInPhysicalUnits(step);
  return optimizer;
}

} // namespace gpuregtest

#endif
