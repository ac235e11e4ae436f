// SPDX-License-Identifier: Apache-2.0
#include "gpureg/image/NarrowImage.h"

#include "gpureg/core/Error.h"

#include "engine/runtime/Backend.h"
#include "engine/runtime/Operation.h"
#include "engine/runtime/Transfer.h"

#include <cstring>

namespace gpureg
{

struct NarrowImage::Content
{
  std::shared_ptr<Backend> backend;
  std::unique_ptr<Queue>   queue;
  MemoryPointer            memory;
  NumberType               type;
  std::int64_t             count;

  const Backend &
  GetBackend() const
  {
    return *backend;
  }
};

bool
IsNarrow(NumberType type)
{
  return type == NumberType::UInt8 || type == NumberType::Int8 || type == NumberType::UInt16 ||
         type == NumberType::Int16;
}

NarrowImage::NarrowImage(const std::string & deviceName,
                         NumberType          type,
                         const void *        values,
                         std::int64_t        count,
                         const ParallelFor & parallelFor)
  : m_Content(new Content{ GetBackend(deviceName), nullptr, nullptr, type, count })
{
  if (count < 1 || values == nullptr)
  {
    throw BadInputError("an image to load has no voxels");
  }
  if (!IsNarrow(type))
  {
    throw BadInputError(std::string("an image of ") + GetName(type) +
                        " is to be kept as integers of up to 16 bits; load it as floats");
  }
  if (!m_Content->backend->HasDoubles())
  {
    throw UnsupportedError(deviceName + " cannot compute in double precision; use another device");
  }
  m_Content->queue = m_Content->backend->CreateQueue();
  Queue &           queue = *m_Content->queue;
  const std::size_t size = BytesOf(type);
  Operate(queue, parallelFor, [&] {
    m_Content->memory = queue.Wrap(const_cast<void *>(values), size * static_cast<std::size_t>(count));
    if (!m_Content->memory)
    {
      UploadExactly(
        queue, m_Content->memory, size, count, [values, size](std::int64_t first, std::int64_t number, void * out) {
          std::memcpy(out,
                      static_cast<const char *>(values) + static_cast<std::size_t>(first) * size,
                      static_cast<std::size_t>(number) * size);
        });
    }
    queue.Finish();
  });
}

NarrowImage::~NarrowImage()
{
  FreeUnlessForked(m_Content);
}

const Memory *
NarrowImage::GetMemory() const
{
  return nullptr;
}

Precision
NarrowImage::GetPrecision() const
{
  return Precision::Single;
}

std::int64_t
NarrowImage::GetCount() const
{
  return m_Content->count;
}

const std::string &
NarrowImage::GetDeviceName() const
{
  return m_Content->backend->GetDescription().name;
}

std::size_t
NarrowImage::GetAccountBytes() const
{
  return m_Content->queue->IsHost() ? 0 : m_Content->memory->GetSize();
}

const Memory *
NarrowImage::GetNumbers() const
{
  return m_Content->memory.get();
}

NumberType
NarrowImage::GetNumberType() const
{
  return m_Content->type;
}

EvaluationStatistics
NarrowImage::GetStatistics() const
{
  EvaluationStatistics statistics = m_Content->queue->GetStatistics();
  statistics.deviceBytes = static_cast<std::int64_t>(this->GetAccountBytes());
  statistics.largestArrayBytes = statistics.deviceBytes;
  return statistics;
}

} // namespace gpureg
