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

/** What is read; what there is none of has no name. */
struct FilePairNames
{
  std::string fixed;
  std::string moving;
  /** The transform from fixed to moving points, where it is known. */
  std::string truth;
  std::string fixedLabels;
  std::string movingLabels;
  /** Of a random deformation of the fixed image. */
  std::optional<std::uint32_t> seed;
};

/** Two images that are registered, and what is known of them. */
struct FilePair
{
  Volume::Pointer fixed;
  Volume::Pointer moving;
  /** From fixed to moving points; null where it is not known. */
  Transform::Pointer truth;
  /** Null where the moving image's labels can be compared with none. */
  Labels::Pointer fixedLabels;
  Labels::Pointer movingLabels;
  /** Where a seed is given. */
  std::optional<KnownDeformation> deformation;
};

/** Reads the files, both images at once. With a seed the fixed image is deformed as MakeKnownDeformation() has it, and its labels
 * with it; the truth is then that deformation, and behind it the transform of the file, or nothing where there is none: the images
 * are taken to be in register. Where the truth is known and there are no labels of the fixed image, they are the moving image's,
 * as the truth brings them there.
 * \throws std::runtime_error that names the file and says what is wrong with it and what to do: also of labels that are to be
 * compared, if one of them has none, both have none in common, or the fixed image's are not on its grid */
FilePair
ReadFilePair(const FilePairNames & names);

} // namespace example

#endif
