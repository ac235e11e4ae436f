// SPDX-License-Identifier: Apache-2.0
#include "engine/registration/ImagePairs.h"

#include "engine/registration/MemoryPlanning.h"

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

RangedPairs::RangedPairs(Queue & queue, std::string deviceName)
  : m_Queue(queue)
  , m_DeviceName(std::move(deviceName))
{}

std::vector<FurtherPair>
RangedPairs::Make(std::vector<FurtherPair> pairs, std::vector<std::string> & warnings)
{
  ResizeItems(m_Pairs, pairs.size(), [this] { return std::make_unique<Ranged>(m_Queue, m_DeviceName); });
  for (std::size_t number = 0; number < pairs.size(); ++number)
  {
    FurtherPair &            pair = pairs[number];
    std::vector<std::string> ofPair;
    WithPairNamed(number, [&] {
      pair.fixed = m_Pairs[number]->fixed.Make(pair.fixed, "fixed", pair.fixedRange, ofPair);
      pair.moving = m_Pairs[number]->moving.Make(pair.moving, "moving", pair.movingRange, ofPair);
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
