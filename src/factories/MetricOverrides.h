// SPDX-License-Identifier: Apache-2.0
// Which metrics the factory stands in for: Metrics2D.cxx and Metrics3D.cxx.
#ifndef MetricOverrides_h
#define MetricOverrides_h

#include "itkGPURegistrationFactory.h"

namespace gpuregfactories
{

/** The overrides of images of float and double, computed in float and double. */
template <unsigned int VDimension>
struct MetricOverrides
{
  static void
  AddANTSNeighborhoodCorrelation(itk::GPURegistrationFactory & factory);
  static void
  AddCorrelation(itk::GPURegistrationFactory & factory);
  static void
  AddDemons(itk::GPURegistrationFactory & factory);
  static void
  AddJointHistogram(itk::GPURegistrationFactory & factory);
  static void
  AddMattes(itk::GPURegistrationFactory & factory);
  static void
  AddMeanSquares(itk::GPURegistrationFactory & factory);
};

} // namespace gpuregfactories

#endif
