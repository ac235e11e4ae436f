// SPDX-License-Identifier: Apache-2.0
#include "ResampleMatrix.hxx"

template void
gpuregtest::TestWholeMatrix<3>(const itk::GPUDevice &);
template void
gpuregtest::TestPixelTypes<3>(const itk::GPUDevice &);
