// SPDX-License-Identifier: Apache-2.0
#include "Pairs.h"

#include "Bindings.h"

#include "gpureg/core/Error.h"

#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <string>

namespace nb = nanobind;

namespace gpureg
{
namespace python
{

namespace
{
/** Returns the similarity of a name; the registration checks whether its scheme has it. */
SimilaritySettings
MakeSimilarity(const std::string & name, int bins, int radius)
{
  for (const SimilarityDescription & description : Similarities)
  {
    if (description.name == name)
    {
      return { description.kind, bins, radius };
    }
  }
  throw BadInputError("there is no similarity " + name);
}

template <typename TSide>
void
AddPair(nb::module_ & module, const char * name)
{
  using Range = std::optional<ValueRange>;
  nb::class_<PairOf<TSide>>(module, name)
    .def(nb::init<TSide, TSide, SimilaritySettings, double, Range, Range>(),
         nb::arg("fixed"),
         nb::arg("moving"),
         nb::arg("similarity"),
         nb::arg("weight"),
         nb::arg("fixed_range").none(),
         nb::arg("moving_range").none());
}
} // namespace

void
AddPairs(nb::module_ & module)
{
  nb::class_<SimilaritySettings>(module, "SimilaritySettings")
    .def_static("make", &MakeSimilarity, nb::arg("name"), nb::arg("bins"), nb::arg("radius"))
    .def_prop_ro("name", [](const SimilaritySettings & its) { return GetName(its.kind); })
    .def_ro("bins", &SimilaritySettings::bins)
    .def_ro("radius", &SimilaritySettings::radius);
  AddPair<Side>(module, "PairOfSides");
  AddPair<PlannedSide>(module, "PlannedPair");
}

} // namespace python
} // namespace gpureg
