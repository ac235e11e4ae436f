// SPDX-License-Identifier: Apache-2.0
#include "JacobianMap.h"

#include "Brightness.h"

#include <algorithm>
#include <cmath>

namespace example
{
namespace
{

/** Returns the determinant of the deformation's Jacobian, by central differences. */
double
GetDeterminant(const Transform * deformation, const Volume::PointType & point)
{
  constexpr double          step = 0.5; // mm
  itk::Matrix<double, 3, 3> jacobian;
  for (unsigned int d = 0; d < 3; ++d)
  {
    Volume::PointType before = point;
    Volume::PointType behind = point;
    before[d] -= step;
    behind[d] += step;
    const auto difference = deformation->TransformPoint(behind) - deformation->TransformPoint(before);
    for (unsigned int r = 0; r < 3; ++r)
    {
      jacobian(r, d) = difference[r] / (2.0 * step);
    }
  }
  return vnl_determinant(jacobian.GetVnlMatrix());
}

/** Returns a colour. \param fraction 0 for half the volume, 0.5 for the same, 1 for twice; clamped to [0, 1]. */
Colour
GetColour(double fraction)
{
  constexpr Colour blue{ 0.13, 0.35, 0.95 };
  constexpr Colour white{ 0.95, 0.95, 0.95 };
  constexpr Colour red{ 0.90, 0.20, 0.10 };
  const double     bounded = std::min(1.0, std::max(0.0, fraction));
  return bounded < 0.5 ? Mix(blue, white, 2.0 * bounded) : Mix(white, red, 2.0 * bounded - 1.0);
}

} // namespace

Painter
PaintJacobian(const Volume * fixed, const Transform * deformation)
{
  constexpr Colour black{ 0.0, 0.0, 0.0 };
  constexpr Colour folded{ 0.1, 1.0, 0.1 };
  return
    [=, brightness = Brightness(fixed), map = Transform::ConstPointer(deformation)](const Volume::PointType & point,
                                                                                    const Plane &) {
      const double determinant = GetDeterminant(map, point);
      if (determinant <= 0)
      {
        return folded;
      }
      return Mix(black, GetColour(0.5 + 0.5 * std::log2(determinant)), 0.4 + 0.6 * brightness.At(point));
    };
}

ColourScale
JacobianScale()
{
  return { { "0.5", "0.7", "1", "1.4", "2" }, GetColour };
}

} // namespace example
