// SPDX-License-Identifier: Apache-2.0
// Two images of which the deformation between them is known, for the engine's diffeomorphic registration.
#ifndef KnownDeformation_h
#define KnownDeformation_h

#include "TestParallelFor.h"

#include "engine/core/Matrix3.h"

#include "gpureg/image/LoadedImage.h"
#include "gpureg/registration/diffeomorphic/DiffeomorphicRegistration.h"
#include "gpureg/transform/TransformChain.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

namespace gpuregtest
{

using Floats = std::vector<float>;
using Point = std::array<double, 3>;

/** An image's voxels, and where they lie. */
struct VoxelGrid
{
  int              dimension;
  gpureg::Size     size;
  gpureg::IndexMap toPoint;

  Point
  GetPoint(std::int64_t voxel) const
  {
    const Point index{ static_cast<double>(voxel % size[0]),
                       static_cast<double>(voxel / size[0] % size[1]),
                       static_cast<double>(voxel / size[0] / size[1]) };
    Point       point = toPoint.offset;
    for (std::size_t r = 0; r < 3; ++r)
    {
      for (std::size_t c = 0; c < 3; ++c)
      {
        point[r] += toPoint.matrix[3 * r + c] * index[c];
      }
    }
    return point;
  }
};

/** Returns a grid of odd size, anisotropic, oblique, and far from the origin. edge: of a voxel, mm, about. */
inline VoxelGrid
MakeGrid(int dimension, double edge)
{
  VoxelGrid                   grid;
  const std::array<double, 3> spacing{ edge, 1.25 * edge, dimension == 3 ? 1.5 * edge : 1.0 };
  const double                angle = 0.3;
  grid.dimension = dimension;
  grid.size = { 41, 37, dimension == 3 ? 29 : 1 };
  grid.toPoint.matrix = { spacing[0] * std::cos(angle),
                          -spacing[1] * std::sin(angle),
                          0,
                          spacing[0] * std::sin(angle),
                          spacing[1] * std::cos(angle),
                          0,
                          0,
                          0,
                          spacing[2] };
  grid.toPoint.offset = { 1000 * edge, -700 * edge, dimension == 3 ? 300 * edge : 0.0 };
  return grid;
}

/** A texture without edges, at a point in units of the grid's edge from its centre. */
inline double
GetTexture(const Point & p, int dimension)
{
  const double z = dimension == 3 ? p[2] : 0;
  const double inside = std::exp(-(p[0] * p[0] + p[1] * p[1] + z * z) / (2 * 14.0 * 14.0));
  return inside *
         (2 + std::sin(0.55 * p[0] + 0.2 * z) + std::sin(0.5 * p[1] - 0.25 * z) + std::cos(0.6 * z + 0.2 * p[0]));
}

/** Two images of one grid: moving(x + u(x)) = fixed(x), with u known. */
class Pair
{
public:
  Pair(const std::string & device, int dimension, double edge)
    : Pair(device, MakeGrid(dimension, edge), edge)
  {}

  /** \param edge of a voxel of the grid, mm, about */
  Pair(const std::string & device, const VoxelGrid & itsGrid, double edge)
    : grid(itsGrid)
    , m_Edge(edge)
    , m_Fixed(device)
    , m_Moving(device)
  {
    const int          dimension = grid.dimension;
    const std::int64_t count = gpureg::CountOf(grid.size);
    m_Centre = grid.GetPoint(count / 2);
    for (std::int64_t n = 0; n < count; ++n)
    {
      fixed.push_back(static_cast<float>(GetTexture(this->ToUnits(this->Move(grid.GetPoint(n))), dimension)));
      moving.push_back(static_cast<float>(GetTexture(this->ToUnits(grid.GetPoint(n)), dimension)));
    }
  }

  /** Returns x + u(x). */
  Point
  Move(Point p) const
  {
    const Point q = this->ToUnits(p);
    p[0] += 1.5 * m_Edge * std::sin(0.11 * q[1] + 0.4);
    p[1] += 1.2 * m_Edge * std::cos(0.12 * q[0]);
    p[2] += grid.dimension == 3 ? 1.0 * m_Edge * std::sin(0.1 * (q[0] + q[1])) : 0.0;
    return p;
  }

  gpureg::DiffeomorphicProblem
  Load()
  {
    gpureg::DiffeomorphicProblem problem;
    problem.dimension = grid.dimension;
    problem.initial.dimension = grid.dimension;
    problem.fixed = this->Load(m_Fixed, fixed);
    problem.moving = this->Load(m_Moving, moving);
    return problem;
  }

  double
  ComputeError(const Floats & field) const
  {
    return this->ComputeError(field, 0, gpureg::CountOf(grid.size));
  }

  /** Returns the mean distance in voxels between u and a field, where the texture is strong, over voxels begin to before end. */
  double
  ComputeError(const Floats & field, std::int64_t begin, std::int64_t end) const
  {
    double       sum = 0;
    std::int64_t voxels = 0;
    for (std::int64_t n = begin; n < end; ++n)
    {
      const Point p = grid.GetPoint(n);
      const Point q = this->ToUnits(p);
      const Point truth = this->Move(p);
      if (std::sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2]) < 14)
      {
        double squares = 0;
        for (std::size_t c = 0; c < static_cast<std::size_t>(grid.dimension); ++c)
        {
          squares += std::pow(truth[c] - p[c] - field[3 * static_cast<std::size_t>(n) + c], 2);
        }
        sum += std::sqrt(squares) / m_Edge;
        ++voxels;
      }
    }
    return sum / static_cast<double>(voxels);
  }

  VoxelGrid grid;
  Floats    fixed;
  Floats    moving;

private:
  Point
  ToUnits(const Point & p) const
  {
    return { (p[0] - m_Centre[0]) / m_Edge, (p[1] - m_Centre[1]) / m_Edge, (p[2] - m_Centre[2]) / m_Edge };
  }

  gpureg::RegisteredImage
  Load(gpureg::LoadedImage & loaded, const Floats & values)
  {
    loaded.Load({}, gpureg::Precision::Single, values.data(), static_cast<std::int64_t>(values.size()), OnThreads(2));
    gpureg::RegisteredImage image;
    image.image = &loaded;
    image.size = grid.size;
    image.indexToPoint = grid.toPoint;
    return image;
  }

  double              m_Edge;
  Point               m_Centre{};
  gpureg::LoadedImage m_Fixed;
  gpureg::LoadedImage m_Moving;
};

/** Returns a grid of displacements at the voxels of a grid and 8 around it.
 *  \param move gives the point that a point is moved to */
template <typename TMove>
gpureg::DisplacementGrid
SampleDisplacements(const VoxelGrid & grid, const TMove & move)
{
  constexpr int Margin = 8;
  VoxelGrid     wide = grid;
  for (std::size_t d = 0; d < static_cast<std::size_t>(grid.dimension); ++d)
  {
    wide.size[d] += 2 * Margin;
    for (std::size_t r = 0; r < 3; ++r)
    {
      wide.toPoint.offset[r] -= Margin * grid.toPoint.matrix[3 * r + d];
    }
  }
  gpureg::DisplacementGrid field;
  field.kind = gpureg::GridKind::Field;
  field.size = wide.size;
  field.toGrid.matrix = gpureg::Invert(wide.toPoint.matrix);
  field.toGrid.offset = gpureg::Multiply(field.toGrid.matrix, wide.toPoint.offset);
  for (double & offset : field.toGrid.offset)
  {
    offset = -offset;
  }
  field.vectors = [wide, move](std::int64_t first, std::int64_t count, double * out) {
    for (std::int64_t n = first; n < first + count; ++n)
    {
      const Point p = wide.GetPoint(n);
      const Point q = move(p);
      for (std::size_t c = 0; c < 3; ++c)
      {
        *out++ = q[c] - p[c];
      }
    }
  };
  return field;
}

inline Floats
TakeField(gpureg::DiffeomorphicRegistration & registration,
          std::int64_t                        voxels,
          gpureg::DeformationField            which = gpureg::DeformationField::Forward)
{
  Floats field(3 * static_cast<std::size_t>(voxels));
  registration.TakeDisplacements([&field](std::int64_t  first,
                                          std::int64_t  count,
                                          const float * in) { std::copy_n(in, 3 * count, field.begin() + 3 * first); },
                                 OnThreads(2),
                                 which);
  return field;
}

/** Returns the refined inverse of the last registration's deformation, and its errors. */
inline Floats
TakeInverse(gpureg::DiffeomorphicRegistration & registration, std::int64_t voxels, gpureg::InverseErrors & errors)
{
  Floats inverse(3 * static_cast<std::size_t>(voxels));
  errors =
    registration.TakeInverse([&inverse](std::int64_t  first,
                                        std::int64_t  count,
                                        const float * in) { std::copy_n(in, 3 * count, inverse.begin() + 3 * first); },
                             OnThreads(2));
  return inverse;
}

/** Mean errors of what is found in the slices that a mask leaves in, with the mask and without it. */
struct MaskErrors
{
  double masked;
  double unmasked;
};

/** Registers a pair of which one image has wrong values in its last slices, which a mask of that image leaves out. */
inline MaskErrors
ComputeMaskErrors(const std::string & device, const gpureg::DiffeomorphicSettings & settings, bool isFixed)
{
  const VoxelGrid    grid = MakeGrid(3, 1.0);
  const std::int64_t count = gpureg::CountOf(grid.size);
  const std::int64_t slice = std::int64_t{ grid.size[0] } * grid.size[1];
  Floats             mask(static_cast<std::size_t>(count), 1.0F);
  std::fill(mask.begin() + 20 * slice, mask.end(), 0.0F);
  gpureg::LoadedImage loaded(device);
  loaded.Load({}, gpureg::Precision::Single, mask.data(), count, OnThreads(2));
  Pair     pair(device, 3, 1.0);
  Floats & values = isFixed ? pair.fixed : pair.moving;
  for (std::int64_t n = 21 * slice; n < count; ++n)
  {
    values[static_cast<std::size_t>(n)] = static_cast<float>((n * 7919 % 1000) * 0.004);
  }
  const auto findError = [&](const gpureg::DeviceImage * itsMask) {
    auto problem = pair.Load();
    (isFixed ? problem.fixed : problem.moving).mask = itsMask;
    gpureg::DiffeomorphicRegistration registration(device);
    registration.Register(problem, settings, OnThreads(2));
    return pair.ComputeError(TakeField(registration, count), 16 * slice, 20 * slice);
  };
  return { findError(&loaded), findError(nullptr) };
}

/** Says whether a voxel is 5 voxels or more away from the grid's edge. */
inline bool
IsInner(const VoxelGrid & grid, std::int64_t voxel)
{
  bool isInner = true;
  for (std::size_t d = 0; d < static_cast<std::size_t>(grid.dimension); ++d, voxel /= grid.size[d - 1])
  {
    const auto index = static_cast<int>(voxel % grid.size[d]);
    isInner &= index >= 5 && index < grid.size[d] - 5;
  }
  return isInner;
}

/** Returns the mean and the largest length of w(y) + u(y + w(y)), in voxels, over the inner voxels of a grid. */
inline std::array<double, 2>
ComputeInverseErrors(const VoxelGrid & grid, const Floats & u, const Floats & w)
{
  const auto &          m = grid.toPoint.matrix;
  const double          determinant = m[0] * m[4] - m[1] * m[3];
  std::array<double, 2> errors{};
  std::int64_t          count = 0;
  const auto            toVoxels = [&](const std::array<double, 3> & p) {
    return Point{ (m[4] * p[0] - m[1] * p[1]) / determinant, (m[0] * p[1] - m[3] * p[0]) / determinant, p[2] / m[8] };
  };
  for (std::int64_t n = 0; n < gpureg::CountOf(grid.size); ++n)
  {
    const auto  v = 3 * static_cast<std::size_t>(n);
    const Point displaced = toVoxels({ w[v], w[v + 1], w[v + 2] });
    const int   index[3] = { static_cast<int>(n % grid.size[0]),
                             static_cast<int>(n / grid.size[0] % grid.size[1]),
                             static_cast<int>(n / grid.size[0] / grid.size[1]) };
    int         cell[3] = {};
    double      fraction[3] = {};
    bool        isInside = IsInner(grid, n);
    for (int d = 0; d < grid.dimension; ++d)
    {
      const double place = index[d] + displaced[static_cast<std::size_t>(d)];
      const int    length = grid.size[static_cast<std::size_t>(d)];
      isInside &= place >= 0 && place < length - 1;
      cell[d] = static_cast<int>(place);
      fraction[d] = place - cell[d];
    }
    if (!isInside)
    {
      continue;
    }
    std::array<double, 3> sum{ w[v], w[v + 1], w[v + 2] };
    for (int corner = 0; corner < 1 << grid.dimension; ++corner)
    {
      double       weight = 1;
      std::int64_t voxel = 0;
      for (int d = grid.dimension - 1; d >= 0; --d)
      {
        const int upper = corner >> d & 1;
        weight *= upper != 0 ? fraction[d] : 1 - fraction[d];
        voxel = voxel * grid.size[static_cast<std::size_t>(d)] + cell[d] + upper;
      }
      for (std::size_t c = 0; c < 3; ++c)
      {
        sum[c] += weight * u[3 * static_cast<std::size_t>(voxel) + c];
      }
    }
    const Point  error = toVoxels(sum);
    const double length = std::sqrt(error[0] * error[0] + error[1] * error[1] + error[2] * error[2]);
    errors[0] += length;
    errors[1] = std::max(errors[1], length);
    ++count;
  }
  errors[0] /= static_cast<double>(count);
  return errors;
}

} // namespace gpuregtest

#endif
