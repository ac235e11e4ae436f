// SPDX-License-Identifier: Apache-2.0
// The images, masks and samples of a MetricSetUp.
#ifndef MetricSetUpImages_hxx
#define MetricSetUpImages_hxx

#include "MetricSetUp.h"

#include "itkBSplineInterpolateImageFunction.h"
#include "itkImageRegionConstIteratorWithIndex.h"
#include "itkNearestNeighborInterpolateImageFunction.h"

#include <algorithm>
#include <tuple>
#include <vector>

namespace gpuregtest
{

template <typename TPixel, unsigned int VDimension>
void
MetricSetUp<TPixel, VDimension>::MakeGrids()
{
  MakeFixedGrid();
  if (m_Case.many)
  {
    RefineFixedGrid();
  }
  MakeMovingGrid();
  MakeVirtualGrid();
}

template <typename TPixel, unsigned int VDimension>
void
MetricSetUp<TPixel, VDimension>::MakeFixedGrid()
{
  GridType & grid = m_FixedGrid;
  const bool threeD = VDimension == 3;
  grid.size.Fill(threeD ? 25 : 113);
  for (unsigned int d = 0; d < VDimension; ++d)
  {
    grid.origin[d] = Uniform(m_Random, -5.0, 5.0);
  }
  switch (m_Case.geometry)
  {
    case Geometry::Plain:
      grid.origin.Fill(0.0);
      break;
    case Geometry::Anisotropic:
    case Geometry::OtherVirtualDomain:
      for (unsigned int d = 0; d < VDimension; ++d)
      {
        grid.spacing[d] = 0.7 + 0.9 * d;
      }
      break;
    case Geometry::Oblique:
      grid.direction = MakeRotation<VDimension>(0.5);
      grid.spacing[0] = 1.6;
      break;
    case Geometry::StartIndex:
      for (unsigned int d = 0; d < VDimension; ++d)
      {
        grid.start[d] = d == 1 ? -9 : 7 + static_cast<int>(d);
      }
      break;
    case Geometry::FarOrigin:
      for (unsigned int d = 0; d < VDimension; ++d)
      {
        grid.origin[d] = d == 1 ? -1e4 : 1e4;
      }
      grid.spacing.Fill(0.8);
      break;
    case Geometry::OddSizes:
      grid.size[0] = threeD ? 37 : 151;
      grid.size[1] = threeD ? 23 : 83;
      grid.size[VDimension - 1] = threeD ? 17 : 83;
      break;
    case Geometry::OneSlice:
      grid.size.Fill(113);
      grid.size[0] = 119;
      grid.size[VDimension - 1] = threeD ? 1 : 113;
      grid.spacing[VDimension - 1] = 3.0;
      break;
  }
}

/** Replaces the fixed grid by one of the same extent with 35 000 or more voxels. */
template <typename TPixel, unsigned int VDimension>
void
MetricSetUp<TPixel, VDimension>::RefineFixedGrid()
{
  GridType &   grid = m_FixedGrid;
  const bool   isFlat = VDimension == 2 || m_Case.geometry == Geometry::OneSlice;
  const double factor = isFlat ? 1.75 : 1.5;
  for (unsigned int d = 0; d < VDimension; ++d)
  {
    if (grid.size[d] > 1)
    {
      grid.size[d] = static_cast<itk::SizeValueType>(factor * static_cast<double>(grid.size[d]));
      grid.spacing[d] /= factor;
    }
  }
}

/** Makes another grid around the same centre. */
template <typename TPixel, unsigned int VDimension>
void
MetricSetUp<TPixel, VDimension>::MakeMovingGrid()
{
  const GridType & grid = m_FixedGrid;
  m_MovingGrid = grid;
  for (unsigned int d = 0; d < VDimension; ++d)
  {
    if (grid.size[d] > 1)
    {
      m_MovingGrid.size[d] += 2 + d;
      m_MovingGrid.spacing[d] *= 0.93 - 0.05 * d;
    }
  }
  if (m_Case.geometry == Geometry::Oblique)
  {
    m_MovingGrid.direction = MakeRotation<VDimension>(-0.3);
  }
  if (m_Case.geometry == Geometry::StartIndex)
  {
    m_MovingGrid.start.Fill(-4);
  }
  m_MovingGrid.SetCentre(grid.GetCentre());
}

template <typename TPixel, unsigned int VDimension>
void
MetricSetUp<TPixel, VDimension>::MakeVirtualGrid()
{
  const GridType & grid = m_FixedGrid;
  m_VirtualGrid = grid;
  if (m_Case.geometry == Geometry::OtherVirtualDomain)
  {
    // Coarser, rotated, and extending beyond the fixed image.
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      m_VirtualGrid.size[d] = grid.size[d] - 1 - d;
      m_VirtualGrid.spacing[d] *= 1.13;
      m_VirtualGrid.start[d] = 3 - static_cast<int>(d);
    }
    m_VirtualGrid.direction = MakeRotation<VDimension>(0.1);
    m_VirtualGrid.SetCentre(grid.GetCentre());
  }
}

template <typename TPixel, unsigned int VDimension>
void
MetricSetUp<TPixel, VDimension>::MakeImages()
{
  std::tie(m_Fixed, m_Moving) = MakeImagePair<ImageType>(m_FixedGrid, m_MovingGrid, m_Random());
  if (m_Case.flatBackground)
  {
    // Half of the space is flat, with a soft border: a border as sharp as a voxel would turn the rounding of displacements, 5e-7 voxel,
    // into an error of 100 bins times that. The flat value is the smallest one; for splines, whose ripples would put those samples at the
    // very end of the range, where rounding decides, it is in the middle of the range.
    const SmoothFunction where(m_Random, 0.6 * m_FixedGrid.GetExtent(0), 1.5 * m_FixedGrid.GetExtent(0));
    const bool           inTheMiddle = m_Case.interpolation == Interpolation::BSpline;
    const auto           flatten = [&](ImageType & image, double least, double middle) {
      const double flat = inTheMiddle ? middle : least;
      for (itk::ImageRegionIteratorWithIndex<ImageType> it(&image, image.GetBufferedRegion()); !it.IsAtEnd(); ++it)
      {
        PointType point;
        image.TransformIndexToPhysicalPoint(it.GetIndex(), point);
        const double inside = std::min(1.0, std::max(0.0, 3.0 * where(point - m_FixedGrid.GetCentre())));
        it.Set(static_cast<TPixel>(inside > 0 ? flat + inside * (it.Get() - flat) : flat));
      }
    };
    flatten(*m_Fixed, 0.0, 101.3);
    flatten(*m_Moving, -45.0, 21.7);
  }
}

/** Returns a mask of a soft-edged blob, on a grid of its own, in a spatial object with a transform. */
template <typename TPixel, unsigned int VDimension>
auto
MetricSetUp<TPixel, VDimension>::MakeMask(const GridType & about) -> typename MaskType::Pointer
{
  GridType grid = about;
  for (unsigned int d = 0; d < VDimension; ++d)
  {
    grid.start[d] = static_cast<int>(d) - 2;
    if (about.size[d] > 1)
    {
      grid.size[d] += 3;
      grid.spacing[d] *= 0.87;
    }
  }
  if (m_Case.geometry != Geometry::OneSlice)
  {
    grid.direction = MakeRotation<VDimension>(Uniform(m_Random, -0.2, 0.2));
  }
  grid.SetCentre(about.GetCentre());
  const SmoothFunction shape(m_Random, 0.5 * about.GetExtent(0), 1.2 * about.GetExtent(0));
  const auto           image =
    MakeImage<MaskImageType>(grid, [&](const PointType & p) { return shape(p - about.GetCentre()) > -0.35 ? 3 : 0; });
  const auto mask = MaskType::New();
  mask->SetImage(image);
  const auto move = MaskType::TransformType::New();
  VectorType offset;
  offset.Fill(0.0);
  offset[0] = 0.31 * grid.spacing[0];
  move->SetOffset(offset);
  mask->SetObjectToParentTransform(move);
  mask->Update();
  return mask;
}

/** Makes random points in three of five voxels of the virtual domain. No voxel has two points: for a displacement field, ITK's Mattes
 *  metric would weigh all of them by the bins of the last one, which is no reference (ContractTest tests our result). */
template <typename TPixel, unsigned int VDimension>
void
MetricSetUp<TPixel, VDimension>::MakePoints()
{
  const typename ImageType::RegionType region(m_VirtualGrid.start, m_VirtualGrid.size);
  const auto                           voxels = ImageType::New();
  voxels->SetRegions(region);
  // ITK's neighborhood correlation sums the neighborhood of each point separately.
  const double share = m_Case.measure == Measure::NeighborhoodCorrelation ? 0.1 : 0.6;
  for (itk::SizeValueType n = 0; n < region.GetNumberOfPixels(); ++n)
  {
    if (Uniform(m_Random, 0.0, 1.0) > share)
    {
      continue;
    }
    const auto voxel = voxels->ComputeIndex(n);
    VectorType index;
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      index[d] = static_cast<double>(voxel[d] - m_VirtualGrid.start[d]) + Uniform(m_Random, -0.49, 0.49);
    }
    m_Points.push_back(RoundPoint(m_VirtualGrid.GetPoint(index)));
  }
}

/** Returns a point as ITK's point sets store it: in floats, which at 10^4 mm are exact to 0.5 µm. */
template <typename TPixel, unsigned int VDimension>
auto
MetricSetUp<TPixel, VDimension>::RoundPoint(const PointType & point) const -> PointType
{
  typename MetricType::VirtualPointSetType::PointType rounded;
  if (m_Case.sampling == Sampling::FixedPoints)
  {
    rounded.CastFrom(m_FixedTransform->TransformPoint(point));
    PointType fixedPoint;
    fixedPoint.CastFrom(rounded);
    rounded.CastFrom(m_FixedTransform->GetInverseTransform()->TransformPoint(fixedPoint));
  }
  else
  {
    rounded.CastFrom(point);
  }
  PointType result;
  result.CastFrom(rounded);
  return result;
}

template <typename TPixel, unsigned int VDimension>
template <typename TPointSet>
auto
MetricSetUp<TPixel, VDimension>::MakePointSet() const -> typename TPointSet::Pointer
{
  const auto set = TPointSet::New();
  for (std::size_t n = 0; n < m_Points.size(); ++n)
  {
    typename TPointSet::PointType point;
    const bool                    isFixed = m_Case.sampling == Sampling::FixedPoints;
    point.CastFrom(isFixed ? m_FixedTransform->TransformPoint(m_Points[n]) : m_Points[n]);
    set->SetPoint(n, point);
  }
  return set;
}

/** Returns the positions of the samples. */
template <typename TPixel, unsigned int VDimension>
auto
MetricSetUp<TPixel, VDimension>::GetVirtualPoints() const -> std::vector<PointType>
{
  return m_Case.sampling == Sampling::Dense ? GetVoxels() : m_Points;
}

/** Returns all positions that are evaluated, those of the voxels around a sample, too. */
template <typename TPixel, unsigned int VDimension>
auto
MetricSetUp<TPixel, VDimension>::GetLookedAtPoints() const -> std::vector<PointType>
{
  return m_Case.measure == Measure::NeighborhoodCorrelation ? GetVoxels() : GetVirtualPoints();
}

/** Returns the positions of the virtual grid's voxels. */
template <typename TPixel, unsigned int VDimension>
auto
MetricSetUp<TPixel, VDimension>::GetVoxels() const -> std::vector<PointType>
{
  const auto grid = ImageType::New();
  m_VirtualGrid.ApplyTo(*grid);
  std::vector<PointType> points(grid->GetLargestPossibleRegion().GetNumberOfPixels());
  for (std::size_t n = 0; n < points.size(); ++n)
  {
    grid->TransformIndexToPhysicalPoint(grid->ComputeIndex(n), points[n]);
  }
  return points;
}

template <typename TPixel, unsigned int VDimension>
auto
MetricSetUp<TPixel, VDimension>::MakeInterpolator() const -> typename InterpolatorType::Pointer
{
  switch (m_Case.interpolation)
  {
    case Interpolation::Nearest:
      return itk::NearestNeighborInterpolateImageFunction<ImageType, double>::New().GetPointer();
    case Interpolation::BSpline:
      return itk::BSplineInterpolateImageFunction<ImageType, double, double>::New().GetPointer();
    default:
      return itk::LinearInterpolateImageFunction<ImageType, double>::New().GetPointer();
  }
}

template <typename TPixel, unsigned int VDimension>
auto
MetricSetUp<TPixel, VDimension>::ComputeRanges(const ImageType & image, const MaskType * mask) -> Ranges
{
  Ranges ranges;
  for (itk::ImageRegionConstIteratorWithIndex<ImageType> it(&image, image.GetBufferedRegion()); !it.IsAtEnd(); ++it)
  {
    PointType point;
    image.TransformIndexToPhysicalPoint(it.GetIndex(), point);
    ranges.least = std::min<double>(ranges.least, it.Get());
    ranges.greatest = std::max<double>(ranges.greatest, it.Get());
    if (!mask || mask->IsInsideInWorldSpace(point))
    {
      ranges.low = std::min<double>(ranges.low, it.Get());
      ranges.high = std::max<double>(ranges.high, it.Get());
    }
  }
  return ranges;
}

} // namespace gpuregtest

#endif
