// SPDX-License-Identifier: Apache-2.0
// What resamples images by chains of transforms.
#include "Arrays.h"
#include "Bindings.h"
#include "Cancel.h"
#include "Chain.h"
#include "Threads.h"

#include "gpureg/Error.h"
#include "gpureg/Resampler.h"

#include <nanobind/stl/array.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <vector>

namespace nb = nanobind;

namespace gpureg
{
namespace python
{

namespace
{
Interpolation
GetInterpolation(const std::string & name)
{
  if (name == "nearest")
  {
    return Interpolation::Nearest;
  }
  if (name == "linear")
  {
    return Interpolation::Linear;
  }
  if (name == "bspline")
  {
    return Interpolation::BSpline;
  }
  throw BadInputError("there is no interpolation \"" + name + "\"; there are: nearest, linear, bspline");
}

/** Makes the output's voxels: [z][y][x][component]. */
template <typename T>
nb::object
ResampleAs(Resampler & engine, const ResampleInput & input, ResampleRequest & request, const nb::object & progress)
{
  T *               elements = nullptr;
  const std::size_t components = static_cast<std::size_t>(input.components);
  auto              array = MakeVolume<T>(elements, request.size, components);
  request.memory = elements;
  request.output = [elements, components](std::int64_t first, std::int64_t count, const void * in) {
    T * const to = elements + static_cast<std::size_t>(first) * components;
    if (to != in)
    {
      std::memcpy(to, in, static_cast<std::size_t>(count) * components * sizeof(T));
    }
  };
  request.progress = [&progress](double share) { Report(progress, share); };
  {
    const nb::gil_scoped_release released;
    engine.Resample(input, request, MakeParallelFor());
  }
  return nb::cast(std::move(array));
}

/** \param size of the output, along x, y, z. */
nb::object
Resample(Resampler &                 engine,
         Array                       array,
         const Chain &               chain,
         const Size &                size,
         const IndexMap &            outputToPoint,
         const IndexMap &            pointToInput,
         const std::string &         interpolation,
         int                         order,
         const std::vector<double> & outside,
         bool                        extrapolates,
         bool                        isOfIntegers,
         const nb::object &          progress)
{
  const Values    values = ReadValues(std::move(array));
  ResampleRequest request;
  request.size = size;
  request.outputToPoint = outputToPoint;
  request.transform = chain.Get();
  request.pointToInput = pointToInput;
  request.interpolation = GetInterpolation(interpolation);
  request.splineOrder = order;
  request.outside = outside;
  request.extrapolates = extrapolates;
  ResampleInput input;
  input.size = values.size;
  input.components = values.components;
  input.precision = values.precision;
  input.memory = values.array.data();
  input.splineOrder = request.interpolation == Interpolation::BSpline ? order : 0;
  input.isOfIntegers = isOfIntegers;
  input.values = MakeFiller(values);
  return values.precision == Precision::Double ? ResampleAs<double>(engine, input, request, progress)
                                               : ResampleAs<float>(engine, input, request, progress);
}
} // namespace

void
AddResample(nb::module_ & module)
{
  nb::class_<Resampler>(module, "Resampler")
    .def(nb::init<const std::string &>())
    .def("resample",
         &Resample,
         nb::arg("values"),
         nb::arg("chain"),
         nb::arg("size"),
         nb::arg("output_to_point"),
         nb::arg("point_to_input"),
         nb::arg("interpolation"),
         nb::arg("order"),
         nb::arg("outside"),
         nb::arg("extrapolates"),
         nb::arg("is_of_integers"),
         nb::arg("progress").none());
}

} // namespace python
} // namespace gpureg
