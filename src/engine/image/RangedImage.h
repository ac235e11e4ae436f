// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_RangedImage_h
#define gpureg_RangedImage_h

#include "gpureg/image/DeviceImage.h"
#include "gpureg/image/RegisteredImage.h"

#include "engine/image/ImagePasses.h"
#include "engine/runtime/Queue.h"
#include "engine/image/ValueRange.h"

#include <optional>
#include <string>
#include <vector>

namespace gpureg
{

/** An image on a device whose values are in a range: where some are not, a copy of another one. There an outlier is the mean of its
 *  neighbours that are none, or without such a one the nearer end of the range; beyond a range that is given all become that. Whatever is
 *  made of it, levels, bins, centres of mass, knows no outliers then. */
class RangedImage : public DeviceImage
{
public:
  RangedImage(Queue & queue, std::string deviceName);

  /** Looks through an image's values, and waits for what that gives.
   *  \param which "fixed" or "moving".
   *  \param given the range; none: see FindValueRange().
   *  \param warnings gets one if that has left some out.
   *  \return what to register in its place: the image itself where all of its values are in the range, else this one in its place. The
   *  image and its mask are to stay as long.
   *  \throws BadInputError if a value is not finite, or the range leaves no two. */
  RegisteredImage
  Make(ImagePasses &                     passes,
       const RegisteredImage &           image,
       const char *                      which,
       const std::optional<ValueRange> & given,
       std::vector<std::string> &        warnings);

  const Memory *
  GetMemory() const override
  {
    return m_Values.get();
  }

  Precision
  GetPrecision() const override
  {
    return m_Precision;
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
  std::vector<double>
  Pick(ImagePasses & passes, const DeviceImage & image);
  /** \return how many were below, and above. */
  std::array<std::int64_t, 2>
  Clamp(ImagePasses & passes, const RegisteredImage & image, const FoundRange & found, bool mends);

  Queue &       m_Queue;
  std::string   m_DeviceName;
  MemoryPointer m_Values;
  Precision     m_Precision = Precision::Single;
  std::int64_t  m_Count = 0;
};

} // namespace gpureg

#endif
