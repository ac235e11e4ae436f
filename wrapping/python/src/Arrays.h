// SPDX-License-Identifier: Apache-2.0
// Converts between NumPy's arrays and the engine's: contiguous, [z][y][x], or [z][y][x][component].
#ifndef gpureg_python_Arrays_h
#define gpureg_python_Arrays_h

#include "gpureg/core/Geometry.h"
#include "gpureg/core/ParallelFor.h"
#include "gpureg/core/Precision.h"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <type_traits>

namespace gpureg
{
namespace python
{

using Array = nanobind::ndarray<nanobind::ro, nanobind::c_contig, nanobind::device::cpu>;
using FloatArray = nanobind::ndarray<const float, nanobind::c_contig, nanobind::device::cpu>;
using DoubleArray = nanobind::ndarray<const double, nanobind::c_contig, nanobind::device::cpu>;

/** Views an image's values, float or double. */
struct Values
{
  Array     array;
  Precision precision = Precision::Single;
  Size      size{};
  int       components = 1;
};

/** Views an array. \throws BadInputError unless it has floats or doubles and three axes, or four: [z][y][x] and components. */
Values
ReadValues(Array array);

/** Returns a source that copies from the values, which must outlive it. */
Filler
MakeFiller(const Values & values);

/** Returns the size, x first, of an array [z][y][x], which may have more axes behind.
 * \throws BadInputError if an axis is too long, or missing. */
Size
SizeOf(const Array & array);

/** Makes an uninitialized array that Python owns. NumPy's memory: nothing is written to it here, while other threads wait
 *  for the GIL, and it is of large pages where there are some. */
template <typename T>
nanobind::ndarray<nanobind::numpy, T>
MakeArray(T *& elements, std::initializer_list<std::size_t> shape)
{
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, double>, "what the engine computes with");
  nanobind::list lengths;
  for (const std::size_t length : shape)
  {
    lengths.append(length);
  }
  auto array = nanobind::cast<nanobind::ndarray<nanobind::numpy, T>>(nanobind::module_::import_("numpy").attr(
    "empty")(nanobind::tuple(lengths), std::is_same_v<T, float> ? "float32" : "float64"));
  elements = array.data();
  return array;
}

/** Makes an uninitialized array of a volume's voxels: [z][y][x], or [z][y][x][component] if there is a number of components. */
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
