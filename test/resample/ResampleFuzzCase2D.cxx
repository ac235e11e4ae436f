// SPDX-License-Identifier: Apache-2.0
#include "ResampleFuzzCase.hxx"

template gpuregtest::ResampleFuzzResult
gpuregtest::RunResampleFuzzCase<2>(std::uint64_t, const std::string &);
