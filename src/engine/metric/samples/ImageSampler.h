// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_ImageSampler_h
#define gpureg_ImageSampler_h

#include "gpureg/core/Geometry.h"
#include "gpureg/metric/samples/Samples.h"

#include "engine/image/SummarizeImage.h"
#include "engine/runtime/Queue.h"

namespace gpureg
{

/** Describes where samples lie in a loaded image, and how its values are scaled; see kernels::ImageSampling. */
struct ImageSamples
{
  Size     sampleSize{};
  Size     imageSize{};
  bool     isOneGrid = true;
  IndexMap toImage;
  double   minimum = 0;
  double   unit = 1;
  double   placeOfMinimum = 0;
  /** For integers, which are in units of 2^-exponent. */
  int exponent = 0;
};

/** Computes, on the device of a loaded image, the arrays of values, bins or mask that samples store. */
class ImageSampler
{
public:
  /** queue must outlive this object. */
  explicit ImageSampler(Queue & queue);

  /** Makes an array exactly as large as the samples, fills it, and waits until that is done.
   *  \param bins the bins' edges if bins are stored, otherwise null
   *  \param mask u8, one per sample, 0 where the sample is invalid. Null: all samples are valid
   *  \throws BadInputError if the image is not loaded, on another device, or of another size */
  void
  Fill(const DeviceImage &  image,
       const ImageSamples & samples,
       const BinEdges *     bins,
       kernels::StoredAs    form,
       const Memory *       mask,
       MemoryPointer &      kept);

  /** Computes a mask from an image: u8, one per sample, 1 where the image is at least one half. */
  void
  FillMask(const DeviceImage & image, const ImageSamples & samples, MemoryPointer & mask);

  /** Computes a mask on the image's own grid. */
  void
  FillMask(const DeviceImage & image, const Size & size, MemoryPointer & mask);

  /** Divides count doubles by a unit and writes them as floats. */
  void
  RoundToFloat(std::int64_t count, const Memory & doubles, double unit, Memory & floats);

  std::int64_t
  GetDeviceBytes() const
  {
    return static_cast<std::int64_t>(SizeOf(m_Edges));
  }

private:
  Queue &       m_Queue;
  MemoryPointer m_Edges; // of the bins that were used last
};

} // namespace gpureg

#endif
