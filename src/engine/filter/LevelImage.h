// SPDX-License-Identifier: Apache-2.0
// The images of a level, made from the images that are registered.
#ifndef gpureg_LevelImage_h
#define gpureg_LevelImage_h

#include "gpureg/image/LoadedImage.h"
#include "gpureg/image/RegisteredImage.h"

#include "engine/filter/ImageLevel.h"
#include "engine/filter/LinePasses.h"

#include <string>

namespace gpureg
{

/** Checks an image that need not be on a device. which: "fixed" or "moving"
 *  \throws BadInputError if the image is missing, if it or its mask has another number of voxels than the image's size says, or if the
 *  image's map to points is not finite or has no inverse */
void
CheckDescription(const RegisteredImage & image, const char * which);

/** Calls CheckDescription().
 *  \throws BadInputError if the image or its mask has no values, or is not on the device */
void
CheckImage(const RegisteredImage & image, const char * which, const std::string & deviceName);

/** Downloads voxels until two different values inside the mask are found. Does nothing without a mask.
 *  \throws BadInputError if all voxels inside the mask have one value, or there are none */
void
CheckVaries(Queue & queue, const RegisteredImage & image, const char * which);

/** An image of a level, with its summary. */
struct LevelImage
{
  const ImageLevel * image = nullptr;
  ImageSummary       summary;
  /** The summary on the device, if the host does not know it: see SampledImage::summary. The one above is then that of values from 0 to
   *  1. */
  const Memory * summaryOnDevice = nullptr;
  /** The level's mask: voxels of at least one half are inside. Null if there is no mask. */
  const ImageLevel * mask = nullptr;
  /** Maps the level's indices to points. */
  IndexMap toPoint;
};

/** Returns a level as an image that could be registered. */
RegisteredImage
AsRegistered(const LevelImage & level);

/** The queue and the passes that make levels. */
struct LevelMaker
{
  Queue &      queue;
  LinePasses & lines;
  /** True if a level with all voxels of an image of 8 or 16 bits may have such numbers itself; see ImageLevel::Make(). */
  bool keepsNarrow = false;
};

/** Makes a level's image, and its mask if the image has one, and computes the summary.
 *  \param image an image of finite values; see RangedImage
 *  \param factors see ImageLevel::Make()
 *  \throws BadInputError if all values of the level are equal */
LevelImage
MakeLevelImage(const LevelMaker &      maker,
               const RegisteredImage & image,
               const char *            which,
               const Size &            factors,
               ImageLevel &            made,
               ImageLevel &            madeMask);

/** Describes a level's image, and its mask, as MakeLevelImage() makes them, without a device, and writes their arrays down. The summary is
 *  that of values from 0 to 1.
 *  \param keepsNarrow see LevelMaker
 *  \param name what the arrays' names begin with
 *  \param scratch that of the arrays that the level shares */
LevelImage
PlanLevelImage(const Queue &           queue,
               const RegisteredImage & image,
               const Size &            factors,
               bool                    keepsNarrow,
               const std::string &     name,
               const std::string &     scratch,
               ImageLevel &            made,
               ImageLevel &            madeMask,
               MemoryLedger &          ledger);

} // namespace gpureg

#endif
