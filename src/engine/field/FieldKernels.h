// SPDX-License-Identifier: Apache-2.0
// The kernels of fields, in the order in which they build on each other. Whoever compiles them for a device includes its prelude first.
#ifndef gpureg_FieldKernels_h
#define gpureg_FieldKernels_h

#include "kernels/core/Prelude.h"
#include "kernels/core/Adam.h"
#include "kernels/core/Determinant.h"
#include "kernels/core/Evaluated.h"
#include "kernels/core/NumberForm.h"
#include "kernels/core/Strips.h"
#include "kernels/transform/FixedMap.h"
#include "kernels/field/FieldGrid.h"
#include "kernels/field/FieldComposition.h"
#include "kernels/field/FieldSums.h"
#include "kernels/field/FieldAdam.h"
#include "kernels/field/FieldBlocks.h"
#include "kernels/field/FieldSmoothing.h"
#include "kernels/field/FieldInversion.h"
#include "kernels/field/FieldNewton.h"
#include "kernels/field/FieldJacobian.h"
#include "kernels/field/FieldUnfolding.h"
#include "kernels/field/FieldReduction.h"
#include "kernels/field/MiddleImage.h"
#include "kernels/field/FieldWarp.h"
#include "kernels/field/BoxCorrelation.h"
#include "kernels/field/SampleForces.h"
#include "kernels/field/ForceSum.h"

#endif
