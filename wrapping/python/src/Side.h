// SPDX-License-Identifier: Apache-2.0
// One image of a registration, and its mask, on a device.
#ifndef gpureg_python_Side_h
#define gpureg_python_Side_h

#include "DeviceArray.h"

#include "gpureg/image/RegisteredImage.h"

#include <memory>

namespace gpureg
{
namespace python
{

/** Keeps the arrays alive. */
class Side
{
public:
  /** Makes a side. \param mask of the image's shape, or null. */
  Side(std::shared_ptr<DeviceArray> image, std::shared_ptr<DeviceArray> mask, const IndexMap & indexToPoint);

  RegisteredImage
  Get() const;

  const std::shared_ptr<DeviceArray> &
  GetImage() const
  {
    return m_Image;
  }

private:
  std::shared_ptr<DeviceArray> m_Image;
  std::shared_ptr<DeviceArray> m_Mask;
  IndexMap                     m_IndexToPoint;
};

} // namespace python
} // namespace gpureg

#endif
