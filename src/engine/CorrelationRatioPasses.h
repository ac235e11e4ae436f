// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_CorrelationRatioPasses_h
#define gpureg_CorrelationRatioPasses_h

#include "HistogramPasses.h"

#include "BorderWeight.h"
#include "CorrelationRatio.h"

namespace gpureg
{

using CorrelationRatioPasses = HistogramPasses<kernels::CorrelationRatioArguments>;

} // namespace gpureg

#endif
