// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_ImageSampler_h
#define gpureg_ImageSampler_h

#include "gpureg/core/Geometry.h"
#include "gpureg/metric/samples/Samples.h"

#include "engine/image/SummarizeImage.h"
#include "engine/runtime/Queue.h"

#include <array>
#include <cstddef>
#include <vector>

namespace gpureg
{

/** Describes where samples lie in a loaded image, and how its values are scaled; see kernels::ImageSampling. */
struct ImageSamples
{
  Size sampleSize{};
  Size imageSize{};
  /** See SampledImage. */
  bool         isOneGrid = true;
  std::int64_t firstPlane = 0;
  IndexMap     toImage;
  double       minimum = 0;
  double       unit = 1;
  double       placeOfMinimum = 0;
  /** For integers, which are in units of 2^-exponent. */
  int exponent = 0;
  /** See SampledImage. */
  const Memory * summary = nullptr;
  bool           isOfQueue = false;
};

/** Computes, on the device of a loaded image, the arrays of values, bins or mask that samples store. */
class ImageSampler
{
public:
  /** queue must outlive this object. */
  explicit ImageSampler(Queue & queue);

  /** Makes an array exactly as large as the samples, and fills it. Waits until that is done, unless the image is the queue's own.
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

  /** Makes an array exactly as large as an image, and fills it with the quads of its scaled values, float4: see kernels::StoreQuad(). Waits
   *  as Fill() does. */
  void
  FillQuads(const DeviceImage & image, const ImageSamples & samples, MemoryPointer & quads);

  /** Computes a mask from an image: u8, one per sample, 1 where the image is at least one half. */
  void
  FillMask(const DeviceImage & image, const ImageSamples & samples, MemoryPointer & mask);

  /** Computes a mask on the image's own grid. */
  void
  FillMask(const DeviceImage & image, const Size & size, bool isOfQueue, MemoryPointer & mask);

  /** Divides count doubles by a unit and writes them as floats. */
  void
  RoundToFloat(std::int64_t count, const Memory & doubles, double unit, Memory & floats);

  std::int64_t
  GetDeviceBytes() const
  {
    std::size_t bytes = 0;
    for (const UploadedEdges & one : m_Edges)
    {
      bytes += SizeOf(one.memory);
    }
    return static_cast<std::int64_t>(bytes);
  }

private:
  /** Holds the edges of bins in one precision. */
  struct UploadedEdges
  {
    std::vector<double> edges;
    Precision           precision = Precision::Double;
    MemoryPointer       memory;
  };

  /** Returns the edges of bins in an image's precision, uploaded now or before. */
  const Memory &
  GetEdges(const BinEdges & bins, Precision precision);

  void
  FinishUnlessOfQueue(const ImageSamples & samples);

  // The images of a pair exchange their roles at each iteration; each has its bins, and masks have theirs.
  static constexpr std::size_t MostEdges = 4;

  Queue &                              m_Queue;
  std::array<UploadedEdges, MostEdges> m_Edges;
  std::size_t                          m_NextEdges = 0; // those that make room for others
};

} // namespace gpureg

#endif
