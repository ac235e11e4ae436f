// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_MemoryPlan_h
#define gpureg_MemoryPlan_h

#include "GPURegistrationExport.h"
#include "gpureg/core/Geometry.h"
#include "gpureg/core/NumberType.h"
#include "gpureg/core/Precision.h"
#include "gpureg/image/DeviceImage.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace gpureg
{

/** Describes what a registration will hold on its device during one level. */
struct PlannedLevel
{
  /** Voxels of the level's grid. */
  Size size{ 1, 1, 1 };
  /** The most bytes that are held at once during the level, the images included. */
  std::size_t bytes = 0;
};

/** An array, or several of one kind, and their bytes. */
struct PlannedArray
{
  std::string name;
  std::size_t bytes = 0;
};

/** A change of images or settings, and the most bytes that a registration then holds. */
struct PlannedChange
{
  /** Names the change. A sentence begins with it and goes on with "would hold". */
  std::string what;
  std::size_t bytes = 0;
};

/** Lists what a registration will hold on its device, before anything is uploaded or allocated. It counts what the device's memory account
 *  counts: images, masks, and the arrays of one engine that begins without any. */
struct MemoryPlan
{
  /** Levels in the order in which they run. */
  std::vector<PlannedLevel> levels;
  /** Bytes of images and masks, which are held from the beginning to the end. */
  std::size_t images = 0;
  /** The most bytes that are held at once, the images included. */
  std::size_t bytes = 0;
  /** Lists the arrays that are held then, the largest first. */
  std::vector<PlannedArray> arrays;
  /** Changes that would hold less, in the order in which they are to be tried. */
  std::vector<PlannedChange> changes;
};

/** Describes an image that is on no device yet, for plans: GetMemory() and GetNumbers() return null. */
class GPURegistration_EXPORT PlannedImage : public DeviceImage
{
public:
  /** \param type of the numbers as they are stored
   *  \param count number of values
   *  \param deviceName the device that it would be on
   *  \param accountBytes see GetAccountBytes(): 0 on the host, and for memory of another owner */
  PlannedImage(NumberType type, std::int64_t count, std::string deviceName, std::size_t accountBytes);

  const Memory *
  GetMemory() const override;

  Precision
  GetPrecision() const override;

  std::int64_t
  GetCount() const override;

  const std::string &
  GetDeviceName() const override;

  std::size_t
  GetAccountBytes() const override;

  NumberType
  GetNumberType() const override;

private:
  NumberType   m_Type;
  std::int64_t m_Count;
  std::string  m_DeviceName;
  std::size_t  m_AccountBytes;
};

/** Returns how many bytes this process can still allocate on a device, within its limit, if what idle engines keep is freed.
 *  \throws Error if there is no such device. */
GPURegistration_EXPORT
std::size_t
GetAvailableMemory(const std::string & deviceName);

/** Compares a plan with the memory that a device has.
 *  \param available bytes, such as GetAvailableMemory() returns, and those of the plan's images if they are on the device already
 *  \throws OutOfMemoryError, which says how much is missing and the first of the plan's changes that would fit, if the plan does not */
GPURegistration_EXPORT
void
CheckFits(const MemoryPlan & plan, const std::string & deviceName, std::size_t available);

} // namespace gpureg

#endif
