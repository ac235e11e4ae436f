// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_ImageSampler_h
#define gpureg_ImageSampler_h

#include "gpureg/core/Geometry.h"
#include "gpureg/metric/samples/Samples.h"

#include "engine/image/ImagePasses.h"
#include "engine/runtime/Queue.h"

#include <memory>

namespace gpureg
{

/** Where samples lie in a loaded image, and how its values are counted: see kernels::ImageSampling. */
struct ImageSamples
{
  Size     sampleSize{};
  Size     imageSize{};
  bool     isOneGrid = true;
  IndexMap toImage;
  double   minimum = 0;
  double   unit = 1;
  double   placeOfMinimum = 0;
  /** Of integers: they are in units of 2^-exponent. */
  int exponent = 0;
};

/** Makes arrays of what samples keep of a loaded image, on its device. */
class ImageSampler
{
public:
  /** queue must outlive it. */
  explicit ImageSampler(Queue & queue);
  ~ImageSampler();

  /** Makes an array just so large, and waits until it is there.
   *  \param bins where a value's bin is asked for.
   *  \param mask u8, one a sample: those of 0 are not valid. Null: all are.
   *  \throws BadInputError if the image is not loaded, on another device, or of another size. */
  void
  Fill(const DeviceImage &  image,
       const ImageSamples & samples,
       const BinEdges *     bins,
       kernels::KeptAs      form,
       const Memory *       mask,
       MemoryPointer &      kept);

  /** Makes a mask of an image: u8, one a sample, 1 where it is a half at least. */
  void
  FillMask(const DeviceImage & image, const ImageSamples & samples, MemoryPointer & mask);

  /** The same on the image's own grid. */
  void
  FillMask(const DeviceImage & image, const Size & size, MemoryPointer & mask);

  /** Writes count doubles, divided by a unit, as floats. */
  void
  RoundToFloat(std::int64_t count, const Memory & doubles, double unit, Memory & floats);

  std::int64_t
  GetDeviceBytes() const
  {
    return static_cast<std::int64_t>(SizeOf(m_Edges));
  }

private:
  Queue &                      m_Queue;
  std::unique_ptr<ImagePasses> m_Passes;
  MemoryPointer                m_Edges; // of the bins last sought
};

} // namespace gpureg

#endif
