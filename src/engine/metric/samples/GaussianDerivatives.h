// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_GaussianDerivatives_h
#define gpureg_GaussianDerivatives_h

#include "gpureg/core/Geometry.h"
#include "gpureg/metric/samples/Samples.h"

#include "engine/metric/samples/ImageSampler.h"
#include "engine/runtime/Queue.h"

#include "kernels/metric/samples/MovingVoxels.h"

#include <functional>
#include <memory>

namespace gpureg
{

class RecursiveFilter;

/** The values from which a gradient is computed: either scaled or doubles is set. */
struct DerivedValues
{
  /** float, one per voxel, scaled. */
  const Memory * scaled = nullptr;
  /** An image of doubles, which the first pass reads unscaled; the result is then divided by the unit. */
  const DeviceImage * doubles = nullptr;
  double              unit = 1;
};

/** Computes the derivatives of a gradient by recursive Gaussians on the device; see GaussianGradient. */
class GaussianDerivatives
{
public:
  /** Both arguments must outlive this object; the sampler must belong to the queue. */
  GaussianDerivatives(Queue & queue, ImageSampler & sampler);
  ~GaussianDerivatives();

  /** Enqueues the addition of column times a derivative to the gradient along physical axes. derivative: float, one per voxel, along an
   *  axis of the image. */
  using Adding = std::function<void(const kernels::GradientColumn & column, const Memory & derivative)>;

  /** Computes the derivative along each axis of the image, and calls add for each. */
  void
  ForEachAxis(const GaussianGradient & gradient, const Size & size, const DerivedValues & values, const Adding & add);

private:
  /** Applies the derivative's recursive Gaussian along the axis itself, which is the first pass. */
  void
  FillDerivative(
    const RecursiveGaussian & weights, const Size & size, int axis, const DerivedValues & values, Memory & derivative);

  Queue &                          m_Queue;
  ImageSampler &                   m_Sampler;
  std::unique_ptr<RecursiveFilter> m_Recursive;
};

} // namespace gpureg

#endif
