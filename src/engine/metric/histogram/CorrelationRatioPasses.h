// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_CorrelationRatioPasses_h
#define gpureg_CorrelationRatioPasses_h

#include "engine/metric/histogram/HistogramPasses.h"
#include "engine/runtime/MakePasses.h"

#include "kernels/metric/histogram/BorderWeight.h"
#include "kernels/metric/histogram/CorrelationRatio.h"

namespace gpureg
{

using CorrelationRatioPasses = HistogramPasses<kernels::CorrelationRatioArguments>;
GPUREG_DECLARE_PASSES(CorrelationRatioPasses);

} // namespace gpureg

#endif
