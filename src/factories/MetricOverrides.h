// SPDX-License-Identifier: Apache-2.0
// Lists the metrics that the factory overrides; Metrics2D.cxx and its neighbours compile them.
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
