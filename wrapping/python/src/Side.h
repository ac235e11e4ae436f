// SPDX-License-Identifier: Apache-2.0
// One image of a registration, and its mask, on a device.
#ifndef gpureg_python_Side_h
#define gpureg_python_Side_h

#include "DeviceArray.h"

#include "gpureg/image/RegisteredImage.h"
#include "gpureg/registration/MemoryPlan.h"

#include <memory>
#include <optional>
#include <string>

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

using OptionalRange = std::optional<ValueRange>;

/** Describes one image of a registration that is to be planned, and its mask, of which nothing is on a device. */
class PlannedSide
{
public:
  /** Makes a side.
   *  \param type NumPy's name of the type of the image's numbers as the device will hold them
   *  \param range that of the values without outliers, if there are some; a given range comes before it
   *  \param isHeld whether the device's memory account will count the image, and hasHeldMask whether it will count the mask */
  PlannedSide(const std::string &   device,
              const std::string &   type,
              const Shape &         shape,
              bool                  hasMask,
              const IndexMap &      indexToPoint,
              bool                  isHeld,
              bool                  hasHeldMask,
              const OptionalRange & range);

  RegisteredImage
  Get() const;

  const OptionalRange &
  GetRange() const
  {
    return m_Range;
  }

private:
  std::shared_ptr<const PlannedImage> m_Image;
  std::shared_ptr<const PlannedImage> m_Mask; // null if there is none
  Size                                m_Size;
  IndexMap                            m_IndexToPoint;
  OptionalRange                       m_Range;
};

/** Returns a plan's settings, with the ranges of images that have outliers where no other range is given. */
template <typename TSettings>
TSettings
WithRanges(TSettings settings, const PlannedSide & fixed, const PlannedSide & moving)
{
  settings.fixedRange = settings.fixedRange ? settings.fixedRange : fixed.GetRange();
  settings.movingRange = settings.movingRange ? settings.movingRange : moving.GetRange();
  return settings;
}

/** Returns a registration's problem of these images. TSide: Side or PlannedSide. */
template <typename TProblem, typename TSide>
TProblem
MakeProblem(int dimension, const TSide & fixed, const TSide & moving)
{
  TProblem problem;
  problem.dimension = dimension;
  problem.fixed = fixed.Get();
  problem.moving = moving.Get();
  return problem;
}

} // namespace python
} // namespace gpureg

#endif
