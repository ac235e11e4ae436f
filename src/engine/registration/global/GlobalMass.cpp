// SPDX-License-Identifier: Apache-2.0
#include "engine/registration/global/GlobalMass.h"

#include "gpureg/core/Error.h"

#include "engine/registration/global/GlobalPose.h"
#include "engine/registration/LevelSamples.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>

namespace gpureg
{

namespace
{
/** Returns the mass of each of an image's voxels. */
std::vector<double>
Weigh(const std::vector<double> & values, const std::vector<bool> & isInside, std::size_t inside)
{
  double mean = 0;
  for (std::size_t n = 0; n < values.size(); ++n)
  {
    mean += isInside[n] ? values[n] : 0.0;
  }
  mean /= static_cast<double>(inside);
  std::vector<double> weights(values.size());
  for (std::size_t n = 0; n < values.size(); ++n)
  {
    weights[n] = isInside[n] ? std::max(0.0, values[n] - mean) : 0.0;
  }
  return weights;
}
} // namespace

Vector3
GetVoxelPoint(const RegisteredImage & image, std::size_t voxel)
{
  const auto    width = static_cast<std::size_t>(image.size[0]);
  const auto    height = static_cast<std::size_t>(image.size[1]);
  const Vector3 index{ static_cast<double>(voxel % width),
                       static_cast<double>(voxel / width % height),
                       static_cast<double>(voxel / width / height) };
  Vector3       point = Multiply(image.indexToPoint.matrix, index);
  for (std::size_t d = 0; d < 3; ++d)
  {
    point[d] += image.indexToPoint.offset[d];
  }
  return point;
}
ImageMass
ComputeMass(Queue & queue, const RegisteredImage & image, const char * which)
{
  ImageMass mass;
  mass.values = DownloadValues(queue, *image.image);
  mass.isInside.assign(mass.values.size(), true);
  if (image.mask != nullptr)
  {
    const std::vector<double> mask = DownloadValues(queue, *image.mask);
    std::transform(mask.begin(), mask.end(), mass.isInside.begin(), [](double m) { return m >= 0.5; });
  }
  const auto inside = static_cast<std::size_t>(std::count(mass.isInside.begin(), mass.isInside.end(), true));
  if (inside == 0)
  {
    throw BadInputError(std::string("of the ") + which +
                        " image, the mask leaves no voxel of the coarsest level; set a larger one, or none");
  }
  mass.volume = static_cast<double>(inside) * std::abs(ComputeDeterminant(image.indexToPoint.matrix));
  const std::vector<double> weights = Weigh(mass.values, mass.isInside, inside);
  double                    sum = 0;
  for (std::size_t n = 0; n < weights.size(); ++n)
  {
    const Vector3 point = GetVoxelPoint(image, n);
    sum += weights[n];
    for (std::size_t d = 0; d < 3; ++d)
    {
      mass.centre[d] += weights[n] * point[d];
    }
  }
  if (!(sum > 0))
  {
    throw BadInputError(std::string("the ") + which +
                        " image is constant inside of its mask; set another one, or none");
  }
  for (double & c : mass.centre)
  {
    c /= sum;
  }
  double squares = 0;
  for (std::size_t n = 0; n < weights.size(); ++n)
  {
    const Vector3 point = GetVoxelPoint(image, n);
    for (std::size_t d = 0; d < 3; ++d)
    {
      squares += weights[n] * (point[d] - mass.centre[d]) * (point[d] - mass.centre[d]);
    }
  }
  mass.radius = std::sqrt(squares / sum);
  return mass;
}

Matrix3
ComputeAxes(const IndexMap & indexToPoint)
{
  IndexMap map;
  map.matrix = indexToPoint.matrix;
  if (ComputeDeterminant(map.matrix) < 0)
  {
    for (std::size_t r = 0; r < 3; ++r)
    {
      map.matrix[3 * r] *= -1;
    }
  }
  return ComputePose(PoseFrame(), map).rotation;
}

} // namespace gpureg
