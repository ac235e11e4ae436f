// SPDX-License-Identifier: Apache-2.0
#include "MattesCase.hxx"

template gpuregtest::MattesComparison
gpuregtest::Compare<3>(const MattesCase &, const std::string &);
