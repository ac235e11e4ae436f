// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_FixedGradients_h
#define gpureg_FixedGradients_h

#include "gpureg/metric/samples/Samples.h"

#include "engine/metric/samples/GaussianDerivatives.h"
#include "engine/metric/samples/ImageSampler.h"
#include "engine/runtime/Queue.h"

#include <cstdint>
#include <memory>

namespace gpureg
{

class MovingImagePasses;

/** Uploads the fixed image's gradient at each sample, or makes it there. */
class FixedGradients
{
public:
  /** All must outlive it; sampler and derivatives are the queue's. */
  FixedGradients(Queue & queue, ImageSampler & sampler, GaussianDerivatives & derivatives);
  ~FixedGradients();

  /** Fills float[3], one a sample; none if forces go along the moving image's.
   *  \throws BadInputError if it is to be made, and samples are no voxels of an image on the device. */
  void
  Fill(const FixedSamples & samples, std::int64_t count, MemoryPointer & gradients);

private:
  void
  Make(const FixedSamples & samples, MemoryPointer & gradients);

  Queue &                            m_Queue;
  ImageSampler &                     m_Sampler;
  GaussianDerivatives &              m_Derivatives;
  std::unique_ptr<MovingImagePasses> m_Passes; // once they are needed
  /** Of the values whose gradient was made here last; 0 if there is none. */
  double m_Unit = 0;
};

} // namespace gpureg

#endif
