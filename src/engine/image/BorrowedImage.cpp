// SPDX-License-Identifier: Apache-2.0
#include "gpureg/image/BorrowedImage.h"

#include "gpureg/core/Error.h"

#include "engine/runtime/Backend.h"

#include <utility>

namespace gpureg
{

struct BorrowedImage::Content
{
  std::shared_ptr<Backend> backend;
  BorrowedMemory           borrowed;
  MemoryPointer            memory;
};

MemoryPointer
Borrow(Backend & backend, const BorrowedMemory & from)
{
  if (from.address == nullptr || from.count < 1)
  {
    throw BadInputError("an array on " + backend.GetDescription().name + " has no elements");
  }
  backend.CheckIsUsable();
  return backend.Borrow(from, BytesOf(from.type) * static_cast<std::size_t>(from.count));
}

BorrowedImage::BorrowedImage(const std::string & deviceName, BorrowedMemory borrowed)
  : m_Content(new Content{ GetBackend(deviceName), std::move(borrowed), nullptr })
{
  const BorrowedMemory & from = m_Content->borrowed;
  if (from.type != NumberType::Float32 && from.type != NumberType::Float64)
  {
    throw BadInputError(std::string("an image is of float32 or float64, not of ") + GetName(from.type));
  }
  m_Content->memory = Borrow(*m_Content->backend, from);
}

BorrowedImage::~BorrowedImage() = default;

const Memory *
BorrowedImage::GetMemory() const
{
  return m_Content->memory.get();
}

Precision
BorrowedImage::GetPrecision() const
{
  return m_Content->borrowed.type == NumberType::Float64 ? Precision::Double : Precision::Single;
}

std::int64_t
BorrowedImage::GetCount() const
{
  return m_Content->borrowed.count;
}

const std::string &
BorrowedImage::GetDeviceName() const
{
  return m_Content->backend->GetDescription().name;
}

std::uintptr_t
GetMeetingStream(const std::string & deviceName)
{
  const std::shared_ptr<Backend> backend = GetBackend(deviceName);
  backend->CheckIsUsable();
  return backend->GetMeetingStream();
}

std::string
FindDeviceOf(const void * address)
{
  const std::shared_ptr<Backend> backend =
    FindBackendThat([address](Backend & one) { return one.IsUsable() && one.Reaches(address); });
  return backend ? backend->GetDescription().name : std::string();
}

} // namespace gpureg
