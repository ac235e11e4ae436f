// SPDX-License-Identifier: Apache-2.0
// Inverses of displacement fields.
#include "Arrays.h"
#include "Bindings.h"
#include "Cancel.h"
#include "Chain.h"
#include "Loan.h"

#include "gpureg/core/Error.h"
#include "gpureg/field/FieldInverter.h"

#include <nanobind/stl/array.h>
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
/** Lets an engine invert a request, whose inverse it returns, [z][y][x][3], mm, with the errors. */
template <typename TRequest>
std::pair<nb::object, InverseErrors>
Run(const Loan<FieldInverter> & engine, TRequest & request)
{
  float * elements = nullptr;
  auto    array = MakeVolume<float>(elements, request.size, 3);
  request.take = [elements](std::int64_t first, std::int64_t count, const float * in) {
    std::copy_n(in, 3 * count, elements + 3 * first);
  };
  CheckSignals();
  const ParallelFor parallelFor = MakeInterruptibleParallelFor();
  InverseErrors     errors;
  {
    const nb::gil_scoped_release released;
    errors = engine->Invert(request, parallelFor);
  }
  return { nb::cast(std::move(array)), errors };
}

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
  return Run(engine, field);
}

/** Returns the inverse of a chain on a grid, [z][y][x][3], mm, and its errors. */
std::pair<nb::object, InverseErrors>
InvertTransform(const Loan<FieldInverter> & engine, const Chain & chain, const Size & size, const IndexMap & toPoint)
{
  TransformToInvert transform;
  transform.transform = chain.Get();
  transform.size = size;
  transform.indexToPoint = toPoint;
  return Run(engine, transform);
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
    .def("invert", &Invert, nb::arg("dimension"), nb::arg("displacements"), nb::arg("to_point"))
    .def("invert_transform", &InvertTransform, nb::arg("chain"), nb::arg("size"), nb::arg("to_point"));
}

} // namespace python
} // namespace gpureg
