// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_RangedImage_h
#define gpureg_RangedImage_h

#include "gpureg/image/DeviceImage.h"
#include "gpureg/image/Outliers.h"
#include "gpureg/image/RegisteredImage.h"

#include "engine/runtime/Queue.h"
#include "engine/image/ValueRange.h"

#include <optional>
#include <string>
#include <vector>

namespace gpureg
{

/** The range of an image's values, and whether it excludes some. */
struct FoundValues
{
  ValueRange all{};
  FoundRange range;
  /** Says that a caller has given the range. */
  bool isGiven = false;

  bool
  AreOutside() const
  {
    return all[0] < range.range[0] || all[1] > range.range[1];
  }
};

/** Compares an image's values with a range, and waits for the result. Nothing that is allocated for this stays.
 *  \param which "fixed" or "moving"
 *  \param given the range; without one, ComputeValueRange() computes it
 *  \throws BadInputError if a value is not finite, or if the range excludes all values */
FoundValues
FindValues(Queue & queue, const RegisteredImage & image, const char * which, const std::optional<ValueRange> & given);

/** Replaces an image that has values outside a range by a copy whose values lie in the range. An outlier becomes the mean of those
 *  neighbours that lie in the range, or the nearer end of the range if there are none. If the caller gives the range, every value outside
 *  becomes the nearer end. Levels, bins and centres of mass are computed from the copy, so that outliers do not affect them. */
class RangedImage : public DeviceImage
{
public:
  RangedImage(Queue & queue, std::string deviceName);

  /** Makes the copy, if an image has values outside its range.
   *  \param which "fixed" or "moving"
   *  \param found what FindValues() has found of the image
   *  \param warnings gets a warning if ComputeValueRange() excluded values
   *  \return the image to register: the given one if all of its values lie in the range, otherwise a copy of it whose values are this
   *  object's. The given image and its mask must live as long as the result. */
  RegisteredImage
  Make(const RegisteredImage &    image,
       const char *               which,
       const FoundValues &        found,
       std::vector<std::string> & warnings);

  /** Frees the copy. */
  void
  Release()
  {
    m_Values.reset();
    m_Count = 0;
  }

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
  /** Writes the clamped values of an image to m_Values. \return the number of values below the range, and the number above */
  std::array<std::int64_t, 2>
  Clamp(const RegisteredImage & image, const Memory & values, const FoundRange & found, bool mends);

  Queue &       m_Queue;
  std::string   m_DeviceName;
  MemoryPointer m_Values;
  Precision     m_Precision = Precision::Single;
  std::int64_t  m_Count = 0;
};

} // namespace gpureg

#endif
