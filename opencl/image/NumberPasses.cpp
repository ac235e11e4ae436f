// SPDX-License-Identifier: Apache-2.0
#include "engine/image/NumberPasses.h"

namespace gpureg
{

/** Returns null: OpenCL reads no memory of others. */
template <>
std::unique_ptr<NumberPasses>
MakePassesOn<DeviceKind::OpenCL, NumberPasses>(Queue &)
{
  return nullptr;
}

} // namespace gpureg
