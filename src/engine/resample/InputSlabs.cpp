// SPDX-License-Identifier: Apache-2.0
#include "engine/resample/InputSlabs.h"
#include "engine/runtime/Transfer.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace gpureg
{

namespace
{
std::size_t
GetVoxelBytes(const ResampleInput & input)
{
  return BytesOf(input.precision) * static_cast<std::size_t>(input.components);
}

bool
IsSpline(const ResampleInput & input)
{
  return input.splineOrder > 1;
}

/** Returns the source of the input's values, with a key that also describes what is made of them. */
Source
GetSource(const ResampleInput & input)
{
  Source source = input.source;
  if (!source.key.empty())
  {
    source.key.insert(source.key.end(), input.size.begin(), input.size.end());
    for (const int more : { input.components, static_cast<int>(input.precision), input.splineOrder })
    {
      source.key.push_back(static_cast<std::uintptr_t>(more));
    }
  }
  return source;
}

/** Returns the size of the array that holds some planes of the volume along an axis. */
Size
GetSizeOfPlanes(const ResampleInput & input, int axis, const PlaneRange & planes)
{
  Size size = input.size;
  size[static_cast<std::size_t>(axis)] = planes.GetCount();
  return size;
}

/** Splits voxels first … first + count - 1 of some planes of a volume along an axis into runs that are consecutive in the volume, too.
 *  Calls work(offset in the planes, offset in the volume, count) for each run. */
template <typename TWork>
void
ForEachRun(
  const Size & size, int axis, const PlaneRange & planes, std::int64_t first, std::int64_t count, const TWork & work)
{
  std::int64_t inner = 1;
  for (int k = 0; k < axis; ++k)
  {
    inner *= size[static_cast<std::size_t>(k)];
  }
  const std::int64_t whole = inner * size[static_cast<std::size_t>(axis)];
  const std::int64_t run = inner * planes.GetCount();
  const std::int64_t skipped = inner * planes.first;
  for (std::int64_t done = 0; done < count;)
  {
    const std::int64_t voxel = first + done;
    const std::int64_t within = voxel % run;
    const std::int64_t now = std::min(count - done, run - within);
    work(done, voxel / run * whole + skipped + within, now);
    done += now;
  }
}
} // namespace

InputSlabs::InputSlabs(Queue & queue)
  : m_Queue(queue)
  , m_Recursion(queue)
{}

SlabCut
InputSlabs::MakeWholeCut(const ResampleInput & input)
{
  SlabCut cut;
  cut.axis = input.size[2] > 1 ? 2 : 1;
  cut.planes = input.size[static_cast<std::size_t>(cut.axis)];
  cut.owned = cut.planes;
  // The distance by which a spline's support exceeds a cell, also where it is mirrored at an edge.
  cut.margin = input.splineOrder / 2 + 1;
  return cut;
}

bool
InputSlabs::IsThere(const ResampleInput & input) const
{
  return (input.image != nullptr && !IsSpline(input)) || Wrap(input) != nullptr;
}

MemoryPointer
InputSlabs::Wrap(const ResampleInput & input) const
{
  return input.memory && !IsSpline(input)
           ? m_Queue.Wrap(const_cast<void *>(input.memory),
                          static_cast<std::size_t>(CountOf(input.size)) * GetVoxelBytes(input))
           : nullptr;
}

std::size_t
InputSlabs::GetStateBytes(const ResampleInput & input, std::size_t most) const
{
  if (!IsSpline(input))
  {
    return 0;
  }
  const int longest = std::max({ input.size[0], input.size[1], input.size[2] });
  return std::clamp(most, m_Recursion.GetSplineLineBytes(longest), RecursiveFilter::DefaultMaximumSize);
}

std::size_t
InputSlabs::GetLeastSlabBytes(const ResampleInput & input)
{
  const SlabCut cut = MakeWholeCut(input);
  // Lines along the cut axis are filtered in planes of the axis before.
  return IsSpline(input)
           ? GetVoxelBytes(input) * static_cast<std::size_t>(CountOf(GetSizeOfPlanes(input, cut.axis - 1, { 0, 1 })))
           : 0;
}

void
InputSlabs::SetInput(const ResampleInput & input, const ResamplePlan & plan)
{
  const SlabCut & cut = plan.slabs;
  m_Input = &input;
  m_Wrapped = Wrap(input);
  m_There = input.image != nullptr && !IsSpline(input) ? input.image->GetMemory() : m_Wrapped.get();
  const Source source = GetSource(input);
  // An input that is read in place needs no proof.
  const auto compared =
    m_There != nullptr ? ResidentSource::Comparison() : m_Resident.Compare(source, m_Queue.GetParallelFor());
  const bool isSame = compared.isSame;
  if (!isSame || cut.GetCount() == 1)
  {
    m_Coefficients = {};
  }
  if (!isSame || cut.owned != m_Cut.owned || !AreThere(m_Buffers, plan.inputBuffers, plan.inputBytes))
  {
    m_Loaded = LoadedSlabs(plan.inputBuffers);
  }
  // The source is remembered again after the memory has been allocated, which may fail.
  m_Resident.Forget();
  m_Cut = cut;
  m_Recursion.SetMaximumSize(plan.stateBytes);
  if (m_There != nullptr)
  {
    Release();
    m_Resident.Remember(source, compared);
    return;
  }
  for (std::size_t buffer = 0; buffer < plan.inputBuffers; ++buffer)
  {
    Reserve(m_Queue, m_Buffers[buffer], plan.inputBytes);
  }
  m_Resident.Remember(source, compared);
  // Not while slabs are loaded: the coefficients pass through the same staging memory.
  if (cut.GetCount() > 1 && IsSpline(input) && m_Coefficients.empty())
  {
    m_Loaded = LoadedSlabs(plan.inputBuffers);
    MakeCoefficients();
  }
  // Copies to the buffers wait for work that the queue has enqueued on them so far.
  for (std::size_t buffer = 0; buffer < plan.inputBuffers; ++buffer)
  {
    m_Queue.MarkRead(static_cast<int>(buffer));
  }
}

bool
InputSlabs::Holds(const Key & key) const
{
  const Key & held = m_Resident.GetKey();
  return !key.empty() && key.size() <= held.size() && std::equal(key.begin(), key.end(), held.begin());
}

void
InputSlabs::Release()
{
  m_Loaded = LoadedSlabs();
  m_Buffers = {};
  m_Recursion.Release();
}

void
InputSlabs::Load(int slab)
{
  if (m_There != nullptr || m_Loaded.Use(slab))
  {
    return;
  }
  const std::size_t  buffer = m_Loaded.TakeBuffer();
  Memory &           memory = *m_Buffers[buffer];
  const bool         isCut = m_Cut.GetCount() > 1;
  const PlaneRange   held = m_Cut.GetHeld(slab);
  const std::int64_t planeVoxels = CountOf(GetSizeOfPlanes(*m_Input, m_Cut.axis, { 0, 1 }));
  const std::int64_t firstVoxel = held.first * planeVoxels;
  const std::size_t  voxelBytes = GetVoxelBytes(*m_Input);
  const Filler       fromImage = [&](std::int64_t first, std::int64_t count, void * out) {
    m_Input->values(firstVoxel + first, count, out);
  };
  const Filler fromCoefficients = [&](std::int64_t first, std::int64_t count, void * out) {
    std::memcpy(out,
                m_Coefficients.data() + static_cast<std::size_t>(firstVoxel + first) * voxelBytes,
                static_cast<std::size_t>(count) * voxelBytes);
  };
  if (!isCut && m_Input->image != nullptr)
  {
    m_Queue.Copy(memory, *m_Input->image->GetMemory(), voxelBytes * static_cast<std::size_t>(CountOf(m_Input->size)));
  }
  else
  {
    UploadToBuffer(m_Queue,
                   memory,
                   static_cast<int>(buffer),
                   voxelBytes,
                   held.GetCount() * planeVoxels,
                   isCut && IsSpline(*m_Input) ? fromCoefficients : fromImage);
  }
  if (!isCut)
  {
    m_Recursion.MakeSplineCoefficients(
      memory, m_Input->size, m_Input->components, m_Input->precision, m_Input->splineOrder);
  }
  m_Loaded.Put(slab);
}

void
InputSlabs::MakeCoefficients()
{
  const std::size_t voxelBytes = GetVoxelBytes(*m_Input);
  m_Coefficients.resize(static_cast<std::size_t>(CountOf(m_Input->size)) * voxelBytes);
  try
  {
    // Filters along the axes that lie in the cut's planes; then along the cut axis, in planes of the axis before it.
    std::vector<int> filtered(static_cast<std::size_t>(m_Cut.axis));
    for (int axis = 0; axis < m_Cut.axis; ++axis)
    {
      filtered[static_cast<std::size_t>(axis)] = axis;
    }
    const auto filterAll = [&](int axis, const std::vector<int> & along, const Filler & values) {
      const auto planeBytes =
        static_cast<std::int64_t>(voxelBytes) * CountOf(GetSizeOfPlanes(*m_Input, axis, { 0, 1 }));
      const int          planes = m_Input->size[static_cast<std::size_t>(axis)];
      const std::int64_t fitting =
        std::clamp<std::int64_t>(static_cast<std::int64_t>(m_Buffers[0]->GetSize()) / planeBytes, 1, planes);
      for (int first = 0; first < planes; first += static_cast<int>(fitting))
      {
        FilterPlanes(axis, { first, static_cast<int>(std::min<std::int64_t>(planes, first + fitting)) }, along, values);
      }
    };
    filterAll(m_Cut.axis, filtered, m_Input->values);
    filterAll(m_Cut.axis - 1, { m_Cut.axis }, [&](std::int64_t first, std::int64_t count, void * out) {
      std::memcpy(out,
                  m_Coefficients.data() + static_cast<std::size_t>(first) * voxelBytes,
                  static_cast<std::size_t>(count) * voxelBytes);
    });
  }
  catch (...)
  {
    m_Coefficients = {};
    throw;
  }
}

void
InputSlabs::FilterPlanes(int axis, const PlaneRange & planes, const std::vector<int> & filtered, const Filler & values)
{
  const Size        size = GetSizeOfPlanes(*m_Input, axis, planes);
  const std::size_t voxelBytes = GetVoxelBytes(*m_Input);
  Memory &          memory = *m_Buffers[0];
  UploadArray(m_Queue, memory, 0, voxelBytes, CountOf(size), [&](std::int64_t first, std::int64_t count, void * out) {
    ForEachRun(
      m_Input->size, axis, planes, first, count, [&](std::int64_t inPlanes, std::int64_t volume, std::int64_t now) {
        values(volume, now, static_cast<char *>(out) + static_cast<std::size_t>(inPlanes) * voxelBytes);
      });
  });
  for (const int along : filtered)
  {
    m_Recursion.MakeSplineCoefficients(
      memory, size, m_Input->components, m_Input->precision, m_Input->splineOrder, along);
  }
  DownloadArray(
    m_Queue, memory, voxelBytes, CountOf(size), [&](std::int64_t first, std::int64_t count, const void * in) {
      ForEachRun(
        m_Input->size, axis, planes, first, count, [&](std::int64_t inPlanes, std::int64_t volume, std::int64_t now) {
          std::memcpy(m_Coefficients.data() + static_cast<std::size_t>(volume) * voxelBytes,
                      static_cast<const char *>(in) + static_cast<std::size_t>(inPlanes) * voxelBytes,
                      static_cast<std::size_t>(now) * voxelBytes);
        });
    });
}

} // namespace gpureg
