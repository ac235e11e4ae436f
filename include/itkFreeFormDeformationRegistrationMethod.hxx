// SPDX-License-Identifier: Apache-2.0
#ifndef itkFreeFormDeformationRegistrationMethod_hxx
#define itkFreeFormDeformationRegistrationMethod_hxx

#include "itkFreeFormDeformationRegistrationMethod.h"

#include "GPURegistrationDetail/registration/itkGPURegisteredImage.h"
#include "GPURegistrationDetail/registration/itkGPURegistrationMethod.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace itk
{

template <typename TFixedImage, typename TMovingImage>
void
FreeFormDeformationRegistrationMethod<TFixedImage, TMovingImage>::SetControlPointSpacing(double spacing)
{
  SpacingType all;
  all.Fill(spacing);
  this->SetControlPointSpacing(all);
}

template <typename TFixedImage, typename TMovingImage>
const std::vector<double> &
FreeFormDeformationRegistrationMethod<TFixedImage, TMovingImage>::GetCosts(unsigned int level) const
{
  return this->GetLevelResult(m_Result.levels, level).costs;
}

template <typename TFixedImage, typename TMovingImage>
double
FreeFormDeformationRegistrationMethod<TFixedImage, TMovingImage>::GetElapsedSeconds(unsigned int level) const
{
  return 1e-3 * this->GetLevelResult(m_Result.levels, level).milliseconds;
}

template <typename TFixedImage, typename TMovingImage>
gpureg::FreeFormSettings
FreeFormDeformationRegistrationMethod<TFixedImage, TMovingImage>::MakeSettings() const
{
  gpureg::FreeFormSettings settings;
  settings.similarity = m_Similarity;
  settings.radius = GPURegistrationDetail::ToEngineCount(m_NeighborhoodRadius);
  settings.optimizer = m_Optimizer;
  settings.samples =
    static_cast<std::int64_t>(std::min<SizeValueType>(m_NumberOfSamples, NumericTraits<std::int64_t>::max()));
  settings.seed = m_Seed;
  settings.convergenceThreshold = m_ConvergenceThreshold;
  settings.convergenceWindow = GPURegistrationDetail::ToEngineCount(m_ConvergenceWindowSize);
  settings.levels = GPURegistrationDetail::ToEngineCount(m_NumberOfLevels);
  std::copy(m_ControlPointSpacing.Begin(), m_ControlPointSpacing.End(), settings.spacing.begin());
  settings.bins = GPURegistrationDetail::ToEngineCount(m_NumberOfHistogramBins);
  settings.bendingWeight = m_BendingEnergyWeight;
  settings.linearWeight = m_LinearEnergyWeight;
  settings.jacobianWeight = m_JacobianPenaltyWeight;
  settings.iterations = GPURegistrationDetail::ToEngineCount(m_NumberOfIterations);
  settings.firstStep = m_FirstStep;
  settings.fixedRange = GPURegistrationDetail::ToEngineRange(this->GetFixedImageRange());
  settings.movingRange = GPURegistrationDetail::ToEngineRange(this->GetMovingImageRange());
  return settings;
}

template <typename TFixedImage, typename TMovingImage>
void
FreeFormDeformationRegistrationMethod<TFixedImage, TMovingImage>::RegisterDeformation()
{
  m_Result = {};
  m_RegisteredLevels = 0;
  m_Deformation = nullptr;
  gpureg::FreeFormProblem problem;
  problem.initial = this->MakeInitialChain();
  GPURegistrationDetail::RegisteredImages images(*this,
                                                 this->m_Use.GetDeviceNames(),
                                                 GPURegistrationDetail::RegisteredFor::Result);
  m_Result = this->RegisterOnDevice(
    m_Engine, images, problem, this->MakeSettings(), [this](const gpureg::FreeFormProgress & progress) {
      m_RegisteredLevels = static_cast<unsigned int>(progress.levels);
    });
  this->WarnOfFewVoxels();
  this->StoreTransform();
}

template <typename TFixedImage, typename TMovingImage>
std::vector<gpureg::MemoryPlan>
FreeFormDeformationRegistrationMethod<TFixedImage, TMovingImage>::PlanImages(
  GPURegistrationDetail::RegisteredImages & images) const
{
  gpureg::FreeFormProblem problem;
  problem.initial = this->MakeInitialChain();
  return this->template PlanBy<gpureg::FreeFormRegistration>(images, problem, this->MakeSettings());
}

template <typename TFixedImage, typename TMovingImage>
void
FreeFormDeformationRegistrationMethod<TFixedImage, TMovingImage>::WarnOfFewVoxels() const
{
  const auto voxels = m_Result.levels.front().voxels;
  if (voxels < m_Result.leastVoxels)
  {
    itkWarningMacro(
      "The coarsest of " << m_RegisteredLevels << " levels looks at " << voxels << " voxels, fewer than "
                         << m_Result.leastVoxels
                         << ", so that what is found may be noise: set fewer levels, if there are several, "
                            "fewer bins, more samples or another similarity.");
  }
}

/** Makes the output transform from the engine's result. The B-spline's domain begins at the fixed image's outer edge, one control point
 * inside the grid. */
template <typename TFixedImage, typename TMovingImage>
void
FreeFormDeformationRegistrationMethod<TFixedImage, TMovingImage>::StoreTransform()
{
  m_Deformation = DeformationType::New();
  typename DeformationType::PhysicalDimensionsType dimensions;
  typename DeformationType::MeshSizeType           mesh;
  typename DeformationType::OriginType             origin;
  typename DeformationType::DirectionType          direction;
  const auto &                                     map = m_Result.gridToPoint;
  for (unsigned int d = 0; d < ImageDimension; ++d)
  {
    double square = 0;
    for (unsigned int r = 0; r < ImageDimension; ++r)
    {
      square += map.matrix[3 * r + d] * map.matrix[3 * r + d];
    }
    const double spacing = std::sqrt(square);
    mesh[d] = static_cast<unsigned int>(m_Result.size[d]) - DeformationType::SplineOrder;
    dimensions[d] = spacing * static_cast<double>(mesh[d]);
    origin[d] = map.offset[d];
    for (unsigned int r = 0; r < ImageDimension; ++r)
    {
      direction[r][d] = map.matrix[3 * r + d] / spacing;
    }
  }
  for (unsigned int r = 0; r < ImageDimension; ++r)
  {
    for (unsigned int d = 0; d < ImageDimension; ++d)
    {
      origin[r] += map.matrix[3 * r + d];
    }
  }
  m_Deformation->SetTransformDomainOrigin(origin);
  m_Deformation->SetTransformDomainDirection(direction);
  m_Deformation->SetTransformDomainPhysicalDimensions(dimensions);
  m_Deformation->SetTransformDomainMeshSize(mesh);
  typename DeformationType::ParametersType parameters(m_Deformation->GetNumberOfParameters());
  const std::size_t                        count = m_Result.points.size();
  for (std::size_t n = 0; n < count; ++n)
  {
    for (unsigned int d = 0; d < ImageDimension; ++d)
    {
      parameters[d * count + n] = m_Result.points[n][d];
    }
  }
  m_Deformation->SetParametersByValue(parameters);
  this->SetDeformation(m_Deformation);
}

template <typename TFixedImage, typename TMovingImage>
void
FreeFormDeformationRegistrationMethod<TFixedImage, TMovingImage>::TakeDisplacements(
  const typename Superclass::Taker & take, const gpureg::ParallelFor & parallelFor) const
{
  m_Engine->SetTiming(this->m_Use.GetMeasuresKernelTime());
  m_Engine->TakeDisplacements(take, parallelFor);
  this->m_Statistics = m_Engine->GetStatistics();
}

template <typename TFixedImage, typename TMovingImage>
void
FreeFormDeformationRegistrationMethod<TFixedImage, TMovingImage>::PrintSelf(std::ostream & os, Indent indent) const
{
  Superclass::PrintSelf(os, indent);
  os << indent << "Similarity: " << m_Similarity << std::endl;
  os << indent << "NeighborhoodRadius: " << m_NeighborhoodRadius << std::endl;
  os << indent << "Optimizer: " << m_Optimizer << std::endl;
  os << indent << "NumberOfSamples: " << m_NumberOfSamples << std::endl;
  os << indent << "Seed: " << m_Seed << std::endl;
  os << indent << "ConvergenceThreshold: " << m_ConvergenceThreshold << std::endl;
  os << indent << "ConvergenceWindowSize: " << m_ConvergenceWindowSize << std::endl;
  os << indent << "NumberOfLevels: " << m_NumberOfLevels << std::endl;
  os << indent << "ControlPointSpacing: " << m_ControlPointSpacing << std::endl;
  os << indent << "BendingEnergyWeight: " << m_BendingEnergyWeight << std::endl;
  os << indent << "LinearEnergyWeight: " << m_LinearEnergyWeight << std::endl;
  os << indent << "JacobianPenaltyWeight: " << m_JacobianPenaltyWeight << std::endl;
  os << indent << "NumberOfHistogramBins: " << m_NumberOfHistogramBins << std::endl;
  os << indent << "NumberOfIterations: " << m_NumberOfIterations << std::endl;
  os << indent << "FirstStep: " << m_FirstStep << std::endl;
  os << indent << "FixedImageRange: " << this->GetFixedImageRange() << std::endl;
  os << indent << "MovingImageRange: " << this->GetMovingImageRange() << std::endl;
  os << indent << "RegisteredLevels: " << m_RegisteredLevels << std::endl;
}

} // namespace itk

#endif
