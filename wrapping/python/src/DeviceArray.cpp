// SPDX-License-Identifier: Apache-2.0
#include "DeviceArray.h"

#include "Arrays.h"
#include "Bindings.h"
#include "Loan.h"
#include "Threads.h"

#include "gpureg/image/BorrowedImage.h"
#include "gpureg/core/Error.h"
#include "gpureg/image/LoadedImage.h"
#include "gpureg/image/NarrowImage.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <limits>
#include <new>
#include <optional>
#include <utility>

namespace nb = nanobind;

namespace gpureg
{
namespace python
{

namespace
{
/** Reads an array by DLPack, and keeps it alive. */
class Exported
{
public:
  explicit Exported(nb::ndarray<nb::ro> array)
    : m_Array(std::move(array))
  {}

  std::uintptr_t
  GetAddress() const
  {
    return reinterpret_cast<std::uintptr_t>(m_Array.data());
  }

  std::vector<std::size_t>
  GetShape() const
  {
    std::vector<std::size_t> shape;
    for (std::size_t axis = 0; axis < m_Array.ndim(); ++axis)
    {
      shape.push_back(m_Array.shape(axis));
    }
    return shape;
  }

  /** Strides in elements. */
  std::vector<std::int64_t>
  GetStrides() const
  {
    std::vector<std::int64_t> strides;
    for (std::size_t axis = 0; axis < m_Array.ndim(); ++axis)
    {
      strides.push_back(m_Array.stride(axis));
    }
    return strides;
  }

  /** NumPy's name of the elements' type; empty for a type that NumPy does not have. */
  std::string
  GetTypeName() const
  {
    const nb::dlpack::dtype type = m_Array.dtype();
    const std::string       bits = std::to_string(type.bits);
    switch (static_cast<nb::dlpack::dtype_code>(type.code))
    {
      case nb::dlpack::dtype_code::Int:
        return type.lanes == 1 ? "int" + bits : std::string();
      case nb::dlpack::dtype_code::UInt:
        return type.lanes == 1 ? "uint" + bits : std::string();
      case nb::dlpack::dtype_code::Float:
        return type.lanes == 1 ? "float" + bits : std::string();
      case nb::dlpack::dtype_code::Bool:
        return type.lanes == 1 ? "bool" : std::string();
      default:
        return {};
    }
  }

private:
  nb::ndarray<nb::ro> m_Array;
};

/** Makes an owner that keeps a Python object alive, and may be released on any thread. */
std::shared_ptr<const void>
KeepObject(nb::object object)
{
  return { object.release().ptr(), [](PyObject * kept) {
            // After the interpreter's end nothing is left to release.
            if (Py_IsInitialized())
            {
              const nb::gil_scoped_acquire held;
              Py_DECREF(kept);
            }
          } };
}

/** Memory on a device that another library owns. */
struct Borrowed
{
  BorrowedMemory memory;
  Shape          shape;
};

/** Describes memory of another library. \param stream see BorrowedMemory. \param owner keeps the memory alive. */
Borrowed
MakeBorrowed(
  std::uintptr_t address, Shape shape, const std::string & type, std::optional<std::uintptr_t> stream, nb::object owner)
{
  Borrowed borrowed;
  borrowed.memory.address = reinterpret_cast<void *>(address);
  borrowed.memory.type = GetNumberType(type);
  borrowed.memory.count = CountOf(SizeOf(shape));
  borrowed.memory.stream = stream;
  borrowed.memory.owner = KeepObject(std::move(owner));
  borrowed.shape = std::move(shape);
  return borrowed;
}

/** Borrows floats or doubles, which are read in place. */
std::shared_ptr<DeviceArray>
Borrow(const std::string & device, const Borrowed & borrowed)
{
  // This waits for the stream.
  const nb::gil_scoped_release released;
  return std::make_shared<DeviceArray>(std::make_shared<const BorrowedImage>(device, borrowed.memory), borrowed.shape);
}

/** Converts other numbers to floats or doubles. */
std::shared_ptr<DeviceArray>
MakeImage(const Loan<NumberConverter> & converter, const Borrowed & borrowed, bool ofDoubles)
{
  const nb::gil_scoped_release released;
  const Precision              precision = ofDoubles ? Precision::Double : Precision::Single;
  return std::make_shared<DeviceArray>(std::shared_ptr<const DeviceImage>(
                                         converter->MakeImage(borrowed.memory, precision, MakeParallelFor())),
                                       borrowed.shape);
}

std::shared_ptr<DeviceArray>
MakeMask(const Loan<NumberConverter> & converter, const Borrowed & borrowed)
{
  const nb::gil_scoped_release released;
  return std::make_shared<DeviceArray>(std::shared_ptr<const DeviceImage>(
                                         converter->MakeMask(borrowed.memory, MakeParallelFor())),
                                       borrowed.shape);
}

std::shared_ptr<DeviceArray>
MakeNumbers(const Loan<NumberConverter> & converter, const DeviceArray & array, const std::string & type)
{
  const nb::gil_scoped_release released;
  return std::make_shared<DeviceArray>(std::shared_ptr<const MadeNumbers>(converter->MakeNumbers(array.GetImage(),
                                                                                                 GetNumberType(type),
                                                                                                 MakeParallelFor())),
                                       array.GetShape());
}

/** Uploads an array of the host to a device. The host itself reads the array in place, and keeps it alive. */
std::shared_ptr<DeviceArray>
Load(const std::string & device, Array array, Shape shape)
{
  struct Kept
  {
    Kept(const std::string & name, Values v)
      : values(std::move(v))
      , image(name)
    {}
    Values      values;
    LoadedImage image;
  };
  auto kept = std::make_shared<Kept>(device, ReadValues(std::move(array)));
  {
    const nb::gil_scoped_release released;
    kept->image.Load(
      {}, kept->values.precision, kept->values.array.data(), CountOf(kept->values.size), MakeParallelFor());
  }
  const DeviceImage * const image = &kept->image;
  return std::make_shared<DeviceArray>(std::shared_ptr<const DeviceImage>(std::move(kept), image), std::move(shape));
}

/** Uploads an array of integers of up to 16 bits to a device, which stay integers there. The host itself reads the array in place, and
 *  keeps it alive. type: NumPy's name of the integers' type. */
std::shared_ptr<DeviceArray>
LoadNarrow(const std::string & device, Array array, const std::string & type, Shape shape)
{
  struct Kept
  {
    Array                        array;
    std::unique_ptr<NarrowImage> image;
  };
  const NumberType   number = GetNumberType(type);
  const std::int64_t count = CountOf(SizeOf(shape));
  if (static_cast<std::size_t>(count) * BytesOf(number) != array.nbytes())
  {
    throw BadInputError("an array of " + std::to_string(array.nbytes()) + " bytes is not of " + std::to_string(count) +
                        " numbers of type " + type);
  }
  auto kept = std::make_shared<Kept>();
  kept->array = std::move(array);
  {
    const nb::gil_scoped_release released;
    kept->image = std::make_unique<NarrowImage>(device, number, kept->array.data(), count, MakeParallelFor());
  }
  const DeviceImage * const image = kept->image.get();
  return std::make_shared<DeviceArray>(std::shared_ptr<const DeviceImage>(std::move(kept), image), std::move(shape));
}

/** Returns DLPack's type and number of a device. */
std::pair<int, int>
FindDLPackDevice(const std::string & name)
{
  const std::string::size_type colon = name.find(':');
  if (colon == std::string::npos)
  {
    return { nb::device::cpu::value, 0 };
  }
  return { nb::device::cuda::value, std::stoi(name.substr(colon + 1)) };
}

nb::dlpack::dtype
FindDLPackType(NumberType type)
{
  using Code = nb::dlpack::dtype_code;
  const std::string name = GetName(type);
  const Code        code = name == "bool"                    ? Code::Bool
                           : name.compare(0, 4, "uint") == 0 ? Code::UInt
                           : name.compare(0, 3, "int") == 0  ? Code::Int
                                                             : Code::Float;
  return { static_cast<std::uint8_t>(code), static_cast<std::uint8_t>(8 * BytesOf(type)), 1 };
}

/** Makes DLPack's capsule, which keeps the array alive. The engine has waited for the work that made the array, so no stream must wait.
 *  The capsule has the protocol's first version, which every consumer reads. */
nb::object
ExportDLPack(nb::handle self, nb::handle, nb::handle, nb::handle wantedDevice, nb::handle copy)
{
  const auto & array = nb::cast<const DeviceArray &>(self);
  const auto   device = FindDLPackDevice(array.GetDeviceName());
  if (!wantedDevice.is_none() && nb::cast<std::pair<int, int>>(wantedDevice) != device)
  {
    throw nb::buffer_error(("the array is on " + array.GetDeviceName() + ", and stays there").c_str());
  }
  if (!copy.is_none() && nb::cast<bool>(copy))
  {
    throw nb::buffer_error("the array is handed over without a copy; copy it afterwards");
  }
  const nb::ndarray<> exported(array.GetAddress(),
                               array.GetShape().size(),
                               array.GetShape().data(),
                               self,
                               nullptr,
                               FindDLPackType(array.GetType()),
                               device.first,
                               device.second);
  return nb::cast(exported);
}

/** Returns the type's string, such as "<f4". */
std::string
NameForCuda(NumberType type)
{
  const std::string name = GetName(type);
  const char        kind = name[0];
  return (BytesOf(type) > 1 ? "<" : "|") + std::string(1, kind) + std::to_string(BytesOf(type));
}

/** Describes the array for CUDA's array interface, version 3. */
nb::dict
DescribeForCuda(const DeviceArray & array)
{
  if (FindDLPackDevice(array.GetDeviceName()).first != nb::device::cuda::value)
  {
    throw nb::attribute_error("__cuda_array_interface__");
  }
  nb::list shape;
  for (const std::size_t length : array.GetShape())
  {
    shape.append(length);
  }
  nb::dict description;
  description["shape"] = nb::tuple(shape);
  description["typestr"] = NameForCuda(array.GetType());
  description["data"] = nb::make_tuple(reinterpret_cast<std::uintptr_t>(array.GetAddress()), false);
  description["strides"] = nb::none();
  description["stream"] = nb::none();
  description["version"] = 3;
  return description;
}
} // namespace

Size
SizeOf(const Shape & shape)
{
  if (shape.size() != 2 && shape.size() != 3)
  {
    throw BadInputError("an array of " + std::to_string(shape.size()) + " axes is no volume [z][y][x], nor a slice");
  }
  Size size{ 1, 1, 1 };
  for (std::size_t axis = 0; axis < shape.size(); ++axis)
  {
    const std::size_t length = shape[shape.size() - 1 - axis];
    if (length > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    {
      throw BadInputError("an axis of " + std::to_string(length) + " voxels is too long");
    }
    size[axis] = static_cast<int>(length);
  }
  return size;
}

DeviceArray::DeviceArray(std::shared_ptr<const DeviceImage> image, Shape shape)
  : m_Image(std::move(image))
  , m_Shape(std::move(shape))
  , m_Type(m_Image->GetNumberType())
  , m_DeviceName(m_Image->GetDeviceName())
  , m_Address(m_Image->GetAddress())
{}

DeviceArray::DeviceArray(std::shared_ptr<const MadeNumbers> numbers, Shape shape)
  : m_Numbers(std::move(numbers))
  , m_Shape(std::move(shape))
  , m_Type(m_Numbers->GetType())
  , m_DeviceName(m_Numbers->GetDeviceName())
  , m_Address(m_Numbers->GetAddress())
{}

const DeviceImage &
DeviceArray::GetImage() const
{
  if (m_Image == nullptr)
  {
    throw BadInputError(std::string("numbers of type ") + GetName(m_Type) + " are no image to compute with");
  }
  return *m_Image;
}

void
AddDeviceArrays(nb::module_ & module)
{
  nb::class_<Exported>(module, "Exported")
    .def(nb::init<nb::ndarray<nb::ro>>())
    .def_prop_ro("address", &Exported::GetAddress)
    .def_prop_ro("shape", &Exported::GetShape)
    .def_prop_ro("strides", &Exported::GetStrides)
    .def_prop_ro("type", &Exported::GetTypeName);
  nb::class_<Borrowed>(module, "Borrowed")
    .def(
      "__init__",
      [](Borrowed *                    self,
         std::uintptr_t                address,
         Shape                         shape,
         const std::string &           type,
         std::optional<std::uintptr_t> stream,
         nb::object                    owner) {
        new (self) Borrowed(MakeBorrowed(address, std::move(shape), type, stream, std::move(owner)));
      },
      nb::arg("address"),
      nb::arg("shape"),
      nb::arg("type"),
      nb::arg("stream").none(),
      nb::arg("owner"));
  nb::class_<DeviceArray>(module, "DeviceArray")
    .def_prop_ro("device", &DeviceArray::GetDeviceName)
    .def_prop_ro("address",
                 [](const DeviceArray & array) { return reinterpret_cast<std::uintptr_t>(array.GetAddress()); })
    .def_prop_ro("shape", [](const DeviceArray & array) { return nb::tuple(nb::cast(array.GetShape())); })
    .def_prop_ro("type", [](const DeviceArray & array) { return GetName(array.GetType()); })
    .def("__dlpack__",
         &ExportDLPack,
         nb::kw_only(),
         nb::arg("stream").none() = nb::none(),
         nb::arg("max_version").none() = nb::none(),
         nb::arg("dl_device").none() = nb::none(),
         nb::arg("copy").none() = nb::none())
    .def("__dlpack_device__", [](const DeviceArray & array) { return FindDLPackDevice(array.GetDeviceName()); })
    .def_prop_ro("__cuda_array_interface__", &DescribeForCuda);
  module.def("load", &Load, nb::arg("device"), nb::arg("values"), nb::arg("shape"));
  module.def("load_narrow", &LoadNarrow, nb::arg("device"), nb::arg("values"), nb::arg("type"), nb::arg("shape"));
  module.def("borrow", &Borrow, nb::arg("device"), nb::arg("borrowed"));
  AddLoan<NumberConverter>(module, "NumberConverter")
    .def("make_image", &MakeImage, nb::arg("borrowed"), nb::arg("of_doubles"))
    .def("make_mask", &MakeMask, nb::arg("borrowed"))
    .def("make_numbers", &MakeNumbers, nb::arg("image"), nb::arg("type"));
  module.def("meeting_stream", &GetMeetingStream);
  module.def("find_device_of",
             [](std::uintptr_t address) { return FindDeviceOf(reinterpret_cast<const void *>(address)); });
}

} // namespace python
} // namespace gpureg
