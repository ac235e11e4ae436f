// SPDX-License-Identifier: Apache-2.0
#include "engine/registration/global/GlobalPose.h"

#include "gpureg/core/Error.h"

#include <algorithm>
#include <cmath>

namespace gpureg
{

namespace
{
// The index at which each part of a step begins.
enum : std::size_t
{
  Rotations = 0,
  Translations = 3,
  LogScales = 6,
  Skews = 9
};

PoseStep
MakeStep(std::size_t first, std::size_t count, double size)
{
  PoseStep step{};
  std::fill_n(step.begin() + static_cast<std::ptrdiff_t>(first), count, size);
  return step;
}

Matrix3
MakeStretch(const Pose & pose)
{
  const Vector3 s{ std::exp(pose.logScale[0]), std::exp(pose.logScale[1]), std::exp(pose.logScale[2]) };
  const auto &  k = pose.skew;
  return { s[0], s[0] * k[0], s[0] * k[1], 0, s[1], s[1] * k[2], 0, 0, s[2] };
}

Vector3
GetColumn(const Matrix3 & m, std::size_t column)
{
  return { m[column], m[3 + column], m[6 + column] };
}

double
Dot(const Vector3 & a, const Vector3 & b)
{
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
} // namespace

PoseDirections
MakePoseDirections(const PoseFrame & frame, PoseKind kind)
{
  const auto     dimension = static_cast<std::size_t>(frame.dimension);
  const double   perAxis = std::sqrt(static_cast<double>(dimension)) / frame.radius;
  PoseDirections directions;
  if (kind > PoseKind::TranslationAndScale)
  {
    // In three dimensions, two thirds of the mean square distance from the centre are perpendicular to a rotation's axis.
    const double angle = dimension == 3 ? std::sqrt(1.5) / frame.radius : 1.0 / frame.radius;
    for (std::size_t axis = dimension == 3 ? 0 : 2; axis < 3; ++axis)
    {
      directions.push_back(MakeStep(Rotations + axis, 1, angle));
    }
  }
  for (std::size_t axis = 0; axis < dimension; ++axis)
  {
    directions.push_back(MakeStep(Translations + axis, 1, 1.0));
  }
  if (kind == PoseKind::Similarity || kind == PoseKind::TranslationAndScale)
  {
    directions.push_back(MakeStep(LogScales, dimension, 1.0 / frame.radius));
  }
  if (kind == PoseKind::Scales || kind == PoseKind::Affine)
  {
    for (std::size_t axis = 0; axis < dimension; ++axis)
    {
      directions.push_back(MakeStep(LogScales + axis, 1, perAxis));
    }
  }
  if (kind == PoseKind::Affine)
  {
    for (std::size_t n = 0; n < (dimension == 3 ? 3u : 1u); ++n)
    {
      directions.push_back(MakeStep(Skews + n, 1, perAxis));
    }
  }
  return directions;
}

IndexMap
MakePointMap(const PoseFrame & frame, const Pose & pose)
{
  IndexMap map;
  map.matrix = Multiply(pose.rotation, Multiply(frame.axes, Multiply(MakeStretch(pose), Transpose(frame.axes))));
  const Vector3 moved = Multiply(map.matrix, frame.fixedCentre);
  for (std::size_t d = 0; d < 3; ++d)
  {
    map.offset[d] = frame.movingCentre[d] + pose.translation[d] - moved[d];
  }
  return map;
}

Pose
MovePose(const Pose & pose, const PoseDirections & directions, const double * along)
{
  PoseStep step{};
  for (std::size_t n = 0; n < directions.size(); ++n)
  {
    for (std::size_t i = 0; i < step.size(); ++i)
    {
      step[i] += along[n] * directions[n][i];
    }
  }
  Pose moved = pose;
  moved.rotation = Multiply(MakeRotation({ step[0], step[1], step[2] }), pose.rotation);
  for (std::size_t d = 0; d < 3; ++d)
  {
    moved.translation[d] += step[Translations + d];
    moved.logScale[d] += step[LogScales + d];
    moved.skew[d] += step[Skews + d];
  }
  return moved;
}

Pose
ComputePose(const PoseFrame & frame, const IndexMap & pointMap)
{
  // Factors matrix · axes = rotation · axes · (upper triangular matrix), by Gram and Schmidt's method.
  const Matrix3          product = Multiply(pointMap.matrix, frame.axes);
  std::array<Vector3, 3> turned{};
  Matrix3                upper{};
  for (std::size_t c = 0; c < 3; ++c)
  {
    Vector3 rest = GetColumn(product, c);
    for (std::size_t r = 0; r < c; ++r)
    {
      upper[3 * r + c] = Dot(turned[r], rest);
      for (std::size_t d = 0; d < 3; ++d)
      {
        rest[d] -= upper[3 * r + c] * turned[r][d];
      }
    }
    const double length = std::sqrt(Dot(rest, rest));
    upper[4 * c] = length;
    for (std::size_t d = 0; d < 3; ++d)
    {
      turned[c][d] = rest[d] / length;
    }
  }
  const Matrix3 turnedAxes{ turned[0][0], turned[1][0], turned[2][0], turned[0][1], turned[1][1],
                            turned[2][1], turned[0][2], turned[1][2], turned[2][2] };
  Pose          pose;
  pose.rotation = Multiply(turnedAxes, Transpose(frame.axes));
  if (!(ComputeDeterminant(pose.rotation) > 0))
  {
    throw BadInputError(
      "the initial transform is singular, or mirrors; give one whose matrix has a positive determinant");
  }
  for (std::size_t d = 0; d < 3; ++d)
  {
    pose.logScale[d] = std::log(upper[4 * d]);
  }
  pose.skew = { upper[1] / upper[0], upper[2] / upper[0], upper[5] / upper[4] };
  const Vector3 moved = Multiply(pointMap.matrix, frame.fixedCentre);
  for (std::size_t d = 0; d < 3; ++d)
  {
    pose.translation[d] = moved[d] + pointMap.offset[d] - frame.movingCentre[d];
  }
  return pose;
}

Pose
RestrictPose(const PoseFrame & frame, Pose pose, PoseKind kind)
{
  if (kind != PoseKind::Affine)
  {
    pose.skew = {};
  }
  if (kind == PoseKind::Rigid || kind == PoseKind::Translation)
  {
    pose.logScale = {};
  }
  if (kind == PoseKind::Translation)
  {
    pose.rotation = Pose().rotation;
  }
  if (kind == PoseKind::Similarity || kind == PoseKind::TranslationAndScale)
  {
    const auto dimension = static_cast<std::ptrdiff_t>(frame.dimension);
    double     sum = 0;
    const auto end = pose.logScale.begin() + dimension;
    std::for_each(pose.logScale.begin(), end, [&sum](double s) { sum += s; });
    std::fill(pose.logScale.begin(), end, sum / static_cast<double>(dimension));
  }
  return pose;
}

Matrix3
MakeRotation(const Vector3 & v)
{
  const double angle = std::sqrt(Dot(v, v));
  // Rodrigues' formula; near angle 0, sin a/a and (1 - cos a)/a² are replaced by their series.
  const double a = angle > 1e-8 ? std::sin(angle) / angle : 1.0;
  const double b = angle > 1e-8 ? 2 * std::pow(std::sin(0.5 * angle) / angle, 2) : 0.5;
  const double c = 1.0 - b * angle * angle;
  return { c + b * v[0] * v[0],        b * v[0] * v[1] - a * v[2], b * v[0] * v[2] + a * v[1],
           b * v[1] * v[0] + a * v[2], c + b * v[1] * v[1],        b * v[1] * v[2] - a * v[0],
           b * v[2] * v[0] - a * v[1], b * v[2] * v[1] + a * v[0], c + b * v[2] * v[2] };
}

} // namespace gpureg
