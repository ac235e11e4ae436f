// SPDX-License-Identifier: Apache-2.0
#include "PictureText.h"

#include <array>
#include <map>
#include <stdexcept>

namespace example
{
namespace
{

constexpr unsigned int letterWidth = 5;
constexpr unsigned int letterHeight = 7;
constexpr unsigned int advance = letterWidth + 1;

/** Rows of dots from top to bottom, with the leftmost dot in bit 4. */
using Glyph = std::array<unsigned char, letterHeight>;

const std::map<char, Glyph> glyphs{
  { ' ', { 0, 0, 0, 0, 0, 0, 0 } },
  { '-', { 0b00000, 0b00000, 0b00000, 0b11111, 0b00000, 0b00000, 0b00000 } },
  { '.', { 0b00000, 0b00000, 0b00000, 0b00000, 0b00000, 0b01100, 0b01100 } },
  { '0', { 0b01110, 0b10001, 0b10011, 0b10101, 0b11001, 0b10001, 0b01110 } },
  { '1', { 0b00100, 0b01100, 0b00100, 0b00100, 0b00100, 0b00100, 0b01110 } },
  { '2', { 0b01110, 0b10001, 0b00001, 0b00110, 0b01000, 0b10000, 0b11111 } },
  { '4', { 0b00010, 0b00110, 0b01010, 0b10010, 0b11111, 0b00010, 0b00010 } },
  { '5', { 0b11111, 0b10000, 0b11110, 0b00001, 0b00001, 0b10001, 0b01110 } },
  { '7', { 0b11111, 0b00001, 0b00010, 0b00100, 0b01000, 0b01000, 0b01000 } },
  { 'A', { 0b01110, 0b10001, 0b10001, 0b11111, 0b10001, 0b10001, 0b10001 } },
  { 'B', { 0b11110, 0b10001, 0b10001, 0b11110, 0b10001, 0b10001, 0b11110 } },
  { 'C', { 0b01110, 0b10001, 0b10000, 0b10000, 0b10000, 0b10001, 0b01110 } },
  { 'D', { 0b11110, 0b10001, 0b10001, 0b10001, 0b10001, 0b10001, 0b11110 } },
  { 'E', { 0b11111, 0b10000, 0b10000, 0b11110, 0b10000, 0b10000, 0b11111 } },
  { 'F', { 0b11111, 0b10000, 0b10000, 0b11110, 0b10000, 0b10000, 0b10000 } },
  { 'G', { 0b01110, 0b10001, 0b10000, 0b10111, 0b10001, 0b10001, 0b01110 } },
  { 'I', { 0b01110, 0b00100, 0b00100, 0b00100, 0b00100, 0b00100, 0b01110 } },
  { 'J', { 0b00111, 0b00010, 0b00010, 0b00010, 0b00010, 0b10010, 0b01100 } },
  { 'L', { 0b10000, 0b10000, 0b10000, 0b10000, 0b10000, 0b10000, 0b11111 } },
  { 'M', { 0b10001, 0b11011, 0b10101, 0b10101, 0b10001, 0b10001, 0b10001 } },
  { 'N', { 0b10001, 0b11001, 0b10101, 0b10101, 0b10011, 0b10001, 0b10001 } },
  { 'O', { 0b01110, 0b10001, 0b10001, 0b10001, 0b10001, 0b10001, 0b01110 } },
  { 'R', { 0b11110, 0b10001, 0b10001, 0b11110, 0b10100, 0b10010, 0b10001 } },
  { 'S', { 0b01111, 0b10000, 0b10000, 0b01110, 0b00001, 0b00001, 0b11110 } },
  { 'T', { 0b11111, 0b00100, 0b00100, 0b00100, 0b00100, 0b00100, 0b00100 } },
  { 'X', { 0b10001, 0b10001, 0b01010, 0b00100, 0b01010, 0b10001, 0b10001 } },
};

} // namespace

void
DrawText(Picture * picture, const std::string & text, unsigned int x, unsigned int y, unsigned int dot)
{
  Picture::PixelType white;
  white.Fill(255);
  for (const char letter : text)
  {
    const auto glyph = glyphs.find(letter);
    if (glyph == glyphs.end())
    {
      throw std::invalid_argument(std::string("DrawText has no letter ") + letter);
    }
    for (unsigned int v = 0; v < letterHeight * dot; ++v)
    {
      for (unsigned int u = 0; u < letterWidth * dot; ++u)
      {
        if ((glyph->second[v / dot] >> (letterWidth - 1 - u / dot)) & 1)
        {
          picture->SetPixel({ { x + u, y + v } }, white);
        }
      }
    }
    x += advance * dot;
  }
}

unsigned int
GetTextWidth(const std::string & text, unsigned int dot)
{
  return static_cast<unsigned int>(text.size()) * advance * dot - (advance - letterWidth) * dot;
}

} // namespace example
