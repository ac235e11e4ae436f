// SPDX-License-Identifier: Apache-2.0
#ifndef itkGlobalAffineRegistrationMethod_hxx
#define itkGlobalAffineRegistrationMethod_hxx

#include "itkGlobalAffineRegistrationMethod.h"

#include "GPURegistrationDetail/registration/itkGPURegisteredImage.h"
#include "GPURegistrationDetail/registration/itkGPURegistrationMethod.h"
#include "GPURegistrationDetail/transform/itkGPUTransformChain.h"

#include "itkAffineTransform.h"
#include "itkEuler2DTransform.h"
#include "itkEuler3DTransform.h"
#include "itkMath.h"
#include "itkSimilarity2DTransform.h"
#include "itkSimilarity3DTransform.h"

#include <string>
#include <type_traits>

namespace itk
{

template <typename TFixedImage, typename TMovingImage>
const std::array<double, 2> &
GlobalAffineRegistrationMethod<TFixedImage, TMovingImage>::GetAngles(unsigned int axis) const
{
  if (axis >= m_SearchAngles.size())
  {
    GPURegistrationDetail::ThrowBadInput(*this, "There is no axis ", axis, " to turn about. Give 0, 1 or 2.");
  }
  return m_SearchAngles[axis];
}

template <typename TFixedImage, typename TMovingImage>
void
GlobalAffineRegistrationMethod<TFixedImage, TMovingImage>::SetSearchAngles(unsigned int axis, double from, double to)
{
  const std::array<double, 2> angles{ { from, to } };
  if (this->GetAngles(axis) != angles)
  {
    m_SearchAngles[axis] = angles;
    this->Modified();
  }
}

template <typename TFixedImage, typename TMovingImage>
void
GlobalAffineRegistrationMethod<TFixedImage, TMovingImage>::SetSearchAngles(double from, double to)
{
  for (unsigned int axis = 0; axis < m_SearchAngles.size(); ++axis)
  {
    this->SetSearchAngles(axis, from, to);
  }
}

template <typename TFixedImage, typename TMovingImage>
double
GlobalAffineRegistrationMethod<TFixedImage, TMovingImage>::GetSearchAngleFrom(unsigned int axis) const
{
  return this->GetAngles(axis)[0];
}

template <typename TFixedImage, typename TMovingImage>
double
GlobalAffineRegistrationMethod<TFixedImage, TMovingImage>::GetSearchAngleTo(unsigned int axis) const
{
  return this->GetAngles(axis)[1];
}

template <typename TFixedImage, typename TMovingImage>
const gpureg::GlobalStageResult &
GlobalAffineRegistrationMethod<TFixedImage, TMovingImage>::GetStage(unsigned int stage) const
{
  if (stage >= m_Result.stages.size())
  {
    GPURegistrationDetail::ThrowBadInput(
      *this, "The last search had ", m_Result.stages.size(), " stages, and none of number ", stage, ".");
  }
  return m_Result.stages[stage];
}

template <typename TFixedImage, typename TMovingImage>
std::string
GlobalAffineRegistrationMethod<TFixedImage, TMovingImage>::GetStageName(unsigned int stage) const
{
  return this->GetStage(stage).name;
}

template <typename TFixedImage, typename TMovingImage>
double
GlobalAffineRegistrationMethod<TFixedImage, TMovingImage>::GetStageSeconds(unsigned int stage) const
{
  return 1e-3 * this->GetStage(stage).milliseconds;
}

template <typename TFixedImage, typename TMovingImage>
double
GlobalAffineRegistrationMethod<TFixedImage, TMovingImage>::GetStageCost(unsigned int stage) const
{
  return this->GetStage(stage).cost;
}

template <typename TFixedImage, typename TMovingImage>
SizeValueType
GlobalAffineRegistrationMethod<TFixedImage, TMovingImage>::GetStageEvaluations(unsigned int stage) const
{
  return static_cast<SizeValueType>(this->GetStage(stage).values + this->GetStage(stage).derivatives);
}

template <typename TFixedImage, typename TMovingImage>
SizeValueType
GlobalAffineRegistrationMethod<TFixedImage, TMovingImage>::GetStageBatches(unsigned int stage) const
{
  return static_cast<SizeValueType>(this->GetStage(stage).batches);
}

template <typename TFixedImage, typename TMovingImage>
gpureg::GlobalSettings
GlobalAffineRegistrationMethod<TFixedImage, TMovingImage>::MakeSettings() const
{
  gpureg::GlobalSettings settings;
  settings.cost = m_Cost;
  settings.degreesOfFreedom = GPURegistrationDetail::ToEngineCount(m_DegreesOfFreedom);
  for (std::size_t axis = 0; axis < m_SearchAngles.size(); ++axis)
  {
    for (std::size_t end = 0; end < 2; ++end)
    {
      settings.angles[axis][end] = Math::pi_over_180 * m_SearchAngles[axis][end];
    }
  }
  settings.finestEdge = m_FinestSpacing;
  settings.bins = GPURegistrationDetail::ToEngineCount(m_NumberOfHistogramBins);
  settings.radius = GPURegistrationDetail::ToEngineCount(m_NeighborhoodRadius);
  settings.optimizer = m_Optimizer;
  settings.leastOverlap = m_LeastOverlap;
  settings.fixedRange = GPURegistrationDetail::ToEngineRange(this->GetFixedImageRange());
  settings.movingRange = GPURegistrationDetail::ToEngineRange(this->GetMovingImageRange());
  return settings;
}

template <typename TFixedImage, typename TMovingImage>
gpureg::GlobalProblem
GlobalAffineRegistrationMethod<TFixedImage, TMovingImage>::MakeProblem() const
{
  gpureg::GlobalProblem problem;
  if (const TransformType * const initial = this->GetInitialTransform())
  {
    if (!GPURegistrationGeometry::IsLinear(*initial))
    {
      GPURegistrationDetail::ThrowUnsupported(*this,
                                              "The initial transform ",
                                              initial->GetNameOfClass(),
                                              " is not linear. Resample the moving image by it, and register that.");
    }
    problem.initial = GPUTransformChain::FitAffine<double, ImageDimension>(*initial);
  }
  return problem;
}

template <typename TFixedImage, typename TMovingImage>
std::vector<gpureg::MemoryPlan>
GlobalAffineRegistrationMethod<TFixedImage, TMovingImage>::PlanImages(
  GPURegistrationDetail::RegisteredImages & images) const
{
  return this->template PlanBy<gpureg::GlobalRegistration>(images, this->MakeProblem(), this->MakeSettings());
}

template <typename TFixedImage, typename TMovingImage>
void
GlobalAffineRegistrationMethod<TFixedImage, TMovingImage>::RegisterImages()
{
  m_Result = {};
  gpureg::GlobalProblem                   problem = this->MakeProblem();
  GPURegistrationDetail::RegisteredImages images(*this,
                                                 this->m_Use.GetDeviceNames(),
                                                 GPURegistrationDetail::RegisteredFor::Result);
  m_Result =
    this->RegisterBy(m_Engine, images, problem, this->MakeSettings(), [this](const gpureg::GlobalProgress & progress) {
      m_CurrentStage = progress.stage;
    });
  using RigidType = std::conditional_t<ImageDimension == 3, Euler3DTransform<double>, Euler2DTransform<double>>;
  using SimilarityType =
    std::conditional_t<ImageDimension == 3, Similarity3DTransform<double>, Similarity2DTransform<double>>;
  using AffineType = AffineTransform<double, ImageDimension>;
  this->GetOutput()->Set(m_DegreesOfFreedom == 6   ? this->template MakeTransform<RigidType>()
                         : m_DegreesOfFreedom == 7 ? this->template MakeTransform<SimilarityType>()
                                                   : this->template MakeTransform<AffineType>());
}

/** Makes the result a transform about the fixed image's centre of mass.
 * \tparam TResult a MatrixOffsetTransformBase. */
template <typename TFixedImage, typename TMovingImage>
template <typename TResult>
auto
GlobalAffineRegistrationMethod<TFixedImage, TMovingImage>::MakeTransform() const -> typename TransformType::Pointer
{
  typename TResult::MatrixType       matrix;
  typename TResult::InputPointType   centre;
  typename TResult::OutputVectorType translation;
  const gpureg::IndexMap &           map = m_Result.pointMap;
  for (unsigned int r = 0; r < ImageDimension; ++r)
  {
    centre[r] = m_Result.centre[r];
    translation[r] = map.offset[r] - m_Result.centre[r];
    for (unsigned int c = 0; c < ImageDimension; ++c)
    {
      matrix[r][c] = map.matrix[3 * r + c];
      translation[r] += map.matrix[3 * r + c] * m_Result.centre[c];
    }
  }
  const auto transform = TResult::New();
  transform->SetCenter(centre);
  transform->SetMatrix(matrix);
  transform->SetTranslation(translation);
  return transform.GetPointer();
}

template <typename TFixedImage, typename TMovingImage>
void
GlobalAffineRegistrationMethod<TFixedImage, TMovingImage>::PrintSelf(std::ostream & os, Indent indent) const
{
  Superclass::PrintSelf(os, indent);
  os << indent << "DegreesOfFreedom: " << m_DegreesOfFreedom << std::endl;
  os << indent << "Cost: gpureg::GlobalCost::" << this->GetCostName() << std::endl;
  os << indent << "Optimizer: " << m_Optimizer << std::endl;
  os << indent << "SearchAngles:";
  for (const auto & range : m_SearchAngles)
  {
    os << " [" << range[0] << ", " << range[1] << "]";
  }
  os << std::endl;
  os << indent << "FinestSpacing: " << m_FinestSpacing << std::endl;
  os << indent << "NumberOfHistogramBins: " << m_NumberOfHistogramBins << std::endl;
  os << indent << "NeighborhoodRadius: " << m_NeighborhoodRadius << std::endl;
  os << indent << "LeastOverlap: " << m_LeastOverlap << std::endl;
  os << indent << "FixedImageRange: " << this->GetFixedImageRange() << std::endl;
  os << indent << "MovingImageRange: " << this->GetMovingImageRange() << std::endl;
  os << indent << "CurrentStage: " << m_CurrentStage << std::endl;
}

} // namespace itk

#endif
