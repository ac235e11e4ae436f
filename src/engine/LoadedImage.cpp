// SPDX-License-Identifier: Apache-2.0
#include "gpureg/LoadedImage.h"

#include "gpureg/Error.h"

#include "Backend.h"
#include "ImagePasses.h"
#include "SummarizeImage.h"

#include <cstring>

namespace gpureg
{

class LoadedImage::Implementation
{
public:
  explicit Implementation(const std::string & deviceName)
    : m_Backend(gpureg::GetBackend(deviceName))
    , m_Queue(m_Backend->CreateQueue())
    , m_Passes(m_Queue->CreateImagePasses())
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
    const ResidentSource::Comparison found = m_Resident.Compare(source, parallelFor);
    if (found.isSame)
    {
      m_Queue->statistics = {};
      return;
    }
    m_Resident.Forget();
    m_Count = 0;
    Operate(*m_Queue, parallelFor, [&] {
      this->CopyUp(precision, values, count);
      m_Summary = SummarizeImage(*m_Queue, *m_Passes, precision, count, *m_Values);
    });
    m_Precision = precision;
    m_Count = count;
    m_Resident.Remember(source, found);
  }

  EvaluationStatistics
  GetStatistics() const
  {
    EvaluationStatistics statistics = m_Queue->statistics;
    statistics.deviceBytes = m_IsHosts ? 0 : static_cast<std::int64_t>(SizeOf(m_Values));
    statistics.largestArrayBytes = statistics.deviceBytes;
    return statistics;
  }

  std::shared_ptr<Backend> m_Backend;
  std::unique_ptr<Queue>   m_Queue;
  ResidentSource           m_Resident;
  MemoryPointer            m_Values;
  bool                     m_IsHosts = false; // the values are the caller's
  std::int64_t             m_Count = 0;       // 0: there is no image
  Precision                m_Precision = Precision::Single;
  ImageSummary             m_Summary;

private:
  void
  CopyUp(Precision precision, const void * values, std::int64_t count)
  {
    const std::size_t size = BytesOf(precision);
    m_IsHosts = false;
    if (MemoryPointer hosts = m_Queue->Wrap(const_cast<void *>(values), size * static_cast<std::size_t>(count)))
    {
      m_Values = std::move(hosts);
      m_IsHosts = true;
      return;
    }
    FillExactly(*m_Queue, m_Values, size, count, [values, size](std::int64_t first, std::int64_t number, void * out) {
      std::memcpy(out,
                  static_cast<const char *>(values) + static_cast<std::size_t>(first) * size,
                  static_cast<std::size_t>(number) * size);
    });
  }

  std::unique_ptr<ImagePasses> m_Passes;
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

const ImageSummary &
LoadedImage::GetSummary() const
{
  return m_Implementation->m_Summary;
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
  return m_Implementation->m_IsHosts ? 0 : SizeOf(m_Implementation->m_Values);
}

bool
LoadedImage::Holds(const Key & key) const
{
  return !key.empty() && m_Implementation->m_Resident.GetKey() == key;
}

EvaluationStatistics
LoadedImage::GetStatistics() const
{
  return m_Implementation->GetStatistics();
}

const Memory *
LoadedImage::GetMemory() const
{
  return m_Implementation->m_Count > 0 ? m_Implementation->m_Values.get() : nullptr;
}

} // namespace gpureg
