// SPDX-License-Identifier: Apache-2.0
#define GPUREG_TEST_INSTANTIATES_METRICS
#include "TestMetrics.h"

GPUREG_TEST_METRICS(template class, 2);
