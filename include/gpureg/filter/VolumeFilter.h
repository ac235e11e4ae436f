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

/** The volume to filter. */
struct VolumeInput
{
  Size      size{};
  int       components = 1;
  Precision precision = Precision::Single;
  /** float or double, by the precision, [voxel][component]. */
  Filler values;
};

/** A convolution along one axis, only where it is asked for. Output j, before end, is
 *  Σ taps[t] · x(p - left + t) at the position p = first + (j / run)·step + j % run, or at the line's end if that lies
 *  beyond it; all other outputs are 0. Before and behind a line its ends continue. */
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
  /** The output is cut off to whole numbers. */
  bool truncates = false;
};

/** Linear interpolation at the points of a grid along the volume's axes: point j of an axis lies fractions[j], 0 to 1,
 *  behind sample cells[j]. Where that is negative the output is 0; where the fraction is 0, the next sample, of which
 *  there may be none, is not read. */
struct GridInterpolation
{
  std::array<std::vector<int>, 3>    cells;
  std::array<std::vector<double>, 3> fractions;
  /** The output is cut off to whole numbers. */
  bool truncates = false;
};

/** Filters a volume along its axes, on one device, where it stays between two operations. Values are kept as
 *  float or double, and computed in double.
 *
 *  One object serves one thread at a time. Every function throws gpureg::Error where memory is out, the device fails, or
 *  has no doubles (HasDoubles()); after that a volume must be set again. */
class GPURegistration_EXPORT VolumeFilter : public Engine
{
public:
  /** \throws Error if there is no such device; the message lists those there are. */
  explicit VolumeFilter(const std::string & deviceName);
  ~VolumeFilter() override;
  VolumeFilter(const VolumeFilter &) = delete;
  VolumeFilter &
  operator=(const VolumeFilter &) = delete;

  const std::string &
  GetDeviceName() const override;

  std::size_t
  GetHeldBytes() const override;

  /** Copies a volume to the device; what is computed on from here. */
  void
  SetVolume(const VolumeInput & input, const ParallelFor & parallelFor);

  /** The same of one that is on the filter's device, in its precision and of one component: it is copied there.
   *  \throws BadInputError if it is on another one, or of another size. */
  void
  SetVolume(const DeviceImage & image, const Size & size, const ParallelFor & parallelFor);

  /** The volume as it was set becomes what is computed on again. Only Convolve and Interpolate leave it as it was.
   *  \throws Error if it is no longer there. */
  void
  Restart();

  /** A recursive Gaussian or a derivative of it along one axis (Deriche 1993), in place; the axis has at least
   *  one voxel. */
  void
  ApplyGaussian(int axis, const RecursiveGaussian & weights);

  /** From samples to the coefficients of the B-spline of an order of 0 to 5 through them (Unser 1999), in place.
   *  \throws Error for other orders. */
  void
  MakeSplineCoefficients(int order);

  /** \throws Error if there are no weights, or more than 66, or no outputs. */
  void
  Convolve(const LineConvolution & convolution);

  /** In double precision, along x first.
   *  \throws Error if an axis has no points, or not as many cells as fractions, or if a cell is beyond the volume. */
  void
  Interpolate(const GridInterpolation & grid);

  /** Of what is computed on. */
  const Size &
  GetSize() const;

  /** Hands the voxels first … first + count - 1 out, as float or double by the precision, for disjoint ranges,
   *  from several threads at once. */
  void
  GetVolume(const std::function<void(std::int64_t first, std::int64_t count, const void * in)> & output);

  /** A copy of the volume on the device, when all that was asked for is done.
   *  \throws BadInputError if it has several components. */
  std::unique_ptr<DeviceImage>
  CopyVolume();

  /** Waits for what was asked for, and gives the volumes' memory back. */
  void
  Release();

  /** Measures kernel times from now on, and waits for each operation to do so. */
  void
  SetTiming(bool on);

  /** Since the last SetVolume; the host's time from its call until the last volume was handed out. */
  EvaluationStatistics
  GetStatistics() const;

private:
  class Implementation;
  std::unique_ptr<Implementation> m_Implementation;
};

} // namespace gpureg

#endif
