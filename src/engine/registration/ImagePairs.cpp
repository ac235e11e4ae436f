// SPDX-License-Identifier: Apache-2.0
#include "engine/registration/ImagePairs.h"

#include <array>
#include <set>
#include <utility>

namespace gpureg
{

std::vector<WeighedPair>
WeighPairs(const std::vector<FurtherPair> & pairs, FirstPair first)
{
  std::vector<WeighedPair> weighed;
  double                   sum = 0;
  for (std::size_t number = 0; number < pairs.size(); ++number)
  {
    sum += pairs[number].weight;
    if (pairs[number].weight > 0 || (number == 0 && first == FirstPair::IsKept))
    {
      weighed.push_back({ pairs[number], number });
    }
  }
  for (WeighedPair & one : weighed)
  {
    one.pair.weight /= sum;
  }
  return weighed;
}

std::string
NamePair(std::size_t number)
{
  return number == 0 ? "" : "pair " + std::to_string(number + 1) + ": ";
}

std::size_t
PlanPairs(const std::vector<FurtherPair> & pairs, MemoryLedger & ledger)
{
  std::size_t                   bytes = 0;
  std::set<const DeviceImage *> known;
  for (std::size_t number = 0; number < pairs.size(); ++number)
  {
    const auto plan = [&](const RegisteredImage & image, const std::optional<ValueRange> & range, const char * which) {
      RegisteredImage its = image;
      // Several pairs may have the same images, and masks.
      const std::string name = "pair " + std::to_string(number + 1) + " " + which;
      const bool        isNew = known.insert(image.image).second;
      const bool        hasNewMask = image.mask != nullptr && known.insert(image.mask).second;
      its.mask = hasNewMask ? image.mask : nullptr;
      bytes += PlanRegisteredImage(its, range, name, ledger);
      if (!isNew)
      {
        ledger.Free("images: " + name);
        bytes -= image.image->GetAccountBytes();
      }
    };
    plan(pairs[number].fixed, pairs[number].fixedRange, "fixed");
    plan(pairs[number].moving, pairs[number].movingRange, "moving");
  }
  return bytes;
}

std::vector<FurtherPair>
PlannedCopies::Make(std::vector<FurtherPair> pairs)
{
  const auto copy = [this](RegisteredImage & image, const std::optional<ValueRange> & range) {
    if (IsCopied(range))
    {
      const DeviceImage & its = *image.image;
      // PlanPairs() has written its bytes down.
      m_Images.emplace_back(TypeOf(its.GetPrecision()), its.GetCount(), its.GetDeviceName(), 0);
      image.image = &m_Images.back();
    }
  };
  for (FurtherPair & pair : pairs)
  {
    copy(pair.fixed, pair.fixedRange);
    copy(pair.moving, pair.movingRange);
  }
  return pairs;
}

RangedPairs::RangedPairs(Queue & queue, std::string deviceName)
  : m_Queue(queue)
  , m_DeviceName(std::move(deviceName))
{}

std::vector<FurtherPair>
RangedPairs::Make(std::vector<FurtherPair> pairs, const CheckRoom & checkRoom, std::vector<std::string> & warnings)
{
  std::vector<std::array<FoundValues, 2>> found;
  std::vector<FurtherPair>                planned = pairs;
  bool                                    areCopied = false;
  for (std::size_t number = 0; number < pairs.size(); ++number)
  {
    const FurtherPair & pair = pairs[number];
    WithPairNamed(number, [&] {
      found.push_back({ FindValues(m_Queue, pair.fixed, "fixed", pair.fixedRange),
                        FindValues(m_Queue, pair.moving, "moving", pair.movingRange) });
    });
    const auto plan = [&](const FoundValues & values, std::optional<ValueRange> & range) {
      range = values.AreOutside() ? std::optional<ValueRange>(values.range.range) : std::nullopt;
      areCopied = areCopied || range;
    };
    plan(found.back()[0], planned[number].fixedRange);
    plan(found.back()[1], planned[number].movingRange);
  }
  checkRoom(planned, areCopied);
  ResizeItems(m_Pairs, pairs.size(), [this] { return std::make_unique<Ranged>(m_Queue, m_DeviceName); });
  for (std::size_t number = 0; number < pairs.size(); ++number)
  {
    FurtherPair &            pair = pairs[number];
    std::vector<std::string> ofPair;
    WithPairNamed(number, [&] {
      pair.fixed = m_Pairs[number]->fixed.Make(pair.fixed, "fixed", found[number][0], ofPair);
      pair.moving = m_Pairs[number]->moving.Make(pair.moving, "moving", found[number][1], ofPair);
    });
    for (const std::string & warning : ofPair)
    {
      warnings.push_back(NamePair(number) + warning);
    }
  }
  return pairs;
}

std::size_t
RangedPairs::GetDeviceBytes() const
{
  std::size_t bytes = 0;
  for (const auto & pair : m_Pairs)
  {
    bytes += pair->fixed.GetDeviceBytes() + pair->moving.GetDeviceBytes();
  }
  return bytes;
}

} // namespace gpureg
