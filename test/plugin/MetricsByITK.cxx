// SPDX-License-Identifier: Apache-2.0
// A program that uses only ITK, and is not linked to this module. For each metric it prints the class that New() gives, and compares its
// value and derivative, before and after other values were written to the moving image, with those of ITK's own class.
#include "CompareWithITK.h"
#include "OverriddenMetrics.h"

#include <cmath>

namespace
{
using namespace gpuregtest::overridden;

void
Fill(ImageType & image, double shift)
{
  Refill(image, [shift](const ImageType::IndexType & index) {
    return 50 + 20 * std::sin(0.4 * index[0] + shift) + 15 * std::cos(0.5 * index[1] + 0.3 * index[2]);
  });
}

ImageType::Pointer
MakeImage(double shift)
{
  const auto image = ImageType::New();
  image->SetRegions(itk::Size<3>{ { 20, 16, 12 } });
  image->Allocate();
  Fill(*image, shift);
  return image;
}

void
AddValueAndDerivative(std::vector<Result> & results, const MetricType & metric, const std::string & when)
{
  MetricType::MeasureType    value;
  MetricType::DerivativeType derivative;
  metric.GetValueAndDerivative(value, derivative);
  results.push_back({ when + "value", { value } });
  results.push_back({ when + "derivative", { derivative.begin(), derivative.end() } });
}

Outcome
Evaluate(Kind kind)
{
  const auto fixed = MakeImage(0.0);
  const auto moving = MakeImage(0.3);
  const auto metric = MakeInitialized(kind, fixed, moving);
  Outcome    outcome{ &typeid(*metric), metric->GetNameOfClass(), {} };
  AddValueAndDerivative(outcome.results, *metric, "");
  Fill(*moving, 0.6);
  AddValueAndDerivative(outcome.results, *metric, "refilled ");
  return outcome;
}
} // namespace

int
main()
{
  std::vector<Experiment> experiments;
  for (const Kind kind : AllKinds)
  {
    experiments.push_back([kind] { return Evaluate(kind); });
  }
  return CompareWithITK(experiments, 5e-5);
}
