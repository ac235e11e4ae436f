// SPDX-License-Identifier: Apache-2.0
// Khronos' C++ bindings, configured for every source of this folder.
#ifndef gpureg_OpenCLBindings_h
#define gpureg_OpenCLBindings_h

#define CL_HPP_TARGET_OPENCL_VERSION 120
#define CL_HPP_MINIMUM_OPENCL_VERSION 120
#define CL_HPP_ENABLE_EXCEPTIONS
#include <CL/opencl.hpp>

#endif
