// SPDX-License-Identifier: Apache-2.0
// Weighs samples near the edge of a moving image's buffer: for a device, and in double precision on the host.
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

/** Computes the weight of samples near the edge of an image. Along each axis the weight is 1 from a distance of some mm inside the edge
 *  on, and falls linearly towards the edge; a sample's weight is the product over the axes. The formula is that of
 *  src/kernels/metric/histogram/BorderWeight.h. A distance of 0 gives a weight of 1 everywhere. */
template <unsigned int VDimension>
class BorderWeight
{
public:
  using ImageType = ImageBase<VDimension>;
  using PointType = typename ImageType::PointType;

  /** Makes the weight for an image, which must outlive this object, with a distance in mm. */
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
      // If the two ramps meet in the middle of an axis, they are scaled so that the largest weight is 1, which gives fixed-point sums
      // their full accuracy. The value is a ratio of sums of weights, and does not depend on a common factor.
      const double spacing = m_Image.GetSpacing()[axis];
      const double middle = 0.5 * spacing * static_cast<double>(m_Image.GetBufferedRegion().GetSize(axis));
      const double distance = std::min(m_Distance, middle);
      // The weight must be finite in float, also when multiplied by an index.
      weight.perVoxel[axis] = clamp(spacing / distance);
      for (unsigned int d = 0; d < VDimension; ++d)
      {
        weight.perMillimetre[3 * axis + d] = clamp(m_Image.GetInverseDirection()[axis][d] / distance);
      }
    }
    return weight;
  }

  /** Returns the weight at a point.
   * \param point the point.
   * \param gradient receives the gradient of the weight in 1/mm; any vector with as many components. */
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
  /** Returns ∂(weight of an axis, inside its lower edge)/∂(physical axis d). */
  double
  GetSlope(unsigned int axis, unsigned int d) const
  {
    return m_Image.GetInverseDirection()[axis][d] / m_Distance;
  }

  /** Returns the weight along one axis. Sets slope to 1 inside the lower edge, -1 inside the upper edge, and 0 where the weight is 1. */
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
