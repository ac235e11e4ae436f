// SPDX-License-Identifier: Apache-2.0
// Filters along lines in plain loops: the reference that every device is tested against, and the code that runs where there is no device.
// src/engine/filter/LinePasses.cpp launches the counterparts of CUDA and OpenCL.
#include "host/runtime/HostQueue.h"

#include "engine/filter/LinePasses.h"

#include <algorithm>
#include <type_traits>
#include <vector>

namespace gpureg
{

using namespace kernels;

namespace
{
// The number of lines that are filtered side by side. A recursion waits for its own last result, and eight recursions fill that time; where
// the axis is not the fastest, the lines also share cache lines.
constexpr int Bundle = 8;
// The number of samples that one thread processes at a time.
constexpr i64 TaskSamples = i64{ 1 } << 16;
// The number of outputs of a convolution that are added up together.
constexpr i64 Chunk = 256;

/** Calls work with the filter's kind as a constant, and a value of the precision's type. */
template <typename TWork>
void
WithVariant(int kind, Precision precision, const TWork & work)
{
  const auto withKind = [&](auto constant) { WithReal(precision, [&](auto zero) { work(constant, zero); }); };
  if (kind == RecursionOfGaussian)
  {
    withKind(std::integral_constant<int, RecursionOfGaussian>{});
  }
  else
  {
    withKind(std::integral_constant<int, RecursionOfSpline>{});
  }
}

/** Lines side by side in double precision, and the output of the causal filter. */
struct LineBundle
{
  explicit LineBundle(int length)
    : samples(static_cast<std::size_t>(length) * Bundle)
    , causal(samples.size())
  {}

  std::vector<double> samples;
  std::vector<double> causal;
  double              state[Bundle][RecursionStates];
  double              back[Bundle][RecursionStates];
};

/** Filters count lines. A bundle has a fixed number of lines; the rest of them repeat the last line. */
template <typename TKind, typename real>
void
RecurseBundle(TKind kind, const RecursionArguments & a, real * const * lines, int count, LineBundle & bundle)
{
  double * const samples = bundle.samples.data();
  double * const causal = bundle.causal.data();
  for (int i = 0; i < a.length; ++i)
  {
    for (int k = 0; k < Bundle; ++k)
    {
      samples[i * Bundle + k] = static_cast<double>(lines[k][i * a.inner]);
    }
  }
  for (int k = 0; k < Bundle; ++k)
  {
    StartCausal(kind, &a, static_cast<const real *>(lines[k]), bundle.state[k]);
  }
  for (int i = 0; i < a.length; ++i)
  {
    for (int k = 0; k < Bundle; ++k)
    {
      causal[i * Bundle + k] = StepCausal(kind, &a, samples[i * Bundle + k], bundle.state[k]);
    }
  }
  for (int k = 0; k < Bundle; ++k)
  {
    StartAnticausal(kind, &a, samples[(a.length - 1) * Bundle + k], bundle.state[k], bundle.back[k]);
  }
  for (int i = a.length - 1; i >= 0; --i)
  {
    for (int k = 0; k < Bundle; ++k)
    {
      samples[i * Bundle + k] =
        StepAnticausal(kind, &a, samples[i * Bundle + k], causal[i * Bundle + k], bundle.back[k]);
    }
  }
  for (int i = 0; i < a.length; ++i)
  {
    for (int k = 0; k < count; ++k)
    {
      lines[k][i * a.inner] = static_cast<real>(samples[i * Bundle + k]);
    }
  }
}

/** Computes outputs first … first + count - 1, count <= Chunk, of one j of a row [outputLength][inner], column by column, so that a
 *  compiler may vectorise the columns. */
template <typename real>
void
ConvolveColumns(const ConvolutionArguments & a, const real * input, int j, i64 first, i64 count, real * output)
{
  double    sums[Chunk];
  const int position = ComputePosition(&a, j);
  for (int tap = 0; tap < a.tapCount; ++tap)
  {
    const real * const row = input + GetTapIndex(&a, position, tap) * a.inner + first;
    const double       weight = a.taps[tap];
    if (tap == 0)
    {
      for (i64 i = 0; i < count; ++i)
      {
        sums[i] = weight * static_cast<double>(row[i]);
      }
    }
    else
    {
      for (i64 i = 0; i < count; ++i)
      {
        sums[i] += RoundedProduct(weight, static_cast<double>(row[i]));
      }
    }
  }
  for (i64 i = 0; i < count; ++i)
  {
    output[i] = static_cast<real>(FinishSum(&a, sums[i]));
  }
}

class HostLinePasses : public LinePasses
{
public:
  explicit HostLinePasses(HostQueue & queue)
    : m_Queue(queue)
  {}

  std::size_t
  GetStateBytes(int, int, std::int64_t) const override
  {
    return 0;
  }

  void
  Recurse(int kind, const RecursionArguments & a, Precision precision, Memory & volume, Memory *) override
  {
    m_Queue.CountLaunch();
    WithVariant(kind, precision, [&](auto constant, auto zero) {
      using real = decltype(zero);
      real * const values = static_cast<real *>(m_Queue.GetHostAddress(volume));
      const i64    bundles = (a.lineCount + Bundle - 1) / Bundle;
      const i64    taskBundles = std::max<i64>(1, TaskSamples / (i64{ a.length } * Bundle));
      m_Queue.ForEachTask((bundles + taskBundles - 1) / taskBundles, [&](i64 task) {
        LineBundle bundle(a.length);
        const i64  end = std::min(a.lineCount, (task + 1) * taskBundles * Bundle);
        for (i64 line = task * taskBundles * Bundle; line < end; line += Bundle)
        {
          const int count = static_cast<int>(std::min<i64>(Bundle, end - line));
          real *    lines[Bundle];
          for (int k = 0; k < Bundle; ++k)
          {
            lines[k] = values + GetLineOffset(&a, a.firstLine + line + std::min(k, count - 1));
          }
          RecurseBundle(constant, a, lines, count, bundle);
        }
      });
    });
  }

  void
  Convolve(const ConvolutionArguments & a, Precision precision, const Memory & input, Memory & output) override
  {
    WithReal(precision, [&](auto zero) { ConvolveAs<decltype(zero)>(a, input, output); });
  }

  void
  Interpolate(const GridInterpolationArguments & a,
              Precision                          precision,
              const Memory &                     places,
              const Memory &                     input,
              Memory &                           output) override
  {
    WithReal(precision, [&](auto zero) { InterpolateAs<decltype(zero)>(a, places, input, output); });
  }

private:
  template <typename real>
  void
  InterpolateAs(const GridInterpolationArguments & a, const Memory & places, const Memory & input, Memory & output)
  {
    m_Queue.CountLaunch();
    const GridPlace * const at = m_Queue.AddressIn<GridPlace>(places);
    const real * const      in = m_Queue.AddressIn<real>(input);
    real * const            out = static_cast<real *>(m_Queue.GetHostAddress(output));
    const i64               rowElements = i64{ a.outputSize[0] } * a.components;
    const i64               rows = i64{ a.outputSize[1] } * a.outputSize[2];
    const i64               taskRows = std::max<i64>(1, TaskSamples / rowElements);
    m_Queue.ForEachTask((rows + taskRows - 1) / taskRows, [&](i64 task) {
      const i64 end = std::min(rows, (task + 1) * taskRows) * rowElements;
      for (i64 element = task * taskRows * rowElements; element < end; ++element)
      {
        InterpolateElement(&a, in, at, out, element);
      }
    });
  }

  template <typename real>
  void
  ConvolveAs(const ConvolutionArguments & a, const Memory & input, Memory & output)
  {
    m_Queue.CountLaunch();
    const real * const in = m_Queue.AddressIn<real>(input);
    real * const       out = static_cast<real *>(m_Queue.GetHostAddress(output));
    // A row is [outputLength][inner] if a sample's neighbours are adjacent; otherwise a row is a single j.
    const bool isAlong = a.inner == 1;
    const i64  rows = isAlong ? a.outer : a.outer * a.outputLength;
    const i64  rowElements = isAlong ? a.outputLength : a.inner;
    const i64  taskRows = std::max<i64>(1, TaskSamples / rowElements);
    m_Queue.ForEachTask((rows + taskRows - 1) / taskRows, [&](i64 task) {
      for (i64 row = task * taskRows; row < std::min(rows, (task + 1) * taskRows); ++row)
      {
        if (isAlong)
        {
          const real * const line = in + row * a.length;
          for (int x = 0; x < a.outputLength; ++x)
          {
            out[row * a.outputLength + x] = static_cast<real>(ConvolveAt(&a, line, x));
          }
          continue;
        }
        const i64 outer = row / a.outputLength;
        const int j = static_cast<int>(row % a.outputLength);
        real *    there = out + row * a.inner;
        if (j >= a.end)
        {
          std::fill(there, there + a.inner, real{ 0 });
          continue;
        }
        for (i64 first = 0; first < a.inner; first += Chunk)
        {
          const i64 count = std::min(Chunk, a.inner - first);
          ConvolveColumns(a, in + outer * a.length * a.inner, j, first, count, there + first);
        }
      }
    });
  }

  HostQueue & m_Queue;
};
} // namespace

template <>
std::unique_ptr<LinePasses>
MakePassesOn<DeviceKind::Host, LinePasses>(Queue & queue)
{
  return std::make_unique<HostLinePasses>(static_cast<HostQueue &>(queue));
}

} // namespace gpureg
