// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_FurtherPair_h
#define gpureg_FurtherPair_h

#include "gpureg/image/RegisteredImage.h"
#include "gpureg/metric/Similarity.h"

#include <optional>

namespace gpureg
{

/** Describes a pair of images that is compared beside the first pair, such as a T2-weighted one beside a T1-weighted one, or the channels
 *  of a label map; several pairs may have the same images, and other similarities. */
struct FurtherPair
{
  /** Lies in the first fixed image's space; in the greedy scheme it has that image's grid. */
  RegisteredImage fixed;
  /** Lies in the first moving image's space, on any grid. */
  RegisteredImage moving;
  /** Compares the pair. The registration method must be able to use it. */
  SimilaritySettings similarity{ SimilarityKind::NeighborhoodCorrelation, 32, 2 };
  /** The pair's share, relative to the first pair's; 0 leaves it out. See DiffeomorphicSettings::weight and GlobalProblem::further. */
  double                    weight = 1;
  std::optional<ValueRange> fixedRange;
  std::optional<ValueRange> movingRange;
};

} // namespace gpureg

#endif
