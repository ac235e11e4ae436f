// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_MovingVolumes_h
#define gpureg_MovingVolumes_h

#include "gpureg/metric/samples/Samples.h"

#include "engine/metric/samples/GaussianDerivatives.h"
#include "engine/metric/samples/ImageSampler.h"
#include "engine/metric/samples/SampleArrays.h"

#include <memory>

namespace gpureg
{

class MovingImagePasses;

/** Whether it is not by differences. */
bool
HasGradient(const MovingImage & image);

/** Uploads a moving image, and makes there what metrics read of it. */
class MovingVolumes
{
public:
  /** All must outlive it; sampler and derivatives are the queue's. */
  MovingVolumes(Queue & queue, ImageSampler & sampler, GaussianDerivatives & derivatives);
  ~MovingVolumes();

  /** Fills the moving image's arrays.
   *  \param readsQuads whether the device wants values to be interpolated as quads. */
  void
  Fill(const MovingImage & image, bool readsQuads, SampleArrays & arrays);

private:
  void
  FillBins(const MovingImage & image, MemoryPointer & cells);
  void
  FillValues(const MovingImage & image, MemoryPointer & values);
  /** In float, whatever precision the samples have. */
  void
  FillScaled(const MovingImage & image, MemoryPointer & values);
  /** Of the image on the device. */
  void
  Keep(const MovingImage & image, kernels::KeptAs form, MemoryPointer & values);
  void
  FillGradient(const MovingImage & image, const MemoryPointer & values, MemoryPointer & packed);
  void
  AddGradient(const MovingImage & image, const MemoryPointer & values, Memory & packed);

  Queue &                            m_Queue;
  ImageSampler &                     m_Sampler;
  std::unique_ptr<MovingImagePasses> m_Passes;
  GaussianDerivatives &              m_Derivatives;
  /** The unit of the values whose Gaussian gradient is on the device; 0 if there is none. */
  double m_GradientUnit = 0;
};

} // namespace gpureg

#endif
