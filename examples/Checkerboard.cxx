// SPDX-License-Identifier: Apache-2.0
#include "Checkerboard.h"

#include "Brightness.h"

#include <cmath>

namespace example
{

Painter
PaintCheckerboard(const Volume * fixed, const Volume * moving)
{
  constexpr double squareEdge = 25.0; // mm
  constexpr Colour black{ 0.0, 0.0, 0.0 };
  constexpr Colour grey{ 1.0, 1.0, 1.0 };
  constexpr Colour warm{ 1.0, 0.84, 0.60 };
  return
    [=, fixedBrightness = Brightness(fixed), movingBrightness = Brightness(moving)](const Volume::PointType & point,
                                                                                    const Plane &             plane) {
      const double across = std::floor(point[plane.across] / squareEdge);
      const double down = std::floor(point[plane.down] / squareEdge);
      const bool   isFixed = std::fmod(across + down, 2.0) == 0.0;
      return isFixed ? Mix(black, grey, fixedBrightness.At(point)) : Mix(black, warm, movingBrightness.At(point));
    };
}

} // namespace example
