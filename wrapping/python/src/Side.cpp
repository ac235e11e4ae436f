// SPDX-License-Identifier: Apache-2.0
#include "Side.h"

#include "Bindings.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
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

PlannedSide::PlannedSide(const std::string &   device,
                         const std::string &   type,
                         const Shape &         shape,
                         bool                  hasMask,
                         const IndexMap &      indexToPoint,
                         bool                  isHeld,
                         bool                  hasHeldMask,
                         const OptionalRange & range)
  : m_Size(SizeOf(shape))
  , m_IndexToPoint(indexToPoint)
  , m_Range(range)
{
  const std::int64_t count = CountOf(m_Size);
  const auto         plan = [&](NumberType number, bool counts) {
    const std::size_t bytes = BytesOf(number) * static_cast<std::size_t>(count);
    return std::make_shared<const PlannedImage>(number, count, device, counts ? bytes : 0);
  };
  m_Image = plan(GetNumberType(type), isHeld);
  m_Mask = hasMask ? plan(NumberType::Float32, hasHeldMask) : nullptr;
}

RegisteredImage
PlannedSide::Get() const
{
  return { m_Image.get(), m_Mask.get(), m_Size, m_IndexToPoint };
}

void
AddSides(nb::module_ & module)
{
  nb::class_<PlannedSide>(module, "PlannedSide")
    .def(nb::init<const std::string &,
                  const std::string &,
                  const Shape &,
                  bool,
                  const IndexMap &,
                  bool,
                  bool,
                  const OptionalRange &>(),
         nb::arg("device"),
         nb::arg("type"),
         nb::arg("shape"),
         nb::arg("has_mask"),
         nb::arg("index_to_point"),
         nb::arg("is_held"),
         nb::arg("has_held_mask"),
         nb::arg("range") = nb::none());
  nb::class_<Side>(module, "Side")
    .def(nb::init<std::shared_ptr<DeviceArray>, std::shared_ptr<DeviceArray>, const IndexMap &>(),
         nb::arg("image"),
         nb::arg("mask").none(),
         nb::arg("index_to_point"))
    .def_prop_ro("image", &Side::GetImage);
}

} // namespace python
} // namespace gpureg
