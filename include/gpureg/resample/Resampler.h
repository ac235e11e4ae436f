// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_Resampler_h
#define gpureg_Resampler_h

#include "GPURegistrationExport.h"
#include "gpureg/image/DeviceImage.h"
#include "gpureg/runtime/EngineUser.h"
#include "gpureg/core/Error.h"
#include "gpureg/core/EvaluationStatistics.h"
#include "gpureg/image/MadeNumbers.h"
#include "gpureg/core/ParallelFor.h"
#include "gpureg/core/Precision.h"
#include "gpureg/image/Source.h"
#include "gpureg/transform/TransformChain.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace gpureg
{

/** How values are interpolated, as ITK's interpolators do. */
enum class Interpolation
{
  Nearest,
  Linear,
  BSpline
};

/** The image to resample. */
struct ResampleInput
{
  Size      size{};
  int       components = 1;
  Precision precision = Precision::Single;
  /** float or double, by the precision, [voxel][component]. */
  Filler values;
  /** Where they lie in memory, if they do; null otherwise. The host reads them there. */
  const void * memory = nullptr;
  /** The same values, of one component, where they are on the device already: there they are read, and nothing is sent; but B-spline
   *  coefficients of what must be cut are made of `values`. Null otherwise. */
  const DeviceImage * image = nullptr;
  /** Of the B-spline that is to be interpolated; its coefficients are made on the device. 0 for none. */
  int splineOrder = 0;
  /** Of the values. */
  Source source;
  /** Whether all values are whole numbers. */
  bool isOfIntegers = false;
};

/** What is to be made of it: a grid's voxels are the output's. */
struct ResampleRequest : ChainedGrid
{
  Interpolation interpolation = Interpolation::Linear;
  /** 0 to 5. */
  int splineOrder = 3;
  /** One value a component, for what lies outside of the input. Not read where it extrapolates. */
  std::vector<double> outside;
  /** Outside of the input its nearest voxel continues (itk::NearestNeighborExtrapolateImageFunction). */
  bool extrapolates = false;
  /** Takes voxels first … first + count - 1 of the output from float or double in, by the input's precision.
   *  Called for disjoint ranges, from several threads at once. */
  std::function<void(std::int64_t first, std::int64_t count, const void * in)> output;
  /** Where the output's voxels are to be, if they are just so: the host makes them there. Null otherwise. */
  void * memory = nullptr;
  /** Called with the share of the output that is done, from the caller's thread; may throw to end the work.
   *  May be empty. */
  std::function<void(double)> progress;
};

/** What displacements are wanted of: those of the grid's voxels by the transform. */
struct DisplacementRequest : ChainedGrid
{
  /** mm: the ends of a box that holds all points that there are, those of the voxels and those that they are led to. */
  std::array<double, 3> low{};
  std::array<double, 3> high{};
  /** Takes double[dimension], mm, of voxels first … first + count - 1. Called for disjoint ranges, from several threads at once. */
  std::function<void(std::int64_t first, std::int64_t count, const void * in)> output;
  /** Where they are to be: the host makes them there. Null otherwise. */
  void * memory = nullptr;
};

/** Resamples images on one device: y = input(pointToInput(T(outputToPoint(x)))), in one launch a piece of
 *  the output, whatever the transform (Shamonin 2014, section 3.2, which has a launch and a field a part).
 *
 *  What has a source, the input and the grids' vectors, stays on the device between calls. Where the device has no room
 *  for everything at once, the output is made in pieces, each of them from the slabs of the input that it needs, and
 *  from those planes of the chain's first grid: the result is the same to the bit. One object serves one thread at a
 *  time. Every function throws gpureg::Error, and the object can be used again. */
class GPURegistration_EXPORT Resampler : public Engine
{
public:
  /** \throws Error if there is no such device; the message lists those there are. */
  explicit Resampler(const std::string & deviceName);
  ~Resampler() override;
  Resampler(const Resampler &) = delete;
  Resampler &
  operator=(const Resampler &) = delete;

  const std::string &
  GetDeviceName() const override;

  std::size_t
  GetHeldBytes() const override;

  /** Whether the input is there that had this key. */
  bool
  Holds(const Key & key) const override;

  /** On a device without doubles (HasDoubles()) in single precision only, and no B-splines of order 2 and more. B-splines are of one
   *  component alone. */
  void
  Resample(const ResampleInput & input, const ResampleRequest & request, const ParallelFor & parallelFor);

  /** The same where all of the output is to stay on the device: request.output, memory and progress are not looked at. Whatever the
   *  bound, nothing is cut.
   *  \throws BadInputError if the input has several components. */
  std::unique_ptr<DeviceImage>
  ResampleToDevice(const ResampleInput & input, const ResampleRequest & request, const ParallelFor & parallelFor);

  /** By how much the point that each voxel of a grid is led to differs from the voxel's: pointToInput is not looked at.
   *  \throws BadInputError if the box is empty, UnsupportedError on a device without doubles. */
  void
  FindDisplacements(const DisplacementRequest & request, const ParallelFor & parallelFor);

  /** The same where they are to stay on the device: doubles [voxel][dimension]. output and memory are not looked at, and nothing is
   *  cut. */
  std::unique_ptr<MadeNumbers>
  FindDisplacementsToDevice(const DisplacementRequest & request, const ParallelFor & parallelFor);

  /** Bounds the memory that it takes on the device, in bytes; 0, the default, for 9/10 of what is free. */
  void
  SetMaximumDeviceMemory(std::size_t bytes);

  /** Measures kernel times from now on, and waits for each launch to do so. */
  void
  SetTiming(bool on);

  /** Of the last Resample. */
  EvaluationStatistics
  GetStatistics() const;

private:
  class Implementation;
  std::unique_ptr<Implementation> m_Implementation;
};

} // namespace gpureg

#endif
