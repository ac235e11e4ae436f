// SPDX-License-Identifier: Apache-2.0
// Which metrics the factory stands in for: Metrics2D.cxx and so on.
#ifndef MetricOverrides_h
#define MetricOverrides_h

#include "itkGPURegistrationFactory.h"

namespace gpuregfactories
{

/** The overrides of an internal type, which transforms, values and derivatives have: of double for images of float and double, of
 *  float for images of float. Either type is computed in double: what ITK's metrics of float sum up is 1e-3 to 1e-2 away from that. */
template <typename TInternal, unsigned int VDimension>
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
