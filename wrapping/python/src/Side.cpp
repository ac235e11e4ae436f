// SPDX-License-Identifier: Apache-2.0
#include "Side.h"

#include "Bindings.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/shared_ptr.h>

#include <utility>

namespace nb = nanobind;

namespace gpureg
{
namespace python
{

Side::Side(std::shared_ptr<DeviceArray> image, std::shared_ptr<DeviceArray> mask, const IndexMap & indexToPoint)
  : m_Image(std::move(image))
  , m_Mask(std::move(mask))
  , m_IndexToPoint(indexToPoint)
{}

RegisteredImage
Side::Get() const
{
  return { &m_Image->GetImage(), m_Mask ? &m_Mask->GetImage() : nullptr, SizeOf(m_Image->GetShape()), m_IndexToPoint };
}

void
AddSides(nb::module_ & module)
{
  nb::class_<Side>(module, "Side")
    .def(nb::init<std::shared_ptr<DeviceArray>, std::shared_ptr<DeviceArray>, const IndexMap &>(),
         nb::arg("image"),
         nb::arg("mask").none(),
         nb::arg("index_to_point"))
    .def_prop_ro("image", &Side::GetImage);
}

} // namespace python
} // namespace gpureg
