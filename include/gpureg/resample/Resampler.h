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

/** Interpolations, as ITK's interpolators do them. */
enum class Interpolation
{
  Nearest,
  Linear,
  BSpline
};

/** Describes the image to resample. */
struct ResampleInput
{
  Size      size{};
  int       components = 1;
  Precision precision = Precision::Single;
  /** Writes the values: floats or doubles, according to the precision, [voxel][component]. */
  Filler values;
  /** Address of the values in the host's memory, if they are stored there as `values` would write them; else null. The host reads them
   *  in place. */
  const void * memory = nullptr;
  /** The values of an image of one component, if they are already on the device; else null. They are read in place, and nothing is
   *  uploaded, except that the B-spline coefficients of an image that must be cut into slabs are made from `values`. */
  const DeviceImage * image = nullptr;
  /** Order of the B-spline to interpolate, whose coefficients are made on the device; 0 for none. */
  int splineOrder = 0;
  /** Where the values come from. */
  Source source;
  /** True if all values are whole numbers. */
  bool isOfIntegers = false;
};

/** Describes the output and how to compute it; the voxels of the grid are the output's. */
struct ResampleRequest : ChainedGrid
{
  Interpolation interpolation = Interpolation::Linear;
  /** 0 to 5. */
  int splineOrder = 3;
  /** One value per component, for voxels outside the input. Unused if `extrapolates` is true. */
  std::vector<double> outside;
  /** True if the nearest voxel of the input extends beyond the input (itk::NearestNeighborExtrapolateImageFunction). */
  bool extrapolates = false;
  /** Receives voxels first … first + count - 1 of the output as floats or doubles, according to the input's precision. Called for
   *  disjoint ranges, from several threads at once. */
  std::function<void(std::int64_t first, std::int64_t count, const void * in)> output;
  /** Address in the host's memory where the output's voxels are stored in this very form; else null. The host computes them in place. */
  void * memory = nullptr;
  /** Called from the caller's thread with the share of the output that is done, 0 to 1; may throw to end the work, and may be empty. */
  std::function<void(double)> progress;
};

/** Describes the displacements to compute: those of a grid's voxels by a transform. */
struct DisplacementRequest : ChainedGrid
{
  /** Corners in mm of a box that contains the points of all voxels, and the points that they are mapped to. */
  std::array<double, 3> low{};
  std::array<double, 3> high{};
  /** Receives the displacements of voxels first … first + count - 1 as double[dimension], in mm. Called for disjoint ranges, from
   *  several threads at once. */
  std::function<void(std::int64_t first, std::int64_t count, const void * in)> output;
  /** Address where the displacements are to be stored; the host computes them in place. Null otherwise. */
  void * memory = nullptr;
};

/** Resamples images on one device: y = input(pointToInput(T(outputToPoint(x)))). One launch computes an output tile, whatever the
 *  transform (Shamonin 2014, section 3.2, has one launch and one field for each transform).
 *
 *  The input and the grids' vectors stay on the device between calls if they have a source. If the device's memory does not hold everything
 *  at once, output tiles are computed one after the other, each from the input slabs that it needs, and from the planes of the chain's
 *  first grid that it needs; the result is the same to the bit. Use one object from one thread at a time. Every function throws
 *  gpureg::Error, and the object can be used again after an error. */
class GPURegistration_EXPORT Resampler : public Engine
{
public:
  /** Makes a resampler on one device.
   *  \throws Error if there is no such device; the message lists the devices. */
  explicit Resampler(const std::string & deviceName);
  ~Resampler() override;
  Resampler(const Resampler &) = delete;
  Resampler &
  operator=(const Resampler &) = delete;

  const std::string &
  GetDeviceName() const override;

  std::size_t
  GetHeldBytes() const override;

  /** Returns true if the input that had this key is still on the device. */
  bool
  Holds(const Key & key) const override;

  /** Resamples the input, and passes the output's voxels to request.output or writes them to request.memory. A device without double
   *  precision (HasDoubles()) resamples in single precision only, without B-splines of order 2 and more. B-spline interpolation is for
   *  one component. */
  void
  Resample(const ResampleInput & input, const ResampleRequest & request, const ParallelFor & parallelFor);

  /** Resamples the input, and returns the output on the device. Ignores request.output, memory and progress, and
   *  SetMaximumDeviceMemory(): the output is made whole.
   *  \throws BadInputError if the input has several components. */
  std::unique_ptr<DeviceImage>
  ResampleToDevice(const ResampleInput & input, const ResampleRequest & request, const ParallelFor & parallelFor);

  /** Computes the displacement of each voxel of a grid by a transform: the point that the voxel is mapped to, minus the voxel's point.
   *  Ignores pointToInput.
   *  \throws BadInputError if the box is empty; UnsupportedError on a device without double precision. */
  void
  ComputeDisplacements(const DisplacementRequest & request, const ParallelFor & parallelFor);

  /** Computes the displacement of each voxel of a grid as ComputeDisplacements() does, and returns them on the device: doubles
   *  [voxel][dimension]. Ignores output and memory; the displacements are made whole. */
  std::unique_ptr<MadeNumbers>
  ComputeDisplacementsOnDevice(const DisplacementRequest & request, const ParallelFor & parallelFor);

  /** Limits the memory in bytes that the object uses on the device; 0, the default, for 9/10 of the free memory. */
  void
  SetMaximumDeviceMemory(std::size_t bytes);

  /** Measures kernel times from now on; an operation then waits for each launch. */
  void
  SetTiming(bool on);

  /** Returns the statistics of the last operation. */
  EvaluationStatistics
  GetStatistics() const;

private:
  class Implementation;
  std::unique_ptr<Implementation> m_Implementation;
};

} // namespace gpureg

#endif
