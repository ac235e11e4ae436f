// SPDX-License-Identifier: Apache-2.0
// Images from formulas, so that the tests need no data.
#ifndef TestImages_h
#define TestImages_h

#include "itkImageRegionIteratorWithIndex.h"
#include "itkMatrix.h"

#include <cmath>
#include <random>
#include <utility>
#include <vector>

namespace gpuregtest
{

constexpr double Pi = 3.14159265358979323846;

using Random = std::mt19937_64;

inline double
Uniform(Random & random, double low, double high)
{
  return std::uniform_real_distribution<double>(low, high)(random);
}

/** An image's geometry. */
template <unsigned int VDimension>
struct Grid
{
  using ImageType = itk::ImageBase<VDimension>;
  typename ImageType::SizeType      size;
  typename ImageType::IndexType     start;
  typename ImageType::SpacingType   spacing;
  typename ImageType::PointType     origin;
  typename ImageType::DirectionType direction;

  Grid()
  {
    size.Fill(16);
    start.Fill(0);
    spacing.Fill(1.0);
    origin.Fill(0.0);
    direction.SetIdentity();
  }

  /** Returns the length of an axis, mm. */
  double
  GetExtent(unsigned int axis) const
  {
    return spacing[axis] * static_cast<double>(size[axis]);
  }

  /** Returns the point of a continuous index that is relative to the first voxel. */
  typename ImageType::PointType
  GetPoint(const itk::Vector<double, VDimension> & index) const
  {
    itk::Vector<double, VDimension> step;
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      step[d] = spacing[d] * (index[d] + static_cast<double>(start[d]));
    }
    return origin + direction * step;
  }

  typename ImageType::PointType
  GetCentre() const
  {
    itk::Vector<double, VDimension> index;
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      index[d] = 0.5 * (static_cast<double>(size[d]) - 1.0);
    }
    return GetPoint(index);
  }

  /** Moves the origin so that the grid's centre is at this point. */
  void
  SetCentre(const typename ImageType::PointType & centre)
  {
    origin += centre - GetCentre();
  }

  void
  ApplyTo(ImageType & image) const
  {
    image.SetRegions(typename ImageType::RegionType(start, size));
    image.SetSpacing(spacing);
    image.SetOrigin(origin);
    image.SetDirection(direction);
  }
};

/** Returns a rotation about every axis. */
template <unsigned int VDimension>
itk::Matrix<double, VDimension, VDimension>
MakeRotation(double angle)
{
  itk::Matrix<double, VDimension, VDimension> rotation;
  rotation.SetIdentity();
  for (unsigned int a = 0; a < VDimension; ++a)
  {
    for (unsigned int b = a + 1; b < VDimension; ++b)
    {
      itk::Matrix<double, VDimension, VDimension> plane;
      plane.SetIdentity();
      const double turn = angle * (1.0 + 0.3 * a - 0.4 * b);
      plane[a][a] = plane[b][b] = std::cos(turn);
      plane[a][b] = -std::sin(turn);
      plane[b][a] = std::sin(turn);
      rotation = rotation * plane;
    }
  }
  return rotation;
}

/** A sum of cosines of random directions, phases and wavelengths, without equal voxels or flat regions. */
class SmoothFunction
{
public:
  /** \param shortest, longest wavelengths, mm. */
  SmoothFunction(Random & random, double shortest, double longest)
  {
    for (Wave & wave : m_Waves)
    {
      const double frequency = 2.0 * Pi / Uniform(random, shortest, longest);
      const double polar = Uniform(random, 0.25 * Pi, 0.75 * Pi);
      const double azimuth = Uniform(random, 0.0, 2.0 * Pi);
      wave.k[0] = frequency * std::sin(polar) * std::cos(azimuth);
      wave.k[1] = frequency * std::sin(polar) * std::sin(azimuth);
      wave.k[2] = frequency * std::cos(polar);
      wave.phase = Uniform(random, 0.0, 2.0 * Pi);
      wave.amplitude = Uniform(random, 0.5, 1.0);
    }
  }

  /** Returns a value that is roughly in [-1, 1]. */
  template <typename TVector>
  double
  operator()(const TVector & p) const
  {
    double sum = 0;
    for (const Wave & wave : m_Waves)
    {
      double angle = wave.phase;
      for (unsigned int d = 0; d < TVector::Dimension; ++d)
      {
        angle += wave.k[d] * p[d];
      }
      sum += wave.amplitude * std::cos(angle);
    }
    return sum / 3.0;
  }

private:
  struct Wave
  {
    double k[3];
    double phase;
    double amplitude;
  };
  std::vector<Wave> m_Waves = std::vector<Wave>(5);
};

/** Returns an image whose voxel at the physical point p is function(p). */
template <typename TImage, typename TFunction>
typename TImage::Pointer
MakeImage(const Grid<TImage::ImageDimension> & grid, const TFunction & function)
{
  const auto image = TImage::New();
  grid.ApplyTo(*image);
  image->Allocate();
  for (itk::ImageRegionIteratorWithIndex<TImage> it(image, image->GetBufferedRegion()); !it.IsAtEnd(); ++it)
  {
    typename TImage::PointType point;
    image->TransformIndexToPhysicalPoint(it.GetIndex(), point);
    it.Set(static_cast<typename TImage::PixelType>(function(point)));
  }
  return image;
}

/** Returns two images of the same objects, whose contrasts are not monotonic functions of each other. */
template <typename TImage>
std::pair<typename TImage::Pointer, typename TImage::Pointer>
MakeImagePair(const Grid<TImage::ImageDimension> & fixedGrid,
              const Grid<TImage::ImageDimension> & movingGrid,
              std::uint64_t                        seed)
{
  Random     random(seed);
  const auto centre = fixedGrid.GetCentre();
  double     extent = 0;
  for (unsigned int d = 0; d < TImage::ImageDimension; ++d)
  {
    extent = std::max(extent, fixedGrid.GetExtent(d));
  }
  const SmoothFunction shared(random, 0.35 * extent, extent);
  const SmoothFunction own(random, 0.3 * extent, 0.6 * extent);
  auto fixed = MakeImage<TImage>(fixedGrid, [&](const auto & p) { return 100.0 + 60.0 * shared(p - centre); });
  auto moving = MakeImage<TImage>(movingGrid, [&](const auto & p) {
    const double s = shared(p - centre);
    return 20.0 + 35.0 * std::sin(2.2 * s) + 4.0 * s * s + 5.0 * own(p - centre);
  });
  return { fixed, moving };
}

} // namespace gpuregtest

#endif
