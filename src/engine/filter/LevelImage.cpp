// SPDX-License-Identifier: Apache-2.0
#include "engine/filter/LevelImage.h"

#include "gpureg/core/Error.h"
#include "gpureg/transform/TransformChain.h"

#include "engine/core/Matrix3.h"
#include "engine/image/SummarizeImage.h"
#include "engine/image/WideValues.h"

#include "kernels/core/NumberForm.h"
#include "kernels/image/NumberTypes.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace gpureg
{

namespace
{
/** Downloads count of an image's values, beginning at value first. */
std::vector<double>
DownloadChunk(Queue & queue, const DeviceImage & image, std::int64_t first, std::int64_t count)
{
  const std::size_t size = BytesOf(image.GetNumberType());
  std::vector<char> part(size * static_cast<std::size_t>(count));
  queue.MarkMade(0);
  queue.StartDownload(part.data(), *image.GetNumbers(), part.size(), size * static_cast<std::size_t>(first), 0);
  queue.Finish();
  std::vector<double> values(static_cast<std::size_t>(count));
  for (std::int64_t n = 0; n < count; ++n)
  {
    values[static_cast<std::size_t>(n)] = kernels::ReadNumber(part.data(), static_cast<int>(image.GetNumberType()), n);
  }
  return values;
}
} // namespace

RegisteredImage
AsRegistered(const LevelImage & level)
{
  return { level.image, level.mask, level.image->GetSize(), level.toPoint };
}

void
CheckDescription(const RegisteredImage & image, const char * which)
{
  const std::string its = std::string("the ") + which;
  const auto        hasVoxels = [&image](const DeviceImage & one) { return one.GetCount() == CountOf(image.size); };
  if (image.image == nullptr || !hasVoxels(*image.image))
  {
    throw BadInputError(its + " image is missing, or has not as many voxels as its size says");
  }
  const IndexMap & map = image.indexToPoint;
  const double     determinant = ComputeDeterminant(map.matrix);
  if (!std::all_of(map.offset.begin(), map.offset.end(), [](double number) { return std::isfinite(number); }) ||
      !std::isfinite(determinant) || determinant == 0)
  {
    throw BadInputError(its + " image lies nowhere: give a map of indices to points that is finite and has an inverse");
  }
  if (image.mask != nullptr && !hasVoxels(*image.mask))
  {
    throw BadInputError(its + " mask has not as many voxels as its image");
  }
}

void
CheckImage(const RegisteredImage & image, const char * which, const std::string & deviceName)
{
  CheckDescription(image, which);
  const std::string its = std::string("the ") + which;
  if (image.image->GetNumbers() == nullptr)
  {
    throw BadInputError(its + " image has no values");
  }
  if (image.image->GetDeviceName() != deviceName)
  {
    throw BadInputError(its + " image is on " + image.image->GetDeviceName() + ", and the registration on " +
                        deviceName);
  }
  if (image.mask != nullptr && (image.mask->GetMemory() == nullptr || image.mask->GetDeviceName() != deviceName))
  {
    throw BadInputError(its + " mask is not on " + deviceName);
  }
}

void
CheckVaries(Queue & queue, const RegisteredImage & image, const char * which)
{
  if (image.mask == nullptr)
  {
    return;
  }
  constexpr std::int64_t perChunk = std::int64_t{ 1 } << 18;
  const std::int64_t     count = image.image->GetCount();
  const std::int64_t     chunks = (count + perChunk - 1) / perChunk;
  double                 least = std::numeric_limits<double>::infinity();
  double                 largest = -least;
  for (std::int64_t n = 0; n < chunks; ++n)
  {
    // Begins in the middle, where most masks are.
    const std::int64_t        first = (n + chunks / 2) % chunks * perChunk;
    const std::int64_t        number = std::min(perChunk, count - first);
    const std::vector<double> values = DownloadChunk(queue, *image.image, first, number);
    const std::vector<double> mask = DownloadChunk(queue, *image.mask, first, number);
    for (std::size_t v = 0; v < values.size(); ++v)
    {
      least = mask[v] >= 0.5 ? std::min(least, values[v]) : least;
      largest = mask[v] >= 0.5 ? std::max(largest, values[v]) : largest;
    }
    if (largest > least)
    {
      return;
    }
  }
  throw BadInputError((least == largest ? std::string("the ") + which + " image is constant inside of its mask"
                                        : std::string("no voxel of the ") + which + " image is inside of its mask") +
                      "; set another one, or none");
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
  made.Make(*image.image, image.size, factors, maker.lines, maker.keepsNarrow);
  result.image = &made;
  if (image.mask != nullptr)
  {
    madeMask.Make(*image.mask, image.size, factors, maker.lines);
    result.mask = &madeMask;
  }
  result.toPoint = Compose(image.indexToPoint, made.GetToImage());
  MemoryPointer widened;
  result.summary = SummarizeImage(maker.queue, made.GetPrecision(), made.GetCount(), Widen(maker.queue, made, widened));
  if (!(result.summary.maximum > result.summary.minimum))
  {
    throw BadInputError(std::string("the ") + which +
                        " image is constant: there is nothing to register; give one whose values vary");
  }
  return result;
}

LevelImage
PlanLevelImage(const Queue &           queue,
               const RegisteredImage & image,
               const Size &            factors,
               bool                    keepsNarrow,
               const std::string &     name,
               const std::string &     scratch,
               ImageLevel &            made,
               ImageLevel &            madeMask,
               MemoryLedger &          ledger)
{
  LevelImage result;
  made.Plan(*image.image, image.size, factors, keepsNarrow, name, scratch, ledger);
  result.image = &made;
  if (image.mask != nullptr)
  {
    madeMask.Plan(*image.mask, image.size, factors, false, name + "'s mask", scratch, ledger);
    result.mask = &madeMask;
  }
  result.toPoint = Compose(image.indexToPoint, made.GetToImage());
  result.summary.maximum = 1;
  result.summary.mean = 0.5;
  ledger.Touch("scratch: summary",
               SummaryOnDevice::CountBytes(queue, made.GetCount()) + (IsNarrow(made) ? CountWideBytes(made) : 0));
  return result;
}

} // namespace gpureg
