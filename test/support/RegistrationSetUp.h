// SPDX-License-Identifier: Apache-2.0
#ifndef RegistrationSetUp_h
#define RegistrationSetUp_h

#include "itkGradientDescentOptimizerv4.h"
#include "itkRegistrationParameterScalesFromPhysicalShift.h"

#include <utility>
#include <vector>

namespace gpuregtest
{

/** What every method of registration is told: images, the transform that it is to change, the metric, and of
 *  each level by what the images are shrunk and with which sigma they are smoothed. */
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

/** Of the metric's own scalar type, with scales from what the parameters move. \param step at most, mm. */
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
