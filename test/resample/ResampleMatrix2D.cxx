// SPDX-License-Identifier: Apache-2.0
#include "ResampleMatrix.hxx"

template void
gpuregtest::TestResampleMatrix<2>(const std::vector<itk::GPUDevice> &);
