// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_FloatImage_h
#define gpureg_FloatImage_h

#include "gpureg/image/DeviceImage.h"

#include "engine/runtime/Queue.h"

#include <cstdint>
#include <string>
#include <utility>

namespace gpureg
{

/** An image of floats that work on a queue writes and reads. */
class FloatImage : public DeviceImage
{
public:
  explicit FloatImage(std::string deviceName)
    : m_DeviceName(std::move(deviceName))
  {}

  /** Makes room for count values; the values are lost if there was less. */
  void
  Reserve(Queue & queue, std::int64_t count)
  {
    gpureg::Reserve(queue, m_Values, sizeof(float) * static_cast<std::size_t>(count));
    m_Count = count;
  }

  Memory &
  GetValues()
  {
    return *m_Values;
  }

  const Memory *
  GetMemory() const override
  {
    return m_Values.get();
  }

  Precision
  GetPrecision() const override
  {
    return Precision::Single;
  }

  std::int64_t
  GetCount() const override
  {
    return m_Count;
  }

  const std::string &
  GetDeviceName() const override
  {
    return m_DeviceName;
  }

  std::size_t
  GetDeviceBytes() const
  {
    return SizeOf(m_Values);
  }

private:
  std::string   m_DeviceName;
  MemoryPointer m_Values;
  std::int64_t  m_Count = 0;
};

} // namespace gpureg

#endif
