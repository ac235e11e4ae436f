// SPDX-License-Identifier: Apache-2.0
#define GPUREG_TEST_INSTANTIATES
#include "TestInstances.h"
