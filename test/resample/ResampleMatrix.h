// SPDX-License-Identifier: Apache-2.0
// Compares GPUResampleImageFilter with itk::ResampleImageFilter over transforms, geometries, interpolators and pixel types.
#ifndef ResampleMatrix_h
#define ResampleMatrix_h

#include "itkGPUDevice.h"

#include <vector>

namespace gpuregtest
{

/** Tests every pixel type × transform × geometry × interpolator, with ITK's output computed once for all devices. */
template <unsigned int VDimension>
void
TestResampleMatrix(const std::vector<itk::GPUDevice> & devices);

extern template void
TestResampleMatrix<2>(const std::vector<itk::GPUDevice> &);
extern template void
TestResampleMatrix<3>(const std::vector<itk::GPUDevice> &);

} // namespace gpuregtest

#endif
