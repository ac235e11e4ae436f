// SPDX-License-Identifier: Apache-2.0
// GPUResampleImageFilter beside itk::ResampleImageFilter, on every device: nRMSE up to 1e-5, the largest difference up
// to 1e-4 of the range; of integers not one that ITK's own value does not explain, of the nearest neighbour none.
#include "ResampleMatrix.h"
#include "TestDevices.h"

namespace gpuregtest
{
namespace
{

TEST(ResampleEquivalence, Matrix2D)
{
  TestResampleMatrix<2>(itk::GPUDevice::GetAvailable());
}

TEST(ResampleEquivalence, Matrix3D)
{
  TestResampleMatrix<3>(itk::GPUDevice::GetAvailable());
}

} // namespace
} // namespace gpuregtest
