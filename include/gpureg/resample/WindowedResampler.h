// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_WindowedResampler_h
#define gpureg_WindowedResampler_h

#include "GPURegistrationExport.h"
#include "gpureg/core/EvaluationStatistics.h"
#include "gpureg/core/Geometry.h"
#include "gpureg/core/ParallelFor.h"
#include "gpureg/core/Precision.h"
#include "gpureg/runtime/EngineUser.h"
#include "gpureg/transform/TransformChain.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace gpureg
{

/** Interpolation kernels that a window cuts off. */
enum class WindowedKernel
{
  /** itk::WindowedSincInterpolateImageFunction with one of ITK's windows and a radius of 3 voxels; voxels beyond the image's edge are 0. */
  LanczosSinc,
  CosineSinc,
  HammingSinc,
  WelchSinc,
  BlackmanSinc,
  /** itk::GaussianInterpolateImageFunction: the image's values weighted by the integrals of a Gaussian over their voxels. */
  Gaussian,
  /** itk::LabelImageGaussianInterpolateImageFunction: the value whose voxels have the largest sum of the Gaussian's integrals. */
  LabelGaussian
};

/** Describes the output and how to compute it. */
struct WindowedRequest : ChainedGrid
{
  Size      inputSize{};
  Precision precision = Precision::Single;
  /** Writes the input's values. The precision says whether input and output are floats or doubles. */
  Filler         values;
  WindowedKernel kernel = WindowedKernel::LanczosSinc;
  /** Give a Gaussian's standard deviation along each axis of the input, in voxels, and how many of them it reaches. */
  std::array<double, 3> sigmas{};
  double                cutoff = 1;
  /** The value of voxels outside of the input. */
  double outside = 0;
  /** Receives voxels first … first + count - 1 of the output. Called for disjoint ranges, from several threads at once. */
  std::function<void(std::int64_t first, std::int64_t count, const void * in)> output;
  /** Address in the host's memory where the output's voxels are stored in this very form; else null. The host computes them in place. */
  void * memory = nullptr;
};

/** Resamples images of one component by kernels that a window cuts off, on one device: y = input(pointToInput(T(outputToPoint(x)))). The
 *  input and the transform's grids are there as a whole.
 *
 *  Use one object from one thread at a time. Every function throws gpureg::Error, and the object can be used again after an error. */
class GPURegistration_EXPORT WindowedResampler : public Engine
{
public:
  /** Makes a resampler on one device.
   *  \throws Error if there is no such device; the message lists the devices. */
  explicit WindowedResampler(const std::string & deviceName);
  ~WindowedResampler() override;
  WindowedResampler(const WindowedResampler &) = delete;
  WindowedResampler &
  operator=(const WindowedResampler &) = delete;

  const std::string &
  GetDeviceName() const override;

  std::size_t
  GetHeldBytes() const override;

  /** Resamples an image.
   *  \throws BadInputError if an image is empty, or a Gaussian reaches no distance above 0; UnsupportedError if it reaches more voxels than
   *  the kernels add up, or if the device lacks double precision and that is asked for */
  void
  Resample(const WindowedRequest & request, const ParallelFor & parallelFor);

  /** Returns the statistics of the last operation. */
  EvaluationStatistics
  GetStatistics() const;

private:
  class Implementation;
  std::unique_ptr<Implementation> m_Implementation;
};

} // namespace gpureg

#endif
