// SPDX-License-Identifier: Apache-2.0
#ifndef itkGPUMetricScales_h
#define itkGPUMetricScales_h

namespace itk
{
namespace GPURegistrationDetail
{

/** How a metric wants its values. */
struct MetricScales
{
  /** Moving values between these two become (v - minimum)/unit, in [0, end]. */
  double minimum = 0;
  double maximum = 0;
  double unit = 0;
  double end = 1;
  /** Fixed values, where the metric samples them, become (v - fixedMinimum)/fixedUnit. */
  double fixedMinimum = 0;
  double fixedUnit = 1;
  /** Where a metric reads nothing but the moving voxels' bins: so many between minimum and maximum; what lies beyond is in
   *  the first and the last. */
  unsigned int bins = 0;
  /** Values outside of the range make a sample invalid. Else there are none: the scales follow the voxels. */
  bool checksRange = false;
  /** Values are precise, however many samples there are. */
  bool isPrecise = false;
  /** Every voxel is a sample, whatever points are sampled. */
  bool samplesEveryVoxel = false;
};

} // namespace GPURegistrationDetail
} // namespace itk

#endif
