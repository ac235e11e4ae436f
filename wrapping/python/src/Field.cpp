// SPDX-License-Identifier: Apache-2.0
// Inverses of displacement fields.
#include "Arrays.h"
#include "Bindings.h"
#include "Cancel.h"
#include "Loan.h"

#include "gpureg/core/Error.h"
#include "gpureg/field/FieldInverter.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace nb = nanobind;

namespace gpureg
{
namespace python
{

namespace
{
/** Returns the inverse of a field, [z][y][x][3], mm, in the same shape, and its errors. */
std::pair<nb::object, InverseErrors>
Invert(const Loan<FieldInverter> & engine, int dimension, const FloatArray & displacements, const IndexMap & toPoint)
{
  if (displacements.ndim() != 4 || displacements.shape(3) != 3)
  {
    throw BadInputError("displacements are to be an array [z][y][x][3]");
  }
  FieldToInvert field;
  field.dimension = dimension;
  field.size = SizeOf(Array(displacements));
  field.indexToPoint = toPoint;
  const float * const from = displacements.data();
  field.displacements = [from](std::int64_t first, std::int64_t count, void * out) {
    std::copy_n(from + 3 * first, 3 * count, static_cast<float *>(out));
  };
  float * elements = nullptr;
  auto    array = MakeVolume<float>(elements, field.size, 3);
  field.take = [elements](std::int64_t first, std::int64_t count, const float * in) {
    std::copy_n(in, 3 * count, elements + 3 * first);
  };
  CheckSignals();
  const ParallelFor parallelFor = MakeInterruptibleParallelFor();
  InverseErrors     errors;
  {
    const nb::gil_scoped_release released;
    errors = engine->Invert(field, parallelFor);
  }
  return { nb::cast(std::move(array)), errors };
}
} // namespace

void
AddFields(nb::module_ & module)
{
  nb::class_<InverseErrors>(module, "InverseErrors")
    .def_ro("mean", &InverseErrors::mean)
    .def_ro("largest", &InverseErrors::largest)
    .def_ro("off_voxels", &InverseErrors::offVoxels)
    .def_ro("unmapped_voxels", &InverseErrors::unmappedVoxels)
    .def_ro("folded_voxels", &InverseErrors::foldedVoxels);
  AddLoan<FieldInverter>(module, "FieldInverter")
    .def("invert", &Invert, nb::arg("dimension"), nb::arg("displacements"), nb::arg("to_point"));
}

} // namespace python
} // namespace gpureg
