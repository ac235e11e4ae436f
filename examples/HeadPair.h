// SPDX-License-Identifier: Apache-2.0
#ifndef HeadPair_h
#define HeadPair_h

#include "KnownDeformation.h"
#include "Labels.h"
#include "Volume.h"

#include <cstdint>

namespace example
{

/** Two images that are made of one, and how: so it is known what a registration should find. */
struct HeadPair
{
  Volume::Pointer fixed;
  Volume::Pointer moving;
  /** Of both images' regions; none where there are no labels of the head. */
  Labels::Pointer fixedLabels;
  Labels::Pointer movingLabels;
  /** Of the fixed image against the head. */
  KnownDeformation deformation;
  /** From fixed to moving points: that deformation, and behind it MakeTruth()'s affine transform. */
  Transform::Pointer truth;
};

/** The fixed image is the head, deformed by a random B-spline; the moving one is the head itself, misaligned and seen in another
 * contrast, as MakeMovingImage() has it. Labels follow by nearest neighbour.
 * \param labels of the head's regions, or none
 * \throws std::runtime_error if there is no head in the image */
HeadPair
MakeHeadPair(const Volume * head, const Labels * labels, std::uint32_t seed);

} // namespace example

#endif
