// SPDX-License-Identifier: Apache-2.0
// Resamples images by chains of transforms.
#include "Arrays.h"
#include "Bindings.h"
#include "Cancel.h"
#include "Chain.h"
#include "DeviceArray.h"
#include "Loan.h"

#include "gpureg/core/Error.h"
#include "gpureg/resample/Resampler.h"

#include <nanobind/stl/array.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <utility>
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

/** Settings of a resampling, without the image. */
struct Resampling
{
  Size                size{}; // of the output
  IndexMap            outputToPoint;
  IndexMap            pointToInput;
  std::string         interpolation = "linear";
  int                 order = 3;
  std::vector<double> outside;
  bool                extrapolates = false;
  bool                isOfIntegers = false;
  /** First voxels of the parts of the output and of the input that are at hand, as indices of the two maps. */
  std::array<std::int64_t, 3> firstOutput{};
  std::array<std::int64_t, 3> firstInput{};
};

ResampleRequest
MakeRequest(const Resampling & asked, const Chain & chain)
{
  ResampleRequest request;
  request.size = asked.size;
  request.outputToPoint = asked.outputToPoint;
  request.transform = chain.Get();
  request.pointToInput = asked.pointToInput;
  request.interpolation = GetInterpolation(asked.interpolation);
  request.splineOrder = asked.order;
  request.outside = asked.outside;
  request.extrapolates = asked.extrapolates;
  request.firstOutput = asked.firstOutput;
  request.firstInput = asked.firstInput;
  return request;
}

/** Describes the input without its values. */
ResampleInput
MakeInput(const Resampling & asked, const ResampleRequest & request, const Size & size, Precision precision)
{
  ResampleInput input;
  input.size = size;
  input.precision = precision;
  input.splineOrder = request.interpolation == Interpolation::BSpline ? request.splineOrder : 0;
  input.isOfIntegers = asked.isOfIntegers;
  return input;
}

/** Describes an input that is on a device already. */
ResampleInput
MakeInput(const Resampling & asked, const ResampleRequest & request, const DeviceArray & array)
{
  const DeviceImage & image = array.GetImage();
  ResampleInput       input = MakeInput(asked, request, SizeOf(array.GetShape()), image.GetPrecision());
  input.image = &image;
  return input;
}

/** Makes the output's voxels: [z][y][x][component]. */
template <typename T>
nb::object
ResampleAs(const Loan<Resampler> & engine,
           const ResampleInput &   input,
           ResampleRequest &       request,
           const nb::object &      progress)
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
  const Reporter report(progress);
  request.progress = [&report](double share) { report(share); };
  const ParallelFor parallelFor = MakeInterruptibleParallelFor();
  {
    const nb::gil_scoped_release released;
    engine->Resample(input, request, parallelFor);
  }
  return nb::cast(std::move(array));
}

/** Makes the output's voxels in the input's type. */
nb::object
ResampleAsInput(const Loan<Resampler> & engine,
                const ResampleInput &   input,
                ResampleRequest &       request,
                const nb::object &      progress)
{
  return input.precision == Precision::Double ? ResampleAs<double>(engine, input, request, progress)
                                              : ResampleAs<float>(engine, input, request, progress);
}

nb::object
Resample(const Loan<Resampler> & engine,
         Array                   array,
         const Chain &           chain,
         const Resampling &      asked,
         const nb::object &      progress)
{
  const Values    values = ReadValues(std::move(array));
  ResampleRequest request = MakeRequest(asked, chain);
  ResampleInput   input = MakeInput(asked, request, values.size, values.precision);
  input.components = values.components;
  input.memory = values.array.data();
  input.values = MakeFiller(values);
  return ResampleAsInput(engine, input, request, progress);
}

/** Resamples an image of one component that is on the engine's device, and returns an array of the host. */
nb::object
ResampleLoaded(const Loan<Resampler> & engine,
               const DeviceArray &     array,
               const Chain &           chain,
               const Resampling &      asked,
               const nb::object &      progress)
{
  ResampleRequest request = MakeRequest(asked, chain);
  return ResampleAsInput(engine, MakeInput(asked, request, array), request, progress);
}

/** Resamples an image that is on the engine's device. The output stays there.
 *  \param shape of the output: [z][y][x], or [y][x]. */
std::shared_ptr<DeviceArray>
ResampleOnDevice(
  const Loan<Resampler> & engine, const DeviceArray & array, const Chain & chain, const Resampling & asked, Shape shape)
{
  const ResampleRequest request = MakeRequest(asked, chain);
  const ResampleInput   input = MakeInput(asked, request, array);
  CheckSignals();
  const ParallelFor                  parallelFor = MakeInterruptibleParallelFor();
  std::shared_ptr<const DeviceImage> made;
  {
    const nb::gil_scoped_release released;
    made = engine->ResampleToDevice(input, request, parallelFor);
  }
  return std::make_shared<DeviceArray>(std::move(made), std::move(shape));
}
/** Makes a request. \param low, high see DisplacementRequest. */
DisplacementRequest
MakeDisplacementRequest(const Chain &                 chain,
                        const Size &                  size,
                        const IndexMap &              toPoint,
                        const std::array<double, 3> & low,
                        const std::array<double, 3> & high)
{
  DisplacementRequest request;
  request.transform = chain.Get();
  request.size = size;
  request.outputToPoint = toPoint;
  request.low = low;
  request.high = high;
  return request;
}

/** Computes displacements on the host: [z][y][x][dimension]. */
nb::object
ComputeDisplacements(const Loan<Resampler> & engine, DisplacementRequest request)
{
  double *          elements = nullptr;
  const std::size_t components = static_cast<std::size_t>(request.transform.dimension);
  auto              array = MakeVolume<double>(elements, request.size, components);
  request.memory = elements;
  request.output = [elements, components](std::int64_t first, std::int64_t count, const void * in) {
    double * const to = elements + static_cast<std::size_t>(first) * components;
    if (to != in)
    {
      std::memcpy(to, in, static_cast<std::size_t>(count) * components * sizeof(double));
    }
  };
  CheckSignals();
  const ParallelFor parallelFor = MakeInterruptibleParallelFor();
  {
    const nb::gil_scoped_release released;
    engine->ComputeDisplacements(request, parallelFor);
  }
  return nb::cast(std::move(array));
}

/** Computes displacements that stay on the engine's device. */
std::shared_ptr<DeviceArray>
ComputeDisplacementsOnDevice(const Loan<Resampler> & engine, const DisplacementRequest & request, Shape shape)
{
  CheckSignals();
  const ParallelFor            parallelFor = MakeInterruptibleParallelFor();
  const nb::gil_scoped_release released;
  return std::make_shared<DeviceArray>(std::shared_ptr<const MadeNumbers>(
                                         engine->ComputeDisplacementsOnDevice(request, parallelFor)),
                                       std::move(shape));
}
} // namespace

void
AddResample(nb::module_ & module)
{
  nb::class_<Resampling>(module, "Resampling")
    .def(nb::init<>())
    .def_rw("size", &Resampling::size)
    .def_rw("output_to_point", &Resampling::outputToPoint)
    .def_rw("point_to_input", &Resampling::pointToInput)
    .def_rw("interpolation", &Resampling::interpolation)
    .def_rw("order", &Resampling::order)
    .def_rw("outside", &Resampling::outside)
    .def_rw("extrapolates", &Resampling::extrapolates)
    .def_rw("is_of_integers", &Resampling::isOfIntegers)
    .def_rw("first_output", &Resampling::firstOutput)
    .def_rw("first_input", &Resampling::firstInput);
  nb::class_<DisplacementRequest>(module, "DisplacementRequest")
    .def(
      "__init__",
      [](DisplacementRequest *         self,
         const Chain &                 chain,
         const Size &                  size,
         const IndexMap &              toPoint,
         const std::array<double, 3> & low,
         const std::array<double, 3> & high) {
        new (self) DisplacementRequest(MakeDisplacementRequest(chain, size, toPoint, low, high));
      },
      nb::arg("chain"),
      nb::arg("size"),
      nb::arg("to_point"),
      nb::arg("low"),
      nb::arg("high"));
  AddLoan<Resampler>(module, "Resampler")
    .def("resample", &Resample, nb::arg("values"), nb::arg("chain"), nb::arg("resampling"), nb::arg("progress").none())
    .def("resample_loaded",
         &ResampleLoaded,
         nb::arg("image"),
         nb::arg("chain"),
         nb::arg("resampling"),
         nb::arg("progress").none())
    .def("resample_on_device",
         &ResampleOnDevice,
         nb::arg("image"),
         nb::arg("chain"),
         nb::arg("resampling"),
         nb::arg("shape"))
    .def("compute_displacements", &ComputeDisplacements, nb::arg("request"))
    .def("compute_displacements_on_device", &ComputeDisplacementsOnDevice, nb::arg("request"), nb::arg("shape"));
}

} // namespace python
} // namespace gpureg
