// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_VolumeFilter_h
#define gpureg_VolumeFilter_h

#include "GPURegistrationExport.h"
#include "gpureg/image/DeviceImage.h"
#include "gpureg/runtime/EngineUser.h"
#include "gpureg/core/Error.h"
#include "gpureg/core/EvaluationStatistics.h"
#include "gpureg/core/Geometry.h"
#include "gpureg/core/ParallelFor.h"
#include "gpureg/core/Precision.h"
#include "gpureg/filter/RecursiveGaussian.h"

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace gpureg
{

/** Describes the volume to filter. */
struct VolumeInput
{
  Size      size{};
  int       components = 1;
  Precision precision = Precision::Single;
  /** Writes the values: floats or doubles, according to the precision, [voxel][component]. */
  Filler values;
};

/** Describes a convolution along one axis that is computed only at selected positions. Output j, before end, is Σ taps[t] · x(p - left
 *  + t) at the position p = first + (j / run)·step + j % run, or at the line's end if p lies beyond it; all other outputs are 0. Beyond
 *  its ends a line continues with its first and last value. */
struct LineConvolution
{
  int                 axis = 0;
  std::vector<double> taps{ 1.0 };
  int                 left = 0;
  int                 outputLength = 0;
  int                 first = 0;
  int                 step = 1;
  int                 run = 1;
  int                 end = 0;
  /** True to truncate the output to whole numbers. */
  bool truncates = false;
};

/** Describes linear interpolation at the points of a grid along the volume's axes: point j of an axis lies fractions[j], 0 to 1, behind
 *  sample cells[j]. For a negative cell the output is 0. For a fraction of 0 the next sample, which need not exist, is not read. */
struct GridInterpolation
{
  std::array<std::vector<int>, 3>    cells;
  std::array<std::vector<double>, 3> fractions;
  /** True to truncate the output to whole numbers. */
  bool truncates = false;
};

/** Filters a volume along its axes on one device, where the volume stays between operations. Values are stored as floats or doubles,
 *  and computed in double precision.
 *
 *  Use one object from one thread at a time. Every function throws gpureg::Error if the device has too little memory, fails, or has no
 *  double precision (HasDoubles()); after an error a volume must be set again. */
class GPURegistration_EXPORT VolumeFilter : public Engine
{
public:
  /** Makes a filter on one device.
   *  \throws Error if there is no such device; the message lists the devices. */
  explicit VolumeFilter(const std::string & deviceName);
  ~VolumeFilter() override;
  VolumeFilter(const VolumeFilter &) = delete;
  VolumeFilter &
  operator=(const VolumeFilter &) = delete;

  const std::string &
  GetDeviceName() const override;

  std::size_t
  GetHeldBytes() const override;

  /** Uploads a volume, the current volume of the next operations. */
  void
  SetVolume(const VolumeInput & input, const ParallelFor & parallelFor);

  /** Copies an image on the filter's device, of one component and in the image's precision: the current volume of the next operations.
   *  \throws BadInputError if the image is on another device, or has another size. */
  void
  SetVolume(const DeviceImage & image, const Size & size, const ParallelFor & parallelFor);

  /** Makes the volume that was set the current volume again. Only Convolve() and Interpolate() leave that volume unchanged.
   *  \throws Error if the volume is no longer stored. */
  void
  Restart();

  /** Applies a recursive Gaussian or a derivative of it along one axis (Deriche 1993), in place; the axis has at least one voxel. */
  void
  ApplyGaussian(int axis, const RecursiveGaussian & weights);

  /** Replaces samples by the coefficients of the B-spline of an order from 0 to 5 that interpolates them (Unser 1999), in place.
   *  \throws Error for other orders. */
  void
  MakeSplineCoefficients(int order);

  /** Convolves the current volume along one axis.
   *  \throws Error if there are no weights, more than 66 weights, or no outputs. */
  void
  Convolve(const LineConvolution & convolution);

  /** Interpolates the current volume in double precision, along x first.
   *  \throws Error if an axis has no points, if it has different numbers of cells and fractions, or if a cell is beyond the volume. */
  void
  Interpolate(const GridInterpolation & grid);

  /** Returns the size of the current volume. */
  const Size &
  GetSize() const;

  /** Passes voxels first … first + count - 1 of the current volume to output, as floats or doubles according to the precision, for
   *  disjoint ranges, from several threads at once. */
  void
  GetVolume(const std::function<void(std::int64_t first, std::int64_t count, const void * in)> & output);

  /** Waits for all operations, and returns a copy of the current volume on the device.
   *  \throws BadInputError if the volume has several components. */
  std::unique_ptr<DeviceImage>
  CopyVolume();

  /** Waits for all operations, and frees the volumes' memory. */
  void
  Release();

  /** Measures kernel times from now on; each operation then waits for the device. */
  void
  SetTiming(bool on);

  /** Returns the statistics since the last SetVolume(); the host's time counts from that call until the last volume was passed out. */
  EvaluationStatistics
  GetStatistics() const;

private:
  class Implementation;
  std::unique_ptr<Implementation> m_Implementation;
};

} // namespace gpureg

#endif
