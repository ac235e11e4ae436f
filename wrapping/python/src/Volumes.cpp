// SPDX-License-Identifier: Apache-2.0
// Filters of images.
#include "Arrays.h"
#include "Bindings.h"
#include "Cancel.h"
#include "Threads.h"

#include "gpureg/VolumeFilter.h"

#include "Backend.h"
#include "ImageLevel.h"
#include "LevelGeometry.h"
#include "LevelSamples.h"

#include <nanobind/stl/array.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

namespace nb = nanobind;

namespace gpureg
{
namespace python
{

namespace
{
IndexMap
MakeMap(const std::array<double, 9> & matrix, const std::array<double, 3> & offset)
{
  return { matrix, offset };
}

/** A volume on its way through a filter. */
class Filter
{
public:
  Filter(const std::string & device, Array array)
    : m_Values(ReadValues(std::move(array)))
    , m_Filter(device)
  {
    VolumeInput input;
    input.size = m_Values.size;
    input.components = m_Values.components;
    input.precision = m_Values.precision;
    input.values = MakeFiller(m_Values);
    const nb::gil_scoped_release released;
    m_Filter.SetVolume(input, MakeParallelFor());
  }

  void
  ApplyGaussian(int                           axis,
                const std::array<double, 4> & n,
                const std::array<double, 4> & d,
                const std::array<double, 4> & m)
  {
    CheckSignals();
    const nb::gil_scoped_release released;
    m_Filter.ApplyGaussian(axis, { n, d, m });
  }

  nb::object
  Take()
  {
    CheckSignals();
    return m_Values.precision == Precision::Double ? this->TakeAs<double>() : this->TakeAs<float>();
  }

private:
  template <typename T>
  nb::object
  TakeAs()
  {
    T *        elements = nullptr;
    const auto components = static_cast<std::size_t>(m_Values.components);
    auto       array = MakeVolume<T>(elements, m_Filter.GetSize(), components);
    {
      const nb::gil_scoped_release released;
      m_Filter.GetVolume([&](std::int64_t first, std::int64_t count, const void * in) {
        std::memcpy(elements + static_cast<std::size_t>(first) * components,
                    in,
                    static_cast<std::size_t>(count) * components * sizeof(T));
      });
    }
    return nb::cast(std::move(array));
  }

  Values       m_Values;
  VolumeFilter m_Filter;
};

/** A level of the pyramid that registrations make, and the map from its indices to the image's. */
nb::tuple
MakeLevel(const std::string & device, Array array, const Size & factors)
{
  Values              values = ReadValues(std::move(array));
  LoadedImage         image(device);
  const auto          backend = GetBackend(device);
  const auto          queue = backend->CreateQueue();
  const auto          lines = queue->CreateLinePasses();
  ImageLevel          level(*queue, device);
  std::vector<double> made;
  {
    const nb::gil_scoped_release released;
    queue->parallelFor = MakeParallelFor();
    image.Load({}, values.precision, values.array.data(), CountOf(values.size), queue->parallelFor);
    level.Make(image, values.size, factors, *lines);
    made = BringValues(*queue, level);
    queue->GiveStagingBack();
  }
  double * elements = nullptr;
  auto     out = MakeVolume<double>(elements, level.GetSize());
  std::copy(made.begin(), made.end(), elements);
  return nb::make_tuple(nb::cast(std::move(out)), level.GetToImage());
}

/** How many voxels one of a level, whose edges are 2^level of the shortest, stands for. */
Size
FindLevelFactors(int dimension, const Size & size, const IndexMap & indexToPoint, int level)
{
  RegisteredImage image;
  image.size = size;
  image.indexToPoint = indexToPoint;
  return FindFactors(image, dimension, std::ldexp(FindShortestEdge(image, dimension), level));
}
} // namespace

void
AddVolumes(nb::module_ & module)
{
  nb::class_<IndexMap>(module, "IndexMap").def_ro("matrix", &IndexMap::matrix).def_ro("offset", &IndexMap::offset);
  module.def("make_map", &MakeMap, nb::arg("matrix"), nb::arg("offset"));
  nb::class_<Filter>(module, "Filter")
    .def(nb::init<const std::string &, Array>())
    .def("apply_gaussian", &Filter::ApplyGaussian)
    .def("take", &Filter::Take);
  module.def("find_level_factors", &FindLevelFactors);
  module.def("make_level", &MakeLevel);
}

} // namespace python
} // namespace gpureg
