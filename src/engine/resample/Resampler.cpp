// SPDX-License-Identifier: Apache-2.0
#include "gpureg/resample/Resampler.h"

#include "engine/runtime/Backend.h"
#include "engine/runtime/Operation.h"
#include "engine/runtime/ForEachItem.h"
#include "engine/transform/ChainOnDevice.h"
#include "engine/resample/InputSlabs.h"
#include "engine/resample/PlacesInBox.h"
#include "engine/resample/ResamplePlan.h"
#include "engine/resample/ResamplePasses.h"
#include "engine/resample/ResampleProblem.h"
#include "engine/resample/ResampleSelfCheck.h"

#include "engine/runtime/MakePasses.h"
#include "engine/runtime/Transfer.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gpureg
{

namespace
{
// The bytes of an output tile: large enough to keep the bus busy, small enough to overlap kernels with copies. Tiles are larger when
// kernels are timed, because each launch is waited for.
constexpr std::size_t TileBytes = std::size_t{ 16 } << 20;
constexpr std::size_t TimedTileBytes = std::size_t{ 256 } << 20;

/** Returns the bytes of two buffers after the first count of them are enlarged to at least the given number of bytes. */
std::size_t
CountWith(const std::array<MemoryPointer, 2> & buffers, std::size_t count, std::size_t bytes)
{
  return std::max(SizeOf(buffers[0]), count > 0 ? bytes : 0) + std::max(SizeOf(buffers[1]), count > 1 ? bytes : 0);
}
} // namespace

class Resampler::Implementation
{
public:
  explicit Implementation(const std::string & deviceName)
    : m_Backend(gpureg::GetBackend(deviceName))
    , m_Queue(m_Backend->CreateQueue())
    , m_Passes(MakePasses<ResamplePasses>(*m_Queue))
    , m_Input(*m_Queue)
    , m_Chain(*m_Queue, m_ChainArrays)
  {}

  const Backend &
  GetBackend() const
  {
    return *m_Backend;
  }

  std::size_t
  GetHeldBytes() const
  {
    return GetSize() + m_Input.GetHostSize();
  }

  bool
  Holds(const Key & key) const
  {
    return m_Input.Holds(key);
  }

  void
  SetMaximumDeviceMemory(std::size_t bytes)
  {
    m_MaximumDeviceMemory = bytes;
  }

  void
  Resample(const ResampleInput & input, const ResampleRequest & request, const ParallelFor & parallelFor)
  {
    Run(input, request, parallelFor, [&] {
      SetChain(input, request);
      const ResamplePlan plan = MakePlan(input, request);
      m_Chain.SetPlanes(plan.gridPlanes, plan.slabs.GetCount() > 1);
      m_Input.SetInput(input, plan);
      UploadOutside(input, request);
      MakeOutput(input, request, plan);
    });
  }

  std::unique_ptr<DeviceImage>
  ResampleToDevice(const ResampleInput & input, const ResampleRequest & request, const ParallelFor & parallelFor)
  {
    if (input.components != 1)
    {
      throw BadInputError("an image on a device has one component, and the input " + std::to_string(input.components));
    }
    MemoryPointer made = this->MakeOnDevice(input, request, parallelFor);
    return std::make_unique<MadeImage>(m_Backend, std::move(made), input.precision, CountOf(request.size));
  }

  void
  ComputeDisplacements(const DisplacementRequest & asked, const ParallelFor & parallelFor)
  {
    const PlacesInBox places(asked);
    ResampleRequest   request = places.MakeRequest(asked);
    request.output = asked.output;
    request.memory = asked.memory;
    this->WithDisplacements(asked, [&] { this->Resample(places.MakeInput(), request, parallelFor); });
  }

  std::unique_ptr<MadeNumbers>
  ComputeDisplacementsOnDevice(const DisplacementRequest & asked, const ParallelFor & parallelFor)
  {
    const PlacesInBox places(asked);
    MemoryPointer     made;
    this->WithDisplacements(asked, [&] {
      made = this->MakeOnDevice(places.MakeInput(), places.MakeRequest(asked), parallelFor);
    });
    return std::make_unique<MadeNumbers>(m_Backend, std::move(made), NumberType::Float64);
  }

  void
  SetTiming(bool on)
  {
    m_IsTiming = on;
  }

  const EvaluationStatistics &
  GetStatistics() const
  {
    return m_Queue->GetStatistics();
  }

private:
  /** Calls work, which resamples places in a box, so that the output becomes displacements. */
  template <typename TWork>
  void
  WithDisplacements(const DisplacementRequest & request, const TWork & work)
  {
    if (!m_Backend->HasDoubles())
    {
      throw UnsupportedError(m_Backend->GetDescription().name +
                             " cannot compute in double precision; use another device");
    }
    m_Displacement = MakeDisplacementArguments(request);
    try
    {
      work();
    }
    catch (...)
    {
      m_Displacement.reset();
      throw;
    }
    m_Displacement.reset();
  }

  /** Makes the whole output in one array on the device. */
  MemoryPointer
  MakeOnDevice(const ResampleInput & input, const ResampleRequest & request, const ParallelFor & parallelFor)
  {
    const std::size_t voxelBytes = BytesOf(input.precision) * static_cast<std::size_t>(input.components);
    MemoryPointer     made;
    Run(input, request, parallelFor, [&] {
      SetChain(input, request);
      ResamplePlan plan;
      plan.slabs = InputSlabs::MakeWholeCut(input);
      plan.inputBytes = m_Input.IsThere(input) ? 0 : voxelBytes * static_cast<std::size_t>(CountOf(input.size));
      plan.stateBytes = m_Input.GetStateBytes(input, std::numeric_limits<std::size_t>::max());
      m_Chain.SetPlanes(m_Chain.CountPlanes(), false);
      m_Input.SetInput(input, plan);
      UploadOutside(input, request);
      made = m_Queue->Allocate(voxelBytes * static_cast<std::size_t>(CountOf(request.size)));
      MakeRows(MakeResampleArguments(input, request, m_Chain.GetMerged()),
               input,
               request,
               plan.slabs,
               { 0, CountRows(request) },
               *made);
      m_Queue->Finish();
    });
    return made;
  }

  /** Checks the input and the request, calls work, and records the statistics. */
  template <typename TWork>
  void
  Run(const ResampleInput & input, const ResampleRequest & request, const ParallelFor & parallelFor, const TWork & work)
  {
    CheckResampling(input, request, m_Backend->GetDescription().name);
    Operate(*m_Queue, parallelFor, [&] {
      work();
      m_Queue->SetHeldBytes(GetSize(),
                            std::max({ SizeOf(m_Input.GetBuffers()[0]),
                                       m_Input.GetStateSize(),
                                       SizeOf(m_ChainArrays.vectors),
                                       SizeOf(m_Output[0]) }));
    });
  }

  /** Merges the request's chain, and checks that the device applies such a chain rightly. */
  void
  SetChain(const ResampleInput & input, const ResampleRequest & request)
  {
    m_Chain.SetChain(request);
    CheckResamplesRightly(*m_Backend, MakeResampleArguments(input, request, m_Chain.GetMerged()), input.precision);
  }

  std::size_t
  GetSize() const
  {
    return CountWith(m_Input.GetBuffers(), 0, 0) + m_Input.GetStateSize() + m_Chain.GetSize() + SizeOf(m_Outside) +
           CountWith(m_Output, 0, 0);
  }

  ResamplePlan
  MakePlan(const ResampleInput & input, const ResampleRequest & request)
  {
    const std::size_t voxelBytes = BytesOf(input.precision) * static_cast<std::size_t>(input.components);
    ResampleSizes     sizes;
    sizes.mostBuffers = m_Queue->IsHost() ? 1 : 2;
    sizes.input = InputSlabs::MakeWholeCut(input);
    // An input that is read in place takes no memory.
    sizes.planeBytes =
      m_Input.IsThere(input) ? 0 : static_cast<std::size_t>(CountOf(input.size) / sizes.input.planes) * voxelBytes;
    sizes.leastSlabBytes = InputSlabs::GetLeastSlabBytes(input);
    sizes.rows = CountRows(request);
    sizes.rowsOfPlane = request.size[1];
    // The reach of the vectors is not known before they are uploaded.
    sizes.findPlanes = [&](const RowRange & rows) {
      return FindPlanesOfInput(request, m_Chain.GetMerged(), sizes.input, rows, 0.0);
    };
    sizes.rowBytes = voxelBytes * static_cast<std::size_t>(request.size[0]);
    sizes.mostTileBytes = m_IsTiming ? TimedTileBytes : TileBytes;
    sizes.gridPlanes = m_Chain.CountPlanes();
    sizes.gridPlaneBytes = m_Chain.GetPlaneBytes();
    sizes.countGridPlanes = [this](std::int64_t rows) { return m_Chain.CountPlanesForRows(rows); };
    sizes.otherVectorBytes = m_Chain.GetOtherVectorBytes();
    sizes.otherBytes = m_Chain.GetPartBytes() + voxelBytes;
    const std::size_t largest = m_Queue->GetLargestAllocation();
    const auto        planWithin = [&](std::size_t bytes) {
      // More states make coefficients faster, but the states of one line suffice.
      for (const std::size_t states : { bytes / 8, std::size_t{ 0 } })
      {
        sizes.stateBytes = m_Input.GetStateBytes(input, states);
        if (const auto plan = PlanResampling(sizes, { bytes, largest }))
        {
          return *plan;
        }
      }
      throw OutOfMemoryError("there is too little device memory to resample in: " + std::to_string(bytes) +
                             " bytes are allowed" +
                             (largest < bytes ? ", " + std::to_string(largest) + " in one array" : "") + ", and " +
                             std::to_string(GetLeastBytes(sizes)) +
                             " are wanted, with one slice of the input and one row of the output at a time. " +
                             (m_MaximumDeviceMemory > 0 ? "Allow more (SetMaximumDeviceMemory)" : "Free memory there") +
                             ", or use another device");
    };

    const std::size_t bound =
      m_MaximumDeviceMemory > 0 ? m_MaximumDeviceMemory : std::numeric_limits<std::size_t>::max();
    std::size_t  most = bound;
    ResamplePlan plan = planWithin(most);
    // The device is asked for its free memory only if the plan needs more than is allocated, because the answer takes as long as resampling
    // a small image.
    if (!IsHeld(plan))
    {
      const auto computeAvailable = [&] { return std::min(bound, (m_Queue->GetFreeMemory() + GetSize()) / 10 * 9); };
      most = computeAvailable();
      // Idle engines are freed before an image is cut.
      if (most < bound && CountHeldWith(plan) > most && m_Backend->GetIdleEngines().DropAll())
      {
        most = computeAvailable();
      }
      plan = planWithin(most);
    }
    // An array that is larger than necessary may leave too little memory for another one.
    if (CountHeldWith(plan) > most)
    {
      Release();
    }
    return plan;
  }

  bool
  IsHeld(const ResamplePlan & plan) const
  {
    return AreThere(m_Input.GetBuffers(), plan.inputBuffers, plan.inputBytes) &&
           AreThere(m_Output, plan.outputBuffers, plan.tileBytes) &&
           SizeOf(m_ChainArrays.vectors) >= plan.gridBytes + m_Chain.GetOtherVectorBytes() &&
           SizeOf(m_ChainArrays.parts) >= m_Chain.GetPartBytes();
  }

  /** Returns the bytes that would be allocated with the arrays of a plan; arrays that are larger already stay. */
  std::size_t
  CountHeldWith(const ResamplePlan & plan) const
  {
    return CountWith(m_Input.GetBuffers(), plan.inputBuffers, plan.inputBytes) +
           CountWith(m_Output, plan.outputBuffers, plan.tileBytes) +
           std::max(SizeOf(m_ChainArrays.vectors), plan.gridBytes + m_Chain.GetOtherVectorBytes()) +
           std::max(SizeOf(m_ChainArrays.parts), m_Chain.GetPartBytes()) +
           std::max(m_Input.GetStateSize(), plan.stateBytes) + SizeOf(m_Outside);
  }

  void
  Release()
  {
    m_Queue->Finish();
    m_Input.Release();
    m_Chain.Release();
    m_Outside.reset();
    m_Output = {};
  }

  void
  UploadOutside(const ResampleInput & input, const ResampleRequest & request)
  {
    Reserve(*m_Queue, m_Outside, static_cast<std::size_t>(input.components) * BytesOf(input.precision));
    UploadArray(*m_Queue,
                *m_Outside,
                0,
                BytesOf(input.precision),
                input.components,
                [&](std::int64_t first, std::int64_t count, void * out) {
                  WithReal(input.precision, [&](auto zero) {
                    for (std::int64_t c = 0; c < count; ++c)
                    {
                      const double value =
                        request.extrapolates ? 0.0 : request.outside.at(static_cast<std::size_t>(first + c));
                      static_cast<decltype(zero) *>(out)[c] = static_cast<decltype(zero)>(value);
                    }
                  });
                });
  }

  void
  MakeOutput(const ResampleInput & input, const ResampleRequest & request, const ResamplePlan & plan)
  {
    const kernels::ResampleArguments a = MakeResampleArguments(input, request, m_Chain.GetMerged());
    const std::int64_t               width = request.size[0];
    TiledArray                       output;
    output.elementSize = BytesOf(input.precision) * static_cast<std::size_t>(input.components);
    output.count = CountOf(request.size);
    output.tileElements = plan.tileRows * width;
    output.bufferCount = plan.outputBuffers;
    output.make = [&](std::int64_t first, std::int64_t count, Memory & out) {
      MakeRows(a, input, request, plan.slabs, { first / width, count / width }, out);
    };
    output.take = request.output;
    output.target = request.memory;
    if (request.progress)
    {
      output.progress = [&](std::int64_t done) {
        request.progress(static_cast<double>(done) / static_cast<double>(output.count));
      };
    }
    DownloadTiles(*m_Queue, m_Output, output);
  }

  /** Makes rows of the output, with one launch for each slab of the input that the rows may read. */
  void
  MakeRows(kernels::ResampleArguments a,
           const ResampleInput &      input,
           const ResampleRequest &    request,
           const SlabCut &            cut,
           const RowRange &           rows,
           Memory &                   out)
  {
    m_Chain.Load(rows);
    a.cut.firstRow = static_cast<int>(rows.first);
    a.cut.rowCount = static_cast<int>(rows.count);
    a.slabAxis = cut.axis;
    a.isOnlySlab = cut.GetCount() == 1;
    a.isFirstSlab = 1;
    const auto launch = [&] {
      Enqueue(*m_Queue, m_IsTiming, [&] {
        m_Passes->Resample(a,
                           input.precision,
                           { m_Input.GetMemory(), m_ChainArrays.parts, m_ChainArrays.vectors, m_Outside },
                           out);
      });
    };
    const PlaneRange slabs =
      FindSlabs(request, m_Chain.GetMerged(), cut, rows, m_Chain.GetReach()[static_cast<std::size_t>(cut.axis)]);
    m_Input.GetLoaded().ForEachOf(slabs, [&](int slab) {
      m_Input.Load(slab);
      const PlaneRange owned = cut.GetOwned(slab);
      a.slabBegin = owned.first;
      a.slabEnd = owned.end;
      a.firstVoxel = CountOf(input.size) / cut.planes * cut.GetHeld(slab).first;
      launch();
      m_Input.MarkRead();
      a.isFirstSlab = 0;
    });
    if (slabs.GetCount() == 0)
    {
      // All rows lie outside of the input: no slab is read, but the output is written.
      launch();
    }
    if (m_Displacement)
    {
      m_Displacement->firstVoxel = rows.first * request.size[0];
      Enqueue(*m_Queue, m_IsTiming, [&] {
        ForEachItem<kernels::ComputeDisplacementKernel>(*m_Queue,
                                                        rows.count * request.size[0],
                                                        *m_Displacement,
                                                        Output<double>(out));
      });
    }
  }

  std::shared_ptr<Backend>        m_Backend;
  std::unique_ptr<Queue>          m_Queue;
  std::unique_ptr<ResamplePasses> m_Passes;
  InputSlabs                      m_Input;
  ChainArrays                     m_ChainArrays;
  ChainOnDevice                   m_Chain;
  MemoryPointer                   m_Outside;
  std::array<MemoryPointer, 2>    m_Output;
  /** Set while displacements are made. */
  std::optional<kernels::DisplacementArguments> m_Displacement;
  std::size_t                                   m_MaximumDeviceMemory = 0;
  bool                                          m_IsTiming = false;
};

Resampler::Resampler(const std::string & deviceName)
  : m_Implementation(std::make_unique<Implementation>(deviceName))
{}

Resampler::~Resampler()
{
  FreeUnlessForked(m_Implementation);
}

const std::string &
Resampler::GetDeviceName() const
{
  return m_Implementation->GetBackend().GetDescription().name;
}

std::size_t
Resampler::GetHeldBytes() const
{
  return m_Implementation->GetHeldBytes();
}

bool
Resampler::Holds(const Key & key) const
{
  return m_Implementation->Holds(key);
}

void
Resampler::Resample(const ResampleInput & input, const ResampleRequest & request, const ParallelFor & parallelFor)
{
  m_Implementation->Resample(input, request, parallelFor);
}

std::unique_ptr<DeviceImage>
Resampler::ResampleToDevice(const ResampleInput &   input,
                            const ResampleRequest & request,
                            const ParallelFor &     parallelFor)
{
  return m_Implementation->ResampleToDevice(input, request, parallelFor);
}

void
Resampler::ComputeDisplacements(const DisplacementRequest & request, const ParallelFor & parallelFor)
{
  m_Implementation->ComputeDisplacements(request, parallelFor);
}

std::unique_ptr<MadeNumbers>
Resampler::ComputeDisplacementsOnDevice(const DisplacementRequest & request, const ParallelFor & parallelFor)
{
  return m_Implementation->ComputeDisplacementsOnDevice(request, parallelFor);
}

void
Resampler::SetMaximumDeviceMemory(std::size_t bytes)
{
  m_Implementation->SetMaximumDeviceMemory(bytes);
}

void
Resampler::SetTiming(bool on)
{
  m_Implementation->SetTiming(on);
}

EvaluationStatistics
Resampler::GetStatistics() const
{
  return m_Implementation->GetStatistics();
}

} // namespace gpureg
