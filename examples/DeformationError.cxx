// SPDX-License-Identifier: Apache-2.0
#include "DeformationError.h"

#include "itkDisplacementFieldTransform.h"
#include "itkImageRegionConstIteratorWithIndex.h"
#include "itkMultiThreaderBase.h"
#include "itkOtsuThresholdCalculator.h"
#include "itkScalarImageToHistogramGenerator.h"

#include <algorithm>
#include <iomanip>
#include <numeric>
#include <stdexcept>
#include <vector>

namespace example
{
namespace
{

/** Returns the statistics of distances, and sorts these. */
ErrorStatistics
Summarize(std::vector<double> & distances)
{
  if (distances.empty())
  {
    throw std::runtime_error("There is no voxel to measure an error at: all are 0, or none is above the threshold.");
  }
  ErrorStatistics statistics;
  statistics.voxels = distances.size();
  // In the voxels' order, so that the sum does not depend on the threads.
  statistics.mean = std::accumulate(distances.begin(), distances.end(), 0.0) / static_cast<double>(distances.size());
  const auto percentile = [&](double fraction) {
    const auto place =
      distances.begin() + static_cast<std::ptrdiff_t>(fraction * static_cast<double>(distances.size() - 1));
    std::nth_element(distances.begin(), place, distances.end());
    return *place;
  };
  statistics.median = percentile(0.5);
  statistics.percentile95 = percentile(0.95);
  statistics.maximum = *std::max_element(distances.begin(), distances.end());
  return statistics;
}

} // namespace

double
ComputeHeadThreshold(const Volume * image)
{
  using Generator = itk::Statistics::ScalarImageToHistogramGenerator<Volume>;
  const auto generator = Generator::New();
  generator->SetInput(image);
  generator->SetNumberOfBins(256);
  generator->Compute();
  const auto calculator = itk::OtsuThresholdCalculator<Generator::HistogramType, float>::New();
  calculator->SetInput(generator->GetOutput());
  calculator->Update();
  return 0.5 * static_cast<double>(calculator->GetThreshold());
}

DeformationError
MeasureDeformationError(const Transform * found, const Transform * truth, const Volume * fixed, double threshold)
{
  const auto &        region = fixed->GetBufferedRegion();
  std::vector<double> distances(region.GetNumberOfPixels());
  const auto          measure = [&](const VolumeGrid::RegionType & part) {
    for (itk::ImageRegionConstIteratorWithIndex<Volume> voxel(fixed, part); !voxel.IsAtEnd(); ++voxel)
    {
      if (voxel.Get() != 0)
      {
        const auto point = fixed->TransformIndexToPhysicalPoint<double>(voxel.GetIndex());
        distances[static_cast<std::size_t>(fixed->ComputeOffset(voxel.GetIndex()))] =
          found->TransformPoint(point).EuclideanDistanceTo(truth->TransformPoint(point));
      }
    }
  };
  itk::MultiThreaderBase::New()->ParallelizeImageRegion<3>(region, measure, nullptr);

  const float * const values = fixed->GetBufferPointer();
  std::vector<double> all;
  std::vector<double> head;
  for (std::size_t n = 0; n < distances.size(); ++n)
  {
    if (values[n] != 0)
    {
      all.push_back(distances[n]);
      if (values[n] > threshold)
      {
        head.push_back(distances[n]);
      }
    }
  }
  return { Summarize(all), Summarize(head) };
}

DeformationError
MeasureDeformationError(const DisplacementField * found,
                        const Transform *         truth,
                        const Volume *            fixed,
                        double                    threshold)
{
  // The transform takes a field that it may change, but does not change it.
  const auto field = DisplacementField::New();
  field->Graft(found);
  const auto transform = itk::DisplacementFieldTransform<double, 3>::New();
  transform->SetDisplacementField(field);
  return MeasureDeformationError(transform.GetPointer(), truth, fixed, threshold);
}

std::ostream &
operator<<(std::ostream & os, const ErrorStatistics & error)
{
  return os << std::fixed << std::setprecision(3) << "mean " << error.mean << " mm, median " << error.median
            << " mm, 95th percentile " << error.percentile95 << " mm, maximum " << error.maximum << " mm";
}

} // namespace example
