// SPDX-License-Identifier: Apache-2.0
#include "Stages.h"

#include "LabelDice.h"

#include "itkIdentityTransform.h"

#include <iomanip>

namespace example
{
namespace
{

template <typename T>
void
PrintLine(const std::string & stage, const T & what, std::ostream & os)
{
  os << std::left << std::setw(11) << stage << what << '\n';
}

} // namespace

std::vector<Stage>
ListStages(const RegistrationResult & linear, const FreeFormResult * freeForm)
{
  std::vector<Stage> stages{ { "before", linear.start.GetPointer() } };
  for (const auto & stage : linear.stages)
  {
    stages.push_back({ stage.name, stage.transform.GetPointer() });
  }
  if (freeForm != nullptr)
  {
    stages.push_back({ "free-form", freeForm->transform.GetPointer() });
  }
  return stages;
}

ErrorStatistics
PrintErrors(const std::vector<Stage> & stages, const Transform * truth, const Volume * fixed, std::ostream & os)
{
  const auto voxels = Resample(fixed, MakeCoarserGrid(fixed, 2), itk::IdentityTransform<double, 3>::New());
  // From the image itself; the larger voxels only save time.
  const double    threshold = FindHeadThreshold(fixed);
  ErrorStatistics error{};
  os << "error in the head, at points twice as far apart as the voxels\n";
  for (const auto & stage : stages)
  {
    error = MeasureDeformationError(stage.transform, truth, voxels, threshold).head;
    PrintLine(stage.name, error, os);
  }
  return error;
}

double
PrintDice(const std::vector<Stage> & stages,
          const Transform *          truth,
          const Labels *             fixedLabels,
          const Labels *             movingLabels,
          std::ostream &             os)
{
  const auto measure = [&](const std::string & name, const Transform * transform) {
    const auto dice = ComputeDice(fixedLabels, ResampleLabels(movingLabels, fixedLabels, transform));
    PrintLine(name, dice, os);
    return GetMeanDice(dice);
  };
  double mean = 0;
  for (const auto & stage : stages)
  {
    mean = measure(stage.name, stage.transform);
  }
  if (truth != nullptr)
  {
    measure("truth", truth);
  }
  return mean;
}

} // namespace example
