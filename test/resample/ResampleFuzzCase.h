// SPDX-License-Identifier: Apache-2.0
// One random case of the resampler, made from its seed and compared with ITK.
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
  double      largest = 0; // of the range
  int         voxels = 0;
  int         compared = 0;
  int         inside = 0;
  /** Whether the engine did the work, as it should; or the parent class on the host, where that is as it should be. */
  bool isWhereItShouldBe = false;
  /** How many bounds of device memory were enough to be tried. */
  int bounded = 0;
  /** The first thing that changed a bit: a number of work units, a part of the region, a bound of memory. */
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
