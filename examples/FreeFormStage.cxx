// SPDX-License-Identifier: Apache-2.0
#include "FreeFormStage.h"

#include "Stopwatch.h"

#include "itkFreeFormDeformationRegistrationMethod.h"
#include "itkIdentityTransform.h"
#include "itkSmoothingRecursiveGaussianImageFilter.h"

#include <iomanip>

namespace example
{
namespace
{

using Method = itk::FreeFormDeformationRegistrationMethod<Volume, Volume>;

/** Returns an image with larger voxels, smoothed by a Gaussian with a sigma of half of the new voxels' edge. */
Volume::ConstPointer
Shrink(const Volume * image, unsigned int factor)
{
  if (factor == 1)
  {
    return image;
  }
  const auto smoothing = itk::SmoothingRecursiveGaussianImageFilter<Volume, Volume>::New();
  smoothing->SetInput(image);
  const auto sigma = image->GetSpacing() * (0.5 * factor);
  smoothing->SetSigmaArray(itk::FixedArray<double, 3>(sigma.GetDataPointer()));
  smoothing->Update();
  return Resample(smoothing->GetOutput(), MakeCoarserGrid(image, factor), itk::IdentityTransform<double, 3>::New())
    .GetPointer();
}

void
ShowProgress(Method * method, std::ostream & os)
{
  method->AddObserver(itk::IterationEvent(), [=, &os, last = Stopwatch()](const itk::EventObject &) mutable {
    if (last.GetSeconds() > 1.0)
    {
      last = Stopwatch();
      os << "free-form  level " << method->GetCurrentLevel() + 1 << " of " << method->GetRegisteredLevels()
         << "  iteration " << std::setw(3) << method->GetCurrentIteration() + 1 << " of "
         << method->GetNumberOfIterations() << std::endl;
    }
  });
}

} // namespace

FreeFormResult
RegisterFreeForm(const Volume *           fixed,
                 const Volume *           moving,
                 const LinearTransform *  initial,
                 const FreeFormSettings & settings,
                 std::ostream &           progress)
{
  const Stopwatch watch;
  const auto      method = Method::New();
  method->SetDevice(settings.device);
  method->SetFixedImage(Shrink(fixed, settings.shrink));
  method->SetMovingImage(Shrink(moving, settings.shrink));
  method->SetInitialTransform(initial);
  method->SetControlPointSpacing(settings.spacing);
  method->SetNumberOfLevels(settings.levels);
  method->SetNumberOfIterations(settings.iterations);
  ShowProgress(method, progress);
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
