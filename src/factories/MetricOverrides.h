// SPDX-License-Identifier: Apache-2.0
// Which metrics the factory stands in for: Metrics2D.cxx and Metrics3D.cxx.
#ifndef MetricOverrides_h
#define MetricOverrides_h

#include "itkGPURegistrationFactory.h"

namespace gpuregfactories
{

/** The overrides of images of float and double, computed in double: what ITK's metrics sum up in float is 1e-3 to 1e-2 away
 *  from that, so no other class gives a program its numbers. */
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
