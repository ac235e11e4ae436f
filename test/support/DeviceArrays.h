// SPDX-License-Identifier: Apache-2.0
#ifndef DeviceArrays_h
#define DeviceArrays_h

#include "engine/runtime/Backend.h"
#include "engine/runtime/Operation.h"
#include "engine/runtime/Queue.h"

#include "TestParallelFor.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace gpuregtest
{

/** A queue of a device, on which an operation runs, and arrays there. */
class DeviceArrays
{
public:
  explicit DeviceArrays(const std::string & device, std::int64_t threads = 2)
    : m_Backend(gpureg::GetBackend(device))
    , m_Queue(m_Backend->CreateQueue())
    , m_Operation(*m_Queue, OnThreads(threads))
  {}

  gpureg::Queue &
  GetQueue()
  {
    return *m_Queue;
  }

  template <typename T>
  gpureg::MemoryPointer
  Upload(const std::vector<T> & elements)
  {
    gpureg::MemoryPointer memory = m_Queue->Allocate(sizeof(T) * elements.size());
    m_Queue->Upload(*memory, 0, elements.data(), memory->GetSize());
    m_Queue->Finish();
    return memory;
  }

  template <typename T>
  std::vector<T>
  Download(const gpureg::MemoryPointer & memory)
  {
    std::vector<T> elements(memory->GetSize() / sizeof(T));
    m_Queue->Download(elements.data(), *memory, memory->GetSize());
    return elements;
  }

protected:
  std::shared_ptr<gpureg::Backend> m_Backend;
  std::unique_ptr<gpureg::Queue>   m_Queue;
  gpureg::Operation                m_Operation;
};

} // namespace gpuregtest

#endif
