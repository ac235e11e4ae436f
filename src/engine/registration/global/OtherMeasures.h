// SPDX-License-Identifier: Apache-2.0
// Measures of linear maps by the metrics that no global search uses.
#ifndef gpureg_OtherMeasures_h
#define gpureg_OtherMeasures_h

#include "engine/registration/global/GlobalMeasure.h"

#include <memory>
#include <string>

namespace gpureg
{

struct MeasureSettings
{
  /** The number of bins, if the metric has a histogram. */
  int bins = 64;
  /** The radius of a neighborhood in voxels along each axis. */
  int radius = 4;
};

/** Makes a measure by the name of a global cost, "JointHistogramMutualInformation", "PartialVolumeMutualInformation" or
 *  "NeighborhoodCorrelation".
 *  \throws BadInputError if there is no such name, or the settings are not possible */
std::unique_ptr<GlobalMeasure>
MakeMeasure(const std::string & name, const std::string & deviceName, const MeasureSettings & settings);

} // namespace gpureg

#endif
