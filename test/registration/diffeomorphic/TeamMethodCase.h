// SPDX-License-Identifier: Apache-2.0
// Tests of ITK's classes on several devices share this.
#ifndef TeamMethodCase_h
#define TeamMethodCase_h

#include "TestDevices.h"
#include "TestImages.h"

#include "itkGPUDevice.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

namespace gpuregtest
{

/** Returns an oblique grid that is long along z, so that its levels are cut. */
inline Grid<3>
MakeObliqueLongGrid()
{
  Grid<3> grid;
  grid.size = { { 25, 21, 150 } };
  grid.start = { { -3, 2, 5 } };
  grid.spacing[1] = 1.1;
  grid.direction = MakeRotation<3>(0.2);
  return grid;
}

/** Expects that a call throws an error, and that the error has some words. */
template <typename TError, typename TCall>
void
ExpectThrows(const std::string & words, const TCall & call)
{
  try
  {
    call();
    ADD_FAILURE() << "no error: " << words;
  }
  catch (const TError & error)
  {
    EXPECT_NE(std::string(error.GetDescription()).find(words), std::string::npos) << error.GetDescription();
  }
}

class TeamMethodCase : public DeviceTest
{
protected:
  std::vector<itk::GPUDevice>
  GetFurther(std::size_t count) const
  {
    return std::vector<itk::GPUDevice>(count, this->GetDevice());
  }
};

} // namespace gpuregtest

#endif
