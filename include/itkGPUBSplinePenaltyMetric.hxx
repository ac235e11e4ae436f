// SPDX-License-Identifier: Apache-2.0
#ifndef itkGPUBSplinePenaltyMetric_hxx
#define itkGPUBSplinePenaltyMetric_hxx

#include "itkGPUBSplinePenaltyMetric.h"

#include "GPURegistrationDetail/core/itkGPUIsExactly.h"
#include "GPURegistrationDetail/metric/itkGPUMetricWorkUnits.h"
#include "GPURegistrationDetail/core/itkGPURegistrationGeometry.h"
#include "GPURegistrationDetail/registration/itkGPURegistrationMethod.h"
#include "GPURegistrationDetail/core/itkGPURegistrationThreads.h"
#include "GPURegistrationDetail/transform/itkGPUTransformChain.h"

#include "itkBSplineDeformableTransform.h"
#include "itkBSplineTransform.h"
#include "itkCompositeTransform.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace itk
{

template <typename TFixedImage, typename TMovingImage, typename TVirtualImage>
GPUBSplinePenaltyMetric<TFixedImage, TMovingImage, TVirtualImage>::GPUBSplinePenaltyMetric()
{
  GPURegistrationDetail::MakeWorkUnits(this->m_DenseGetValueAndDerivativeThreader,
                                       this->m_SparseGetValueAndDerivativeThreader);
}

template <typename TFixedImage, typename TMovingImage, typename TVirtualImage>
void
GPUBSplinePenaltyMetric<TFixedImage, TMovingImage, TVirtualImage>::Initialize()
{
  this->GetSpline();
  this->MakePenalties();
  // The direct parent's Initialize() does nothing else that concerns a penalty: it is about images.
  Superclass::Superclass::Initialize();
}

/** Returns the moving transform, or, for a composite, the one transform that it optimises.
 * \throws GPUBadInputError if there is no transform, or the composite optimises none or several. */
template <typename TFixedImage, typename TMovingImage, typename TVirtualImage>
auto
GPUBSplinePenaltyMetric<TFixedImage, TMovingImage, TVirtualImage>::FindOptimized() const -> const MovingTransformType *
{
  using CompositeType = CompositeTransform<double, ImageDimension>;
  const MovingTransformType * transform = this->m_MovingTransform;
  while (const auto * const composite = dynamic_cast<const CompositeType *>(transform))
  {
    SizeValueType count = 0;
    for (SizeValueType n = 0; n < composite->GetNumberOfTransforms(); ++n)
    {
      if (composite->GetNthTransformToOptimize(n))
      {
        transform = composite->GetNthTransformConstPointer(n);
        ++count;
      }
    }
    if (count != 1)
    {
      GPURegistrationDetail::ThrowBadInput(
        *this,
        "The composite transform optimises ",
        count,
        " of its transforms. Have it optimise one, a cubic B-spline, for instance with "
        "SetOnlyMostRecentTransformToOptimizeOn().");
    }
  }
  if (transform == nullptr)
  {
    GPURegistrationDetail::ThrowBadInput(*this, "There is no moving transform. Set a cubic B-spline.");
  }
  return transform;
}

template <typename TFixedImage, typename TMovingImage, typename TVirtualImage>
auto
GPUBSplinePenaltyMetric<TFixedImage, TMovingImage, TVirtualImage>::GetSpline() const -> Spline
{
  using GPURegistrationDetail::IsExactly;
  using GPURegistrationDetail::ThrowBadInput;
  using SplineType = BSplineTransform<double, ImageDimension, 3>;
  using DeformableType = BSplineDeformableTransform<double, ImageDimension, 3>;
  const MovingTransformType * const transform = this->FindOptimized();
  typename SplineType::ImagePointer image;
  if (IsExactly<SplineType>(transform))
  {
    image = static_cast<const SplineType &>(*transform).GetCoefficientImages()[0];
  }
  else if (IsExactly<DeformableType>(transform))
  {
    const auto & deformable = static_cast<const DeformableType &>(*transform);
    const auto   bulk = deformable.GetBulkTransform();
    if (bulk && !IsExactly<IdentityTransform<double, ImageDimension>>(bulk))
    {
      ThrowBadInput(*this,
                    "The BSplineDeformableTransform has a bulk transform, a ",
                    bulk->GetNameOfClass(),
                    ", which no penalty counts. Put it into a composite, behind the spline.");
    }
    image = deformable.GetCoefficientImages()[0];
  }
  else
  {
    ThrowBadInput(*this,
                  "The optimised transform is a ",
                  transform->GetNameOfClass(),
                  ", and no itk::BSplineTransform or itk::BSplineDeformableTransform of order 3, whose penalties these "
                  "are. Set one as the moving transform, or as what a composite optimises.");
  }
  Spline spline{ transform, {} };
  GPURegistrationDetail::CallEngine(*this, [&] {
    spline.grid.size = GPURegistrationGeometry::SizeOf(image->GetLargestPossibleRegion().GetSize());
  });
  spline.grid.dimension = static_cast<int>(ImageDimension);
  spline.grid.indexToPhysical =
    GPURegistrationGeometry::GetIndexToPointMap<ImageDimension>(*image, image->GetLargestPossibleRegion()).matrix;
  return spline;
}

template <typename TFixedImage, typename TMovingImage, typename TVirtualImage>
std::vector<gpureg::WeightedPenalty>
GPUBSplinePenaltyMetric<TFixedImage, TMovingImage, TVirtualImage>::MakePenalties() const
{
  std::vector<gpureg::WeightedPenalty> penalties;
  const auto                           add = [&](gpureg::PenaltyKind kind, double weight) {
    if (!(weight >= 0.0 && weight <= NumericTraits<double>::max()))
    {
      GPURegistrationDetail::ThrowBadInput(*this, "The weight of a penalty is ", weight, ". Set 0 or above.");
    }
    if (weight > 0.0)
    {
      penalties.push_back({ kind, weight });
    }
  };
  add(gpureg::PenaltyKind::BendingEnergy, m_BendingEnergyWeight);
  add(gpureg::PenaltyKind::LinearEnergy, m_LinearEnergyWeight);
  add(gpureg::PenaltyKind::Jacobian, m_JacobianPenaltyWeight);
  if (penalties.empty())
  {
    GPURegistrationDetail::ThrowBadInput(*this, "The weights of all penalties are 0. Set one above.");
  }
  return penalties;
}

template <typename TFixedImage, typename TMovingImage, typename TVirtualImage>
void
GPUBSplinePenaltyMetric<TFixedImage, TMovingImage, TVirtualImage>::GetValueAndDerivativeExecute() const
{
  const Spline spline = this->GetSpline();
  const auto   penalties = this->MakePenalties();
  const auto & parameters = spline.transform->GetParameters();
  const auto   count = static_cast<std::size_t>(gpureg::CountOf(spline.grid.size));
  const auto   parallelFor = GPURegistrationDetail::MakeParallelFor(this->GetMaximumNumberOfWorkUnits());
  GPURegistrationDetail::CallEngine(*this, [&] {
    std::vector<std::array<double, 3>> points(count);
    for (std::size_t n = 0; n < count; ++n)
    {
      for (unsigned int d = 0; d < ImageDimension; ++d)
      {
        points[n][d] = parameters[d * count + n];
      }
    }
    GPURegistrationDetail::ReserveEngine(m_Engine, m_Use.GetDevice().GetName());
    m_Engine->SetTiming(m_Use.GetMeasuresKernelTime());
    const gpureg::PenaltyResult result = this->GetComputeDerivative()
                                           ? m_Engine->Evaluate(spline.grid, penalties, points, parallelFor)
                                           : m_Engine->ComputeValues(spline.grid, penalties, points, parallelFor);
    this->m_Value = 0;
    for (std::size_t n = 0; n < penalties.size(); ++n)
    {
      this->m_Value += penalties[n].weight * result.values[n].value;
    }
    this->StoreDerivative(result);
  });
  this->m_NumberOfValidPoints = 1;
  for (unsigned int d = 0; d < ImageDimension; ++d)
  {
    this->m_NumberOfValidPoints *= static_cast<SizeValueType>(spline.grid.size[d] - 2);
  }
}

/** Stores the negative gradient in the order of the transform's parameters: all control points' x, then all y, and so on. Stores nothing
 * if no derivative was requested. */
template <typename TFixedImage, typename TMovingImage, typename TVirtualImage>
void
GPUBSplinePenaltyMetric<TFixedImage, TMovingImage, TVirtualImage>::StoreDerivative(
  const gpureg::PenaltyResult & result) const
{
  const std::size_t count = result.gradient.size();
  for (std::size_t n = 0; n < count; ++n)
  {
    for (unsigned int d = 0; d < ImageDimension; ++d)
    {
      (*this->m_DerivativeResult)[d * count + n] = -result.gradient[n][d];
    }
  }
}

template <typename TFixedImage, typename TMovingImage, typename TVirtualImage>
void
GPUBSplinePenaltyMetric<TFixedImage, TMovingImage, TVirtualImage>::PrintSelf(std::ostream & os, Indent indent) const
{
  Superclass::PrintSelf(os, indent);
  m_Use.Print(os, indent);
  os << indent << "BendingEnergyWeight: " << m_BendingEnergyWeight << std::endl;
  os << indent << "LinearEnergyWeight: " << m_LinearEnergyWeight << std::endl;
  os << indent << "JacobianPenaltyWeight: " << m_JacobianPenaltyWeight << std::endl;
}

} // namespace itk

#endif
