// SPDX-License-Identifier: Apache-2.0
// What a sample weighs near the edge of a moving image's buffer: for a device, and in double precision.
#ifndef itkGPUBorderWeight_h
#define itkGPUBorderWeight_h

#include "gpureg/metric/histogram/CorrelationRatioMetric.h"

#include "itkContinuousIndex.h"
#include "itkImageBase.h"

#include <algorithm>

namespace itk
{
namespace GPURegistrationDetail
{

/** Along each axis of the image 1 from so many mm inside of its edge on, and linearly less towards it; the product of these.
 *  The formula is src/kernels/metric/histogram/BorderWeight.h's. A distance of 0: 1 everywhere. */
template <unsigned int VDimension>
class BorderWeight
{
public:
  using ImageType = ImageBase<VDimension>;
  using PointType = typename ImageType::PointType;

  /** The image must outlive it. */
  BorderWeight(const ImageType & image, double distance)
    : m_Image(image)
    , m_Distance(distance)
  {}

  gpureg::BorderWeight
  MakeForDevice() const
  {
    gpureg::BorderWeight weight;
    const auto           clamp = [](double x) { return std::max(-1e18, std::min(1e18, x)); };
    for (unsigned int axis = 0; axis < VDimension && m_Distance > 0; ++axis)
    {
      // Where the ramps meet in the middle, their largest weight is made 1, so that fixed point loses nothing: the value is a
      // ratio of sums of weights, which a common factor leaves as it is.
      const double spacing = m_Image.GetSpacing()[axis];
      const double middle = 0.5 * spacing * static_cast<double>(m_Image.GetBufferedRegion().GetSize(axis));
      const double distance = std::min(m_Distance, middle);
      // Finite in float, and multiplied by an index.
      weight.perVoxel[axis] = clamp(spacing / distance);
      for (unsigned int d = 0; d < VDimension; ++d)
      {
        weight.perMillimetre[3 * axis + d] = clamp(m_Image.GetInverseDirection()[axis][d] / distance);
      }
    }
    return weight;
  }

  /** \param gradient of the weight, 1/mm: any vector of as many components. */
  template <typename TVector>
  double
  Evaluate(const PointType & point, TVector & gradient) const
  {
    double weights[VDimension];
    double slopes[VDimension];
    for (unsigned int axis = 0; axis < VDimension; ++axis)
    {
      weights[axis] = this->WeighAlongAxis(point, axis, slopes[axis]);
    }
    double product = 1.0;
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      gradient[d] = 0;
      product *= weights[d];
      for (unsigned int axis = 0; axis < VDimension; ++axis)
      {
        double others = slopes[axis] * this->GetSlope(axis, d);
        for (unsigned int other = 0; other < VDimension; ++other)
        {
          others *= other != axis ? weights[other] : 1.0;
        }
        gradient[d] += slopes[axis] != 0.0 ? others : 0.0;
      }
    }
    return product;
  }

private:
  /** ∂(an axis' weight behind its lower edge)/∂(a physical axis) */
  double
  GetSlope(unsigned int axis, unsigned int d) const
  {
    return m_Image.GetInverseDirection()[axis][d] / m_Distance;
  }

  /** slope: 1 behind the lower edge, -1 before the upper one, 0 where the weight is 1. */
  double
  WeighAlongAxis(const PointType & point, unsigned int axis, double & slope) const
  {
    const auto index = m_Image.template TransformPhysicalPointToContinuousIndex<double>(point);
    const auto region = m_Image.GetBufferedRegion();
    const auto behindLower = index[axis] - static_cast<double>(region.GetIndex(axis)) + 0.5;
    const auto beforeUpper = static_cast<double>(region.GetSize(axis)) - behindLower;
    const auto weight = std::min(behindLower, beforeUpper) * m_Image.GetSpacing()[axis] / m_Distance;
    slope = 0.0;
    if (!(m_Distance > 0) || weight >= 1.0)
    {
      return 1.0;
    }
    slope = behindLower <= beforeUpper ? 1.0 : -1.0;
    return weight;
  }

  const ImageType & m_Image;
  double            m_Distance;
};

} // namespace GPURegistrationDetail
} // namespace itk

#endif
