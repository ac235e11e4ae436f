// SPDX-License-Identifier: Apache-2.0
#ifndef LabelDice_h
#define LabelDice_h

#include "Labels.h"

#include <ostream>
#include <vector>

namespace example
{

/** The overlap of a region A in one image and the region B of the same label in another. */
struct LabelDice
{
  short label;
  /** 2 |A ∩ B| / (|A| + |B|): from 0, if they have no voxel in common, to 1, if they are the same. */
  double             dice;
  itk::SizeValueType sizeA;
  itk::SizeValueType sizeB;
};

/** Returns the overlap of all labels but 0 that either image has, in ascending order.
 *  \throws std::runtime_error if the images are not of the same size */
std::vector<LabelDice>
ComputeDice(const Labels * a, const Labels * b);

/** Returns the mean Dice coefficient; each label has the same weight, however large its region is.
 *  \throws std::runtime_error if there is none */
double
GetMeanDice(const std::vector<LabelDice> & labels);

/** Returns the label with the smallest Dice coefficient.
 *  \throws std::runtime_error if there is none */
const LabelDice &
GetSmallestDice(const std::vector<LabelDice> & labels);

/** Prints mean and smallest Dice coefficient in one line. */
std::ostream &
operator<<(std::ostream & os, const std::vector<LabelDice> & labels);

} // namespace example

#endif
