// SPDX-License-Identifier: Apache-2.0
#ifndef HeadPicture_h
#define HeadPicture_h

#include "Colour.h"
#include "Volume.h"

#include <functional>
#include <string>
#include <vector>

namespace example
{

/** A view from outside: the physical axes (0 to the left, 1 backwards, 2 upwards) that run to the right and down in the picture, and
 *  whether down is opposite to the axis. */
struct Plane
{
  const char * name;
  unsigned int across;
  unsigned int down;
  bool         isUpright;
};

/** Returns the colour of a physical point in a plane; called from several threads at once. */
using Painter = std::function<Colour(const Volume::PointType & point, const Plane & plane)>;

/** The meaning of colours. */
struct ColourScale
{
  /** At equal distances from the first colour to the last; empty for no scale. */
  std::vector<std::string> labels;
  /** Returns the colour of a fraction from 0 to 1. */
  std::function<Colour(double)> colour;
};

/** Three views of one object. */
struct PictureRow
{
  std::string title;
  Painter     painter;
  ColourScale scale;
};

/** Writes a PNG in which each row shows an axial, a coronal and a sagittal plane through a point, upright, with the front and the left
 *  side of the head as in radiology, with a title above and, if it has one, the scale of its colours below.
 *  \param grid the region to show
 *  \throws itk::ExceptionObject if it cannot be written */
void
WriteHeadPicture(const VolumeGrid *              grid,
                 const Volume::PointType &       point,
                 const std::vector<PictureRow> & rows,
                 const std::string &             fileName);

} // namespace example

#endif
