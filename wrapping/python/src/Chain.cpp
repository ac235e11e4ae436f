// SPDX-License-Identifier: Apache-2.0
#include "Chain.h"

#include "Bindings.h"

#include "gpureg/core/Error.h"
#include "gpureg/core/Key.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

namespace nb = nanobind;

namespace gpureg
{
namespace python
{

namespace
{
/** Returns a key that no other grid of this process has. */
Key
MakeKey()
{
  static std::atomic<std::uintptr_t> count{ 0 };
  return { ++count };
}
} // namespace

Chain::Chain(int dimension)
{
  m_Chain.dimension = dimension;
}

void
Chain::AppendMap(const IndexMap & map)
{
  m_Chain.Append(map);
}

void
Chain::AppendSpline(const DoubleArray & coefficients, const IndexMap & toGrid)
{
  this->AppendGrid(GridKind::BSpline, coefficients, toGrid);
}

void
Chain::AppendField(const DoubleArray & vectors, const IndexMap & toGrid)
{
  this->AppendGrid(GridKind::Field, vectors, toGrid);
}

void
Chain::AppendFloatField(const FloatArray & vectors, const IndexMap & toGrid)
{
  this->AppendGrid(GridKind::Field, vectors, toGrid);
}

void
Chain::AppendFieldOnDevice(const FieldOnDevice & field, const IndexMap & toGrid)
{
  DisplacementGrid grid = MakeDisplacementGrid(field.field);
  grid.toGrid = toGrid;
  m_Chain.Append(std::move(grid));
}

template <typename TArray>
void
Chain::AppendGrid(GridKind kind, const TArray & vectors, const IndexMap & toGrid)
{
  if (vectors.ndim() != 4 || vectors.shape(3) != 3)
  {
    throw BadInputError("vectors are to be an array [z][y][x][3]");
  }
  DisplacementGrid grid;
  grid.kind = kind;
  grid.size = SizeOf(Array(vectors));
  grid.toGrid = toGrid;
  // The vectors stay on a device while one chain resamples several images, such as the blocks of a large one.
  grid.source.key = MakeKey();
  // The copy keeps the array alive.
  const auto         kept = std::make_shared<TArray>(vectors);
  const auto * const from = vectors.data();
  grid.vectors = [kept, from](std::int64_t first, std::int64_t count, double * out) {
    std::copy(from + 3 * first, from + 3 * (first + count), out);
  };
  m_Chain.Append(std::move(grid));
}

void
AddChains(nb::module_ & module)
{
  nb::class_<Chain>(module, "Chain")
    .def(nb::init<int>())
    .def("append_map", &Chain::AppendMap)
    .def("append_spline", &Chain::AppendSpline)
    // Without conversion: a field of floats is taken by the second one.
    .def("append_field", &Chain::AppendField, nb::arg("vectors").noconvert(), nb::arg("to_grid"))
    .def("append_field", &Chain::AppendFloatField, nb::arg("vectors").noconvert(), nb::arg("to_grid"))
    .def("append_field_on_device", &Chain::AppendFieldOnDevice, nb::arg("field"), nb::arg("to_grid"));
}

} // namespace python
} // namespace gpureg
