// SPDX-License-Identifier: Apache-2.0
#ifndef LabelDice_h
#define LabelDice_h

#include "Labels.h"

#include <ostream>
#include <vector>

namespace example
{

/** Of a region A in one image and the region B of the same label in another. */
struct LabelDice
{
  short label;
  /** 2 |A ∩ B| / (|A| + |B|): from 0, where they have no voxel in common, to 1, where they are the same. */
  double             dice;
  itk::SizeValueType sizeA;
  itk::SizeValueType sizeB;
};

/** Of all labels but 0 that either image has, in ascending order.
 * \throws std::runtime_error if the images are not of the same size */
std::vector<LabelDice>
ComputeDice(const Labels * a, const Labels * b);

/** Each label counts the same, however large its region is.
 * \throws std::runtime_error if there is none */
double
GetMeanDice(const std::vector<LabelDice> & labels);

/** The label whose region is met worst.
 * \throws std::runtime_error if there is none */
const LabelDice &
GetSmallestDice(const std::vector<LabelDice> & labels);

/** In one line: mean and smallest. */
std::ostream &
operator<<(std::ostream & os, const std::vector<LabelDice> & labels);

} // namespace example

#endif
