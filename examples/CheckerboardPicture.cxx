// SPDX-License-Identifier: Apache-2.0
#include "CheckerboardPicture.h"

#include "PictureText.h"

#include "itkImageFileWriter.h"
#include "itkLinearInterpolateImageFunction.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

namespace example
{
namespace
{

constexpr double       pixelEdge = 0.5;   // mm
constexpr double       squareEdge = 25.0; // mm
constexpr unsigned int margin = 14;       // pixels
constexpr unsigned int heading = 36;
constexpr unsigned int dot = 2; // of the letters, in pixels

/** A view from outside: the physical axes (0 to the left, 1 backwards, 2 upwards) that run to the right and down in the
 * picture, and whether down is against the axis. */
struct Plane
{
  const char * name;
  unsigned int across;
  unsigned int down;
  bool         isUpright;
};
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
GetBox(const Volume * image)
{
  const auto & size = image->GetLargestPossibleRegion().GetSize();
  Box          box;
  box.lower.Fill(itk::NumericTraits<double>::max());
  box.upper.Fill(itk::NumericTraits<double>::NonpositiveMin());
  for (unsigned int corner = 0; corner < 8; ++corner)
  {
    auto index = image->GetLargestPossibleRegion().GetIndex();
    for (unsigned int d = 0; d < 3; ++d)
    {
      index[d] += ((corner >> d) & 1) * static_cast<itk::IndexValueType>(size[d] - 1);
    }
    const auto point = image->TransformIndexToPhysicalPoint<double>(index);
    for (unsigned int d = 0; d < 3; ++d)
    {
      box.lower[d] = std::min(box.lower[d], point[d]);
      box.upper[d] = std::max(box.upper[d], point[d]);
    }
  }
  return box;
}

/** An image as brightness in [0, 1] at physical points: 0 is dark, and one voxel in a hundred is at 1. */
class Brightness
{
public:
  explicit Brightness(const Volume * image)
  {
    m_Values->SetInputImage(image);
    const auto         count = image->GetBufferedRegion().GetNumberOfPixels();
    const auto * const buffer = image->GetBufferPointer();
    std::vector<float> values(buffer, buffer + count);
    const auto nearBrightest = values.begin() + static_cast<std::ptrdiff_t>(0.99 * static_cast<double>(count - 1));
    std::nth_element(values.begin(), nearBrightest, values.end());
    m_Brightest = std::max(1e-6, static_cast<double>(*nearBrightest));
  }

  double
  At(const Volume::PointType & point) const
  {
    const double value = m_Values->IsInsideBuffer(point) ? m_Values->Evaluate(point) / m_Brightest : 0.0;
    return std::min(1.0, std::max(0.0, value));
  }

private:
  itk::LinearInterpolateImageFunction<Volume>::Pointer m_Values = itk::LinearInterpolateImageFunction<Volume>::New();
  double                                               m_Brightest;
};

Picture::PixelType
Tint(double brightness, const std::array<double, 3> & colour)
{
  Picture::PixelType pixel;
  for (unsigned int c = 0; c < 3; ++c)
  {
    pixel[c] = static_cast<unsigned char>(255.0 * brightness * colour[c] + 0.5);
  }
  return pixel;
}

/** One checkerboard, with its upper left corner at (left, top). */
void
DrawPlane(Picture *          picture,
          unsigned int       left,
          unsigned int       top,
          const Plane &      plane,
          const Box &        box,
          Volume::PointType  point,
          const Brightness & fixed,
          const Brightness & moving)
{
  constexpr std::array<double, 3> grey{ 1.0, 1.0, 1.0 };
  constexpr std::array<double, 3> warm{ 1.0, 0.84, 0.60 };
  for (unsigned int v = 0; v < box.GetPixels(plane.down); ++v)
  {
    const double down = (v + 0.5) * pixelEdge;
    point[plane.down] = plane.isUpright ? box.upper[plane.down] - down : box.lower[plane.down] + down;
    for (unsigned int u = 0; u < box.GetPixels(plane.across); ++u)
    {
      const double across = (u + 0.5) * pixelEdge;
      point[plane.across] = box.lower[plane.across] + across;
      const bool isFixed = (static_cast<int>(across / squareEdge) + static_cast<int>(down / squareEdge)) % 2 == 0;
      picture->SetPixel({ { left + u, top + v } },
                        isFixed ? Tint(fixed.At(point), grey) : Tint(moving.At(point), warm));
    }
  }
}

} // namespace

void
WriteCheckerboardPicture(const Volume *            fixed,
                         const Volume *            before,
                         const Volume *            after,
                         const Volume::PointType & point,
                         const std::string &       fileName)
{
  const Box    box = GetBox(fixed);
  unsigned int width = margin;
  unsigned int rowHeight = 0;
  for (const auto & plane : planes)
  {
    width += box.GetPixels(plane.across) + margin;
    rowHeight = std::max(rowHeight, box.GetPixels(plane.down));
  }
  const auto          picture = Picture::New();
  Picture::RegionType region;
  region.SetSize({ { width, 2 * (heading + rowHeight) + margin } });
  picture->SetRegions(region);
  picture->Allocate();
  picture->FillBuffer(Tint(0.16, { 1.0, 1.0, 1.0 }));

  const Brightness                                             fixedBrightness(fixed);
  const std::array<std::pair<const char *, const Volume *>, 2> rows{ { { "BEFORE", before }, { "AFTER", after } } };
  for (unsigned int row = 0; row < rows.size(); ++row)
  {
    const Brightness   movingBrightness(rows[row].second);
    const unsigned int top = row * (heading + rowHeight) + heading;
    unsigned int       left = margin;
    for (const auto & plane : planes)
    {
      DrawText(picture, std::string(rows[row].first) + "  " + plane.name, left, top - heading + margin, dot);
      DrawPlane(picture, left, top, plane, box, point, fixedBrightness, movingBrightness);
      left += box.GetPixels(plane.across) + margin;
    }
  }

  const auto writer = itk::ImageFileWriter<Picture>::New();
  writer->SetFileName(fileName);
  writer->SetInput(picture);
  writer->Update();
}

} // namespace example
