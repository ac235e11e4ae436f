// SPDX-License-Identifier: Apache-2.0
// Includes the kernels that apply a transform chain after a displacement field.
#ifndef gpureg_StartKernels_h
#define gpureg_StartKernels_h

#include "kernels/core/Prelude.h"
#include "kernels/core/Determinant.h"
#include "kernels/transform/BSpline.h"
#include "kernels/transform/FixedMap.h"
#include "kernels/transform/TransformChain.h"
#include "kernels/transform/ChainSlopes.h"
#include "kernels/field/FieldGrid.h"
#include "kernels/field/FieldNewton.h"
#include "kernels/field/FieldStart.h"

#endif
