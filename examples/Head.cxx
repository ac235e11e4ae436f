// SPDX-License-Identifier: Apache-2.0
#include "Head.h"

#include "itkImageRegionConstIteratorWithIndex.h"

#include <algorithm>
#include <iomanip>
#include <numeric>
#include <stdexcept>

namespace example
{

std::vector<Volume::PointType>
FindHead(const Volume * image)
{
  const auto &        region = image->GetBufferedRegion();
  const auto          count = region.GetNumberOfPixels();
  const float * const values = image->GetBufferPointer();
  const double        mean = std::accumulate(values, values + count, 0.0) / static_cast<double>(count);

  std::vector<Volume::PointType> head;
  for (itk::ImageRegionConstIteratorWithIndex<Volume> voxel(image, region); !voxel.IsAtEnd(); ++voxel)
  {
    if (voxel.Get() > 0.5 * mean)
    {
      head.push_back(image->TransformIndexToPhysicalPoint<double>(voxel.GetIndex()));
    }
  }
  if (head.empty())
  {
    throw std::runtime_error("There is no head in the image: no voxel is brighter than half of the mean.");
  }
  return head;
}

Volume::PointType
GetCentre(const std::vector<Volume::PointType> & head)
{
  itk::Vector<double, 3> sum(0.0);
  for (const auto & point : head)
  {
    sum += point.GetVectorFromOrigin();
  }
  Volume::PointType centre;
  centre.Fill(0.0);
  return centre + sum / static_cast<double>(head.size());
}

TransformError
Compare(const Transform * transform, const Transform * truth, const std::vector<Volume::PointType> & head)
{
  std::vector<double> distances(head.size());
  std::transform(head.begin(), head.end(), distances.begin(), [=](const Volume::PointType & point) {
    return transform->TransformPoint(point).EuclideanDistanceTo(truth->TransformPoint(point));
  });
  TransformError error;
  error.mean = std::accumulate(distances.begin(), distances.end(), 0.0) / static_cast<double>(distances.size());
  const auto percentile =
    distances.begin() + static_cast<std::ptrdiff_t>(0.95 * static_cast<double>(distances.size() - 1));
  std::nth_element(distances.begin(), percentile, distances.end());
  error.percentile95 = *percentile;
  error.maximum = *std::max_element(percentile, distances.end());
  return error;
}

std::ostream &
operator<<(std::ostream & os, const TransformError & error)
{
  return os << std::fixed << std::setprecision(3) << "mean " << error.mean << " mm, 95th percentile "
            << error.percentile95 << " mm, maximum " << error.maximum << " mm";
}

} // namespace example
