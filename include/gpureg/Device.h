// SPDX-License-Identifier: Apache-2.0
// The documented path of what sets and tells the bounds of a device's memory.
#ifndef gpureg_Device_forward_h
#define gpureg_Device_forward_h

#include "gpureg/runtime/Device.h"

#endif
