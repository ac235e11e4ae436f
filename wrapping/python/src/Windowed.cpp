// SPDX-License-Identifier: Apache-2.0
// Resamples images by kernels that a window cuts off.
#include "Arrays.h"
#include "Bindings.h"
#include "Cancel.h"
#include "Chain.h"
#include "Loan.h"

#include "gpureg/core/Error.h"
#include "gpureg/resample/WindowedResampler.h"

#include <nanobind/stl/array.h>
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
/** Settings, without the image. */
struct WindowedResampling
{
  Size                  size{}; // of the output
  IndexMap              outputToPoint;
  IndexMap              pointToInput;
  WindowedKernel        kernel = WindowedKernel::LanczosSinc;
  std::array<double, 3> sigmas{};
  double                cutoff = 1;
  double                outside = 0;
};

template <typename T>
nb::object
ResampleAs(const Loan<WindowedResampler> & engine, WindowedRequest & request)
{
  T *  elements = nullptr;
  auto array = MakeVolume<T>(elements, request.size);
  request.memory = elements;
  request.output = [elements](std::int64_t first, std::int64_t count, const void * in) {
    const T * const from = static_cast<const T *>(in);
    if (elements + first != from)
    {
      std::copy_n(from, count, elements + first);
    }
  };
  CheckSignals();
  const ParallelFor parallelFor = MakeInterruptibleParallelFor();
  {
    const nb::gil_scoped_release released;
    engine->Resample(request, parallelFor);
  }
  return nb::cast(std::move(array));
}

/** Makes the output, [z][y][x], of the input's type. */
nb::object
Resample(const Loan<WindowedResampler> & engine, Array array, const Chain & chain, const WindowedResampling & asked)
{
  const Values values = ReadValues(std::move(array));
  if (values.components != 1)
  {
    throw BadInputError("an image that is resampled by a windowed kernel has one component");
  }
  WindowedRequest request;
  request.size = asked.size;
  request.outputToPoint = asked.outputToPoint;
  request.transform = chain.Get();
  request.pointToInput = asked.pointToInput;
  request.inputSize = values.size;
  request.precision = values.precision;
  request.values = MakeFiller(values);
  request.kernel = asked.kernel;
  request.sigmas = asked.sigmas;
  request.cutoff = asked.cutoff;
  request.outside = asked.outside;
  return request.precision == Precision::Double ? ResampleAs<double>(engine, request)
                                                : ResampleAs<float>(engine, request);
}
} // namespace

void
AddWindowed(nb::module_ & module)
{
  nb::enum_<WindowedKernel>(module, "WindowedKernel")
    .value("LanczosSinc", WindowedKernel::LanczosSinc)
    .value("CosineSinc", WindowedKernel::CosineSinc)
    .value("HammingSinc", WindowedKernel::HammingSinc)
    .value("WelchSinc", WindowedKernel::WelchSinc)
    .value("BlackmanSinc", WindowedKernel::BlackmanSinc)
    .value("Gaussian", WindowedKernel::Gaussian)
    .value("LabelGaussian", WindowedKernel::LabelGaussian);
  nb::class_<WindowedResampling>(module, "WindowedResampling")
    .def(nb::init<>())
    .def_rw("size", &WindowedResampling::size)
    .def_rw("output_to_point", &WindowedResampling::outputToPoint)
    .def_rw("point_to_input", &WindowedResampling::pointToInput)
    .def_rw("kernel", &WindowedResampling::kernel)
    .def_rw("sigmas", &WindowedResampling::sigmas)
    .def_rw("cutoff", &WindowedResampling::cutoff)
    .def_rw("outside", &WindowedResampling::outside);
  AddLoan<WindowedResampler>(module, "WindowedResampler")
    .def("resample", &Resample, nb::arg("values"), nb::arg("chain"), nb::arg("resampling"));
}

} // namespace python
} // namespace gpureg
