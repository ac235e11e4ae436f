// SPDX-License-Identifier: Apache-2.0
// GPUResampleImageFilter beside itk::ResampleImageFilter, over transforms, geometries, interpolators and pixel types.
#ifndef ResampleMatrix_h
#define ResampleMatrix_h

#include "itkGPUDevice.h"

namespace gpuregtest
{

/** Every pixel type x transform x geometry x interpolator. */
template <unsigned int VDimension>
void
TestResampleMatrix(const itk::GPUDevice & device);

extern template void
TestResampleMatrix<2>(const itk::GPUDevice &);
extern template void
TestResampleMatrix<3>(const itk::GPUDevice &);

} // namespace gpuregtest

#endif
