// SPDX-License-Identifier: Apache-2.0
// A random case of the resampler, made from its seed and compared with ITK.
#ifndef ResampleFuzzCase_h
#define ResampleFuzzCase_h

#include <cstdint>
#include <string>

namespace gpuregtest
{

struct ResampleFuzzResult
{
  std::string words;
  double      nrmse = 0;
  double      largest = 0; // relative to the range
  int         voxels = 0;
  int         compared = 0;
  int         inside = 0;
  /** True if the engine did the work where it should, and the parent class on the host otherwise. */
  bool isWhereItShouldBe = false;
  /** The number of memory limits that were large enough to be tried. */
  int bounded = 0;
  /** The first change that altered a bit: a number of work units, a part of the region, or a memory limit. */
  std::string otherBits;
};

template <unsigned int VDimension>
ResampleFuzzResult
RunResampleFuzzCase(std::uint64_t seed, const std::string & deviceName);

extern template ResampleFuzzResult
RunResampleFuzzCase<2>(std::uint64_t, const std::string &);
extern template ResampleFuzzResult
RunResampleFuzzCase<3>(std::uint64_t, const std::string &);

} // namespace gpuregtest

#endif
