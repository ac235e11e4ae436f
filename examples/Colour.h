// SPDX-License-Identifier: Apache-2.0
#ifndef Colour_h
#define Colour_h

#include "PictureText.h"

#include <array>

namespace example
{

/** Red, green and blue, from 0 to 1. */
using Colour = std::array<double, 3>;

inline Picture::PixelType
MakePixel(const Colour & colour)
{
  Picture::PixelType pixel;
  for (unsigned int c = 0; c < 3; ++c)
  {
    pixel[c] = static_cast<unsigned char>(255.0 * colour[c] + 0.5);
  }
  return pixel;
}

/** Interpolates linearly between two colours, at fraction 0 and 1. */
inline Colour
Mix(const Colour & from, const Colour & to, double fraction)
{
  Colour mixed;
  for (unsigned int c = 0; c < 3; ++c)
  {
    mixed[c] = from[c] + fraction * (to[c] - from[c]);
  }
  return mixed;
}

} // namespace example

#endif
