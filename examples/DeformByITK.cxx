// SPDX-License-Identifier: Apache-2.0
// Free-form deformation by ITK's own classes with our metric: DeformByITK fixed moving transform.tfm
#include "CommandLine.h"
#include "OutputCheck.h"
#include "SplineRegistration.h"

#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

namespace
{

int
DeformByITK(const std::vector<std::string> & names)
{
  if (names.size() != 3)
  {
    throw std::invalid_argument("Three file names are wanted.");
  }
  example::CheckTransformCanBeWritten(names[2]);
  example::SplineSettings settings;
  settings.device = itk::GPUDevice::GetDefault();
  const auto fixed = example::ReadVolume(names[0]);
  const auto moving = example::ReadVolume(names[1]);
  const auto spline = example::RegisterBySpline(fixed, moving, settings);
  std::cout << settings.device << ": a mesh of " << spline->GetTransformDomainMeshSize() << " cells\n";
  example::WriteTransform(spline, names[2]);
  return EXIT_SUCCESS;
}

} // namespace

int
main(int argc, char * argv[])
{
  return example::RunProgram(
    [=] {
      return DeformByITK({ argv + 1, argv + argc });
    },
    "Usage: DeformByITK fixed moving transform.tfm\n");
}
