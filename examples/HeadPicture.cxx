// SPDX-License-Identifier: Apache-2.0
#include "HeadPicture.h"

#include "PictureText.h"

#include "itkImageFileWriter.h"
#include "itkImageRegionIteratorWithIndex.h"
#include "itkMultiThreaderBase.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace example
{
namespace
{

constexpr double       pixelEdge = 0.5; // mm
constexpr unsigned int margin = 14;     // pixels
constexpr unsigned int heading = 36;
constexpr unsigned int dot = 2; // size of a letter's dots in pixels
constexpr unsigned int scaleWidth = 360;
constexpr unsigned int scaleHeight = 14; // of the colours; the labels are below

constexpr std::array<Plane, 3> planes{
  { { "AXIAL", 0, 1, false }, { "CORONAL", 0, 2, true }, { "SAGITTAL", 1, 2, true } }
};

/** A box along the physical axes, in mm. */
struct Box
{
  Volume::PointType lower;
  Volume::PointType upper;

  unsigned int
  GetPixels(unsigned int axis) const
  {
    return static_cast<unsigned int>(std::ceil((upper[axis] - lower[axis]) / pixelEdge));
  }
};

Box
GetBox(const VolumeGrid * grid)
{
  const auto & size = grid->GetLargestPossibleRegion().GetSize();
  Box          box;
  box.lower.Fill(itk::NumericTraits<double>::max());
  box.upper.Fill(itk::NumericTraits<double>::NonpositiveMin());
  for (unsigned int corner = 0; corner < 8; ++corner)
  {
    auto index = grid->GetLargestPossibleRegion().GetIndex();
    for (unsigned int d = 0; d < 3; ++d)
    {
      index[d] += ((corner >> d) & 1) * static_cast<itk::IndexValueType>(size[d] - 1);
    }
    const auto point = grid->TransformIndexToPhysicalPoint<double>(index);
    for (unsigned int d = 0; d < 3; ++d)
    {
      box.lower[d] = std::min(box.lower[d], point[d]);
      box.upper[d] = std::max(box.upper[d], point[d]);
    }
  }
  return box;
}

/** Draws one view, with its upper left corner at (left, top). */
void
DrawPlane(Picture *                 picture,
          unsigned int              left,
          unsigned int              top,
          const Plane &             plane,
          const Box &               box,
          const Volume::PointType & point,
          const Painter &           painter)
{
  Picture::RegionType region;
  region.SetIndex({ { left, top } });
  region.SetSize({ { box.GetPixels(plane.across), box.GetPixels(plane.down) } });
  const auto draw = [&](const Picture::RegionType & part) {
    for (itk::ImageRegionIteratorWithIndex<Picture> pixel(picture, part); !pixel.IsAtEnd(); ++pixel)
    {
      const double across = (static_cast<double>(pixel.GetIndex()[0] - region.GetIndex(0)) + 0.5) * pixelEdge;
      const double down = (static_cast<double>(pixel.GetIndex()[1] - region.GetIndex(1)) + 0.5) * pixelEdge;
      auto         place = point;
      place[plane.across] = box.lower[plane.across] + across;
      place[plane.down] = plane.isUpright ? box.upper[plane.down] - down : box.lower[plane.down] + down;
      pixel.Set(MakePixel(painter(place, plane)));
    }
  };
  itk::MultiThreaderBase::New()->ParallelizeImageRegion<2>(region, draw, nullptr);
}

void
DrawScale(Picture * picture, unsigned int left, unsigned int top, const ColourScale & scale)
{
  for (unsigned int u = 0; u < scaleWidth; ++u)
  {
    const auto pixel = MakePixel(scale.colour(u / (scaleWidth - 1.0)));
    for (unsigned int v = 0; v < scaleHeight; ++v)
    {
      picture->SetPixel({ { left + u, top + v } }, pixel);
    }
  }
  const auto last = static_cast<unsigned int>(scale.labels.size()) - 1;
  for (unsigned int n = 0; n <= last; ++n)
  {
    // The first label is aligned left, the last one right, the others are centred.
    const unsigned int width = GetTextWidth(scale.labels[n], dot);
    const unsigned int place = left + n * scaleWidth / last - n * width / last;
    DrawText(picture, scale.labels[n], place, top + scaleHeight + margin / 2, dot);
  }
}

unsigned int
GetScaleHeight(const PictureRow & row)
{
  return row.scale.labels.empty() ? 0 : margin + scaleHeight + heading - margin;
}

} // namespace

void
WriteHeadPicture(const VolumeGrid *              grid,
                 const Volume::PointType &       point,
                 const std::vector<PictureRow> & rows,
                 const std::string &             fileName)
{
  const Box    box = GetBox(grid);
  unsigned int width = margin;
  unsigned int rowHeight = 0;
  for (const auto & plane : planes)
  {
    width += box.GetPixels(plane.across) + margin;
    rowHeight = std::max(rowHeight, box.GetPixels(plane.down));
  }
  unsigned int height = margin;
  for (const auto & row : rows)
  {
    height += heading + rowHeight + GetScaleHeight(row);
  }
  const auto          picture = Picture::New();
  Picture::RegionType region;
  region.SetSize({ { width, height } });
  picture->SetRegions(region);
  picture->Allocate();
  picture->FillBuffer(MakePixel({ 0.16, 0.16, 0.16 }));

  unsigned int top = 0;
  for (const auto & row : rows)
  {
    unsigned int left = margin;
    for (const auto & plane : planes)
    {
      DrawText(picture, row.title + "  " + plane.name, left, top + margin, dot);
      DrawPlane(picture, left, top + heading, plane, box, point, row.painter);
      left += box.GetPixels(plane.across) + margin;
    }
    top += heading + rowHeight;
    if (!row.scale.labels.empty())
    {
      DrawScale(picture, margin, top + margin, row.scale);
    }
    top += GetScaleHeight(row);
  }

  const auto writer = itk::ImageFileWriter<Picture>::New();
  writer->SetFileName(fileName);
  writer->SetInput(picture);
  writer->Update();
}

} // namespace example
