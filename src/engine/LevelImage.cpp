// SPDX-License-Identifier: Apache-2.0
#include "LevelImage.h"

#include "gpureg/Error.h"
#include "gpureg/TransformChain.h"

#include "SummarizeImage.h"

#include <string>

namespace gpureg
{

void
CheckImage(const RegisteredImage & image, const char * which, const std::string & deviceName)
{
  if (image.image == nullptr || image.image->GetMemory() == nullptr || image.image->GetCount() != CountOf(image.size))
  {
    throw BadInputError(std::string("the ") + which + " image is missing, or has not as many voxels as its size says");
  }
  if (image.image->GetDeviceName() != deviceName)
  {
    throw BadInputError(std::string("the ") + which + " image is on " + image.image->GetDeviceName() +
                        ", and the registration on " + deviceName);
  }
  if (image.mask != nullptr && (image.mask->GetMemory() == nullptr || image.mask->GetCount() != CountOf(image.size) ||
                                image.mask->GetDeviceName() != deviceName))
  {
    throw BadInputError(std::string("the ") + which + " mask has not as many voxels as its image, or is not on " +
                        deviceName);
  }
}

LevelImage
MakeLevelImage(const LevelMaker &      maker,
               const RegisteredImage & image,
               const char *            which,
               const Size &            factors,
               ImageLevel &            made,
               ImageLevel &            madeMask)
{
  LevelImage result;
  made.Make(*image.image, image.size, factors, maker.lines);
  result.image = &made;
  if (image.mask != nullptr)
  {
    madeMask.Make(*image.mask, image.size, factors, maker.lines);
    result.mask = &madeMask;
  }
  result.toPoint = Compose(image.indexToPoint, made.GetToImage());
  result.summary = SummarizeImage(maker.queue, maker.images, made.GetPrecision(), made.GetCount(), *made.GetMemory());
  if (result.summary.notFinite > 0)
  {
    // Smoothing has spread them: those of the image itself are told.
    const auto & original = *image.image;
    const auto   summary =
      SummarizeImage(maker.queue, maker.images, original.GetPrecision(), original.GetCount(), *original.GetMemory());
    throw BadInputError(std::string("the ") + which + " image has " + std::to_string(summary.notFinite) +
                        " values that are infinite or not a number; replace them first");
  }
  if (!(result.summary.maximum > result.summary.minimum))
  {
    throw BadInputError(std::string("the ") + which + " image is constant: there is nothing to register");
  }
  return result;
}

} // namespace gpureg
