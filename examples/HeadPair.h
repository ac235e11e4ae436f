// SPDX-License-Identifier: Apache-2.0
#ifndef HeadPair_h
#define HeadPair_h

#include "KnownDeformation.h"
#include "Labels.h"
#include "Volume.h"

#include <cstdint>

namespace example
{

/** Two images made of one, and the transform between them, which a registration should find. */
struct HeadPair
{
  Volume::Pointer fixed;
  Volume::Pointer moving;
  /** Labels of the regions of each image; null if there are no labels of the head. */
  Labels::Pointer fixedLabels;
  Labels::Pointer movingLabels;
  /** The deformation of the fixed image relative to the head. */
  KnownDeformation deformation;
  /** From fixed to moving points: that deformation, followed by MakeTruth()'s affine transform. */
  Transform::Pointer truth;
};

/** Makes a pair: the fixed image is the head, deformed by a random B-spline; the moving one is the head itself, misaligned and in
 *  another contrast, by MakeMovingImage(). Labels are resampled by nearest neighbour.
 *  \param labels of the head's regions, or none
 *  \throws std::runtime_error if there is no head in the image */
HeadPair
MakeHeadPair(const Volume * head, const Labels * labels, std::uint32_t seed);

} // namespace example

#endif
