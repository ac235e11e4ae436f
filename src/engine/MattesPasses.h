// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_MattesPasses_h
#define gpureg_MattesPasses_h

#include "HistogramPasses.h"

#include "MattesSample.h"
#include "MattesPrecise.h"
#include "EntropyTable.h"

namespace gpureg
{

using MattesPasses = HistogramPasses<kernels::MattesArguments>;

} // namespace gpureg

#endif
