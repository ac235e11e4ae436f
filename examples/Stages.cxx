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
ListStages(const RegistrationResult & linear, const FreeFormResult * freeForm, const DenseResult * dense)
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
  if (dense != nullptr)
  {
    stages.push_back({ "dense", dense->transform.GetPointer() });
  }
  return stages;
}

std::vector<ErrorStatistics>
PrintErrors(const std::vector<Stage> & stages, const Transform * truth, const Volume * fixed, std::ostream & os)
{
  const auto voxels = Resample(fixed, MakeCoarserGrid(fixed, 2), itk::IdentityTransform<double, 3>::New());
  // From the image itself; the larger voxels only save time.
  const double                 threshold = ComputeHeadThreshold(fixed);
  std::vector<ErrorStatistics> errors;
  os << "error in the head, at points twice as far apart as the voxels\n";
  for (const auto & stage : stages)
  {
    errors.push_back(MeasureDeformationError(stage.transform, truth, voxels, threshold).head);
    PrintLine(stage.name, errors.back(), os);
  }
  return errors;
}

std::vector<double>
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
  std::vector<double> means;
  for (const auto & stage : stages)
  {
    means.push_back(measure(stage.name, stage.transform));
  }
  if (truth != nullptr)
  {
    measure("truth", truth);
  }
  return means;
}

} // namespace example
