// SPDX-License-Identifier: Apache-2.0
// Compares GPUResampleImageFilter with itk::ResampleImageFilter on every device: nRMSE up to 1e-5, the largest difference up to 1e-4 of the
// range; integers differ only where ITK's own value before truncation explains it, and nearest neighbours not at all.
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
