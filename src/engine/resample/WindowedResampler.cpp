// SPDX-License-Identifier: Apache-2.0
#include "gpureg/resample/WindowedResampler.h"

#include "engine/resample/WindowedKernels.h"
#include "engine/resample/WindowedTables.h"
#include "engine/runtime/Backend.h"
#include "engine/runtime/ForEachItem.h"
#include "engine/runtime/Fork.h"
#include "engine/runtime/Operation.h"
#include "engine/runtime/Transfer.h"
#include "engine/transform/ChainOnDevice.h"

#include "gpureg/core/Error.h"

#include <algorithm>
#include <limits>
#include <vector>

namespace gpureg
{

namespace
{
// The output's voxels that are made at a time, while those before are downloaded.
constexpr std::int64_t TileVoxels = std::int64_t{ 1 } << 21;

int
ToKind(WindowedKernel kernel)
{
  switch (kernel)
  {
    case WindowedKernel::Gaussian:
      return kernels::WindowedGaussian;
    case WindowedKernel::LabelGaussian:
      return kernels::WindowedLabels;
    default:
      return kernels::WindowedSinc;
  }
}

/** \throws BadInputError if a volume is empty; UnsupportedError if kernels cannot count its voxels */
void
CheckVolume(const Size & size, const std::string & what)
{
  if (std::min({ size[0], size[1], size[2] }) < 1)
  {
    throw BadInputError(what + " has no voxels; there is nothing to resample");
  }
  if (static_cast<std::int64_t>(size[0]) * size[1] > std::numeric_limits<int>::max() ||
      static_cast<std::int64_t>(size[1]) * size[2] > std::numeric_limits<int>::max())
  {
    throw UnsupportedError(what +
                           " has more voxels in a slice, or more rows, than can be counted; resample a part of it");
  }
}
} // namespace

class WindowedResampler::Implementation
{
public:
  explicit Implementation(const std::string & deviceName)
    : m_Backend(gpureg::GetBackend(deviceName))
    , m_Queue(m_Backend->CreateQueue())
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
    return SizeOf(m_Input) + SizeOf(m_Runs) + SizeOf(m_Numbers) + SizeOf(m_Output[0]) + SizeOf(m_Output[1]) +
           m_Chain.GetSize();
  }

  void
  Resample(const WindowedRequest & request, const ParallelFor & parallelFor)
  {
    CheckVolume(request.inputSize, "an input");
    CheckVolume(request.size, "an output");
    if (request.precision == Precision::Double && !m_Backend->HasDoubles())
    {
      throw UnsupportedError(m_Backend->GetDescription().name +
                             " cannot compute in double precision; use another device, or floats");
    }
    const std::vector<double> numbers = MakeWindowedNumbers(request);
    Operate(*m_Queue, parallelFor, [&] {
      m_Chain.SetChain(request);
      m_Chain.SetPlanes(m_Chain.CountPlanes(), false);
      const std::size_t bytes = BytesOf(request.precision);
      Reserve(*m_Queue, m_Input, bytes * static_cast<std::size_t>(CountOf(request.inputSize)));
      UploadArray(*m_Queue, *m_Input, 0, bytes, CountOf(request.inputSize), request.values);
      this->UploadNumbers(numbers, request.precision);
      if (request.kernel == WindowedKernel::LabelGaussian)
      {
        Reserve(*m_Queue, m_Runs, static_cast<std::size_t>(CountOf(request.inputSize)));
        ForEachItem<kernels::CountLabelRunsKernel>(*m_Queue,
                                                   static_cast<std::int64_t>(request.inputSize[1]) *
                                                     request.inputSize[2],
                                                   request.precision,
                                                   Input<RealNumber>(*m_Input),
                                                   request.inputSize[0],
                                                   Output<kernels::u8>(*m_Runs));
      }
      this->MakeOutput(request);
    });
  }

  EvaluationStatistics
  GetStatistics() const
  {
    EvaluationStatistics statistics = m_Queue->GetStatistics();
    statistics.deviceBytes = static_cast<std::int64_t>(this->GetHeldBytes());
    return statistics;
  }

private:
  void
  UploadNumbers(const std::vector<double> & numbers, Precision precision)
  {
    WithReal(precision, [&](auto zero) {
      using real = decltype(zero);
      Reserve(*m_Queue, m_Numbers, sizeof(real) * numbers.size());
      UploadArray(*m_Queue, *m_Numbers, std::vector<real>(numbers.begin(), numbers.end()));
    });
  }

  void
  MakeOutput(const WindowedRequest & request)
  {
    kernels::WindowedArguments a{};
    a.toInput = m_Chain.GetMerged().toInput;
    std::copy(request.inputSize.begin(), request.inputSize.end(), a.inputSize);
    a.outputSize[0] = request.size[0];
    a.outputSize[1] = request.size[1];
    a.partCount = static_cast<int>(m_Chain.GetMerged().parts.size());
    a.kind = ToKind(request.kernel);
    const std::int64_t width = request.size[0];
    TiledArray         output;
    output.elementSize = BytesOf(request.precision);
    output.count = CountOf(request.size);
    output.tileElements = std::min(output.count, std::max<std::int64_t>(1, TileVoxels / width) * width);
    output.bufferCount = m_Queue->IsHost() ? 1 : 2;
    output.make = [&](std::int64_t first, std::int64_t count, Memory & out) {
      m_Chain.Load({ first / width, count / width });
      a.firstVoxel = first;
      ForEachItem<kernels::InterpolateWindowedKernel>(*m_Queue,
                                                      count,
                                                      request.precision,
                                                      a,
                                                      Input<RealNumber>(*m_Input),
                                                      Input<kernels::u8>(m_Runs.get()),
                                                      Input<kernels::ChainPart>(m_ChainArrays.parts.get()),
                                                      Input<kernels::float4>(m_ChainArrays.vectors.get()),
                                                      Input<RealNumber>(*m_Numbers),
                                                      Output<RealNumber>(out));
    };
    output.take = request.output;
    output.target = request.memory;
    DownloadTiles(*m_Queue, m_Output, output);
  }

  std::shared_ptr<Backend>     m_Backend;
  std::unique_ptr<Queue>       m_Queue;
  ChainArrays                  m_ChainArrays;
  ChainOnDevice                m_Chain;
  MemoryPointer                m_Input;
  MemoryPointer                m_Runs; // of equal labels
  MemoryPointer                m_Numbers;
  std::array<MemoryPointer, 2> m_Output;
};

WindowedResampler::WindowedResampler(const std::string & deviceName)
  : m_Implementation(std::make_unique<Implementation>(deviceName))
{}

WindowedResampler::~WindowedResampler()
{
  FreeUnlessForked(m_Implementation);
}

const std::string &
WindowedResampler::GetDeviceName() const
{
  return m_Implementation->GetBackend().GetDescription().name;
}

std::size_t
WindowedResampler::GetHeldBytes() const
{
  return m_Implementation->GetHeldBytes();
}

void
WindowedResampler::Resample(const WindowedRequest & request, const ParallelFor & parallelFor)
{
  m_Implementation->Resample(request, parallelFor);
}

EvaluationStatistics
WindowedResampler::GetStatistics() const
{
  return m_Implementation->GetStatistics();
}

} // namespace gpureg
