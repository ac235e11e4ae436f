// SPDX-License-Identifier: Apache-2.0
#include "Arrays.h"

#include "gpureg/core/Error.h"

#include <cstring>
#include <limits>
#include <string>

namespace nb = nanobind;

namespace gpureg
{
namespace python
{

Size
SizeOf(const Array & array)
{
  if (array.ndim() < 3)
  {
    throw BadInputError("an array of " + std::to_string(array.ndim()) + " axes is no volume [z][y][x]");
  }
  Size size{};
  for (std::size_t d = 0; d < 3; ++d)
  {
    const std::size_t length = array.shape(2 - d);
    if (length > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    {
      throw BadInputError("an axis of " + std::to_string(length) + " voxels is too long");
    }
    size[d] = static_cast<int>(length);
  }
  return size;
}

Values
ReadValues(Array array)
{
  Values values;
  values.size = SizeOf(array);
  if (array.dtype() == nb::dtype<double>())
  {
    values.precision = Precision::Double;
  }
  else if (array.dtype() != nb::dtype<float>())
  {
    throw BadInputError("the engine computes with values of float32 and float64. Convert them.");
  }
  values.components = array.ndim() > 3 ? static_cast<int>(array.shape(3)) : 1;
  values.array = std::move(array);
  return values;
}

Filler
MakeFiller(const Values & values)
{
  const std::size_t  voxelBytes = BytesOf(values.precision) * static_cast<std::size_t>(values.components);
  const char * const bytes = static_cast<const char *>(values.array.data());
  return [voxelBytes, bytes](std::int64_t first, std::int64_t count, void * out) {
    std::memcpy(out,
                bytes + static_cast<std::size_t>(first) * voxelBytes,
                static_cast<std::size_t>(count) * voxelBytes);
  };
}

} // namespace python
} // namespace gpureg
