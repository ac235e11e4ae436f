// SPDX-License-Identifier: Apache-2.0
#include "gpureg/registration/MemoryPlan.h"

#include "engine/registration/MemoryPlanning.h"
#include "engine/image/WideValues.h"
#include "engine/runtime/Backend.h"

#include "gpureg/core/Error.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

namespace gpureg
{

PlannedImage::PlannedImage(NumberType type, std::int64_t count, std::string deviceName, std::size_t accountBytes)
  : m_Type(type)
  , m_Count(count)
  , m_DeviceName(std::move(deviceName))
  , m_AccountBytes(accountBytes)
{}

const Memory *
PlannedImage::GetMemory() const
{
  return nullptr;
}

Precision
PlannedImage::GetPrecision() const
{
  return m_Type == NumberType::Float64 ? Precision::Double : Precision::Single;
}

std::int64_t
PlannedImage::GetCount() const
{
  return m_Count;
}

const std::string &
PlannedImage::GetDeviceName() const
{
  return m_DeviceName;
}

std::size_t
PlannedImage::GetAccountBytes() const
{
  return m_AccountBytes;
}

NumberType
PlannedImage::GetNumberType() const
{
  return m_Type;
}

std::size_t
GetAvailableMemory(const std::string & deviceName)
{
  const std::shared_ptr<Backend> backend = GetBackend(deviceName);
  return GetAvailableMemoryOf(*backend, *backend->CreateQueue());
}

std::size_t
GetAvailableMemoryOf(Backend & backend, Queue & queue)
{
  queue.CheckIsUsable();
  // Idle engines free their arrays where memory is short.
  return queue.GetFreeMemory() + backend.GetIdleEngines().GetHeldBytes();
}

std::string
NameBytes(std::size_t bytes)
{
  constexpr double mebibyte = 1 << 20;
  const double     mebibytes = static_cast<double>(bytes) / mebibyte;
  char             text[32];
  if (mebibytes >= 1000)
  {
    std::snprintf(text, sizeof(text), "%.2f GiB", mebibytes / 1024);
  }
  else
  {
    std::snprintf(text, sizeof(text), "%.2f MiB", mebibytes);
  }
  return text;
}

void
CheckFits(const MemoryPlan & plan, const std::string & deviceName, std::size_t available)
{
  if (plan.bytes <= available)
  {
    return;
  }
  std::string text = "out of memory on " + deviceName + ": the registration would hold " + NameBytes(plan.bytes) +
                     ", and there is room for " + NameBytes(available) + "; " + NameBytes(plan.bytes - available) +
                     " are missing: ";
  const auto fits = std::find_if(plan.changes.begin(), plan.changes.end(), [&](const PlannedChange & change) {
    return change.bytes <= available;
  });
  text += fits != plan.changes.end() ? fits->what + " would hold " + NameBytes(fits->bytes)
                                     : "take smaller images, or a device with more memory";
  throw OutOfMemoryError(text);
}

void
AddChangeIfLess(MemoryPlan & plan, const std::string & what, std::size_t bytes)
{
  if (bytes < plan.bytes)
  {
    plan.changes.push_back({ what, bytes });
  }
}

MemoryPlan
MakePlan(const MemoryLedger & ledger)
{
  MemoryPlan plan;
  plan.bytes = ledger.GetMost();
  for (const auto & [name, bytes] : ledger.GetArraysOfMost())
  {
    if (bytes > 0)
    {
      plan.arrays.push_back({ name, bytes });
    }
  }
  std::stable_sort(plan.arrays.begin(), plan.arrays.end(), [](const PlannedArray & a, const PlannedArray & b) {
    return a.bytes > b.bytes;
  });
  return plan;
}

RegisteredImage
PlannedImages::Halve(const RegisteredImage & image)
{
  constexpr int   least = 16;
  RegisteredImage halved = image;
  for (std::size_t d = 0; d < 3; ++d)
  {
    if (image.size[d] >= least)
    {
      halved.size[d] = image.size[d] / 2;
      for (std::size_t r = 0; r < 3; ++r)
      {
        halved.indexToPoint.matrix[3 * r + d] *= 2;
      }
    }
  }
  const std::int64_t count = CountOf(halved.size);
  halved.image = this->Keep(*image.image, image.image->GetNumberType(), count);
  halved.mask = image.mask != nullptr ? this->Keep(*image.mask, image.mask->GetNumberType(), count) : nullptr;
  return halved;
}

RegisteredImage
PlannedImages::Shorten(const RegisteredImage & image)
{
  RegisteredImage shorter = image;
  if (!IsNarrow(*image.image))
  {
    shorter.image = this->Keep(*image.image, NumberType::Int16, image.image->GetCount());
  }
  return shorter;
}

const DeviceImage *
PlannedImages::Keep(const DeviceImage & image, NumberType type, std::int64_t count)
{
  const std::size_t bytes = BytesOf(type) * static_cast<std::size_t>(count);
  m_Images.emplace_back(type, count, image.GetDeviceName(), image.GetAccountBytes() > 0 ? bytes : 0);
  return &m_Images.back();
}

bool
IsCopied(const std::optional<ValueRange> & range)
{
  return range && (std::isfinite((*range)[0]) || std::isfinite((*range)[1]));
}

std::size_t
PlanRegisteredImage(const RegisteredImage &           image,
                    const std::optional<ValueRange> & range,
                    const std::string &               name,
                    MemoryLedger &                    ledger)
{
  const std::size_t values = image.image->GetAccountBytes();
  const std::size_t mask = image.mask != nullptr ? image.mask->GetAccountBytes() : 0;
  ledger.Reserve("images: " + name, values);
  ledger.Reserve("images: " + name + "'s mask", mask);
  if (IsCopied(range))
  {
    ledger.Reserve("images: " + name + " within its range",
                   BytesOf(image.image->GetPrecision()) * static_cast<std::size_t>(image.image->GetCount()));
  }
  return values + mask;
}

} // namespace gpureg
