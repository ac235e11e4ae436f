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

class ImagePasses;

/** An image of a pyramid on a device: another one, smoothed, and of fewer voxels. */
class ImageLevel : public DeviceImage
{
public:
  /** What lies between an image and its level: shrunk along x, and along y as well. */
  using Scratch = std::array<MemoryPointer, 2>;

  /** \param scratch arrays that it shares with what else is made on the queue, and makes larger where it must; null for its own. All of
   *  them must outlive it. */
  ImageLevel(Queue & queue, std::string deviceName, Scratch * scratch = nullptr);

  /** Makes it of an image, of which one voxel stands for `factors` of them: their mean, after a Gaussian of half as many voxels along
   *  each axis. Along an axis what does not fill a voxel is left out, half of it at either end. Factors of 1 leave the image as it is,
   *  which is then not copied. Enqueues; the image is to stay until that is done. */
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

  /** From its indices to those of the image that it was made of. */
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
