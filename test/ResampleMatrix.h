// SPDX-License-Identifier: Apache-2.0
// GPUResampleImageFilter beside itk::ResampleImageFilter, over transforms, geometries, interpolators and pixel types.
#ifndef ResampleMatrix_h
#define ResampleMatrix_h

#include "itkGPUDevice.h"

namespace gpuregtest
{

/** Floats: every transform x geometry x interpolator. */
template <unsigned int VDimension>
void
TestWholeMatrix(const itk::GPUDevice & device);

/** Every other pixel type, in a part of that matrix in which each two of type, transform, geometry and interpolator
 *  meet. */
template <unsigned int VDimension>
void
TestPixelTypes(const itk::GPUDevice & device);

extern template void
TestWholeMatrix<2>(const itk::GPUDevice &);
extern template void
TestWholeMatrix<3>(const itk::GPUDevice &);
extern template void
TestPixelTypes<2>(const itk::GPUDevice &);
extern template void
TestPixelTypes<3>(const itk::GPUDevice &);

} // namespace gpuregtest

#endif
