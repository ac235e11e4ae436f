// SPDX-License-Identifier: Apache-2.0
#include "FreeFormStage.h"

#include "StageProgress.h"
#include "Stopwatch.h"

#include "itkFreeFormDeformationRegistrationMethod.h"

#include <iomanip>

namespace example
{

FreeFormResult
RegisterFreeForm(const Volume *           fixed,
                 const Volume *           moving,
                 const LinearTransform *  initial,
                 const FreeFormSettings & settings,
                 std::ostream &           progress)
{
  const Stopwatch watch;
  const auto      method = itk::FreeFormDeformationRegistrationMethod<Volume, Volume>::New();
  method->SetDevice(settings.device);
  method->SetFixedImage(ShrinkVolume(fixed, settings.shrink));
  method->SetMovingImage(ShrinkVolume(moving, settings.shrink));
  method->SetInitialTransform(initial);
  method->SetControlPointSpacing(settings.spacing);
  method->SetNumberOfLevels(settings.levels);
  method->SetNumberOfIterations(settings.iterations);
  ShowProgress(
    *method,
    "free-form",
    [&] { return method->GetRegisteredLevels(); },
    [&] { return method->GetNumberOfIterations(); },
    progress);
  method->Update();

  FreeFormResult result;
  result.transform = method->GetTransform();
  result.deformation = method->GetDeformation();
  for (unsigned int level = 0; level < method->GetRegisteredLevels(); ++level)
  {
    const auto & costs = method->GetCosts(level);
    result.costs.push_back({ costs.front(), costs.back() });
  }
  result.smallestDeterminant = method->GetSmallestJacobianDeterminant();
  result.seconds = watch.GetSeconds();
  return result;
}

std::ostream &
operator<<(std::ostream & os, const FreeFormResult & result)
{
  os << std::fixed << std::setprecision(3) << "free-form " << result.seconds << " s, smallest Jacobian determinant "
     << result.smallestDeterminant << ", cost by level";
  const char * separator = " ";
  for (const auto & level : result.costs)
  {
    os << separator << std::setprecision(4) << level.first << " to " << level.last;
    separator = ", ";
  }
  return os;
}

} // namespace example
