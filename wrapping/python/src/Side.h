// SPDX-License-Identifier: Apache-2.0
// One image of a registration, on a device.
#ifndef gpureg_python_Side_h
#define gpureg_python_Side_h

#include "Arrays.h"

#include "gpureg/LoadedImage.h"
#include "gpureg/RegisteredImage.h"

#include <optional>
#include <string>

namespace gpureg
{
namespace python
{

/** Keeps its arrays, which the host reads where they are. */
class Side
{
public:
  Side(const std::string & device, Values values, std::optional<FloatArray> mask, const IndexMap & indexToPoint);

  RegisteredImage
  Get() const;

private:
  Values                    m_Values;
  std::optional<FloatArray> m_MaskValues;
  LoadedImage               m_Image;
  LoadedImage               m_Mask;
  Size                      m_Size;
  IndexMap                  m_IndexToPoint;
};

} // namespace python
} // namespace gpureg

#endif
