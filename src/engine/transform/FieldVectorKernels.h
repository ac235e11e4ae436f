// SPDX-License-Identifier: Apache-2.0
// Includes the kernels that pack the vectors of fields.
#ifndef gpureg_FieldVectorKernels_h
#define gpureg_FieldVectorKernels_h

#include "kernels/core/Prelude.h"
#include "kernels/core/RoundedProduct.h"
#include "kernels/transform/FieldVectors.h"

#endif
