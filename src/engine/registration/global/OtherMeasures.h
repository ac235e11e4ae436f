// SPDX-License-Identifier: Apache-2.0
// Measures of linear maps by the metrics that no global search goes by.
#ifndef gpureg_OtherMeasures_h
#define gpureg_OtherMeasures_h

#include "engine/registration/global/GlobalMeasure.h"

#include <memory>
#include <string>

namespace gpureg
{

struct MeasureSettings
{
  /** Of a histogram, where there is one. */
  int bins = 64;
  /** Of a neighborhood, in voxels along each axis. */
  int radius = 4;
};

/** By a global cost's name, "JointHistogramMutualInformation", "PartialVolumeMutualInformation" or "NeighborhoodCorrelation".
 *  \throws BadInputError if there is no such one, or its settings are not possible. */
std::unique_ptr<GlobalMeasure>
MakeMeasure(const std::string & name, const std::string & deviceName, const MeasureSettings & settings);

} // namespace gpureg

#endif
