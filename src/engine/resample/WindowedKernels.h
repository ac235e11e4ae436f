// SPDX-License-Identifier: Apache-2.0
// The kernels of windowed interpolation, in the order in which they build on each other. Whoever compiles them for a device includes its
// prelude first.
#ifndef gpureg_WindowedKernels_h
#define gpureg_WindowedKernels_h

#include "kernels/core/Prelude.h"
#include "kernels/transform/BSpline.h"
#include "kernels/transform/FixedMap.h"
#include "kernels/transform/TransformChain.h"
#include "kernels/resample/WindowedInterpolation.h"

#endif
