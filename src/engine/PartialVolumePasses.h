// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_PartialVolumePasses_h
#define gpureg_PartialVolumePasses_h

#include "HistogramPasses.h"

#include "PartialVolumeSample.h"
#include "PartialVolumePrecise.h"
#include "EntropyTable.h"

namespace gpureg
{

using PartialVolumePasses = HistogramPasses<kernels::PartialVolumeArguments>;

} // namespace gpureg

#endif
