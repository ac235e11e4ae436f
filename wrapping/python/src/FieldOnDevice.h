// SPDX-License-Identifier: Apache-2.0
// Displacement fields on devices, as Python sees them.
#ifndef gpureg_python_FieldOnDevice_h
#define gpureg_python_FieldOnDevice_h

#include "gpureg/transform/DeviceField.h"

#include <memory>

namespace gpureg
{
namespace python
{

/** Shares a field that is on a device. */
struct FieldOnDevice
{
  std::shared_ptr<const DeviceField> field;
};

} // namespace python
} // namespace gpureg

#endif
