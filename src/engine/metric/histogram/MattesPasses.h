// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_MattesPasses_h
#define gpureg_MattesPasses_h

#include "engine/metric/histogram/HistogramPasses.h"
#include "engine/runtime/MakePasses.h"

#include "kernels/metric/histogram/MattesSample.h"
#include "kernels/metric/histogram/MattesFixedPoint.h"
#include "kernels/metric/histogram/EntropyTable.h"

namespace gpureg
{

using MattesPasses = HistogramPasses<kernels::MattesArguments>;
GPUREG_DECLARE_PASSES(MattesPasses);

} // namespace gpureg

#endif
