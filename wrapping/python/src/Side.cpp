// SPDX-License-Identifier: Apache-2.0
#include "Side.h"

#include "Bindings.h"
#include "Threads.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <cstdint>
#include <new>
#include <utility>

namespace nb = nanobind;

namespace gpureg
{
namespace python
{

Side::Side(const std::string & device, Values values, std::optional<FloatArray> mask, const IndexMap & indexToPoint)
  : m_Values(std::move(values))
  , m_MaskValues(std::move(mask))
  , m_Image(device)
  , m_Mask(device)
  , m_Size(m_Values.size)
  , m_IndexToPoint(indexToPoint)
{
  const nb::gil_scoped_release released;
  const ParallelFor            parallelFor = MakeParallelFor();
  m_Image.Load({}, m_Values.precision, m_Values.array.data(), CountOf(m_Size), parallelFor);
  if (m_MaskValues)
  {
    m_Mask.Load(
      {}, Precision::Single, m_MaskValues->data(), static_cast<std::int64_t>(m_MaskValues->size()), parallelFor);
  }
}

RegisteredImage
Side::Get() const
{
  return { &m_Image, m_MaskValues ? &m_Mask : nullptr, m_Size, m_IndexToPoint };
}

void
AddSides(nb::module_ & module)
{
  nb::class_<Side>(module, "Side")
    .def(
      "__init__",
      [](Side *                    self,
         const std::string &       device,
         Array                     values,
         std::optional<FloatArray> mask,
         const IndexMap &          indexToPoint) {
        new (self) Side(device, ReadValues(std::move(values)), std::move(mask), indexToPoint);
      },
      nb::arg("device"),
      nb::arg("values"),
      nb::arg("mask").none(),
      nb::arg("index_to_point"));
}

} // namespace python
} // namespace gpureg
