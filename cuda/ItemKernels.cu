// SPDX-License-Identifier: Apache-2.0
// The entry points of all item kernels in CUDA: each header that this file includes gets those of the kernels that it declares.
#define GPUREG_ITEM_ENTRY(kernel) GPUREG_CUDA_ENTRY(kernel)

#include "cuda/runtime/CudaItemEntry.h"

#include "engine/metric/samples/SampleArrays.h"

#include "kernels/core/Adam.h"
#include "kernels/core/NumberForm.h"
#include "kernels/core/RoundedProduct.h"
#include "kernels/core/Strips.h"
#include "kernels/transform/ControlVector.h"
#include "kernels/transform/FieldVectors.h"
#include "kernels/filter/GridInterpolation.h"
#include "kernels/filter/LineConvolution.h"
#include "kernels/image/ContentHash.h"
#include "kernels/image/ImageValues.h"
#include "kernels/image/NumberTypes.h"
#include "kernels/metric/histogram/Histogram.h"
#include "kernels/metric/histogram/MattesSample.h"
#include "kernels/metric/histogram/MattesFixedPoint.h"
#include "kernels/metric/histogram/MattesVoxelForces.h"
#include "kernels/metric/samples/ControlGrid.h"
#include "kernels/metric/samples/MovingVoxels.h"
#include "kernels/metric/samples/PreTransformMoves.h"
#include "kernels/registration/free_form/ControlSteps.h"
#include "kernels/resample/Displacement.h"
#include "engine/resample/WindowedKernels.h"
#include "engine/field/FieldKernels.h"
#include "engine/field/StartKernels.h"
