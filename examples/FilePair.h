// SPDX-License-Identifier: Apache-2.0
#ifndef FilePair_h
#define FilePair_h

#include "KnownDeformation.h"
#include "Labels.h"
#include "Volume.h"

#include <cstdint>
#include <optional>
#include <string>

namespace example
{

/** The names of the files to read; empty if there is none. */
struct FilePairNames
{
  std::string fixed;
  std::string moving;
  /** The transform from fixed to moving points, if it is known. */
  std::string truth;
  std::string fixedLabels;
  std::string movingLabels;
  /** The seed of a random deformation of the fixed image. */
  std::optional<std::uint32_t> seed;
};

/** Two images to register, and the known facts about them. */
struct FilePair
{
  Volume::Pointer fixed;
  Volume::Pointer moving;
  /** From fixed to moving points; null if it is unknown. */
  Transform::Pointer truth;
  /** Null if there is nothing with which the moving image's labels can be compared. */
  Labels::Pointer fixedLabels;
  Labels::Pointer movingLabels;
  /** If a seed is given. */
  std::optional<KnownDeformation> deformation;
};

/** Reads the files, both images at once. With a seed the fixed image is deformed by MakeKnownDeformation(), and its labels with it; the
 *  truth is then that deformation, followed by the transform of the file, if there is one: otherwise the images are taken to be aligned.
 *  If the truth is known and there are no labels of the fixed image, they are the moving image's, resampled by the truth.
 *  \throws std::runtime_error that names the file, the problem and the remedy; also for labels that are to be compared, if one of the
 *  images has none, they have none in common, or the fixed image's are not on its grid */
FilePair
ReadFilePair(const FilePairNames & names);

} // namespace example

#endif
