// SPDX-License-Identifier: Apache-2.0
#include "engine/filter/ImageLevel.h"

#include "gpureg/core/Error.h"

#include "engine/filter/LevelGeometry.h"
#include "engine/image/WideValues.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace gpureg
{

namespace
{
/** Returns the radius of a Gaussian whose sigma is half of the factor: 3 sigmas, rounded up. */
constexpr int
ComputeReach(int factor)
{
  return (3 * factor + 1) / 2;
}

constexpr int
CountTaps(int factor)
{
  return 2 * ComputeReach(factor) + factor;
}
static_assert(CountTaps(MostFactor) <= kernels::MaximumTaps, "a kernel takes no more taps");

/** Returns the taps of a mean over factor samples after a Gaussian of sigma factor / 2. The taps are symmetrical. */
std::vector<double>
MakeTaps(int factor)
{
  const double        sigma = 0.5 * factor;
  const int           reach = ComputeReach(factor);
  std::vector<double> taps(static_cast<std::size_t>(CountTaps(factor)), 0.0);
  double              sum = 0;
  for (int g = -reach; g <= reach; ++g)
  {
    const double weight = std::exp(-0.5 * g * g / (sigma * sigma));
    for (int n = 0; n < factor; ++n)
    {
      taps[static_cast<std::size_t>(reach + g + n)] += weight;
      sum += weight;
    }
  }
  for (double & tap : taps)
  {
    tap /= sum;
  }
  return taps;
}

/** Returns the arguments of the convolution along one axis of a volume. \param first the first sample that the first output replaces */
kernels::ConvolutionArguments
MakeArguments(const Size & size, int axis, int factor, int outputs, int first)
{
  const LineShape               shape = ShapeOf(size, 1, axis);
  const std::vector<double>     taps = MakeTaps(factor);
  kernels::ConvolutionArguments a{};
  a.inner = shape.inner;
  a.outer = shape.outer;
  a.length = shape.length;
  a.outputLength = outputs;
  a.first = first;
  a.step = factor;
  a.run = 1;
  a.end = outputs;
  a.left = (static_cast<int>(taps.size()) - factor) / 2;
  a.tapCount = static_cast<int>(taps.size());
  std::copy(taps.begin(), taps.end(), a.taps);
  return a;
}

/** \throws BadInputError for factors that are not possible */
void
CheckFactors(const Size & factors)
{
  for (const int factor : factors)
  {
    if (factor < 1 || factor > MostFactor)
    {
      throw BadInputError("a voxel of a level stands for 1 to " + std::to_string(MostFactor) +
                          " voxels along an axis, not for " + std::to_string(factor));
    }
  }
}
} // namespace

ImageLevel::ImageLevel(Queue & queue, std::string deviceName, Scratch * scratch)
  : m_Queue(queue)
  , m_DeviceName(std::move(deviceName))
  , m_Scratch(scratch != nullptr ? *scratch : m_OwnScratch)
{}

template <typename TShrink>
void
ImageLevel::Describe(const DeviceImage & image, const Size & size, const Size & factors, const TShrink & shrink)
{
  CheckFactors(factors);
  m_Precision = image.GetPrecision();
  m_Size = size;
  m_ToImage = {};
  for (int axis = 0; axis < 3; ++axis)
  {
    const auto d = static_cast<std::size_t>(axis);
    const int  factor = factors[d];
    if (factor == 1)
    {
      continue;
    }
    const Size before = m_Size;
    const int  outputs = before[d] / factor;
    const int  first = (before[d] - outputs * factor) / 2;
    m_ToImage.matrix[4 * d] = factor;
    m_ToImage.offset[d] = first + 0.5 * (factor - 1);
    m_Size[d] = outputs;
    const bool isLast = std::all_of(factors.begin() + axis + 1, factors.end(), [](int f) { return f == 1; });
    shrink(axis, before, first, isLast);
  }
}

void
ImageLevel::Make(
  const DeviceImage & image, const Size & size, const Size & factors, LinePasses & passes, bool keepsNarrow)
{
  const bool    hasAllVoxels = factors == Size{ 1, 1, 1 };
  MemoryPointer widened; // until the level is made
  m_Values = image.GetMemory();
  m_Narrow = nullptr;
  if (hasAllVoxels && (!IsNarrow(image) || keepsNarrow))
  {
    m_Own.reset();
    m_Narrow = image.GetNumbers();
  }
  else
  {
    m_Values = &Widen(m_Queue, image, hasAllVoxels ? m_Own : widened);
  }
  m_Type = m_Values != nullptr ? TypeOf(image.GetPrecision()) : image.GetNumberType();
  this->Describe(image, size, factors, [&](int axis, const Size & before, int first, bool isLast) {
    const auto                          d = static_cast<std::size_t>(axis);
    const kernels::ConvolutionArguments a = MakeArguments(before, axis, factors[d], m_Size[d], first);
    MemoryPointer &                     target = isLast ? m_Own : m_Scratch[d];
    Reserve(m_Queue, target, BytesOf(m_Precision) * static_cast<std::size_t>(CountOf(m_Size)));
    passes.Convolve(a, m_Precision, *m_Values, *target);
    m_Values = target.get();
  });
}

void
ImageLevel::Plan(const DeviceImage & image,
                 const Size &        size,
                 const Size &        factors,
                 bool                keepsNarrow,
                 const std::string & name,
                 const std::string & scratch,
                 MemoryLedger &      ledger)
{
  const bool hasAllVoxels = factors == Size{ 1, 1, 1 };
  const bool staysNarrow = hasAllVoxels && keepsNarrow;
  m_Values = m_Narrow = nullptr;
  m_Type = staysNarrow ? image.GetNumberType() : TypeOf(image.GetPrecision());
  if (hasAllVoxels && (!IsNarrow(image) || keepsNarrow))
  {
    ledger.Free(name);
  }
  else if (IsNarrow(image))
  {
    ledger.Reserve(hasAllVoxels ? name : "scratch: widened image", CountWideBytes(image));
  }
  this->Describe(image, size, factors, [&](int axis, const Size &, int, bool isLast) {
    ledger.Reserve(isLast ? name : scratch + " " + "xy"[axis],
                   BytesOf(m_Precision) * static_cast<std::size_t>(CountOf(m_Size)));
  });
  ledger.Free("scratch: widened image");
}

} // namespace gpureg
