// SPDX-License-Identifier: Apache-2.0
#include "GlobalStage.h"

#include "Stopwatch.h"

#include "itkGlobalAffineRegistrationMethod.h"

#include <iomanip>

namespace example
{

GlobalSearchResult
SearchGlobally(const Volume *               fixed,
               const Volume *               moving,
               const GlobalSearchSettings & settings,
               std::ostream &               progress)
{
  const Stopwatch watch;
  const auto      method = itk::GlobalAffineRegistrationMethod<Volume, Volume>::New();
  method->SetDevice(settings.device);
  method->SetFixedImage(fixed);
  method->SetMovingImage(moving);
  method->SetDegreesOfFreedom(settings.degreesOfFreedom);
  method->SetCost(settings.cost);
  method->SetInitialTransform(settings.start);
  method->AddObserver(itk::IterationEvent(), [&, last = Stopwatch()](const itk::EventObject &) mutable {
    if (last.GetSeconds() > 1.0)
    {
      last = Stopwatch();
      progress << "global search  " << method->GetCurrentStage() << std::endl;
    }
  });
  method->Update();

  GlobalSearchResult result;
  result.transform = dynamic_cast<LinearTransform *>(method->GetTransform());
  result.cost = method->GetFinalCost();
  result.overlap = method->GetOverlap();
  for (unsigned int stage = 0; stage < method->GetNumberOfStages(); ++stage)
  {
    result.stages.push_back({ method->GetStageName(stage), method->GetStageSeconds(stage) });
  }
  result.seconds = watch.GetSeconds();
  return result;
}

std::ostream &
operator<<(std::ostream & os, const GlobalSearchResult & result)
{
  os << std::fixed << std::setprecision(3) << result.seconds << " s, cost " << std::setprecision(5) << result.cost
     << ", overlap " << std::setprecision(2) << result.overlap << std::setprecision(3);
  for (const auto & stage : result.stages)
  {
    os << "; " << stage.name << ' ' << stage.seconds << " s";
  }
  return os;
}

} // namespace example
