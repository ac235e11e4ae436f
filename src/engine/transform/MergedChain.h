// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_MergedChain_h
#define gpureg_MergedChain_h

#include "kernels/core/Prelude.h"
#include "kernels/transform/BSpline.h"
#include "kernels/transform/FixedMap.h"
#include "kernels/transform/TransformChain.h"

#include "engine/core/Matrix3.h"

#include "gpureg/transform/TransformChain.h"

#include <vector>

namespace gpureg
{

/** A chain whose affine maps are composed in double precision, in the form that kernels read. */
struct MergedChain
{
  /** Maps an index of the output to an index of the input. */
  kernels::FixedMap toInput;
  /** The nonlinear parts. Their vectors are stored one part after another. */
  std::vector<kernels::ChainPart> parts;
  /** Maps each grid's own vectors to those that kernels read, which are in the units of the next grid. */
  std::vector<Matrix3> vectorMatrices;
  /** If J is the derivative of a grid's transform of points, behind·J·fromGrid is the derivative of the position in the next grid with
   *  respect to the position in this grid. */
  std::vector<Matrix3> behind;
  std::vector<Matrix3> fromGrid;
};

/** Composes the affine maps of a chain.
 *  \throws Error if the output is mapped farther away than fixed-point positions reach, or if a grid's directions are singular */
MergedChain
MergeChain(const ChainedGrid & grid);

} // namespace gpureg

#endif
