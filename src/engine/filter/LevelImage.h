// SPDX-License-Identifier: Apache-2.0
// The images of a level, made of those that are registered.
#ifndef gpureg_LevelImage_h
#define gpureg_LevelImage_h

#include "gpureg/image/LoadedImage.h"
#include "gpureg/image/RegisteredImage.h"

#include "engine/filter/ImageLevel.h"
#include "engine/image/ImagePasses.h"
#include "engine/filter/LinePasses.h"

#include <string>

namespace gpureg
{

/** \throws BadInputError if it, or its mask, is missing, of another size than it says, or not on the device. */
void
CheckImage(const RegisteredImage & image, const char * which, const std::string & deviceName);

/** \throws BadInputError if an image's voxels inside of its mask are all the same. Downloads as many of them to the host as tell. */
void
CheckVaries(Queue & queue, const RegisteredImage & image, const char * which);

/** An image of a level, and what is known of it. */
struct LevelImage
{
  const ImageLevel * image = nullptr;
  ImageSummary       summary;
  /** Of the same voxels, inside where it is a half at least; null where there is none. */
  const ImageLevel * mask = nullptr;
  /** From the level's indices to points. */
  IndexMap toPoint;
};

/** What makes levels on a device. */
struct LevelMaker
{
  Queue &       queue;
  ImagePasses & images;
  LinePasses &  lines;
};

/** Makes a level's image, and its mask if it has one, and looks through it.
 *  \param image of finite values, see RangedImage.
 *  \param factors see ImageLevel::Make().
 *  \throws BadInputError if the image has no two values. */
LevelImage
MakeLevelImage(const LevelMaker &      maker,
               const RegisteredImage & image,
               const char *            which,
               const Size &            factors,
               ImageLevel &            made,
               ImageLevel &            madeMask);

} // namespace gpureg

#endif
