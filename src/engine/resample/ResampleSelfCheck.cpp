// SPDX-License-Identifier: Apache-2.0
#include "engine/resample/ResampleSelfCheck.h"

#include "engine/runtime/Operation.h"
#include "engine/runtime/Transfer.h"

#include "gpureg/core/Error.h"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace gpureg
{

using namespace kernels;

namespace
{
// The size of the input and of the output: more columns than a row has lanes, and more rows than a group has.
constexpr int ImageSize[3] = { 40, 9, 2 };

// The voxels from one vector of the chain to the next, and the size of its grids.
constexpr int GridSpacing = 8;
constexpr int GridSize[3] = { 9, 5, 4 };

// Values are below 101; devices differ by rounding alone.
constexpr double Tolerance = 0.01;

/** Returns the map that scales each axis by scale and adds offset, both in units of 2^-32. */
FixedMap
MakeMap(i64 scale, i64 offset)
{
  FixedMap map{};
  for (int r = 0; r < 3; ++r)
  {
    map.row[4 * r + r] = scale;
    map.row[4 * r + 3] = offset;
  }
  return map;
}

ChainPart
MakePart(int kind)
{
  ChainPart part{};
  part.toGrid = MakeMap(GPUREG_FIXED_ONE / GridSpacing, GPUREG_FIXED_ONE);
  std::copy_n(GridSize, 3, part.size);
  part.dimension = 3;
  part.kind = kind;
  part.order = 3;
  part.slack = 1;
  part.carry[0] = part.carry[4] = part.carry[8] = 1.0f;
  return part;
}

/** Returns the chain's parts. A part and its array stand for those that an affine chain does not have. */
std::vector<ChainPart>
MakeChain(int chain)
{
  std::vector<ChainPart> parts{ MakePart(ChainPartIsSpline) };
  if (chain == ChainHasParts)
  {
    parts.push_back(MakePart(ChainPartIsField));
  }
  return parts;
}

/** Returns the vectors that all parts share. Two of them lead less than 0.35 voxels away, so that no position is near the middle between
 *  two voxels, where the nearest one depends on rounding. */
std::vector<float4>
MakeVectors()
{
  std::vector<float4> vectors;
  for (int z = 0; z < GridSize[2]; ++z)
  {
    for (int y = 0; y < GridSize[1]; ++y)
    {
      for (int x = 0; x < GridSize[0]; ++x)
      {
        vectors.push_back(
          { static_cast<float>(2 + x) / 64, static_cast<float>(8 - y) / 64, static_cast<float>(4 + z) / 64, 0.0f });
      }
    }
  }
  return vectors;
}

ResampleArguments
MakeArguments(const ResampleArguments & like)
{
  ResampleArguments a{};
  a.toInput = MakeMap(GPUREG_FIXED_ONE, GPUREG_FIXED_ONE / 8);
  a.components = like.components;
  a.interpolation = like.interpolation;
  a.chain = like.chain;
  a.partCount = like.chain == ChainIsAffine ? 0 : static_cast<int>(MakeChain(like.chain).size());
  std::copy_n(ImageSize, 3, a.inputSize);
  std::copy_n(ImageSize, 2, a.outputSize);
  a.slabAxis = 2;
  a.slabEnd = ImageSize[2];
  a.isFirstSlab = 1;
  a.isOnlySlab = 1;
  a.cut.rowCount = ImageSize[1] * ImageSize[2];
  return a;
}

/** Resamples the small image on the device of a queue. */
template <typename real>
std::vector<real>
ResampleSmallImage(Queue & queue, ResamplePasses & passes, const ResampleArguments & a, Precision precision)
{
  const auto serially = [](std::int64_t count, const std::function<void(std::int64_t)> & body) {
    for (std::int64_t n = 0; n < count; ++n)
    {
      body(n);
    }
  };
  std::vector<real> values(static_cast<std::size_t>(a.components * ImageSize[0] * ImageSize[1] * ImageSize[2]));
  for (std::size_t n = 0; n < values.size(); ++n)
  {
    values[n] = static_cast<real>(n * 37 % 101);
  }
  std::vector<real> output(values.size());
  Operate(queue, serially, [&] {
    const auto upload = [&queue](const auto & elements) {
      MemoryPointer memory = queue.Allocate(elements.size() * sizeof(elements[0]));
      UploadArray(queue, *memory, elements);
      return memory;
    };
    const MemoryPointer input = upload(values);
    const MemoryPointer parts = upload(MakeChain(a.chain));
    const MemoryPointer vectors = upload(MakeVectors());
    const MemoryPointer outside = upload(std::vector<real>(static_cast<std::size_t>(a.components), real{ -1 }));
    // An element that no lane writes keeps this number, which is wrong.
    const MemoryPointer made = upload(std::vector<real>(values.size(), real{ -2 }));
    passes.Resample(a, precision, { *input, parts, vectors, outside }, *made);
    queue.Download(output.data(), *made, sizeof(real) * output.size());
  });
  return output;
}

/** The uses that were checked, and the mutex of the set. */
struct CheckedUses
{
  using Use = std::tuple<std::string, int, int, int, Precision>;

  ForkSafeMutex mutex;
  std::set<Use> uses;
};
} // namespace

std::string
ComputeDifferenceFromHost(Queue & queue, ResamplePasses & passes, const ResampleArguments & like, Precision precision)
{
  const ResampleArguments a = MakeArguments(like);
  const auto              hostQueue = GetBackend("host")->CreateQueue();
  const auto              hostPasses = MakePasses<ResamplePasses>(*hostQueue);
  std::string             difference;
  WithReal(precision, [&](auto zero) {
    using real = decltype(zero);
    const std::vector<real> made = ResampleSmallImage<real>(queue, passes, a, precision);
    const std::vector<real> expected = ResampleSmallImage<real>(*hostQueue, *hostPasses, a, precision);
    for (std::size_t n = 0; n < made.size() && difference.empty(); ++n)
    {
      // A NaN is wrong, too.
      if (!(std::abs(made[n] - expected[n]) <= Tolerance))
      {
        difference = "value " + std::to_string(n) + " of a small image that it resampled is " +
                     std::to_string(made[n]) + ", and " + std::to_string(expected[n]) + " on the host";
      }
    }
  });
  return difference;
}

void
CheckResamplesRightly(Backend & backend, const ResampleArguments & like, Precision precision)
{
  if (backend.GetKind() != DeviceKind::OpenCL)
  {
    return;
  }
  static CheckedUses &   checked = *new CheckedUses;
  const CheckedUses::Use use(backend.GetDescription().name, like.interpolation, like.chain, like.components, precision);
  const std::lock_guard<ForkSafeMutex> lock(checked.mutex);
  if (checked.uses.count(use) == 0)
  {
    const auto        queue = backend.CreateQueue();
    const std::string difference =
      ComputeDifferenceFromHost(*queue, *MakePasses<ResamplePasses>(*queue), like, precision);
    if (!difference.empty())
    {
      const DeviceDescription & device = backend.GetDescription();
      throw UnsupportedError(device.name + " (" + device.description + ", driver " + backend.GetDriverVersion() +
                             ") computes wrongly: " + difference +
                             ". Install another version of its driver, or use another device");
    }
    checked.uses.insert(use);
  }
}

} // namespace gpureg
