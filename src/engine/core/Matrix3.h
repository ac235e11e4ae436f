// SPDX-License-Identifier: Apache-2.0
// 3 × 3 matrices, stored row by row, in double precision.
#ifndef gpureg_Matrix3_h
#define gpureg_Matrix3_h

#include "gpureg/core/Error.h"
#include "gpureg/core/Geometry.h"

#include <array>
#include <cstddef>

namespace gpureg
{

using Matrix3 = std::array<double, 9>;
using Vector3 = std::array<double, 3>;

inline Vector3
Multiply(const Matrix3 & m, const Vector3 & v)
{
  return { m[0] * v[0] + m[1] * v[1] + m[2] * v[2],
           m[3] * v[0] + m[4] * v[1] + m[5] * v[2],
           m[6] * v[0] + m[7] * v[1] + m[8] * v[2] };
}

inline Matrix3
Multiply(const Matrix3 & a, const Matrix3 & b)
{
  Matrix3 product{};
  for (std::size_t r = 0; r < 3; ++r)
  {
    for (std::size_t c = 0; c < 3; ++c)
    {
      product[3 * r + c] = a[3 * r] * b[c] + a[3 * r + 1] * b[3 + c] + a[3 * r + 2] * b[6 + c];
    }
  }
  return product;
}

inline Matrix3
Transpose(const Matrix3 & m)
{
  return { m[0], m[3], m[6], m[1], m[4], m[7], m[2], m[5], m[8] };
}

inline double
ComputeDeterminant(const Matrix3 & m)
{
  return m[0] * (m[4] * m[8] - m[5] * m[7]) - m[1] * (m[3] * m[8] - m[5] * m[6]) + m[2] * (m[3] * m[7] - m[4] * m[6]);
}

/** Returns the trace of aᵀb. For rotations a and b, that is 1 + 2 cos of the angle between them. */
inline double
TraceOfProduct(const Matrix3 & a, const Matrix3 & b)
{
  double trace = 0;
  for (std::size_t i = 0; i < 9; ++i)
  {
    trace += a[i] * b[i];
  }
  return trace;
}

/** Returns the inverse of m, computed by cofactors. \throws BadInputError if m is singular. */
inline Matrix3
Invert(const Matrix3 & m)
{
  const Matrix3 cofactors{ m[4] * m[8] - m[5] * m[7], m[2] * m[7] - m[1] * m[8], m[1] * m[5] - m[2] * m[4],
                           m[5] * m[6] - m[3] * m[8], m[0] * m[8] - m[2] * m[6], m[2] * m[3] - m[0] * m[5],
                           m[3] * m[7] - m[4] * m[6], m[1] * m[6] - m[0] * m[7], m[0] * m[4] - m[1] * m[3] };
  const double  determinant = m[0] * cofactors[0] + m[1] * cofactors[3] + m[2] * cofactors[6];
  if (!(determinant < 0 || determinant > 0))
  {
    throw BadInputError(
      "a grid's directions are not linearly independent; give it a direction matrix that has an inverse");
  }
  Matrix3 inverse;
  for (std::size_t i = 0; i < 9; ++i)
  {
    inverse[i] = cofactors[i] / determinant;
  }
  return inverse;
}

/** Returns the inverse of a map. \throws BadInputError if its matrix is singular. */
inline IndexMap
InvertMap(const IndexMap & map)
{
  IndexMap inverse;
  inverse.matrix = Invert(map.matrix);
  for (std::size_t r = 0; r < 3; ++r)
  {
    inverse.offset[r] = -Multiply(inverse.matrix, map.offset)[r];
  }
  return inverse;
}

} // namespace gpureg

#endif
