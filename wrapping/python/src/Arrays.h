// SPDX-License-Identifier: Apache-2.0
// Arrays of the host as they come from Python, and go there: contiguous, [z][y][x], or [z][y][x][component].
#ifndef gpureg_python_Arrays_h
#define gpureg_python_Arrays_h

#include "gpureg/Geometry.h"
#include "gpureg/ParallelFor.h"
#include "gpureg/Precision.h"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace gpureg
{
namespace python
{

using Array = nanobind::ndarray<nanobind::ro, nanobind::c_contig, nanobind::device::cpu>;
using FloatArray = nanobind::ndarray<const float, nanobind::c_contig, nanobind::device::cpu>;
using DoubleArray = nanobind::ndarray<const double, nanobind::c_contig, nanobind::device::cpu>;

/** An image's values, float or double. */
struct Values
{
  Array     array;
  Precision precision = Precision::Single;
  Size      size{};
  int       components = 1;
};

/** \throws BadInputError unless they are float or double, of three axes, or four: [z][y][x] and components. */
Values
ReadValues(Array array);

/** Copies from the values, which are to stay. */
Filler
MakeFiller(const Values & values);

/** Of an array [z][y][x], or with more axes behind. \throws BadInputError if an axis is too long, or missing. */
Size
SizeOf(const Array & array);

/** An array that Python owns, of elements that are yet to be set. */
template <typename T>
nanobind::ndarray<nanobind::numpy, T>
MakeArray(T *& elements, std::initializer_list<std::size_t> shape)
{
  std::size_t count = 1;
  for (const std::size_t length : shape)
  {
    count *= length;
  }
  auto owned = std::make_unique<T[]>(count);
  elements = owned.get();
  const nanobind::capsule owner(owned.get(), [](void * memory) noexcept { delete[] static_cast<T *>(memory); });
  owned.release();
  return nanobind::ndarray<nanobind::numpy, T>(elements, shape, owner);
}

/** The same of a volume's voxels: [z][y][x], or [z][y][x][component] if there is a number of components. */
template <typename T>
nanobind::ndarray<nanobind::numpy, T>
MakeVolume(T *& elements, const Size & size, std::size_t components = 0)
{
  const auto x = static_cast<std::size_t>(size[0]);
  const auto y = static_cast<std::size_t>(size[1]);
  const auto z = static_cast<std::size_t>(size[2]);
  return components > 0 ? MakeArray<T>(elements, { z, y, x, components }) : MakeArray<T>(elements, { z, y, x });
}

} // namespace python
} // namespace gpureg

#endif
