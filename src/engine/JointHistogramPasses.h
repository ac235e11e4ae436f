// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_JointHistogramPasses_h
#define gpureg_JointHistogramPasses_h

#include "HistogramPasses.h"

#include "RoundedProduct.h"
#include "RoundedLog.h"
#include "JointHistogramSmoothing.h"
#include "JointHistogramDensity.h"
#include "JointHistogramSummary.h"
#include "JointHistogramSample.h"
#include "JointHistogramPrecise.h"
#include "JointHistogramTable.h"

namespace gpureg
{

using JointHistogramPasses = HistogramPasses<kernels::JointHistogramArguments, kernels::JointHistogramSummaryArguments>;

} // namespace gpureg

#endif
