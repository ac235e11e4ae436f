// SPDX-License-Identifier: Apache-2.0
#include "gpureg/image/LoadedImage.h"

#include "gpureg/core/Error.h"

#include "engine/runtime/Backend.h"
#include "engine/runtime/Operation.h"
#include "engine/image/JoinHash.h"
#include "engine/image/SummarizeImage.h"
#include "engine/runtime/ForEachItem.h"
#include "engine/runtime/Transfer.h"

#include "kernels/image/ContentHash.h"

#include <cstring>
#include <optional>
#include <utility>
#include <vector>

namespace gpureg
{

class LoadedImage::Implementation
{
public:
  explicit Implementation(const std::string & deviceName)
    : m_Backend(gpureg::GetBackend(deviceName))
    , m_Queue(m_Backend->CreateQueue())
  {}

  Backend &
  GetBackend() const
  {
    return *m_Backend;
  }

  void
  Load(const Source &      source,
       Precision           precision,
       const void *        values,
       std::int64_t        count,
       const ParallelFor & parallelFor)
  {
    if (count < 1 || values == nullptr)
    {
      throw BadInputError("an image to load has no voxels");
    }
    if (!m_Backend->HasDoubles())
    {
      throw UnsupportedError(m_Backend->GetDescription().name +
                             " cannot compute in double precision; use another device");
    }
    Operate(*m_Queue, parallelFor, [&] {
      std::optional<std::uint64_t> hash;
      if (!IsThere(source, precision, count, hash))
      {
        Forget();
        CopyUp(precision, values, count);
        m_Hash = hash;
        const bool isCopy = source.memory.size() == 1 && source.memory.front().bytes == CountBytes(precision, count);
        m_From = isCopy ? source.memory.front() : MemoryRange{};
        m_Precision = precision;
        m_Count = count;
      }
      m_Key = source.key;
    });
  }

  void
  Adopt(std::unique_ptr<DeviceImage> image, const MemoryRange & copy)
  {
    if (image == nullptr || image->GetMemory() == nullptr || image->GetDeviceName() != m_Backend->GetDescription().name)
    {
      throw BadInputError("an image to take over is missing, or on another device");
    }
    Forget();
    m_Values.reset();
    m_From = copy.bytes == CountBytes(image->GetPrecision(), image->GetCount()) ? copy : MemoryRange{};
    m_Precision = image->GetPrecision();
    m_Count = image->GetCount();
    m_Adopted = std::move(image);
  }

  const ImageSummary &
  Summarize(const ParallelFor & parallelFor)
  {
    if (!m_Summary)
    {
      if (m_Count < 1)
      {
        throw BadInputError("an image to look through has not been loaded");
      }
      const auto summarize = [&] { return SummarizeImage(*m_Queue, m_Precision, m_Count, *GetMemory()); };
      m_Summary = Operate(*m_Queue, parallelFor, summarize, Counting::Continue);
    }
    return *m_Summary;
  }

  const Memory *
  GetMemory() const
  {
    if (m_Count < 1)
    {
      return nullptr;
    }
    return m_Adopted ? m_Adopted->GetMemory() : m_Values.get();
  }

  std::size_t
  GetHeldBytes() const
  {
    return m_Adopted ? CountBytes(m_Precision, m_Count) : m_IsHosts ? 0 : SizeOf(m_Values);
  }

  EvaluationStatistics
  GetStatistics() const
  {
    EvaluationStatistics statistics = m_Queue->GetStatistics();
    statistics.deviceBytes = static_cast<std::int64_t>(GetHeldBytes());
    statistics.largestArrayBytes = statistics.deviceBytes;
    return statistics;
  }

  std::shared_ptr<Backend> m_Backend;
  std::unique_ptr<Queue>   m_Queue;
  MemoryRange              m_From; // the host's memory that the values were copied from
  Precision                m_Precision = Precision::Single;
  std::int64_t             m_Count = 0; // 0: no image is loaded

private:
  static std::size_t
  CountBytes(Precision precision, std::int64_t count)
  {
    return BytesOf(precision) * static_cast<std::size_t>(count);
  }

  /** Returns true if the loaded values are proved to equal the source's.
   *  \param hash receives the hash of the source's memory if it was computed */
  bool
  IsThere(const Source & source, Precision precision, std::int64_t count, std::optional<std::uint64_t> & hash)
  {
    const bool isFromThere = !m_Queue->IsHost() && m_Count == count && m_Precision == precision &&
                             source.memory.size() == 1 && m_From.begin != nullptr &&
                             source.memory.front().begin == m_From.begin && source.memory.front().bytes == m_From.bytes;
    if (!isFromThere || source.key.empty() || (!m_Key.empty() && m_Key != source.key))
    {
      return false;
    }
    if (source.isKeyTrusted && m_Key == source.key)
    {
      return true;
    }
    const auto                 all = static_cast<std::int64_t>(m_From.bytes);
    const std::int64_t         lanes = (all + kernels::HashTaskBytes - 1) / kernels::HashTaskBytes * kernels::HashLanes;
    std::vector<std::uint64_t> states(static_cast<std::size_t>(lanes));
    const std::size_t          bytes = sizeof(std::uint64_t) * states.size();
    MemoryPointer              onDevice;
    if (!m_Hash)
    {
      onDevice = m_Queue->Allocate(bytes);
      ForEachItem<kernels::HashLaneOfTaskKernel>(
        *m_Queue, lanes, Input<kernels::u8>(*GetMemory()), all, Output<kernels::u64>(*onDevice));
      m_Queue->Flush();
    }
    // The host hashes while the device hashes.
    hash = HashContent(source.memory, m_Queue->GetParallelFor());
    if (!m_Hash)
    {
      m_Queue->Download(states.data(), *onDevice, bytes);
      auto lane = states.cbegin();
      m_Hash = JoinTasks({ m_From }, [&lane](std::size_t taskBytes) {
        const std::uint64_t task = JoinLanes(taskBytes, &*lane);
        lane += kernels::HashLanes;
        return task;
      });
    }
    return m_Hash == hash;
  }

  /** Forgets the loaded image. */
  void
  Forget()
  {
    m_Count = 0;
    m_From = {};
    m_Key.clear();
    m_Hash.reset();
    m_Summary.reset();
    m_Adopted.reset();
  }

  void
  CopyUp(Precision precision, const void * values, std::int64_t count)
  {
    const std::size_t size = BytesOf(precision);
    m_IsHosts = false;
    if (MemoryPointer hosts = m_Queue->Wrap(const_cast<void *>(values), CountBytes(precision, count)))
    {
      m_Values = std::move(hosts);
      m_IsHosts = true;
      return;
    }
    UploadExactly(*m_Queue, m_Values, size, count, [values, size](std::int64_t first, std::int64_t number, void * out) {
      std::memcpy(out,
                  static_cast<const char *>(values) + static_cast<std::size_t>(first) * size,
                  static_cast<std::size_t>(number) * size);
    });
  }

  /** The key of the source that was loaded last; empty for an adopted image. */
  Key                          m_Key;
  std::optional<std::uint64_t> m_Hash; // of the loaded values
  std::optional<ImageSummary>  m_Summary;
  MemoryPointer                m_Values;
  bool                         m_IsHosts = false; // true if m_Values wraps the caller's memory
  /** Set for an adopted image, whose values are not in m_Values. */
  std::unique_ptr<DeviceImage> m_Adopted;
};

LoadedImage::LoadedImage(const std::string & deviceName)
  : m_Implementation(std::make_unique<Implementation>(deviceName))
{}

LoadedImage::~LoadedImage()
{
  FreeUnlessForked(m_Implementation);
}

void
LoadedImage::Load(
  const Source & source, Precision precision, const void * values, std::int64_t count, const ParallelFor & parallelFor)
{
  m_Implementation->Load(source, precision, values, count, parallelFor);
}

void
LoadedImage::Adopt(std::unique_ptr<DeviceImage> image, const MemoryRange & copy)
{
  m_Implementation->Adopt(std::move(image), copy);
}

const ImageSummary &
LoadedImage::Summarize(const ParallelFor & parallelFor)
{
  return m_Implementation->Summarize(parallelFor);
}

Key
LoadedImage::KeyOf(const MemoryRange & memory)
{
  return { reinterpret_cast<std::uintptr_t>(memory.begin), memory.bytes };
}

Precision
LoadedImage::GetPrecision() const
{
  return m_Implementation->m_Precision;
}

std::int64_t
LoadedImage::GetCount() const
{
  return m_Implementation->m_Count;
}

const std::string &
LoadedImage::GetDeviceName() const
{
  return m_Implementation->m_Backend->GetDescription().name;
}

std::size_t
LoadedImage::GetHeldBytes() const
{
  return m_Implementation->GetHeldBytes();
}

bool
LoadedImage::Holds(const Key & key) const
{
  return m_Implementation->m_Count > 0 && m_Implementation->m_From.begin != nullptr &&
         KeyOf(m_Implementation->m_From) == key;
}

EvaluationStatistics
LoadedImage::GetStatistics() const
{
  return m_Implementation->GetStatistics();
}

const Memory *
LoadedImage::GetMemory() const
{
  return m_Implementation->GetMemory();
}

} // namespace gpureg
