// SPDX-License-Identifier: Apache-2.0
// Arrays on a device, which other libraries hand in and receive.
#ifndef gpureg_python_DeviceArray_h
#define gpureg_python_DeviceArray_h

#include "gpureg/image/DeviceImage.h"
#include "gpureg/core/Geometry.h"
#include "gpureg/image/NumberConverter.h"
#include "gpureg/core/NumberType.h"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace gpureg
{
namespace python
{

/** Axes of an array: [z][y][x], or [y][x]. */
using Shape = std::vector<std::size_t>;

/** Returns the voxels along x, y, z. \throws BadInputError if there are other axes, or one is too long. */
Size
SizeOf(const Shape & shape);

/** A volume or a slice on a device. An engine has made it, or another library owns it: then this keeps its owner alive. */
class DeviceArray
{
public:
  DeviceArray(std::shared_ptr<const DeviceImage> image, Shape shape);
  DeviceArray(std::shared_ptr<const MadeNumbers> numbers, Shape shape);

  /** Returns the image. \throws BadInputError if its numbers are neither float32 nor float64. */
  const DeviceImage &
  GetImage() const;

  const Shape &
  GetShape() const
  {
    return m_Shape;
  }

  NumberType
  GetType() const
  {
    return m_Type;
  }

  const std::string &
  GetDeviceName() const
  {
    return m_DeviceName;
  }

  void *
  GetAddress() const
  {
    return m_Address;
  }

private:
  std::shared_ptr<const DeviceImage> m_Image; // null if the numbers are neither
  std::shared_ptr<const MadeNumbers> m_Numbers;
  Shape                              m_Shape;
  NumberType                         m_Type;
  std::string                        m_DeviceName;
  void *                             m_Address;
};

} // namespace python
} // namespace gpureg

#endif
