// SPDX-License-Identifier: Apache-2.0
// A check of whether the code that a device's driver has compiled resamples rightly: a driver's compiler may make wrong code without an
// error.
#ifndef gpureg_ResampleSelfCheck_h
#define gpureg_ResampleSelfCheck_h

#include "engine/resample/ResamplePasses.h"
#include "engine/runtime/Backend.h"

#include <string>

namespace gpureg
{

/** Resamples a small image by the passes, which belong to the queue, and on the host. like: has the interpolation, the components and the
 *  way of applying the chain. Returns what differs, in words; nothing if the images agree. */
std::string
ComputeDifferenceFromHost(Queue &                            queue,
                          ResamplePasses &                   passes,
                          const kernels::ResampleArguments & like,
                          Precision                          precision);

/** Compares the device with the host at a process' first use of each interpolation, way of applying the chain, number of components and
 *  precision, if the device's driver compiles the kernels (OpenCL). Does nothing for other devices.
 *  \throws UnsupportedError with the device and its driver if it resamples wrongly */
void
CheckResamplesRightly(Backend & backend, const kernels::ResampleArguments & like, Precision precision);

} // namespace gpureg

#endif
