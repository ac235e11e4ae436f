// SPDX-License-Identifier: Apache-2.0
#include "DenseStage.h"

#include "StageProgress.h"
#include "Stopwatch.h"

#include "itkDiffeomorphicRegistrationMethod.h"

#include <iomanip>

namespace example
{

DenseResult
RegisterDensely(const Volume *          fixed,
                const Volume *          moving,
                const LinearTransform * initial,
                const DenseSettings &   settings,
                std::ostream &          progress)
{
  const Stopwatch watch;
  const auto      method = itk::DiffeomorphicRegistrationMethod<Volume, Volume>::New();
  method->SetDevice(settings.device);
  method->SetFixedImage(ShrinkVolume(fixed, settings.shrink));
  method->SetMovingImage(ShrinkVolume(moving, settings.shrink));
  method->SetInitialTransform(initial);
  // The default similarity serves two contrasts.
  method->SetSimilarity("NormalizedMutualInformation");
  // Smoother than the defaults: two contrasts say less of where a voxel belongs than one contrast does.
  method->SetUpdateSmoothingSigma(2.5);
  method->SetFieldSmoothingSigma(0.75);
  const auto & iterations = method->GetNumberOfIterationsPerLevel();
  ShowProgress(
    *method,
    "dense",
    [&] { return static_cast<unsigned int>(iterations.size()); },
    [&] { return iterations[method->GetCurrentLevel()]; },
    progress);
  method->Update();
  return { method->GetTransform(), method->GetSmallestJacobianDeterminant(), watch.GetSeconds() };
}

std::ostream &
operator<<(std::ostream & os, const DenseResult & result)
{
  return os << std::fixed << std::setprecision(3) << "dense     " << result.seconds
            << " s, smallest Jacobian determinant " << result.smallestDeterminant;
}

} // namespace example
