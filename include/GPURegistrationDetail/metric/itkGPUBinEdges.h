// SPDX-License-Identifier: Apache-2.0
// Computes bins between two values, and the numbers of a type at which each bin begins.
#ifndef itkGPUBinEdges_h
#define itkGPUBinEdges_h

#include "gpureg/metric/samples/Samples.h"

#include "itkIntTypes.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <type_traits>

namespace itk
{
namespace GPURegistrationDetail
{

/** Returns the bin of a value, of equal bins between minimum and maximum. A value outside this range, or a NaN, is in the first or the
 *  last bin. */
inline SizeValueType
ComputeBinBetween(double value, double minimum, double maximum, SizeValueType bins)
{
  const double place = static_cast<double>(bins) * (value - minimum) / (maximum - minimum);
  return place > 0.0 ? static_cast<SizeValueType>(std::min(place, static_cast<double>(bins - 1))) : 0;
}

/** Numbers the finite numbers of a type in their order: 0 is number 0, the next larger number is number 1, and so on. */
template <typename TReal>
class NumberLine
{
  static_assert(std::is_floating_point<TReal>::value, "its bits are in the order of their numbers");

public:
  static std::int64_t
  ComputePlace(TReal number)
  {
    Bits bits;
    std::memcpy(&bits, &number, sizeof(bits));
    return Mirror(bits);
  }

  static TReal
  GetNumber(std::int64_t place)
  {
    const Bits bits = Mirror(static_cast<Bits>(place));
    TReal      number;
    std::memcpy(&number, &bits, sizeof(number));
    return number;
  }

private:
  using Bits = std::conditional_t<sizeof(TReal) == sizeof(std::int32_t), std::int32_t, std::int64_t>;

  /** Reverses the order of numbers below 0, whose bits have the order of their absolute values. */
  static Bits
  Mirror(Bits bits)
  {
    return bits >= 0 ? bits : std::numeric_limits<Bits>::min() - bits;
  }
};

/** Returns the numbers, from minimum to maximum, at which each bin but the first begins; nothing if binOf is not monotonic, or gives
 *  more bins than 16 bits can count.
 *  \param minimum the least number.
 *  \param maximum the largest number.
 *  \param binOf returns the bin of a number, which must not decrease as numbers increase. */
template <typename TReal, typename TBinOf>
std::optional<gpureg::BinEdges>
ComputeBinEdges(TReal minimum, TReal maximum, const TBinOf & binOf)
{
  using Line = NumberLine<TReal>;
  const auto         first = static_cast<std::int64_t>(binOf(minimum));
  const auto         last = static_cast<std::int64_t>(binOf(maximum));
  const std::int64_t most = 0xFFFF;
  if (first > last || last >= most)
  {
    return std::nullopt;
  }
  gpureg::BinEdges bins;
  bins.first = static_cast<int>(first);
  std::int64_t below = Line::ComputePlace(minimum);
  for (std::int64_t bin = first + 1; bin <= last; ++bin)
  {
    // The least number whose bin is `bin` or a later one is above `low`, and not above `found`.
    std::int64_t low = below;
    std::int64_t found = Line::ComputePlace(maximum);
    while (low + 1 < found)
    {
      const std::int64_t middle = low / 2 + found / 2 + (low % 2 + found % 2) / 2;
      (static_cast<std::int64_t>(binOf(Line::GetNumber(middle))) >= bin ? found : low) = middle;
    }
    bins.edges.push_back(static_cast<double>(Line::GetNumber(found)));
    // If bins are closer together than numbers, the next bin begins at the same number.
    below = found - 1;
  }
  return bins;
}

} // namespace GPURegistrationDetail
} // namespace itk

#endif
