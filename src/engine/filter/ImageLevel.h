// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_ImageLevel_h
#define gpureg_ImageLevel_h

#include "gpureg/image/DeviceImage.h"
#include "gpureg/core/Geometry.h"
#include "gpureg/image/LoadedImage.h"

#include "engine/filter/LinePasses.h"
#include "engine/runtime/MemoryLedger.h"
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
   *  all factors are 1, the level refers to the image, copies nothing, and frees what it had. The level of a narrow image is then a copy
   *  of floats, unless keepsNarrow says that it may be narrow, too. Enqueues the work; the image must not change until it is done. */
  void
  Make(
    const DeviceImage & image, const Size & size, const Size & factors, LinePasses & passes, bool keepsNarrow = false);

  /** Describes the level as Make() makes it, without a device, and writes its arrays down. GetMemory() returns null then.
   *  \param name the level's, in the ledger
   *  \param scratch that of the arrays which it shares */
  void
  Plan(const DeviceImage & image,
       const Size &        size,
       const Size &        factors,
       bool                keepsNarrow,
       const std::string & name,
       const std::string & scratch,
       MemoryLedger &      ledger);

  /** Frees all arrays but a shared scratch. The level must be made again. */
  void
  Release()
  {
    m_Values = m_Narrow = nullptr;
    m_Own.reset();
    m_OwnScratch = {};
  }

  const Memory *
  GetMemory() const override
  {
    return m_Values;
  }

  const Memory *
  GetNumbers() const override
  {
    return m_Values != nullptr ? m_Values : m_Narrow;
  }

  NumberType
  GetNumberType() const override
  {
    return m_Type;
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
  /** Sets the level's shape, and calls shrink(axis, size before, first, isLast) for each axis along which it is shrunk. */
  template <typename TShrink>
  void
  Describe(const DeviceImage & image, const Size & size, const Size & factors, const TShrink & shrink);

  Queue &        m_Queue;
  std::string    m_DeviceName;
  const Memory * m_Values = nullptr;
  const Memory * m_Narrow = nullptr; // of a narrow level, which has no m_Values
  NumberType     m_Type = NumberType::Float32;
  MemoryPointer  m_Own;
  Scratch        m_OwnScratch;
  Scratch &      m_Scratch;
  Precision      m_Precision = Precision::Single;
  Size           m_Size{};
  IndexMap       m_ToImage;
};

} // namespace gpureg

#endif
