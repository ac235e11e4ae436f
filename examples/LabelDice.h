// SPDX-License-Identifier: Apache-2.0
#ifndef LabelDice_h
#define LabelDice_h

#include "Volume.h"

#include <string>
#include <vector>

namespace example
{

/** A number for each voxel: which region of an atlas it is in, or 0 for none. */
using Labels = itk::Image<short, 3>;

/** \throws std::runtime_error if the file cannot be read */
Labels::Pointer
ReadLabels(const std::string & fileName);

/** The label that is nearest to where the transform takes a voxel of the grid; 0 beyond the edge. */
Labels::Pointer
ResampleLabels(const Labels * moving, const VolumeGrid * grid, const Transform * transform);

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

} // namespace example

#endif
