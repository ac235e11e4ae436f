// SPDX-License-Identifier: Apache-2.0
#include "engine/image/RangedImage.h"

#include "gpureg/core/Error.h"

#include "engine/image/SummarizeImage.h"
#include "engine/image/ValueRange.h"
#include "engine/image/WideValues.h"
#include "engine/runtime/ForEachItem.h"

#include <algorithm>
#include <cstddef>
#include <iomanip>
#include <locale>
#include <sstream>
#include <utility>

namespace gpureg
{

namespace
{
// The number of values from which an image's range is computed. If one voxel in a thousand has a value, about eight of them are picked.
constexpr std::int64_t SampleCount = 8192;

/** Returns the warning about values outside an image's range. */
std::string
DescribeOutliers(const char *                        which,
                 const ValueRange &                  all,
                 const FoundRange &                  found,
                 const std::array<std::int64_t, 2> & outside)
{
  const bool         areBoth = outside[0] > 0 && outside[1] > 0;
  const bool         isOne = outside[0] + outside[1] == 1;
  std::ostringstream text;
  text.imbue(std::locale::classic());
  text << std::setprecision(5) << "the " << which << " image has ";
  if (outside[0] > 0)
  {
    text << outside[0] << (outside[0] == 1 ? " value" : " values") << " below " << found.range[0] << ", down to "
         << all[0];
  }
  text << (areBoth ? ", and " : "");
  if (outside[1] > 0)
  {
    text << outside[1] << (outside[1] == 1 ? " value" : " values") << " above " << found.range[1] << ", up to "
         << all[1];
  }
  text << ": registered as " << (isOne ? "its" : "their") << " neighbours, or as ";
  if (areBoth)
  {
    text << found.becomes[0] << " and " << found.becomes[1];
  }
  else
  {
    text << (outside[0] > 0 ? found.becomes[0] : found.becomes[1]);
  }
  text << "; set that image's range of values if " << (isOne ? "it is no outlier" : "they are no outliers");
  return text.str();
}

/** \throws BadInputError if the range is empty, or excludes all values */
void
CheckRange(const char * which, const ValueRange & all, const ValueRange & range)
{
  if (!(range[0] < range[1]))
  {
    throw BadInputError(std::string("the range of the ") + which +
                        " image's values is none: give one from the smaller number to the larger one");
  }
  // Other checks report a constant image.
  if (all[0] < all[1] && (all[1] <= range[0] || all[0] >= range[1]))
  {
    std::ostringstream text;
    text.imbue(std::locale::classic());
    text << "the range from " << range[0] << " to " << range[1] << " leaves nothing of the " << which
         << " image, whose values are from " << all[0] << " to " << all[1] << "; set another one, or none";
    throw BadInputError(text.str());
  }
}

/** Picks some of an image's values, which are in its precision. */
std::vector<double>
PickValues(Queue & queue, const DeviceImage & image, const Memory & values)
{
  const std::int64_t  count = std::min(SampleCount, image.GetCount());
  std::vector<double> picked;
  WithReal(image.GetPrecision(), [&](auto zero) {
    using Real = decltype(zero);
    std::vector<Real>   sample(static_cast<std::size_t>(count));
    const std::size_t   bytes = sizeof(Real) * sample.size();
    const MemoryPointer onDevice = queue.Allocate(bytes);
    ForEachItem<kernels::PickValueKernel>(queue,
                                          count,
                                          image.GetPrecision(),
                                          Input<RealNumber>(values),
                                          image.GetCount(),
                                          count,
                                          Output<RealNumber>(*onDevice));
    queue.Download(sample.data(), *onDevice, bytes);
    picked.assign(sample.begin(), sample.end());
  });
  return picked;
}
} // namespace

std::vector<std::int64_t>
ListPickedPlaces(std::int64_t count)
{
  const std::int64_t        parts = std::min(SampleCount, count);
  std::vector<std::int64_t> places(static_cast<std::size_t>(parts));
  for (std::int64_t number = 0; number < parts; ++number)
  {
    places[static_cast<std::size_t>(number)] = kernels::PickPlace(count, parts, number);
  }
  return places;
}

std::optional<ValueRange>
FindRangeWithoutOutliers(const std::vector<double> & sample, const ValueRange & all)
{
  const FoundValues found{ all, ComputeValueRange(sample, all) };
  return found.AreOutside() ? std::optional<ValueRange>(found.range.range) : std::nullopt;
}

FoundValues
FindValues(Queue & queue, const RegisteredImage & image, const char * which, const std::optional<ValueRange> & given)
{
  const DeviceImage & stored = *image.image;
  MemoryPointer       widened;
  const Memory &      values = Widen(queue, stored, widened);
  const ImageSummary  summary = SummarizeImage(queue, stored.GetPrecision(), stored.GetCount(), values);
  if (summary.notFinite > 0)
  {
    const bool isOne = summary.notFinite == 1;
    throw BadInputError(std::string("the ") + which + " image has " +
                        (isOne ? "one value that is" : std::to_string(summary.notFinite) + " values that are") +
                        " infinite or not a number; replace " + (isOne ? "it" : "them") + " first");
  }
  const ValueRange all{ summary.minimum, summary.maximum };
  if (given)
  {
    CheckRange(which, all, *given);
    return { all, { *given, *given }, true };
  }
  return { all, ComputeValueRange(PickValues(queue, stored, values), all), false };
}

RangedImage::RangedImage(Queue & queue, std::string deviceName)
  : m_Queue(queue)
  , m_DeviceName(std::move(deviceName))
{}

RegisteredImage
RangedImage::Make(const RegisteredImage &    image,
                  const char *               which,
                  const FoundValues &        found,
                  std::vector<std::string> & warnings)
{
  if (!found.AreOutside())
  {
    m_Values.reset();
    m_Count = 0;
    return image;
  }
  MemoryPointer widened;
  const auto    outside = this->Clamp(image, Widen(m_Queue, *image.image, widened), found.range, !found.isGiven);
  if (!found.isGiven)
  {
    warnings.push_back(DescribeOutliers(which, found.all, found.range, outside));
  }
  RegisteredImage ranged = image;
  ranged.image = this;
  return ranged;
}

std::array<std::int64_t, 2>
RangedImage::Clamp(const RegisteredImage & image, const Memory & values, const FoundRange & found, bool mends)
{
  m_Precision = image.image->GetPrecision();
  m_Count = image.image->GetCount();
  Reserve(m_Queue, m_Values, BytesOf(m_Precision) * static_cast<std::size_t>(m_Count));
  const kernels::Strips     strips = CutIntoStrips(m_Queue, m_Count);
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(kernels::ClampNumbers * strips.number));
  const std::size_t         bytes = sizeof(std::int64_t) * numbers.size();
  const MemoryPointer       onDevice = m_Queue.Allocate(bytes);
  kernels::ClampArguments   a{};
  a.least = found.range[0];
  a.most = found.range[1];
  std::copy(found.becomes.begin(), found.becomes.end(), a.becomes);
  a.strips = strips;
  a.shape = kernels::MakeVolumeShape(image.size[0], image.size[1], image.size[2]);
  a.mends = mends ? 1 : 0;
  ForEachItem<kernels::ClampStripKernel>(m_Queue,
                                         strips.number,
                                         m_Precision,
                                         a,
                                         Input<RealNumber>(values),
                                         Output<RealNumber>(*m_Values),
                                         Output<std::int64_t>(*onDevice));
  m_Queue.Download(numbers.data(), *onDevice, bytes);
  std::array<std::int64_t, 2> outside{};
  for (std::size_t n = 0; n < numbers.size(); ++n)
  {
    outside[n % kernels::ClampNumbers] += numbers[n];
  }
  return outside;
}

} // namespace gpureg
