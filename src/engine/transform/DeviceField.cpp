// SPDX-License-Identifier: Apache-2.0
#include "gpureg/transform/DeviceField.h"

#include "engine/core/Matrix3.h"
#include "engine/runtime/Backend.h"
#include "engine/runtime/Operation.h"
#include "engine/runtime/Transfer.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <mutex>
#include <utility>

namespace gpureg
{

namespace
{
constexpr std::size_t VectorBytes = 3 * sizeof(float);

/** Returns a key that begins with an address, as keys of ITK's objects do, and which therefore is no number that others count. */
Key
MakeKey()
{
  static std::atomic<std::uintptr_t> count{ 0 };
  return { reinterpret_cast<std::uintptr_t>(&count), ++count };
}

/** Returns the largest absolute value of some numbers, infinity if one of them is not finite. */
double
ComputeLargestMagnitude(const float * numbers, std::int64_t count)
{
  float largest = 0;
  for (std::int64_t n = 0; n < count; ++n)
  {
    const float size = std::abs(numbers[n]);
    largest = size <= largest ? largest : (std::isnan(size) ? std::numeric_limits<float>::infinity() : size);
  }
  return largest;
}
} // namespace

struct DeviceField::Content
{
  std::shared_ptr<Backend> backend;
  MemoryPointer            memory;
  Description              description;
  Key                      key;

  const Backend &
  GetBackend() const
  {
    return *backend;
  }
};

DeviceField::DeviceField(std::shared_ptr<Backend> backend, MemoryPointer memory, const Description & description)
  : m_Content(new Content{ std::move(backend), std::move(memory), description, MakeKey() })
{}

DeviceField::~DeviceField()
{
  FreeUnlessForked(m_Content);
}

std::shared_ptr<const DeviceField>
DeviceField::Load(const std::string & deviceName,
                  Description         description,
                  const Filler &      displacements,
                  const ParallelFor & parallelFor)
{
  const std::int64_t count = CountOf(description.size);
  if (*std::min_element(description.size.begin(), description.size.end()) < 1)
  {
    throw BadInputError("a field without voxels cannot be loaded");
  }
  const std::shared_ptr<Backend> backend = gpureg::GetBackend(deviceName);
  const std::unique_ptr<Queue>   queue = backend->CreateQueue();
  MemoryPointer                  memory;
  std::mutex                     mutex;
  description.largest = 0;
  Operate(*queue, parallelFor, [&] {
    memory = queue->Allocate(VectorBytes * static_cast<std::size_t>(count));
    UploadArray(*queue, *memory, 0, VectorBytes, count, [&](std::int64_t first, std::int64_t number, void * out) {
      displacements(first, number, out);
      const double                      largest = ComputeLargestMagnitude(static_cast<const float *>(out), 3 * number);
      const std::lock_guard<std::mutex> lock(mutex);
      description.largest = std::max(description.largest, largest);
    });
    queue->Finish();
  });
  return std::make_shared<const DeviceField>(backend, std::move(memory), description);
}

const DeviceField::Description &
DeviceField::GetDescription() const
{
  return m_Content->description;
}

const std::string &
DeviceField::GetDeviceName() const
{
  return m_Content->backend->GetDescription().name;
}

bool
DeviceField::IsOn(const Backend & backend) const
{
  return m_Content->backend.get() == &backend;
}

const Memory &
DeviceField::GetMemory() const
{
  return *m_Content->memory;
}

void *
DeviceField::GetAddress() const
{
  return m_Content->memory->GetAddress();
}

std::size_t
DeviceField::GetAccountBytes() const
{
  return m_Content->memory->GetSize();
}

const Key &
DeviceField::GetKey() const
{
  return m_Content->key;
}

void
DeviceField::Take(std::int64_t                                                           first,
                  std::int64_t                                                           count,
                  const std::function<void(std::int64_t, std::int64_t, const float *)> & take,
                  const ParallelFor &                                                    parallelFor) const
{
  // A queue of its own, so that several threads may take at once.
  const std::unique_ptr<Queue> queue = m_Content->backend->CreateQueue();
  Operate(*queue, parallelFor, [&] {
    DownloadArray(
      *queue,
      *m_Content->memory,
      VectorBytes,
      count,
      [&](std::int64_t begin, std::int64_t number, const void * in) {
        take(first + begin, number, static_cast<const float *>(in));
      },
      first);
  });
}

DisplacementGrid
MakeDisplacementGrid(std::shared_ptr<const DeviceField> field)
{
  DisplacementGrid grid;
  grid.kind = GridKind::Field;
  grid.size = field->GetDescription().size;
  grid.toGrid = InvertMap(field->GetDescription().indexToPoint);
  grid.field = std::move(field);
  return grid;
}

} // namespace gpureg
