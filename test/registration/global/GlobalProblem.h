// SPDX-License-Identifier: Apache-2.0
// Two images related by a known transform, for tests of the global search.
#ifndef gpuregtest_GlobalProblem_h
#define gpuregtest_GlobalProblem_h

#include "TestImages.h"
#include "VoxelMask.h"

#include "itkGlobalAffineRegistrationMethod.h"

#include "itkAffineTransform.h"
#include "itkImageRegionConstIteratorWithIndex.h"
#include "itkImageRegionIteratorWithIndex.h"
#include "itkRegionOfInterestImageFilter.h"

#include <cmath>
#include <cstddef>
#include <string>

namespace gpuregtest
{

template <unsigned int VDimension>
using GlobalMethodOf =
  itk::GlobalAffineRegistrationMethod<itk::Image<float, VDimension>, itk::Image<float, VDimension>>;

/** An object of 10 cm with bright and dark regions, which no rotation maps onto itself, on a dark background. */
template <unsigned int VDimension>
struct Phantom
{
  using VectorType = itk::Vector<double, VDimension>;

  /** Half axes of the ellipsoid, mm. */
  static constexpr double halfAxes[3] = { 48, 60, 43 };

  /** Returns the value at a point. \param p in mm from the centre. */
  double
  operator()(const VectorType & p) const
  {
    double r = 0;
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      r += p[d] * p[d] / (halfAxes[d] * halfAxes[d]);
    }
    const double edge = 1.0 / (1.0 + std::exp(8.0 * (std::sqrt(r) - 1.0)));
    double       sum = 60;
    for (const Blob & blob : blobs)
    {
      double square = 0;
      for (unsigned int d = 0; d < VDimension; ++d)
      {
        square += (p[d] - blob.centre[d]) * (p[d] - blob.centre[d]);
      }
      sum += blob.height * std::exp(-0.5 * square / (blob.sigma * blob.sigma));
    }
    return edge * sum;
  }

  struct Blob
  {
    double centre[3];
    double sigma;
    double height;
  };
  static constexpr Blob blobs[] = { { { 24, 12, 14 }, 13, 70 },   { { -22, 28, -10 }, 11, -45 },
                                    { { 4, -38, 10 }, 13, 60 },   { { -20, -14, 18 }, 10, 50 },
                                    { { 12, 26, -20 }, 10, -40 }, { { 8, 2, 24 }, 9, 45 } };
};

/** Returns the mean distance between an image's voxels mapped by two transforms, over voxels that are inside, mm. \param isInside called
 *  with a point and its value */
template <typename TImage, typename TOne, typename TOther, typename TIsInside>
double
ComputeMeanDistance(const TImage & image, const TOne & one, const TOther & other, const TIsInside & isInside)
{
  double      sum = 0;
  std::size_t count = 0;
  for (itk::ImageRegionConstIteratorWithIndex<TImage> it(&image, image.GetBufferedRegion()); !it.IsAtEnd(); ++it)
  {
    typename TImage::PointType point;
    image.TransformIndexToPhysicalPoint(it.GetIndex(), point);
    if (isInside(point, it.Get()))
    {
      sum += one.TransformPoint(point).EuclideanDistanceTo(other.TransformPoint(point));
      ++count;
    }
  }
  return sum / static_cast<double>(count);
}

/** Returns the mean distance for a phantom, which is where values are above 20. */
template <typename TImage, typename TOne, typename TOther>
double
ComputeMeanDistanceInPhantom(const TImage & image, const TOne & one, const TOther & other)
{
  return ComputeMeanDistance(image, one, other, [](const auto &, double value) { return value > 20; });
}

/** A phantom, and another image of it, moved by a transform. */
template <unsigned int VDimension>
struct GlobalProblem
{
  using ImageType = itk::Image<float, VDimension>;
  using MethodType = GlobalMethodOf<VDimension>;
  using PointType = typename ImageType::PointType;
  using VectorType = itk::Vector<double, VDimension>;
  using AffineType = itk::AffineTransform<double, VDimension>;
  using TransformType = itk::Transform<double, VDimension, VDimension>;

  enum class Contrast
  {
    Same,
    Another
  };

  /** \param degreesOfFreedom of the truth.
   *  \param angle about an axis that is parallel to none of the image's. */
  explicit GlobalProblem(unsigned int degreesOfFreedom, double angle, Contrast contrast = Contrast::Another)
    : truth(AffineType::New())
  {
    // Two voxels of each axis are joined to one at coarser levels, which keep 16: with 30 voxels a search takes six times as long.
    grid.size.Fill(VDimension == 3 ? 32 : 76);
    grid.size[1] += VDimension == 3 ? 3 : 6;
    grid.start.Fill(3);
    grid.start[0] = -5;
    grid.spacing.Fill(VDimension == 3 ? 4.8 : 2.0);
    grid.spacing[0] *= 0.95;
    grid.direction = MakeRotation<VDimension>(0.3);
    grid.SetCentre(PointType(VectorType(-70.0)));
    Grid<VDimension> movingGrid = grid;
    movingGrid.direction = MakeRotation<VDimension>(-0.2);
    movingGrid.size.Fill(VDimension == 3 ? 40 : 96);
    movingGrid.start.Fill(0);
    this->MakeTruth(degreesOfFreedom, angle);
    // The moved phantom stays in the image, but not in its middle.
    VectorType aside(12.0);
    aside[0] = -9;
    movingGrid.SetCentre(truth->TransformPoint(grid.GetCentre()) + aside);
    const Phantom<VDimension> phantom;
    const PointType           centre = grid.GetCentre();
    const auto                inverse = AffineType::New();
    truth->GetInverse(inverse);
    fixed = MakeImage<ImageType>(grid, [&](const PointType & p) { return phantom(p - centre); });
    moving = MakeImage<ImageType>(movingGrid, [&](const PointType & p) {
      const double v = phantom(inverse->TransformPoint(p) - centre);
      return contrast == Contrast::Same ? v : 900.0 + 8.0 * v * std::exp(-v / 70.0);
    });
  }

  typename MethodType::Pointer
  MakeMethod(const std::string & device) const
  {
    const auto method = MethodType::New();
    method->SetDevice(itk::GPUDevice::FromName(device));
    method->SetFixedImage(fixed);
    method->SetMovingImage(moving);
    return method;
  }

  /** Returns the mean distance from the truth in the phantom, mm. */
  double
  GetError(const TransformType & transform) const
  {
    return ComputeMeanDistanceInPhantom(*fixed, transform, *truth);
  }

  Grid<VDimension>             grid;
  typename AffineType::Pointer truth;
  typename ImageType::Pointer  fixed;
  typename ImageType::Pointer  moving;

private:
  void
  MakeTruth(unsigned int degreesOfFreedom, double angle)
  {
    using MatrixType = typename AffineType::MatrixType;
    const auto rotation = AffineType::New();
    if constexpr (VDimension == 3)
    {
      VectorType axis;
      axis[0] = 0.4;
      axis[1] = -0.7;
      axis[2] = 0.6;
      rotation->Rotate3D(axis, angle);
    }
    else
    {
      rotation->Rotate2D(angle);
    }
    MatrixType       stretch;
    constexpr double scales[3] = { 1.12, 0.93, 1.05 };
    constexpr double skews[3] = { 0.06, -0.05, 0.04 };
    stretch.SetIdentity();
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      stretch[d][d] = degreesOfFreedom == 6 ? 1.0 : degreesOfFreedom == 7 ? 1.1 : scales[d];
    }
    if (degreesOfFreedom == 12)
    {
      stretch[0][1] = skews[0];
      if constexpr (VDimension == 3)
      {
        stretch[0][2] = skews[1];
        stretch[1][2] = skews[2];
      }
    }
    const MatrixType axes(grid.direction);
    truth->SetCenter(grid.GetCentre());
    truth->SetMatrix(rotation->GetMatrix() * axes * stretch * MatrixType(axes.GetTranspose()));
    VectorType shift(-25.0);
    shift[1] = 40;
    truth->SetTranslation(shift);
  }
};

/** Returns a part of the phantom, with another centre of mass. */
inline itk::Image<float, 2>::Pointer
CutOutPart(const itk::Image<float, 2> & image)
{
  auto region = image.GetBufferedRegion();
  region.SetIndex(0, region.GetIndex(0) + 30);
  region.SetSize(0, region.GetSize(0) - 66);
  const auto cutting = itk::RegionOfInterestImageFilter<itk::Image<float, 2>, itk::Image<float, 2>>::New();
  cutting->SetInput(&image);
  cutting->SetRegionOfInterest(region);
  cutting->Update();
  return cutting->GetOutput();
}

} // namespace gpuregtest

#endif
