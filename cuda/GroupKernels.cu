// SPDX-License-Identifier: Apache-2.0
// The entry points of group kernels in CUDA: each header that this file includes gets those of the kernels that it declares.
#define GPUREG_GROUP_ENTRY(kernel) GPUREG_CUDA_GROUP_ENTRY(kernel)

#include "cuda/CudaTuning.h"

#include "engine/filter/LinePasses.h"
#include "engine/metric/SimilarityPasses.h"
#include "engine/metric/samples/ControlGridPasses.h"
#include "engine/metric/samples/PreTransformPasses.h"
#include "engine/penalty/ControlPenaltyPasses.h"
#include "engine/registration/free_form/ControlSteps.h"
#include "engine/resample/ResamplePasses.h"

#include "kernels/core/LaneReduction.h"
#include "kernels/metric/samples/ForceKernels.h"
#include "kernels/filter/LineKernels.h"
#include "kernels/metric/SimilaritySumKernels.h"
#include "kernels/metric/samples/ControlGridKernels.h"
#include "kernels/metric/samples/PreTransformKernels.h"
#include "kernels/penalty/ControlPenaltyKernels.h"
#include "kernels/registration/free_form/ControlLineKernels.h"
#include "kernels/resample/ResampleKernels.h"
