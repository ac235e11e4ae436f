// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_SampleLoader_h
#define gpureg_SampleLoader_h

#include "gpureg/metric/samples/Samples.h"

#include "engine/metric/samples/FixedGradients.h"
#include "engine/metric/samples/ImageSampler.h"
#include "engine/metric/samples/SampleArrays.h"
#include "engine/runtime/MemoryLedger.h"

#include <string>

namespace gpureg
{

/** Uploads the fixed samples, or computes them from an image on the device. */
class SampleLoader
{
public:
  /** All arguments must outlive this object; sampler and derivatives must belong to the queue. */
  SampleLoader(Queue & queue, ImageSampler & sampler, GaussianDerivatives & derivatives)
    : m_Queue(queue)
    , m_Sampler(sampler)
    , m_Gradients(queue, sampler, derivatives)
  {}

  /** Fills the arrays of points, bins, values and gradients. Returns the largest index of all points that lie near enough to be read.
   *  \throws BadInputError for a combination that the device does not compute from an image */
  double
  Load(const FixedSamples & samples, SampleArrays & arrays);

  /** Writes down the arrays that Load() makes of samples of an image on the device, which have no gradients.
   *  \param name what their names begin with */
  static void
  Plan(const FixedSamples & samples, const std::string & name, MemoryLedger & ledger);

  std::size_t
  GetDeviceBytes() const
  {
    return SizeOf(m_Mask);
  }

  /** Returns the precision in which samples are stored. */
  static Precision
  GetPrecision(const FixedSamples & samples)
  {
    return samples.pointCount > 0 ? Precision::Double : samples.precision;
  }

private:
  /** Computes the samples' values and bins from an image on the device. */
  void
  Sample(const FixedSamples & samples, SampleArrays & arrays);

  Queue &        m_Queue;
  ImageSampler & m_Sampler;
  FixedGradients m_Gradients;
  // u8 a sample: whether it is valid. It is kept for the next samples of an image of the queue's own, which may come at each iteration.
  MemoryPointer m_Mask;
};

/** Returns one invalid sample for a domain without voxels, because kernels process at least one sample. */
FixedSamples
MakeInvalidSample(const FixedSamples & empty);

/** \throws UnsupportedError if a volume has more rows, or more voxels in a slice, than 32 bits count. \param what names the volume */
void
CheckCountable(const Size & size, const char * what);

} // namespace gpureg

#endif
