// SPDX-License-Identifier: Apache-2.0
// The search for a linear map.
#include "Arrays.h"
#include "Bindings.h"
#include "Cancel.h"
#include "Loan.h"
#include "Names.h"
#include "Pairs.h"

#include "gpureg/registration/global/GlobalRegistration.h"

#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <vector>

namespace nb = nanobind;

namespace gpureg
{
namespace python
{

namespace
{
GlobalResult
Register(const Loan<GlobalRegistration> &  engine,
         int                               dimension,
         const Side &                      fixed,
         const Side &                      moving,
         const std::optional<IndexMap> &   initial,
         const GlobalSettings &            settings,
         const nb::object &                progress,
         const std::vector<PairOf<Side>> & further)
{
  auto problem = MakeProblemOfPairs<GlobalProblem>(dimension, fixed, moving, further);
  problem.initial = initial;
  const Reporter               report(progress);
  const ParallelFor            parallelFor = MakeInterruptibleParallelFor();
  const nb::gil_scoped_release released;
  return engine->Register(problem, settings, parallelFor, [&report](const GlobalProgress & where) {
    report(where.stage, where.share, where.cost);
  });
}

MemoryPlan
Plan(const Loan<GlobalRegistration> &         engine,
     int                                      dimension,
     const PlannedSide &                      fixed,
     const PlannedSide &                      moving,
     const GlobalSettings &                   settings,
     const std::vector<PairOf<PlannedSide>> & further)
{
  return engine->GetPlan(MakeProblemOfPairs<GlobalProblem>(dimension, fixed, moving, further),
                         WithRanges(settings, fixed, moving));
}
} // namespace

void
AddGlobal(nb::module_ & module)
{
  nb::class_<GlobalSettings> settings(module, "GlobalSettings");
  AddChoice(settings, "cost", &GlobalSettings::cost, &GetGlobalCost);
  AddChoice(settings, "optimizer", &GlobalSettings::optimizer, &GetGlobalOptimizer);
  settings.def(nb::init<>())
    .def_rw("degrees_of_freedom", &GlobalSettings::degreesOfFreedom)
    .def_rw("angles", &GlobalSettings::angles)
    .def_rw("finest_edge", &GlobalSettings::finestEdge)
    .def_rw("bins", &GlobalSettings::bins)
    .def_rw("radius", &GlobalSettings::radius)
    .def_rw("least_overlap", &GlobalSettings::leastOverlap)
    .def_rw("fixed_range", &GlobalSettings::fixedRange)
    .def_rw("moving_range", &GlobalSettings::movingRange);
  nb::class_<GlobalStageResult>(module, "GlobalStageResult")
    .def_ro("name", &GlobalStageResult::name)
    .def_ro("cost", &GlobalStageResult::cost)
    .def_ro("values", &GlobalStageResult::values)
    .def_ro("derivatives", &GlobalStageResult::derivatives)
    .def_ro("milliseconds", &GlobalStageResult::milliseconds);
  nb::class_<GlobalResult>(module, "GlobalResult")
    .def_ro("point_map", &GlobalResult::pointMap)
    .def_ro("rotation", &GlobalResult::rotation)
    .def_ro("scales", &GlobalResult::scales)
    .def_ro("skews", &GlobalResult::skews)
    .def_ro("centre", &GlobalResult::centre)
    .def_ro("cost", &GlobalResult::cost)
    .def_ro("overlap", &GlobalResult::overlap)
    .def_ro("stages", &GlobalResult::stages)
    .def_ro("warnings", &GlobalResult::warnings)
    .def_ro("milliseconds", &GlobalResult::milliseconds);
  AddLoan<GlobalRegistration>(module, "GlobalRegistration")
    .def("plan",
         &Plan,
         nb::arg("dimension"),
         nb::arg("fixed"),
         nb::arg("moving"),
         nb::arg("settings"),
         nb::arg("further") = std::vector<PairOf<PlannedSide>>())
    .def("register",
         &Register,
         nb::arg("dimension"),
         nb::arg("fixed"),
         nb::arg("moving"),
         nb::arg("initial").none(),
         nb::arg("settings"),
         nb::arg("progress").none(),
         nb::arg("further") = std::vector<PairOf<Side>>());
}

} // namespace python
} // namespace gpureg
