// SPDX-License-Identifier: Apache-2.0
// Diffeomorphic registration.
#include "Arrays.h"
#include "Bindings.h"
#include "Cancel.h"
#include "Chain.h"
#include "FieldOnDevice.h"
#include "Loan.h"
#include "Names.h"
#include "Pairs.h"
#include "ReportProgress.h"

#include "gpureg/core/Error.h"
#include "gpureg/registration/ConvergenceWindow.h"
#include "gpureg/registration/diffeomorphic/DiffeomorphicRegistration.h"
#include "gpureg/registration/diffeomorphic/TeamRegistration.h"

#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace nb = nanobind;

namespace gpureg
{
namespace python
{

namespace
{
/** Returns a function that passes an engine's progress to a reporter, which must outlive it. */
auto
ReportTo(const Reporter & report)
{
  return [&report](const DiffeomorphicProgress & where) {
    report.Call([&where](const nb::object & function) { ReportProgress(function, where); });
  };
}

/** Returns a problem with the transforms that it begins with. fixedInitial: of the fixed image; null: none. */
template <typename TSide>
DiffeomorphicProblem
MakeProblemOfStarts(int                                dimension,
                    const TSide &                      fixed,
                    const TSide &                      moving,
                    const Chain &                      initial,
                    const std::vector<PairOf<TSide>> & further,
                    const Chain *                      fixedInitial)
{
  auto problem = MakeProblemOfPairs<DiffeomorphicProblem>(dimension, fixed, moving, further);
  problem.initial = initial.Get();
  if (fixedInitial != nullptr)
  {
    problem.fixedInitial = fixedInitial->Get();
  }
  return problem;
}

DiffeomorphicResult
Register(const Loan<DiffeomorphicRegistration> & engine,
         int                                     dimension,
         const Side &                            fixed,
         const Side &                            moving,
         const Chain &                           initial,
         const DiffeomorphicSettings &           settings,
         const nb::object &                      progress,
         const std::vector<PairOf<Side>> &       further,
         const Chain *                           fixedInitial)
{
  const auto                   problem = MakeProblemOfStarts(dimension, fixed, moving, initial, further, fixedInitial);
  const Reporter               report(progress);
  const ParallelFor            parallelFor = MakeInterruptibleParallelFor();
  const nb::gil_scoped_release released;
  return engine->Register(problem, settings, parallelFor, ReportTo(report));
}

/** \param fixedInitial as of MakeProblemOfStarts() */
MemoryPlan
Plan(const Loan<DiffeomorphicRegistration> &  engine,
     int                                      dimension,
     const PlannedSide &                      fixed,
     const PlannedSide &                      moving,
     const Chain &                            initial,
     const DiffeomorphicSettings &            settings,
     const std::vector<PairOf<PlannedSide>> & further,
     const Chain *                            fixedInitial)
{
  const auto problem = MakeProblemOfStarts(dimension, fixed, moving, initial, further, fixedInitial);
  return engine->GetPlan(problem, WithRanges(settings, fixed, moving));
}

/** Holds the fixed and the moving side, and the further pairs, on each of several devices, in the devices' order. */
template <typename TSide>
using SidesOfDevices = std::vector<std::tuple<TSide, TSide, std::vector<PairOf<TSide>>>>;

/** Returns the problem of each of several devices. initial: what each of them begins with. */
template <typename TSide>
std::vector<DiffeomorphicProblem>
MakeProblems(int dimension, const SidesOfDevices<TSide> & sides, const TransformChain & initial)
{
  std::vector<DiffeomorphicProblem> problems;
  for (const auto & [fixed, moving, further] : sides)
  {
    problems.push_back(MakeProblemOfPairs<DiffeomorphicProblem>(dimension, fixed, moving, further));
    problems.back().initial = initial;
  }
  return problems;
}

/** Borrows engines of several devices, until GiveBack(), or until this is destroyed. */
class LoanOfTeam : public Lent<TeamRegistration>
{
public:
  explicit LoanOfTeam(const std::vector<std::string> & devices)
  {
    const nb::gil_scoped_release released;
    m_Lent = std::make_unique<TeamRegistration>(devices);
  }

  /** Gives the engines back, without Python's lock, since others may be freed for them. */
  void
  GiveBack()
  {
    const nb::gil_scoped_release released;
    m_Lent.reset();
  }
};

DiffeomorphicResult
RegisterTogether(const LoanOfTeam &            engine,
                 int                           dimension,
                 const SidesOfDevices<Side> &  sides,
                 const Chain &                 initial,
                 const DiffeomorphicSettings & settings,
                 const nb::object &            progress)
{
  const auto                   problems = MakeProblems(dimension, sides, initial.Get());
  const Reporter               report(progress);
  const ParallelFor            parallelFor = MakeInterruptibleParallelFor();
  const nb::gil_scoped_release released;
  return engine->Register(problems, settings, parallelFor, ReportTo(report));
}

std::vector<MemoryPlan>
PlanTogether(const LoanOfTeam &                  engine,
             int                                 dimension,
             const SidesOfDevices<PlannedSide> & sides,
             const Chain &                       initial,
             const DiffeomorphicSettings &       settings)
{
  const auto & [fixed, moving, further] = sides.front();
  return engine->GetPlans(MakeProblems(dimension, sides, initial.Get()), WithRanges(settings, fixed, moving));
}

/** Checks the size of the last level's grid. \throws BadInputError for another size */
template <typename TEngine>
void
CheckSize(const TEngine & engine, const Size & size)
{
  if (engine.CountVoxels() != CountOf(size))
  {
    throw BadInputError("the fields of the last registration have " + std::to_string(engine.CountVoxels()) +
                        " voxels, and not " + std::to_string(CountOf(size)));
  }
}

/** Returns a field of the last registration, mm, as [z][y][x][3], and what pass(take, parallelFor) returns, which passes it to take. size:
 *  of the last level's grid.
 *  \throws BadInputError for another size */
template <typename TEngine, typename TPass>
auto
Take(const TEngine & engine, const Size & size, const TPass & pass)
{
  CheckSize(engine, size);
  float *           elements = nullptr;
  auto              array = MakeVolume<float>(elements, size, 3);
  const ParallelFor parallelFor = MakeInterruptibleParallelFor();
  const auto        take = [elements](std::int64_t first, std::int64_t count, const float * in) {
    std::copy_n(in, 3 * count, elements + 3 * first);
  };
  InverseErrors errors;
  {
    const nb::gil_scoped_release released;
    errors = pass(take, parallelFor);
  }
  return std::pair<nb::object, InverseErrors>(nb::cast(std::move(array)), errors);
}

/** Returns a field of the last registration, as Take() does. */
template <typename TEngine>
nb::object
TakeDisplacements(TEngine & engine, const Size & size, DeformationField field)
{
  return Take(engine,
              size,
              [&engine, field](const auto & take, const ParallelFor & parallelFor) {
                engine.TakeDisplacements(take, parallelFor, field);
                return InverseErrors{};
              })
    .first;
}

/** Returns the inverse of the last registration's deformation, as Take() does, and its errors. */
template <typename TEngine>
std::pair<nb::object, InverseErrors>
TakeInverse(TEngine & engine, const Size & size)
{
  return Take(engine, size, [&engine](const auto & take, const ParallelFor & parallelFor) {
    return engine.TakeInverse(take, parallelFor);
  });
}

/** Returns the deformation of the last registration, which stays on the device. size: as of Take(). */
template <typename TEngine>
FieldOnDevice
GetField(const TEngine & engine, const Size & size)
{
  CheckSize(*engine, size);
  const ParallelFor            parallelFor = MakeInterruptibleParallelFor();
  const nb::gil_scoped_release released;
  return { engine->GetField(parallelFor) };
}

/** Returns its inverse in the same way, and the inverse's errors. */
template <typename TEngine>
std::pair<FieldOnDevice, InverseErrors>
GetInverse(const TEngine & engine, const Size & size)
{
  CheckSize(*engine, size);
  const ParallelFor            parallelFor = MakeInterruptibleParallelFor();
  const nb::gil_scoped_release released;
  const InverseOnDevice        inverse = engine->GetInverse(parallelFor);
  return { FieldOnDevice{ inverse.field }, inverse.errors };
}

/** Downloads a field, mm: [z][y][x][3]. */
nb::object
Download(const FieldOnDevice & it)
{
  const DeviceField & field = *it.field;
  float *             elements = nullptr;
  auto                array = MakeVolume<float>(elements, field.GetDescription().size, 3);
  const ParallelFor   parallelFor = MakeInterruptibleParallelFor();
  {
    const nb::gil_scoped_release released;
    field.Take(
      0,
      CountOf(field.GetDescription().size),
      [elements](std::int64_t first, std::int64_t count, const float * in) {
        std::copy_n(in, 3 * count, elements + 3 * first);
      },
      parallelFor);
  }
  return nb::cast(std::move(array));
}

/** Returns the convergence value behind each of a level's costs. \throws BadInputError for a window of fewer than 2 costs */
std::vector<double>
ComputeConvergences(const std::vector<double> & costs, std::int64_t window)
{
  if (window < 2)
  {
    throw BadInputError("a convergence window has 2 costs or more, and not " + std::to_string(window));
  }
  ConvergenceWindow   convergence(static_cast<std::size_t>(window));
  std::vector<double> found;
  for (const double cost : costs)
  {
    found.push_back(convergence.Add(cost));
  }
  return found;
}
} // namespace

void
AddDiffeomorphic(nb::module_ & module)
{
  nb::enum_<DiffeomorphicScheme>(module, "DiffeomorphicScheme")
    .value("Greedy", DiffeomorphicScheme::Greedy)
    .value("SyN", DiffeomorphicScheme::SyN)
    .value("Velocity", DiffeomorphicScheme::Velocity);
  nb::enum_<DiffeomorphicOptimizer>(module, "DiffeomorphicOptimizer")
    .value("LongestVector", DiffeomorphicOptimizer::LongestVector)
    .value("Adam", DiffeomorphicOptimizer::Adam);
  nb::enum_<DiffeomorphicSmoothing>(module, "DiffeomorphicSmoothing")
    .value("Discrete", DiffeomorphicSmoothing::Discrete)
    .value("Recursive", DiffeomorphicSmoothing::Recursive);
  nb::enum_<DeformationField>(module, "DeformationField")
    .value("Forward", DeformationField::Forward)
    .value("FixedToMiddle", DeformationField::FixedToMiddle)
    .value("MiddleToFixed", DeformationField::MiddleToFixed)
    .value("MovingToMiddle", DeformationField::MovingToMiddle)
    .value("MiddleToMoving", DeformationField::MiddleToMoving);
  nb::class_<SyNSettings>(module, "SyNSettings")
    .def_rw("shrink_factors", &SyNSettings::shrinkFactors)
    .def_rw("smoothing_sigmas", &SyNSettings::smoothingSigmas)
    .def_rw("sigmas_are_in_millimetres", &SyNSettings::sigmasAreInMillimetres)
    .def_rw("averages_gradients", &SyNSettings::averagesGradients);
  nb::class_<FlatNeighborhoods>(module, "FlatNeighborhoods")
    .def(nb::init<>())
    .def_static(
      "of_itk",
      [](bool isSingle) {
        return isSingle ? GetFlatNeighborhoodsOfITK<float, float, float>()
                        : GetFlatNeighborhoodsOfITK<double, double, double>();
      },
      nb::arg("is_single"));
  nb::class_<DiffeomorphicSettings>(module, "DiffeomorphicSettings")
    .def(nb::init<>())
    .def_rw("scheme", &DiffeomorphicSettings::scheme)
    .def_rw("similarity", &DiffeomorphicSettings::similarity)
    .def_rw("flat", &DiffeomorphicSettings::flat)
    .def_rw("noise", &DiffeomorphicSettings::noise)
    .def_rw("syn", &DiffeomorphicSettings::syn)
    .def_rw("iterations", &DiffeomorphicSettings::iterations)
    .def_rw("update_sigma", &DiffeomorphicSettings::updateSigma)
    .def_rw("field_sigma", &DiffeomorphicSettings::fieldSigma)
    .def_rw("smoothing", &DiffeomorphicSettings::smoothing)
    .def_rw("step", &DiffeomorphicSettings::step)
    .def_rw("optimizer", &DiffeomorphicSettings::optimizer)
    .def_rw("weights", &DiffeomorphicSettings::weights)
    .def_rw("convergence_threshold", &DiffeomorphicSettings::convergenceThreshold)
    .def_rw("convergence_window", &DiffeomorphicSettings::convergenceWindow)
    .def_rw("fixed_range", &DiffeomorphicSettings::fixedRange)
    .def_rw("moving_range", &DiffeomorphicSettings::movingRange);
  module.def(
    "usual_sigmas",
    [](DiffeomorphicScheme scheme) {
      const SmoothingSigmas usual = GetUsualSigmas(scheme);
      return std::make_pair(usual.update, usual.field);
    },
    nb::arg("scheme"));
  module.def("compute_convergences", &ComputeConvergences, nb::arg("costs"), nb::arg("window"));
  nb::class_<DiffeomorphicLevelResult>(module, "DiffeomorphicLevelResult")
    .def_ro("costs", &DiffeomorphicLevelResult::costs)
    .def_ro("voxels", &DiffeomorphicLevelResult::voxels)
    .def_ro("milliseconds", &DiffeomorphicLevelResult::milliseconds);
  nb::class_<DiffeomorphicResult>(module, "DiffeomorphicResult")
    .def_ro("levels", &DiffeomorphicResult::levels)
    .def_ro("smallest_determinant", &DiffeomorphicResult::smallestDeterminant)
    .def_ro("folded_voxels", &DiffeomorphicResult::foldedVoxels)
    .def_ro("warnings", &DiffeomorphicResult::warnings)
    .def_ro("milliseconds", &DiffeomorphicResult::milliseconds);
  nb::class_<FieldOnDevice>(module, "FieldOnDevice")
    .def_prop_ro("device", [](const FieldOnDevice & it) { return it.field->GetDeviceName(); })
    .def_prop_ro("bytes", [](const FieldOnDevice & it) { return it.field->GetAccountBytes(); })
    .def("download", &Download);
  AddLoan<DiffeomorphicRegistration>(module, "DiffeomorphicRegistration")
    .def("plan",
         &Plan,
         nb::arg("dimension"),
         nb::arg("fixed"),
         nb::arg("moving"),
         nb::arg("initial"),
         nb::arg("settings"),
         nb::arg("further") = std::vector<PairOf<PlannedSide>>(),
         nb::arg("fixed_initial").none() = nb::none())
    .def("register",
         &Register,
         nb::arg("dimension"),
         nb::arg("fixed"),
         nb::arg("moving"),
         nb::arg("initial"),
         nb::arg("settings"),
         nb::arg("progress").none(),
         nb::arg("further") = std::vector<PairOf<Side>>(),
         nb::arg("fixed_initial").none() = nb::none())
    .def(
      "take_displacements",
      [](const Loan<DiffeomorphicRegistration> & engine, const Size & size, DeformationField field) {
        return TakeDisplacements(*engine, size, field);
      },
      nb::arg("size"),
      nb::arg("field") = DeformationField::Forward)
    .def("get_field", &GetField<Loan<DiffeomorphicRegistration>>, nb::arg("size"))
    .def("get_inverse", &GetInverse<Loan<DiffeomorphicRegistration>>, nb::arg("size"))
    .def(
      "take_inverse",
      [](const Loan<DiffeomorphicRegistration> & engine, const Size & size) { return TakeInverse(*engine, size); },
      nb::arg("size"));
  nb::class_<LoanOfTeam>(module, "TeamRegistration")
    .def(nb::init<const std::vector<std::string> &>(), nb::arg("devices"))
    .def("give_back", &LoanOfTeam::GiveBack)
    .def_static(
      "count_usable",
      [](const DiffeomorphicSettings & settings, int dimension, std::size_t further, std::size_t devices) {
        DiffeomorphicProblem problem;
        problem.dimension = dimension;
        problem.further.resize(further);
        return TeamRegistration::CountUsable(problem, settings, devices).devices;
      },
      nb::arg("settings"),
      nb::arg("dimension"),
      nb::arg("further"),
      nb::arg("devices"))
    .def("register",
         &RegisterTogether,
         nb::arg("dimension"),
         nb::arg("sides"),
         nb::arg("initial"),
         nb::arg("settings"),
         nb::arg("progress").none())
    .def("plan", &PlanTogether, nb::arg("dimension"), nb::arg("sides"), nb::arg("initial"), nb::arg("settings"))
    .def(
      "take_displacements",
      [](const LoanOfTeam & engine, const Size & size, DeformationField field) {
        return TakeDisplacements(*engine, size, field);
      },
      nb::arg("size"),
      nb::arg("field") = DeformationField::Forward)
    .def("get_field", &GetField<LoanOfTeam>, nb::arg("size"))
    .def("get_inverse", &GetInverse<LoanOfTeam>, nb::arg("size"))
    .def(
      "take_inverse",
      [](const LoanOfTeam & engine, const Size & size) { return TakeInverse(*engine, size); },
      nb::arg("size"));
}

} // namespace python
} // namespace gpureg
