// SPDX-License-Identifier: Apache-2.0
// Free-form deformation.
#include "Arrays.h"
#include "Bindings.h"
#include "Cancel.h"
#include "Chain.h"
#include "Loan.h"
#include "Names.h"
#include "Pairs.h"
#include "Side.h"
#include "ReportProgress.h"

#include "gpureg/core/Error.h"
#include "gpureg/registration/free_form/FreeFormRegistration.h"

#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>
#include <vector>

namespace nb = nanobind;

namespace gpureg
{
namespace python
{

namespace
{
FreeFormResult
Register(const Loan<FreeFormRegistration> & engine,
         int                                dimension,
         const Side &                       fixed,
         const Side &                       moving,
         const Chain &                      initial,
         const FreeFormSettings &           settings,
         const nb::object &                 progress,
         const std::vector<PairOf<Side>> &  further)
{
  auto problem = MakeProblemOfPairs<FreeFormProblem>(dimension, fixed, moving, further);
  problem.initial = initial.Get();
  const Reporter               report(progress);
  const ParallelFor            parallelFor = MakeInterruptibleParallelFor();
  const nb::gil_scoped_release released;
  return engine->Register(problem, settings, parallelFor, [&report](const FreeFormProgress & where) {
    report.Call([&where](const nb::object & function) { ReportProgress(function, where); });
  });
}

MemoryPlan
Plan(const Loan<FreeFormRegistration> &       engine,
     int                                      dimension,
     const PlannedSide &                      fixed,
     const PlannedSide &                      moving,
     const Chain &                            initial,
     const FreeFormSettings &                 settings,
     const std::vector<PairOf<PlannedSide>> & further)
{
  auto problem = MakeProblemOfPairs<FreeFormProblem>(dimension, fixed, moving, further);
  problem.initial = initial.Get();
  return engine->GetPlan(problem, WithRanges(settings, fixed, moving));
}

/** Returns the control points' displacements: [z][y][x][3], mm. */
nb::object
MakePoints(const FreeFormResult & result)
{
  double * elements = nullptr;
  auto     array = MakeVolume<double>(elements, result.size, 3);
  for (const auto & point : result.points)
  {
    elements = std::copy(point.begin(), point.end(), elements);
  }
  return nb::cast(std::move(array));
}
} // namespace

void
AddFreeForm(nb::module_ & module)
{
  nb::class_<FreeFormSettings> settings(module, "FreeFormSettings");
  AddChoice(settings, "similarity", &FreeFormSettings::similarity, &GetSimilarityKind);
  AddChoice(settings, "optimizer", &FreeFormSettings::optimizer, &GetFreeFormOptimizer);
  settings.def(nb::init<>())
    .def_rw("levels", &FreeFormSettings::levels)
    .def_rw("spacing", &FreeFormSettings::spacing)
    .def_rw("bins", &FreeFormSettings::bins)
    .def_rw("radius", &FreeFormSettings::radius)
    .def_rw("bending_weight", &FreeFormSettings::bendingWeight)
    .def_rw("linear_weight", &FreeFormSettings::linearWeight)
    .def_rw("jacobian_weight", &FreeFormSettings::jacobianWeight)
    .def_rw("iterations", &FreeFormSettings::iterations)
    .def_rw("first_step", &FreeFormSettings::firstStep)
    .def_rw("samples", &FreeFormSettings::samples)
    .def_rw("seed", &FreeFormSettings::seed)
    .def_rw("convergence_threshold", &FreeFormSettings::convergenceThreshold)
    .def_rw("convergence_window", &FreeFormSettings::convergenceWindow)
    .def_rw("fixed_range", &FreeFormSettings::fixedRange)
    .def_rw("moving_range", &FreeFormSettings::movingRange);
  nb::class_<FreeFormLevelResult>(module, "FreeFormLevelResult")
    .def_ro("costs", &FreeFormLevelResult::costs)
    .def_ro("voxels", &FreeFormLevelResult::voxels)
    .def_ro("milliseconds", &FreeFormLevelResult::milliseconds);
  nb::class_<FreeFormResult>(module, "FreeFormResult")
    .def_ro("grid_to_point", &FreeFormResult::gridToPoint)
    .def_prop_ro("points", &MakePoints)
    .def_ro("smallest_determinant", &FreeFormResult::smallestDeterminant)
    .def_ro("least_voxels", &FreeFormResult::leastVoxels)
    .def_ro("levels", &FreeFormResult::levels)
    .def_ro("warnings", &FreeFormResult::warnings)
    .def_ro("milliseconds", &FreeFormResult::milliseconds);
  AddLoan<FreeFormRegistration>(module, "FreeFormRegistration")
    .def("register",
         &Register,
         nb::arg("dimension"),
         nb::arg("fixed"),
         nb::arg("moving"),
         nb::arg("initial"),
         nb::arg("settings"),
         nb::arg("progress").none(),
         nb::arg("further") = std::vector<PairOf<Side>>())
    .def("plan",
         &Plan,
         nb::arg("dimension"),
         nb::arg("fixed"),
         nb::arg("moving"),
         nb::arg("initial"),
         nb::arg("settings"),
         nb::arg("further") = std::vector<PairOf<PlannedSide>>());
}

} // namespace python
} // namespace gpureg
