// SPDX-License-Identifier: Apache-2.0
// itk::BSplineTransform with a valid region that includes both ends even if a point on them was rounded outwards, as in this module. In ITK
// the upper end is inside, within four floating-point steps; at the lower end rounding decides.
#ifndef InclusiveSpline_h
#define InclusiveSpline_h

#include "itkBSplineTransform.h"

#include "itkMath.h"

#include <algorithm>

namespace gpuregtest
{

template <unsigned int VDimension, unsigned int VOrder>
class InclusiveSpline : public itk::BSplineTransform<double, VDimension, VOrder>
{
public:
  using Self = InclusiveSpline;
  using Superclass = itk::BSplineTransform<double, VDimension, VOrder>;
  using Pointer = itk::SmartPointer<Self>;
  itkNewMacro(Self);

  /** Returns a spline with the domain and the coefficients of another one. */
  static Pointer
  Make(const Superclass & spline)
  {
    const auto made = Self::New();
    made->SetFixedParameters(spline.GetFixedParameters());
    made->SetParametersByValue(spline.GetParameters());
    return made;
  }

protected:
  using ContinuousIndexType = typename Superclass::ContinuousIndexType;

  bool
  InsideValidRegion(ContinuousIndexType & index) const override
  {
    // In cells: much more than rounding errors of doubles, and much less than the distance of voxels.
    constexpr double near = 1e-6;
    const auto       size = this->GetCoefficientImages()[0]->GetLargestPossibleRegion().GetSize();
    for (unsigned int axis = 0; axis < VDimension; ++axis)
    {
      const double lower = 0.5 * (static_cast<double>(VOrder) - 1.0);
      const double upper = static_cast<double>(size[axis]) - 1.0 - lower;
      if (!(index[axis] > lower - near && index[axis] < upper + near))
      {
        return false;
      }
      // As in ITK, the upper end is evaluated just below it, since its weights are those of the cell before it.
      index[axis] = std::min(std::max(index[axis], lower), itk::Math::FloatAddULP(upper, -6));
    }
    return true;
  }
};

} // namespace gpuregtest

#endif
