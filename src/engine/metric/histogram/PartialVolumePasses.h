// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_PartialVolumePasses_h
#define gpureg_PartialVolumePasses_h

#include "engine/metric/histogram/HistogramPasses.h"
#include "engine/runtime/MakePasses.h"

#include "kernels/metric/histogram/PartialVolumeSample.h"
#include "kernels/metric/histogram/PartialVolumeFixedPoint.h"
#include "kernels/metric/histogram/EntropyTable.h"

namespace gpureg
{

using PartialVolumePasses = HistogramPasses<kernels::PartialVolumeArguments>;
GPUREG_DECLARE_PASSES(PartialVolumePasses);

} // namespace gpureg

#endif
