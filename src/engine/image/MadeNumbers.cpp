// SPDX-License-Identifier: Apache-2.0
#include "gpureg/image/MadeNumbers.h"

#include "engine/runtime/Backend.h"

#include <utility>

namespace gpureg
{

struct MadeNumbers::Content
{
  std::shared_ptr<Backend> backend;
  MemoryPointer            memory;
  NumberType               type;

  const Backend &
  GetBackend() const
  {
    return *backend;
  }
};

MadeNumbers::MadeNumbers(std::shared_ptr<Backend> backend, MemoryPointer memory, NumberType type)
  : m_Content(new Content{ std::move(backend), std::move(memory), type })
{}

MadeNumbers::~MadeNumbers()
{
  FreeUnlessForked(m_Content);
}

void *
MadeNumbers::GetAddress() const
{
  return m_Content->memory->GetAddress();
}

NumberType
MadeNumbers::GetType() const
{
  return m_Content->type;
}

const std::string &
MadeNumbers::GetDeviceName() const
{
  return m_Content->backend->GetDescription().name;
}

} // namespace gpureg
