// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_FixedGradients_h
#define gpureg_FixedGradients_h

#include "gpureg/metric/samples/Samples.h"

#include "engine/metric/samples/GaussianDerivatives.h"
#include "engine/metric/samples/ImageSampler.h"
#include "engine/runtime/Queue.h"

#include <cstdint>

namespace gpureg
{

/** Uploads the fixed image's gradient at each sample, or computes it on the device. */
class FixedGradients
{
public:
  /** All arguments must outlive this object; sampler and derivatives must belong to the queue. */
  FixedGradients(Queue & queue, ImageSampler & sampler, GaussianDerivatives & derivatives);

  /** Fills gradients with float[3], one per sample; frees it if forces use the moving image's gradient.
   *  \throws BadInputError if the gradient is to be computed, and the samples are not voxels of an image on the device */
  void
  Fill(const FixedSamples & samples, std::int64_t count, MemoryPointer & gradients);

private:
  void
  Make(const FixedSamples & samples, MemoryPointer & gradients);

  Queue &               m_Queue;
  ImageSampler &        m_Sampler;
  GaussianDerivatives & m_Derivatives;
  /** The unit of the values whose gradient the device computed last; 0 if there is none. */
  double m_Unit = 0;
};

} // namespace gpureg

#endif
