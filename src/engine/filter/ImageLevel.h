// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_ImageLevel_h
#define gpureg_ImageLevel_h

#include "gpureg/image/DeviceImage.h"
#include "gpureg/core/Geometry.h"
#include "gpureg/image/LoadedImage.h"

#include "engine/filter/LinePasses.h"
#include "engine/runtime/Queue.h"

#include <array>
#include <cstddef>
#include <string>

namespace gpureg
{


/** A level of an image pyramid on a device: an image that was smoothed and shrunk. */
class ImageLevel : public DeviceImage
{
public:
  /** The intermediate images: shrunk along x, and shrunk along x and y. */
  using Scratch = std::array<MemoryPointer, 2>;

  /** \param scratch arrays that the level shares with other work on the queue, and enlarges where necessary; null for arrays of its own.
   *  queue and scratch must outlive the level. */
  ImageLevel(Queue & queue, std::string deviceName, Scratch * scratch = nullptr);

  /** Makes the level from an image. A voxel of the level is the mean of factors[axis] voxels along each axis, after a Gaussian whose sigma
   *  is half of that number of voxels. If factors do not divide the size, the remaining voxels are left out, half of them at either end. If
   *  all factors are 1, the level refers to the image and copies nothing. Enqueues the work; the image must not change until it is done. */
  void
  Make(const DeviceImage & image, const Size & size, const Size & factors, LinePasses & passes);

  const Memory *
  GetMemory() const override
  {
    return m_Values;
  }

  Precision
  GetPrecision() const override
  {
    return m_Precision;
  }

  std::int64_t
  GetCount() const override
  {
    return CountOf(m_Size);
  }

  const std::string &
  GetDeviceName() const override
  {
    return m_DeviceName;
  }

  const Size &
  GetSize() const
  {
    return m_Size;
  }

  /** Returns the map from the level's indices to the indices of the image that it was made from. */
  const IndexMap &
  GetToImage() const
  {
    return m_ToImage;
  }

  std::size_t
  GetDeviceBytes() const
  {
    return SizeOf(m_Own) + SizeOf(m_OwnScratch[0]) + SizeOf(m_OwnScratch[1]);
  }

private:
  Queue &        m_Queue;
  std::string    m_DeviceName;
  const Memory * m_Values = nullptr;
  MemoryPointer  m_Own;
  Scratch        m_OwnScratch;
  Scratch &      m_Scratch;
  Precision      m_Precision = Precision::Single;
  Size           m_Size{};
  IndexMap       m_ToImage;
};

} // namespace gpureg

#endif
