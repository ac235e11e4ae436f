// SPDX-License-Identifier: Apache-2.0
// Tests that the registration that antsRegistration makes ends at ITK's result with this module's factories, with both internal types, on
// every device.
#include "AntsPipeline.h"
#include "DeformedBall.h"

#include "itkGPUDevice.h"
#include "itkGPURegistrationFactory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <string>

namespace
{
using namespace example;

/** Two images, and the registration of antsRegistration with few levels and iterations. */
class AntsPipeline : public ::testing::Test
{
protected:
  AntsPipeline()
  {
    m_Settings.linearLevels = { { 2, 1, 4 }, { 1, 0, 3 } };
    m_Settings.synLevels = { { 2, 1, 3 }, { 1, 0, 1 } };
    m_Settings.radius = 2;
  }
  ~AntsPipeline() override
  {
    itk::GPURegistrationFactory::UnRegisterAll();
    itk::GPUDevice::SetDefault(itk::GPUDevice::GetAvailable().front());
  }

  /** Registers with ITK's own classes. \param factor multiplies the fixed image. */
  template <typename TReal>
  AntsResult
  RegisterByITK(float factor = 1.0f) const
  {
    const auto fixed = Volume::New();
    fixed->CopyInformation(m_Ball.fixed);
    fixed->SetRegions(m_Ball.fixed->GetBufferedRegion());
    fixed->Allocate();
    std::transform(m_Ball.fixed->GetBufferPointer(),
                   m_Ball.fixed->GetBufferPointer() + m_Ball.fixed->GetBufferedRegion().GetNumberOfPixels(),
                   fixed->GetBufferPointer(),
                   [factor](float value) { return factor * value; });
    return RegisterAsAnts<TReal>(fixed, m_Ball.moving, m_Settings);
  }

  /** Registers with this module's classes. */
  template <typename TReal>
  AntsResult
  RegisterOn(const itk::GPUDevice & device) const
  {
    itk::GPUDevice::SetDefault(device);
    itk::GPURegistrationFactory::RegisterAll();
    AntsResult result = RegisterAsAnts<TReal>(m_Ball.fixed, m_Ball.moving, m_Settings);
    itk::GPURegistrationFactory::UnRegisterAll();
    for (const AntsStage & stage : result.stages)
    {
      EXPECT_FALSE(stage.isByITK) << stage.name;
    }
    return result;
  }

  /** Compares registrations, and prints how far apart they are. */
  static AntsDifference
  Print(const std::string & what, const AntsResult & one, const AntsResult & other)
  {
    const AntsDifference apart = Compare(one, other);
    std::cout << what << ": " << apart.mean << " mm apart, at most " << apart.maximum << '\n';
    return apart;
  }

  const DeformedBall m_Ball;
  AntsSettings       m_Settings;
};

/** ITK's own result hangs on the last digits of its input: comparisons of values decide how a line search and a level end. */
TEST_F(AntsPipeline, EndsAtITKsResult)
{
  const AntsResult ofDouble = RegisterByITK<double>();
  const AntsResult ofFloat = RegisterByITK<float>();
  const AntsResult brighter = RegisterByITK<double>(1.0f + 1.2e-7f);
  const double     most = 3 * Print("ITK, of an image that is 1e-7 brighter", brighter, ofDouble).mean;
  Print("ITK, of float and of double", ofFloat, ofDouble);
  for (const auto & device : itk::GPUDevice::GetAvailable())
  {
    const std::string name = device.GetName();
    EXPECT_LE(Print(name + ", of double", RegisterOn<double>(device), ofDouble).mean, most);
    const AntsResult ours = RegisterOn<float>(device);
    EXPECT_LE(Print(name + ", of float, and ITK's of double", ours, ofDouble).mean, most);
    EXPECT_LE(Print(name + ", of float, and ITK's of float", ours, ofFloat).mean, most);
  }
}
} // namespace
