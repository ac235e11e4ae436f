// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_JointHistogramPasses_h
#define gpureg_JointHistogramPasses_h

#include "engine/metric/histogram/HistogramPasses.h"
#include "engine/runtime/MakePasses.h"

#include "kernels/core/RoundedProduct.h"
#include "kernels/core/RoundedLog.h"
#include "kernels/metric/histogram/JointHistogramSmoothing.h"
#include "kernels/metric/histogram/JointHistogramDensity.h"
#include "kernels/metric/histogram/JointHistogramSummary.h"
#include "kernels/metric/histogram/JointHistogramSample.h"
#include "kernels/metric/histogram/JointHistogramFixedPoint.h"
#include "kernels/metric/histogram/JointHistogramTable.h"

namespace gpureg
{

using JointHistogramPasses = HistogramPasses<kernels::JointHistogramArguments, kernels::JointHistogramSummaryArguments>;
GPUREG_DECLARE_PASSES(JointHistogramPasses);

} // namespace gpureg

#endif
