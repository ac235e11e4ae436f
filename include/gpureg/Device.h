// SPDX-License-Identifier: Apache-2.0
// Is the documented path of the functions that set and return the limits of a device's memory.
#ifndef gpureg_Device_forward_h
#define gpureg_Device_forward_h

#include "gpureg/runtime/Device.h"

#endif
