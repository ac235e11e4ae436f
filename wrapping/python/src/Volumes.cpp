// SPDX-License-Identifier: Apache-2.0
// Filters images.
#include "Arrays.h"
#include "Bindings.h"
#include "Cancel.h"
#include "DeviceArray.h"
#include "Loan.h"
#include "Threads.h"

#include "gpureg/transform/FLIRTCoordinates.h"
#include "gpureg/filter/RecursiveGaussian.h"
#include "gpureg/filter/VolumeFilter.h"

#include "engine/runtime/Backend.h"
#include "engine/filter/ImageLevel.h"
#include "engine/filter/LevelGeometry.h"
#include "engine/registration/LevelSamples.h"
#include "engine/runtime/MakePasses.h"
#include "engine/runtime/Operation.h"

#include <nanobind/stl/array.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <utility>
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

/** A volume that a filter works on. */
class Filter
{
public:
  explicit Filter(const std::string & device)
    : m_Filter(device)
  {}

  void
  Set(Array array)
  {
    const Values values = ReadValues(std::move(array));
    VolumeInput  input;
    input.size = values.size;
    input.components = values.components;
    input.precision = values.precision;
    input.values = MakeFiller(values);
    m_Precision = values.precision;
    m_Components = values.components;
    const ParallelFor            parallelFor = MakeInterruptibleParallelFor();
    const nb::gil_scoped_release released;
    m_Filter->SetVolume(input, parallelFor);
  }

  void
  SetImage(const DeviceArray & array)
  {
    const ParallelFor            parallelFor = MakeInterruptibleParallelFor();
    const nb::gil_scoped_release released;
    m_Filter->SetVolume(array.GetImage(), SizeOf(array.GetShape()), parallelFor);
  }

  /** Smooths the volume by a Gaussian. \param sigma in voxels. */
  void
  ApplyGaussian(int axis, double sigma)
  {
    CheckSignals();
    const nb::gil_scoped_release released;
    m_Filter->ApplyGaussian(axis, MakeRecursiveGaussian(sigma));
  }

  nb::object
  Take()
  {
    CheckSignals();
    return m_Precision == Precision::Double ? this->TakeAs<double>() : this->TakeAs<float>();
  }

  /** Makes a new image on the device from a volume that came from one. */
  std::shared_ptr<DeviceArray>
  TakeImage(Shape shape)
  {
    CheckSignals();
    const nb::gil_scoped_release released;
    return std::make_shared<DeviceArray>(std::shared_ptr<const DeviceImage>(m_Filter->CopyVolume()), std::move(shape));
  }

  void
  GiveBack()
  {
    m_Filter.GiveBack();
  }

  EvaluationStatistics
  GetStatistics() const
  {
    return m_Filter->GetStatistics();
  }

private:
  template <typename T>
  nb::object
  TakeAs()
  {
    T *        elements = nullptr;
    const auto components = static_cast<std::size_t>(m_Components);
    auto       array = MakeVolume<T>(elements, m_Filter->GetSize(), components);
    {
      const nb::gil_scoped_release released;
      m_Filter->GetVolume([&](std::int64_t first, std::int64_t count, const void * in) {
        std::memcpy(elements + static_cast<std::size_t>(first) * components,
                    in,
                    static_cast<std::size_t>(count) * components * sizeof(T));
      });
    }
    return nb::cast(std::move(array));
  }

  Loan<VolumeFilter> m_Filter;
  Precision          m_Precision = Precision::Single;
  int                m_Components = 1;
};

/** A level of the pyramid that registrations make. It keeps the image that it was made from. */
struct MadeLevel
{
  MadeLevel(const std::string & device, std::shared_ptr<const DeviceArray> from)
    : image(std::move(from))
    , queue(GetBackend(device)->CreateQueue())
    , lines(MakePasses<LinePasses>(*queue))
    , level(*queue, device)
  {}

  std::shared_ptr<const DeviceArray> image; // a level of the same voxels is the image itself
  std::unique_ptr<Queue>             queue;
  std::unique_ptr<LinePasses>        lines;
  ImageLevel                         level;
};

/** Makes a level, and the map from its indices to the image's. */
nb::tuple
MakeLevel(std::shared_ptr<const DeviceArray> array, const Size & factors)
{
  auto made = std::make_shared<MadeLevel>(array->GetDeviceName(), array);
  {
    const nb::gil_scoped_release released;
    Operate(*made->queue, MakeParallelFor(), [&] {
      made->level.Make(array->GetImage(), SizeOf(array->GetShape()), factors, *made->lines);
      made->queue->Finish();
    });
  }
  const ImageLevel * const level = &made->level;
  Shape                    shape;
  for (std::size_t axis = array->GetShape().size(); axis-- > 0;)
  {
    shape.push_back(static_cast<std::size_t>(level->GetSize()[axis]));
  }
  auto image = std::make_shared<DeviceArray>(std::shared_ptr<const DeviceImage>(std::move(made), level), shape);
  return nb::make_tuple(nb::cast(std::move(image)), level->GetToImage());
}

/** Downloads an image's values, in doubles. */
nb::object
Download(const DeviceArray & array)
{
  const Size          size = SizeOf(array.GetShape());
  std::vector<double> values;
  {
    const nb::gil_scoped_release released;
    const auto                   queue = GetBackend(array.GetDeviceName())->CreateQueue();
    values = Operate(*queue, MakeParallelFor(), [&] { return DownloadValues(*queue, array.GetImage()); });
  }
  double * elements = nullptr;
  auto     out = MakeVolume<double>(elements, size);
  std::copy(values.begin(), values.end(), elements);
  return nb::cast(std::move(out));
}

/** Computes how many voxels become one voxel of a level, whose edges are 2^level times the shortest edge. */
Size
ComputeLevelFactors(int dimension, const Size & size, const IndexMap & indexToPoint, int level)
{
  RegisteredImage image;
  image.size = size;
  image.indexToPoint = indexToPoint;
  return ComputeFactors(image, dimension, std::ldexp(ComputeShortestEdge(image, dimension), level));
}
} // namespace

void
AddVolumes(nb::module_ & module)
{
  nb::class_<IndexMap>(module, "IndexMap").def_ro("matrix", &IndexMap::matrix).def_ro("offset", &IndexMap::offset);
  module.def("make_map", &MakeMap, nb::arg("matrix"), nb::arg("offset"));
  module.def(
    "make_index_to_flirt", &MakeIndexToFLIRT, nb::arg("spacing"), nb::arg("direction_determinant"), nb::arg("length"));
  nb::class_<Filter>(module, "Filter")
    .def(nb::init<const std::string &>())
    .def("set", &Filter::Set)
    .def("set_image", &Filter::SetImage)
    .def("apply_gaussian", &Filter::ApplyGaussian)
    .def("take", &Filter::Take)
    .def("take_image", &Filter::TakeImage)
    .def("give_back", &Filter::GiveBack)
    .def_prop_ro("statistics", &Filter::GetStatistics);
  module.def("compute_level_factors", &ComputeLevelFactors);
  module.def("make_level", &MakeLevel);
  module.def("download", &Download);
}

} // namespace python
} // namespace gpureg
