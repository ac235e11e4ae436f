// SPDX-License-Identifier: Apache-2.0
// Draws a metric's samples again between its evaluations.
#ifndef itkGPURandomSamples_h
#define itkGPURandomSamples_h

#include "GPURegistrationDetail/core/itkGPUFinally.h"
#include "gpureg/metric/samples/RandomPosition.h"

#include "itkContinuousIndex.h"
#include "itkMacro.h"

#include <array>
#include <cstdint>

namespace itk
{
namespace GPURegistrationDetail
{

/** Makes a metric that has been initialised evaluate at random points, as long as an object of this class lives; its destructor gives
 *  the metric its own points back. ITK's metrics read their flag UseSampledPointSet and their virtual points at each evaluation, and
 *  everything else at Initialize(): for one, the range of fixed values of Mattes' metric remains that of the samples at Initialize().
 *  This module's metrics recognise points by their container, which each draw replaces.
 *  \tparam TMetric an ImageToImageMetricv4 of two or three dimensions. */
template <typename TMetric>
class RandomSamples
{
public:
  explicit RandomSamples(TMetric & metric)
    : m_Metric(metric)
    , m_UsesPoints(metric.GetUseSampledPointSet())
    , m_UsesVirtualPoints(metric.GetUseVirtualSampledPointSet())
    // The metric returns its points as const, but accepts only points that it may change.
    , m_Points(const_cast<PointSetType *>(metric.GetVirtualSampledPointSet()))
  {}
  ~RandomSamples()
  {
    Finally([this] { m_Metric.SetVirtualSampledPointSet(m_Points); });
    Finally([this] { m_Metric.SetUseVirtualSampledPointSet(m_UsesVirtualPoints); });
    Finally([this] { m_Metric.SetUseSampledPointSet(m_UsesPoints); });
  }
  RandomSamples(const RandomSamples &) = delete;
  RandomSamples &
  operator=(const RandomSamples &) = delete;

  /** Gives the metric count random points of its virtual domain, uniformly distributed inside its fixed mask, if it has one.
   *  \param count the number of points.
   *  \param key the key of the first draw; draws are numbered from there on, including those outside the mask.
   *  \throws ExceptionObject if hardly any point is inside the mask. */
  void
  Draw(SizeValueType count, gpureg::RandomKey key)
  {
    const auto &       region = m_Metric.GetVirtualRegion();
    std::array<int, 3> size{ 1, 1, 1 };
    for (unsigned int d = 0; d < Dimension; ++d)
    {
      size[d] = static_cast<int>(region.GetSize(d));
    }
    const auto container = PointSetType::PointsContainer::New();
    container->reserve(count);
    constexpr SizeValueType mostPerSample = 1000;
    for (SizeValueType drawn = 0; container->Size() < count; ++drawn, ++key.sample)
    {
      if (drawn == mostPerSample * count)
      {
        itkGenericExceptionMacro(
          "Only " << container->Size() << " of " << drawn
                  << " random points of the virtual domain are inside the fixed image's mask, too few to draw " << count
                  << " samples. Check where the mask lies.");
      }
      const auto                         position = gpureg::DrawPosition(key, size);
      ContinuousIndex<double, Dimension> index;
      for (unsigned int d = 0; d < Dimension; ++d)
      {
        index[d] = static_cast<double>(region.GetIndex(d)) + position[d];
      }
      typename PointSetType::PointType point;
      point.CastFrom(m_Metric.GetVirtualImage()->template TransformContinuousIndexToPhysicalPoint<double>(index));
      if (this->IsInsideMask(point))
      {
        container->push_back(point);
      }
    }
    const auto points = PointSetType::New();
    points->SetPoints(container);
    m_Metric.SetVirtualSampledPointSet(points);
    m_Metric.SetUseVirtualSampledPointSet(true);
    m_Metric.SetUseSampledPointSet(true);
  }

private:
  static constexpr unsigned int Dimension = TMetric::VirtualDimension;
  static_assert(Dimension == 2 || Dimension == 3, "RandomSamples: the virtual domain has 2 or 3 dimensions");

  using PointSetType = typename TMetric::VirtualPointSetType;

  /** Returns true if the fixed mask contains a point, as the metric will map it. */
  bool
  IsInsideMask(const typename PointSetType::PointType & point) const
  {
    const auto * const mask = m_Metric.GetFixedImageMask();
    if (mask == nullptr)
    {
      return true;
    }
    typename TMetric::FixedTransformType::InputPointType virtualPoint;
    virtualPoint.CastFrom(point);
    typename TMetric::FixedImageMaskType::PointType fixedPoint;
    fixedPoint.CastFrom(m_Metric.GetFixedTransform()->TransformPoint(virtualPoint));
    return mask->IsInsideInWorldSpace(fixedPoint);
  }

  TMetric &                      m_Metric;
  const bool                     m_UsesPoints;
  const bool                     m_UsesVirtualPoints;
  typename PointSetType::Pointer m_Points;
};

} // namespace GPURegistrationDetail
} // namespace itk

#endif
