// SPDX-License-Identifier: Apache-2.0
#include "gpureg/image/DeviceImage.h"

#include "engine/runtime/Backend.h"

#include <utility>

namespace gpureg
{

struct MadeImage::Content
{
  std::shared_ptr<Backend> backend;
  MemoryPointer            memory;
  Precision                precision;
  std::int64_t             count;

  const Backend &
  GetBackend() const
  {
    return *backend;
  }
};

DeviceImage::~DeviceImage() = default;

std::size_t
DeviceImage::GetAccountBytes() const
{
  return BytesOf(this->GetNumberType()) * static_cast<std::size_t>(this->GetCount());
}

void *
DeviceImage::GetAddress() const
{
  const Memory * const memory = this->GetMemory();
  return memory != nullptr ? memory->GetAddress() : nullptr;
}

MadeImage::MadeImage(std::shared_ptr<Backend> backend, MemoryPointer memory, Precision precision, std::int64_t count)
  : m_Content(new Content{ std::move(backend), std::move(memory), precision, count })
{}

MadeImage::~MadeImage()
{
  FreeUnlessForked(m_Content);
}

const Memory *
MadeImage::GetMemory() const
{
  return m_Content->memory.get();
}

Precision
MadeImage::GetPrecision() const
{
  return m_Content->precision;
}

std::int64_t
MadeImage::GetCount() const
{
  return m_Content->count;
}

const std::string &
MadeImage::GetDeviceName() const
{
  return m_Content->backend->GetDescription().name;
}

} // namespace gpureg
