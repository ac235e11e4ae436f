// SPDX-License-Identifier: Apache-2.0
#include "gpureg/Resampler.h"

#include "Backend.h"
#include "FoldedChain.h"
#include "RecursiveFilter.h"
#include "ResamplePasses.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <limits>
#include <utility>

namespace gpureg
{

namespace
{
// Of the output, at a time: large enough to keep a bus busy, small enough to be pinned without harm.
constexpr std::int64_t PieceBytes = std::int64_t{ 16 } << 20;

/** \throws Error if a volume has more rows, or more voxels in a slice, than 32 bits count. */
void
CheckSize(const Size & size, const char * what)
{
  const std::int64_t most = std::numeric_limits<int>::max();
  if (std::min({ size[0], size[1], size[2] }) < 1 || static_cast<std::int64_t>(size[0]) * size[1] > most ||
      static_cast<std::int64_t>(size[1]) * size[2] > most)
  {
    throw Error(std::string(what) + " of " + std::to_string(size[0]) + " x " + std::to_string(size[1]) + " x " +
                std::to_string(size[2]) + " voxels is empty, or has more rows, or more voxels in a slice, than " +
                std::to_string(most) + "; resample a part of it");
  }
}

int
ToKernel(Interpolation interpolation, int splineOrder)
{
  switch (interpolation)
  {
    case Interpolation::Nearest:
      return kernels::ResampleNearest;
    case Interpolation::Linear:
      return kernels::ResampleLinear;
    default:
      if (splineOrder < 0 || splineOrder > kernels::MaximumSplineOrder)
      {
        throw Error("a B-spline interpolator has an order of 0 to 5, not " + std::to_string(splineOrder));
      }
      return kernels::ResampleBSpline + splineOrder;
  }
}

/** A grid's vectors in the units of the next one, padded to float4. */
Filler
MakeVectorFiller(const VectorFiller & vectors, const Matrix3 & matrix)
{
  return [&vectors, &matrix](std::int64_t first, std::int64_t count, void * out) {
    constexpr std::int64_t Block = 1024;
    double                 block[3 * Block];
    auto *                 packed = static_cast<kernels::float4 *>(out);
    for (std::int64_t begin = 0; begin < count; begin += Block)
    {
      const std::int64_t now = std::min(Block, count - begin);
      vectors(first + begin, now, block);
      for (std::int64_t i = 0; i < now; ++i)
      {
        const Vector3 moved = Multiply(matrix, Vector3{ block[3 * i], block[3 * i + 1], block[3 * i + 2] });
        packed[begin + i] = {
          static_cast<float>(moved[0]), static_cast<float>(moved[1]), static_cast<float>(moved[2]), 0.0f
        };
      }
    }
  };
}
} // namespace

class Resampler::Implementation
{
public:
  explicit Implementation(const std::string & deviceName)
    : m_Backend(GetBackend(deviceName))
    , m_Queue(m_Backend->CreateQueue())
    , m_Passes(m_Queue->CreateResamplePasses())
    , m_Recursion(*m_Queue)
  {}

  const std::string &
  GetDeviceName() const
  {
    return m_Backend->GetDescription().name;
  }

  bool
  HasDoubles() const
  {
    return m_Recursion.HasDoubles();
  }

  void
  SetInput(const ResampleInput & input, const ParallelFor & parallelFor)
  {
    CheckSize(input.size, "an input");
    m_HasInput = false;
    m_Queue->statistics = {};
    m_Input = input;
    m_Input.values = nullptr;
    const std::size_t voxelBytes = BytesOf(input.precision) * static_cast<std::size_t>(input.components);
    m_Queue->parallelFor = parallelFor;
    Reserve(*m_Queue, m_Arrays.input, static_cast<std::size_t>(CountOf(input.size)) * voxelBytes);
    FillArray(*m_Queue, *m_Arrays.input, 0, voxelBytes, CountOf(input.size), input.values);
    m_Recursion.MakeSplineCoefficients(
      *m_Arrays.input, input.size, input.components, input.precision, input.splineOrder);
    m_HasInput = true;
    m_InputStatistics = m_Queue->statistics;
  }

  void
  Resample(const ResampleRequest & request, const ParallelFor & parallelFor)
  {
    if (!m_HasInput)
    {
      throw Error("the resampler has no input; set one first");
    }
    CheckSize(request.size, "an output");
    const auto start = std::chrono::steady_clock::now();
    m_Queue->statistics = std::exchange(m_InputStatistics, {});
    m_Queue->parallelFor = parallelFor;

    const FoldedChain          folded = FoldChain(request);
    kernels::ResampleArguments a = MakeArguments(request, folded);
    SendChain(request, folded);
    SendOutside(request);
    MakeOutput(a, request);

    EvaluationStatistics & statistics = m_Queue->statistics;
    statistics.deviceBytes = static_cast<std::int64_t>(
      SizeOf(m_Arrays.input) + SizeOf(m_Arrays.parts) + SizeOf(m_Arrays.vectors) + SizeOf(m_Arrays.outside) +
      SizeOf(m_Output[0]) + SizeOf(m_Output[1]) + m_Recursion.GetSize());
    statistics.evaluateMilliseconds =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    m_Statistics = statistics;
  }

  void
  SetTiming(bool on)
  {
    m_IsTiming = on;
  }

  const EvaluationStatistics &
  GetStatistics() const
  {
    return m_Statistics;
  }

private:
  kernels::ResampleArguments
  MakeArguments(const ResampleRequest & request, const FoldedChain & folded) const
  {
    kernels::ResampleArguments a{};
    a.toInput = folded.toInput;
    a.components = m_Input.components;
    a.interpolation = ToKernel(request.interpolation, request.splineOrder);
    a.partCount = static_cast<int>(folded.parts.size());
    a.chain = folded.parts.empty()                                                 ? kernels::ChainIsAffine
              : folded.parts.size() == 1 && kernels::FollowsRows(&folded.parts[0]) ? kernels::ChainFollowsRows
                                                                                   : kernels::ChainHasParts;
    a.extrapolates = request.extrapolates;
    std::copy(m_Input.size.begin(), m_Input.size.end(), a.inputSize);
    a.outputSize[0] = request.size[0];
    a.outputSize[1] = request.size[1];
    a.slabAxis = 2;
    a.slabEnd = m_Input.size[2];
    a.isFirstSlab = 1;
    a.isOnlySlab = 1;
    return a;
  }

  void
  SendChain(const ResampleRequest & request, const FoldedChain & folded)
  {
    if (folded.parts.empty())
    {
      return;
    }
    const std::size_t bytes = folded.parts.size() * sizeof(kernels::ChainPart);
    Reserve(*m_Queue, m_Arrays.parts, bytes);
    FillArray(*m_Queue,
              *m_Arrays.parts,
              0,
              sizeof(kernels::ChainPart),
              static_cast<std::int64_t>(folded.parts.size()),
              [&](std::int64_t first, std::int64_t count, void * out) {
                std::memcpy(out,
                            folded.parts.data() + first,
                            static_cast<std::size_t>(count) * sizeof(kernels::ChainPart));
              });
    std::int64_t vectorCount = 0;
    for (const ChainStep & step : request.transform.steps)
    {
      vectorCount += CountOf(step.grid.size);
    }
    Reserve(*m_Queue, m_Arrays.vectors, static_cast<std::size_t>(vectorCount) * sizeof(kernels::float4));
    for (std::size_t k = 0; k < folded.parts.size(); ++k)
    {
      const DisplacementGrid & grid = request.transform.steps[k].grid;
      FillArray(*m_Queue,
                *m_Arrays.vectors,
                static_cast<std::size_t>(folded.parts[k].firstVector) * sizeof(kernels::float4),
                sizeof(kernels::float4),
                CountOf(grid.size),
                MakeVectorFiller(grid.vectors, folded.vectorMatrices[k]));
    }
  }

  void
  SendOutside(const ResampleRequest & request)
  {
    const std::int64_t components = m_Input.components;
    Reserve(*m_Queue, m_Arrays.outside, static_cast<std::size_t>(components) * BytesOf(m_Input.precision));
    FillArray(*m_Queue,
              *m_Arrays.outside,
              0,
              BytesOf(m_Input.precision),
              components,
              [&](std::int64_t first, std::int64_t count, void * out) {
                for (std::int64_t c = 0; c < count; ++c)
                {
                  const double value =
                    request.extrapolates ? 0.0 : request.outside.at(static_cast<std::size_t>(first + c));
                  if (m_Input.precision == Precision::Single)
                  {
                    static_cast<float *>(out)[c] = static_cast<float>(value);
                  }
                  else
                  {
                    static_cast<double *>(out)[c] = value;
                  }
                }
              });
  }

  /** Piece by piece: while one comes down and is handed out, the next is made. */
  void
  MakeOutput(const kernels::ResampleArguments & a, const ResampleRequest & request)
  {
    const std::size_t  voxelBytes = BytesOf(m_Input.precision) * static_cast<std::size_t>(m_Input.components);
    const std::size_t  rowBytes = voxelBytes * static_cast<std::size_t>(request.size[0]);
    const std::int64_t rows = static_cast<std::int64_t>(request.size[1]) * request.size[2];
    const std::int64_t pieceRows = std::clamp<std::int64_t>(PieceBytes / static_cast<std::int64_t>(rowBytes), 1, rows);
    DrainPieces(
      *m_Queue,
      m_Output,
      static_cast<std::size_t>(pieceRows) * rowBytes,
      (rows + pieceRows - 1) / pieceRows,
      [&](std::int64_t piece, Memory & output) {
        const std::int64_t firstRow = piece * pieceRows;
        const auto         rowCount = static_cast<int>(std::min(pieceRows, rows - firstRow));
        Enqueue(*m_Queue, m_IsTiming, [&] {
          m_Passes->Resample(a, m_Input.precision, m_Arrays, output, static_cast<int>(firstRow), rowCount);
        });
        return static_cast<std::size_t>(rowCount) * rowBytes;
      },
      [&](std::int64_t piece, const void * values) {
        const std::int64_t firstRow = piece * pieceRows;
        const std::int64_t rowCount = std::min(pieceRows, rows - firstRow);
        HandOut(request, firstRow, rowCount, rowBytes, values);
        if (request.progress)
        {
          request.progress(static_cast<double>(firstRow + rowCount) / static_cast<double>(rows));
        }
      });
  }

  void
  HandOut(const ResampleRequest & request,
          std::int64_t            firstRow,
          std::int64_t            rowCount,
          std::size_t             rowBytes,
          const void *            values) const
  {
    constexpr std::int64_t TaskBytes = std::int64_t{ 1 } << 18;
    const std::int64_t     width = request.size[0];
    const std::int64_t     taskRows = std::max<std::int64_t>(1, TaskBytes / static_cast<std::int64_t>(rowBytes));
    m_Queue->parallelFor((rowCount + taskRows - 1) / taskRows, [&](std::int64_t task) {
      const std::int64_t begin = task * taskRows;
      const std::int64_t count = std::min(taskRows, rowCount - begin);
      request.output((firstRow + begin) * width,
                     count * width,
                     static_cast<const char *>(values) + static_cast<std::size_t>(begin) * rowBytes);
    });
  }

  std::shared_ptr<Backend>        m_Backend;
  std::unique_ptr<Queue>          m_Queue;
  std::unique_ptr<ResamplePasses> m_Passes;
  RecursiveFilter                 m_Recursion;
  ResampleInput                   m_Input;
  bool                            m_HasInput = false;
  ResampleArrays                  m_Arrays;
  std::array<MemoryPointer, 2>    m_Output;
  bool                            m_IsTiming = false;
  /** Of a SetInput since the last Resample. */
  EvaluationStatistics m_InputStatistics;
  EvaluationStatistics m_Statistics;
};

Resampler::Resampler(const std::string & deviceName)
  : m_Implementation(std::make_unique<Implementation>(deviceName))
{}

Resampler::~Resampler() = default;

const std::string &
Resampler::GetDeviceName() const
{
  return m_Implementation->GetDeviceName();
}

bool
Resampler::HasDoubles() const
{
  return m_Implementation->HasDoubles();
}

void
Resampler::SetInput(const ResampleInput & input, const ParallelFor & parallelFor)
{
  m_Implementation->SetInput(input, parallelFor);
}

void
Resampler::Resample(const ResampleRequest & request, const ParallelFor & parallelFor)
{
  m_Implementation->Resample(request, parallelFor);
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
