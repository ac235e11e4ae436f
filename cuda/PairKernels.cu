// SPDX-License-Identifier: Apache-2.0
// The entry points of the group kernels of pairs of values in CUDA, in a file of their own, since they take the compiler long.
#define GPUREG_GROUP_ENTRY(kernel) GPUREG_CUDA_GROUP_ENTRY(kernel)

#include "cuda/CudaTuning.h"

#include "kernels/core/LaneReduction.h"
#include "kernels/metric/samples/ForceKernels.h"
#include "kernels/metric/samples/SampleVariants.h"
#include "kernels/metric/pairs/PairVariants.h"
#include "kernels/metric/pairs/ValuePairKernels.h"
