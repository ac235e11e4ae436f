// SPDX-License-Identifier: Apache-2.0
// The penalties of a free-form deformation by their definition, in double precision.
#ifndef PenaltyDefinition_h
#define PenaltyDefinition_h

#include "gpureg/penalty/ControlPenalty.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <vector>

namespace gpuregtest
{
namespace penalties
{

using gpureg::PenaltyKind;
using Vector = std::array<double, 3>;
using Matrix = std::array<double, 9>;
using Points = std::vector<Vector>;

constexpr PenaltyKind Kinds[] = { PenaltyKind::BendingEnergy, PenaltyKind::LinearEnergy, PenaltyKind::Jacobian };

inline Matrix
Product(const Matrix & a, const Matrix & b)
{
  Matrix product{};
  for (int r = 0; r < 3; ++r)
  {
    for (int c = 0; c < 3; ++c)
    {
      for (int k = 0; k < 3; ++k)
      {
        product[3 * r + c] += a[3 * r + k] * b[3 * k + c];
      }
    }
  }
  return product;
}

inline Matrix
Transpose(const Matrix & m)
{
  return { m[0], m[3], m[6], m[1], m[4], m[7], m[2], m[5], m[8] };
}

/** Returns the determinant's derivatives by each element. */
inline Matrix
ComputeCofactors(const Matrix & m)
{
  return { m[4] * m[8] - m[5] * m[7], m[5] * m[6] - m[3] * m[8], m[3] * m[7] - m[4] * m[6],
           m[2] * m[7] - m[1] * m[8], m[0] * m[8] - m[2] * m[6], m[1] * m[6] - m[0] * m[7],
           m[1] * m[5] - m[2] * m[4], m[2] * m[3] - m[0] * m[5], m[0] * m[4] - m[1] * m[3] };
}

inline double
ComputeDeterminant(const Matrix & m)
{
  const Matrix cofactors = ComputeCofactors(m);
  return m[0] * cofactors[0] + m[1] * cofactors[1] + m[2] * cofactors[2];
}

inline Matrix
Invert(const Matrix & m)
{
  Matrix       inverse = Transpose(ComputeCofactors(m));
  const double determinant = ComputeDeterminant(m);
  for (double & element : inverse)
  {
    element /= determinant;
  }
  return inverse;
}

/** Returns a derivative of the cubic B-spline, `offset` nodes from its centre. \param order of the derivative */
inline double
SplineAtNode(int order, int offset)
{
  if (order == 0)
  {
    return offset == 0 ? 4.0 / 6.0 : 1.0 / 6.0;
  }
  return order == 1 ? -0.5 * offset : (offset == 0 ? -2.0 : 1.0);
}

/** Evaluates the penalties by their definition. */
class Definition
{
public:
  explicit Definition(const gpureg::ControlGrid & grid)
    : m_Grid(grid)
    , m_Dimension(grid.dimension)
  {
    Matrix m = grid.indexToPhysical;
    if (m_Dimension == 2)
    {
      m = { m[0], m[1], 0, m[3], m[4], 0, 0, 0, 1 };
    }
    m_ToIndex = Invert(m);
  }

  /** Returns the value, and computes the results whose pointers are not null: the gradient, the smallest determinant, and the error of
   *  the value if determinants are computed in floats. */
  double
  Evaluate(PenaltyKind    kind,
           const Points & points,
           Points *       gradient,
           double *       smallest = nullptr,
           double *       rounding = nullptr) const
  {
    double               sum = 0;
    double               allRounding = 0;
    double               least = std::numeric_limits<double>::infinity();
    const int            margin = m_Dimension == 3 ? 1 : 0;
    const gpureg::Size & size = m_Grid.size;
    const double         nodes = (size[0] - 2.0) * (size[1] - 2.0) * (size[2] - 2.0 * margin);
    if (gradient)
    {
      gradient->assign(points.size(), {});
    }
    for (int z = margin; z < size[2] - margin; ++z)
    {
      for (int y = 1; y < size[1] - 1; ++y)
      {
        for (int x = 1; x < size[0] - 1; ++x)
        {
          double determinant = 1;
          double ofNode = 0;
          sum += kind == PenaltyKind::BendingEnergy
                   ? AddBending({ x, y, z }, points, nodes, gradient)
                   : AddFirst(kind, { x, y, z }, points, nodes, gradient, determinant, ofNode);
          least = std::min(least, determinant);
          allRounding += ofNode / nodes;
        }
      }
    }
    if (smallest)
    {
      *smallest = least;
    }
    if (rounding)
    {
      *rounding = allRounding;
    }
    return sum / nodes;
  }

private:
  /** Calls visit(control point, weight) for the derivative of the splines at a node, of these orders along each axis. */
  template <typename TVisit>
  void
  ForEachNeighbour(const std::array<int, 3> & node, const std::array<int, 3> & orders, const TVisit & visit) const
  {
    const int reach = m_Dimension == 3 ? 1 : 0;
    for (int k = -reach; k <= reach; ++k)
    {
      for (int j = -1; j <= 1; ++j)
      {
        for (int i = -1; i <= 1; ++i)
        {
          const double alongZ = reach == 1 ? SplineAtNode(orders[2], -k) : (orders[2] == 0 ? 1.0 : 0.0);
          const auto   place =
            static_cast<std::size_t>(((node[2] + k) * m_Grid.size[1] + node[1] + j) * m_Grid.size[0] + node[0] + i);
          visit(place, SplineAtNode(orders[0], -i) * SplineAtNode(orders[1], -j) * alongZ);
        }
      }
    }
  }

  Vector
  Differentiate(const std::array<int, 3> & node, const std::array<int, 3> & orders, const Points & points) const
  {
    Vector sum{};
    ForEachNeighbour(node, orders, [&](std::size_t place, double weight) {
      for (int r = 0; r < m_Dimension; ++r)
      {
        sum[r] += weight * points[place][r];
      }
    });
    return sum;
  }

  static std::array<int, 3>
  OrdersOf(int a, int b)
  {
    std::array<int, 3> orders{};
    ++orders[a];
    ++orders[b];
    return orders;
  }

  double
  AddBending(const std::array<int, 3> & node, const Points & points, double nodes, Points * gradient) const
  {
    std::array<Matrix, 3> curves{}; // of each component, in steps of the grid
    for (int a = 0; a < 3; ++a)
    {
      for (int b = 0; b < 3; ++b)
      {
        const Vector second = Differentiate(node, OrdersOf(a, b), points);
        for (int r = 0; r < 3; ++r)
        {
          curves[r][3 * a + b] = second[r];
        }
      }
    }
    double energy = 0;
    for (int r = 0; r < m_Dimension; ++r)
    {
      const Matrix physical = Product(Transpose(m_ToIndex), Product(curves[r], m_ToIndex));
      energy += std::inner_product(physical.begin(), physical.end(), physical.begin(), 0.0);
      const Matrix byCurves = Product(m_ToIndex, Product(physical, Transpose(m_ToIndex)));
      for (int n = 0; gradient && n < 9; ++n)
      {
        ForEachNeighbour(node, OrdersOf(n / 3, n % 3), [&](std::size_t place, double weight) {
          (*gradient)[place][r] += 2.0 / nodes * weight * byCurves[n];
        });
      }
    }
    return energy;
  }

  double
  AddFirst(PenaltyKind                kind,
           const std::array<int, 3> & node,
           const Points &             points,
           double                     nodes,
           Points *                   gradient,
           double &                   determinant,
           double &                   rounding) const
  {
    Matrix slopes{};
    for (int a = 0; a < 3; ++a)
    {
      std::array<int, 3> orders{};
      orders[a] = 1;
      const Vector first = Differentiate(node, orders, points);
      for (int r = 0; r < 3; ++r)
      {
        slopes[3 * r + a] = first[r];
      }
    }
    const Matrix physical = Product(slopes, m_ToIndex);
    Matrix       byPhysical{};
    double       energy = 0;
    if (kind == PenaltyKind::LinearEnergy)
    {
      for (int n = 0; n < 9; ++n)
      {
        const double strain = (physical[n] + physical[3 * (n % 3) + n / 3]) / 2.0;
        energy += strain * strain;
        byPhysical[n] = 2.0 * strain;
      }
    }
    else
    {
      constexpr double least = 0.01;
      Matrix           jacobian = physical;
      for (int r = 0; r < 3; ++r)
      {
        jacobian[4 * r] += 1.0;
      }
      determinant = ComputeDeterminant(jacobian);
      const double log = std::log(std::max(determinant, least));
      const double slope = 2.0 * log / std::max(determinant, least);
      // Products of up to three elements, each rounded, cancel in the determinant.
      const double length = std::sqrt(std::inner_product(physical.begin(), physical.end(), physical.begin(), 0.0));
      rounding = 5e-8 * std::abs(slope) * length * (1.0 + length) * (1.0 + length);
      energy = log * log + (determinant < least ? slope * (determinant - least) : 0.0);
      byPhysical = ComputeCofactors(jacobian);
      for (double & element : byPhysical)
      {
        element *= slope;
      }
    }
    const Matrix bySlopes = Product(byPhysical, Transpose(m_ToIndex));
    for (int a = 0; gradient && a < m_Dimension; ++a)
    {
      std::array<int, 3> orders{};
      orders[a] = 1;
      ForEachNeighbour(node, orders, [&](std::size_t place, double weight) {
        for (int r = 0; r < m_Dimension; ++r)
        {
          (*gradient)[place][r] += weight * bySlopes[3 * r + a] / nodes;
        }
      });
    }
    return energy;
  }

  gpureg::ControlGrid m_Grid;
  int                 m_Dimension;
  Matrix              m_ToIndex{};
};

inline double
Norm(const Points & vectors)
{
  double sum = 0;
  for (const Vector & v : vectors)
  {
    sum += v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
  }
  return std::sqrt(sum);
}

/** Returns the length of the difference, relative to the length of the second vector. */
inline double
ComputeDistance(const Points & a, const Points & b)
{
  Points difference = a;
  for (std::size_t n = 0; n < a.size(); ++n)
  {
    for (int r = 0; r < 3; ++r)
    {
      difference[n][r] -= b[n][r];
    }
  }
  return Norm(difference) / Norm(b);
}

} // namespace penalties
} // namespace gpuregtest

#endif
