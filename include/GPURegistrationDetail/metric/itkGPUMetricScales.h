// SPDX-License-Identifier: Apache-2.0
#ifndef itkGPUMetricScales_h
#define itkGPUMetricScales_h

namespace itk
{
namespace GPURegistrationDetail
{

/** Holds how a metric's values are scaled. */
struct MetricScales
{
  /** Moving values between minimum and maximum become (v - minimum)/unit, in [0, end]. */
  double minimum = 0;
  double maximum = 0;
  double unit = 0;
  double end = 1;
  /** Fixed values, if the metric samples them, become (v - fixedMinimum)/fixedUnit. */
  double fixedMinimum = 0;
  double fixedUnit = 1;
  /** Number of bins between minimum and maximum, for a metric that reads only the moving voxels' bins; values outside are in the first
   *  and the last bin. */
  unsigned int bins = 0;
  /** True if values outside the range make a sample invalid. If false, there are no such values: the scales follow the voxels. */
  bool checksRange = false;
  /** True if values are in 64-bit fixed point, however many samples there are. */
  bool isFixedPoint = false;
  /** True if every voxel is a sample, whatever points are sampled. */
  bool samplesEveryVoxel = false;
};

} // namespace GPURegistrationDetail
} // namespace itk

#endif
