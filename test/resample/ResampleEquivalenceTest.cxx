// SPDX-License-Identifier: Apache-2.0
// GPUResampleImageFilter beside itk::ResampleImageFilter, on every device: nRMSE up to 1e-5, the largest difference up
// to 1e-4 of the range; of integers not one that ITK's own value does not explain, of the nearest neighbour none.
#include "ResampleMatrix.h"
#include "TestDevices.h"

namespace gpuregtest
{
namespace
{

class ResampleEquivalence : public DeviceTest
{};

TEST_P(ResampleEquivalence, Matrix2D)
{
  TestResampleMatrix<2>(this->GetDevice());
}

TEST_P(ResampleEquivalence, Matrix3D)
{
  TestResampleMatrix<3>(this->GetDevice());
}

INSTANTIATE_TEST_SUITE_P(Devices, ResampleEquivalence, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace
} // namespace gpuregtest
