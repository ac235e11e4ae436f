// SPDX-License-Identifier: Apache-2.0
#ifndef PictureText_h
#define PictureText_h

#include "itkImage.h"
#include "itkRGBPixel.h"

#include <string>

namespace example
{

using Picture = itk::Image<itk::RGBPixel<unsigned char>, 2>;

/** Writes capital letters, digits, full stops and hyphens into a picture, in white, seven dots high, with their upper left corner at (x,
 *  y).
 *  \param dot edge of a dot in pixels
 *  \throws std::invalid_argument for a character without a glyph */
void
DrawText(Picture * picture, const std::string & text, unsigned int x, unsigned int y, unsigned int dot);

/** Returns the width of a text in pixels. */
unsigned int
GetTextWidth(const std::string & text, unsigned int dot);

} // namespace example

#endif
