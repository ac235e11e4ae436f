// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_FoldedChain_h
#define gpureg_FoldedChain_h

#include "kernels/core/Prelude.h"
#include "kernels/transform/BSpline.h"
#include "kernels/transform/FixedMap.h"
#include "kernels/transform/TransformChain.h"

#include "engine/core/Matrix3.h"

#include "gpureg/transform/TransformChain.h"

#include <vector>

namespace gpureg
{

/** A chain with all that is affine folded into it, in double: what the kernels are given. */
struct FoldedChain
{
  /** Index of the output → index of the input. */
  kernels::FixedMap toInput;
  /** Their vectors lie one behind the other, in the order of the parts. */
  std::vector<kernels::ChainPart> parts;
  /** A grid's own vectors to those that the kernels read, which are in the units of the next grid. */
  std::vector<Matrix3> vectorMatrices;
  /** With J, the derivative of a grid's own transform of points, behind·J·fromGrid is that of the position in the next grid by
   *  the one in this. */
  std::vector<Matrix3> behind;
  std::vector<Matrix3> fromGrid;
};

/** \throws Error if the output maps further away than fixed-point positions reach, or a grid is singular. */
FoldedChain
FoldChain(const ChainedGrid & grid);

} // namespace gpureg

#endif
