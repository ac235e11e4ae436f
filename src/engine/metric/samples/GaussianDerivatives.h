// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_GaussianDerivatives_h
#define gpureg_GaussianDerivatives_h

#include "gpureg/core/Geometry.h"
#include "gpureg/metric/samples/Samples.h"

#include "engine/metric/samples/ImageSampler.h"
#include "engine/runtime/Queue.h"

#include <array>
#include <functional>
#include <memory>

namespace gpureg
{

class RecursiveFilter;

/** Where the values are that a gradient is made of. */
struct DerivedValues
{
  /** float, one a voxel, scaled; … */
  const Memory * scaled = nullptr;
  /** … or an image of doubles, which the first step reads as they are, and then divides by the unit. */
  const DeviceImage * doubles = nullptr;
  double              unit = 1;
};

/** Makes the derivatives that a gradient by recursive Gaussians consists of, on the device: see GaussianGradient. */
class GaussianDerivatives
{
public:
  /** Both must outlive it; the sampler is the queue's. */
  GaussianDerivatives(Queue & queue, ImageSampler & sampler);
  ~GaussianDerivatives();

  /** Given one derivative along an axis of the image, float, one a voxel, enqueues what adds it to the gradient along physical axes:
   *  column times it. */
  using Adding = std::function<void(const std::array<float, 3> & column, const Memory & derivative)>;

  /** Calls add for each axis. */
  void
  ForEachAxis(const GaussianGradient & gradient, const Size & size, const DerivedValues & values, const Adding & add);

private:
  /** The first step along an axis. */
  void
  FillDerivative(
    const RecursiveGaussian & weights, const Size & size, int axis, const DerivedValues & values, Memory & derivative);

  Queue &                          m_Queue;
  ImageSampler &                   m_Sampler;
  std::unique_ptr<RecursiveFilter> m_Recursive;
};

} // namespace gpureg

#endif
