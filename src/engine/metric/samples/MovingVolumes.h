// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_MovingVolumes_h
#define gpureg_MovingVolumes_h

#include "gpureg/metric/samples/Samples.h"

#include "engine/metric/samples/GaussianDerivatives.h"
#include "engine/metric/samples/ImageSampler.h"
#include "engine/metric/samples/SampleArrays.h"
#include "engine/runtime/MemoryLedger.h"

#include <string>

namespace gpureg
{

/** Returns true if the image has a gradient other than one by differences. */
bool
HasGradient(const MovingImage & image);

/** Uploads a moving image, and computes on the device what metrics read from it. */
class MovingVolumes
{
public:
  /** All arguments must outlive this object; sampler and derivatives must belong to the queue. */
  MovingVolumes(Queue & queue, ImageSampler & sampler, GaussianDerivatives & derivatives);

  /** Fills the moving image's arrays.
   *  \param readsQuads true if the device interpolates faster from quads */
  void
  Fill(const MovingImage & image, bool readsQuads, SampleArrays & arrays);

  /** Writes down the arrays that Fill() makes of an image on the device without gradients and coefficients.
   *  \param name what their names begin with
   *  \return whether there are quads */
  static bool
  Plan(const MovingImage & image, bool readsQuads, const std::string & name, MemoryLedger & ledger);

private:
  void
  FillBins(const MovingImage & image, MemoryPointer & cells);
  void
  FillValues(const MovingImage & image, MemoryPointer & values);
  /** Fills values with scaled floats, whatever the samples' precision is. */
  void
  FillScaled(const MovingImage & image, MemoryPointer & values);
  /** Fills values from the image on the device. */
  void
  Keep(const MovingImage & image, kernels::StoredAs form, MemoryPointer & values);
  void
  FillGradient(const MovingImage & image, const MemoryPointer & values, MemoryPointer & packed);
  void
  AddGradient(const MovingImage & image, const MemoryPointer & values, Memory & packed);

  Queue &               m_Queue;
  ImageSampler &        m_Sampler;
  GaussianDerivatives & m_Derivatives;
  /** The unit of the values whose Gaussian gradient is on the device; 0 if there is none. */
  double m_GradientUnit = 0;
};

} // namespace gpureg

#endif
