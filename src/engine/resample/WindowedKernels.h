// SPDX-License-Identifier: Apache-2.0
// Includes the kernels of windowed interpolation in the order in which they use each other. Include the device's prelude first.
#ifndef gpureg_WindowedKernels_h
#define gpureg_WindowedKernels_h

#include "kernels/core/Prelude.h"
#include "kernels/transform/BSpline.h"
#include "kernels/transform/FixedMap.h"
#include "kernels/transform/TransformChain.h"
#include "kernels/resample/WindowedInterpolation.h"

#endif
