// SPDX-License-Identifier: Apache-2.0
#ifndef itkDeformableRegistrationMethod_hxx
#define itkDeformableRegistrationMethod_hxx

#include "itkDeformableRegistrationMethod.h"

#include "GPURegistrationDetail/core/itkGPUKey.h"
#include "GPURegistrationDetail/core/itkGPURegistrationGeometry.h"
#include "GPURegistrationDetail/core/itkGPURegistrationThreads.h"
#include "GPURegistrationDetail/registration/itkGPURegisteredImage.h"
#include "GPURegistrationDetail/registration/itkGPURegistrationMethod.h"
#include "GPURegistrationDetail/transform/itkGPUTransformChain.h"
#include "GPURegistrationDetail/transform/itkGPUTransformInverter.h"
#include "itkGPUResampleImageFilter.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace itk
{

template <typename TFixedImage, typename TMovingImage>
void
DeformableRegistrationMethod<TFixedImage, TMovingImage>::RegisterImages()
{
  m_RegisteredDeformation = nullptr;
  m_MovingKey.clear();
  m_Moving.reset();
  m_InverseErrors = {};
  m_InitialInverseErrors.clear();
  // An observer may set others.
  m_Registered = this->GetFixedImage();
  m_RegisteredFrom = this->GetInitialTransform();
  m_RegisteredGrid = GridType::New();
  m_RegisteredGrid->CopyInformation(m_Registered);
  m_RegisteredGrid->SetRegions(m_Registered->GetBufferedRegion());
  this->RegisterDeformation();
}

template <typename TFixedImage, typename TMovingImage>
template <typename TEngine, typename TProblem, typename TSettings, typename TOnProgress>
auto
DeformableRegistrationMethod<TFixedImage, TMovingImage>::RegisterOnDevice(
  std::unique_ptr<TEngine> &                engine,
  GPURegistrationDetail::RegisteredImages & images,
  TProblem &                                problem,
  const TSettings &                         settings,
  const TOnProgress &                       onProgress)
{
  gpureg::Key movingKey;
  if constexpr (GPURegistrationDetail::IsOfReals<TMovingImage>)
  {
    movingKey = GPURegistrationDetail::MakeSource(*this->GetMovingImage()).key;
  }
  auto result = this->RegisterBy(engine, images, problem, settings, [&](const auto & progress) {
    m_CurrentLevel = static_cast<unsigned int>(progress.level);
    m_CurrentIteration = static_cast<unsigned int>(progress.iteration);
    onProgress(progress);
  });
  // Moving images of other pixels are resampled from the host's memory, in doubles.
  if constexpr (GPURegistrationDetail::IsOfReals<TMovingImage>)
  {
    m_Moving = images.TakeLast();
    m_MovingKey = std::move(movingKey);
  }
  return result;
}

template <typename TFixedImage, typename TMovingImage>
gpureg::TransformChain
DeformableRegistrationMethod<TFixedImage, TMovingImage>::MakeInitialChain() const
{
  gpureg::TransformChain chain;
  chain.dimension = static_cast<int>(ImageDimension);
  const TransformType * const initial = this->GetInitialTransform();
  if (initial != nullptr && !GPUTransformChain::Append<double, ImageDimension>(*initial, chain))
  {
    GPURegistrationDetail::ThrowUnsupported(
      *this,
      "The initial transform ",
      initial->GetNameOfClass(),
      " is not made of linear transforms, B-splines and displacement fields. Make it "
      "a displacement field by itk::TransformToDisplacementFieldFilter.");
  }
  return chain;
}

template <typename TFixedImage, typename TMovingImage>
void
DeformableRegistrationMethod<TFixedImage, TMovingImage>::SetDeformation(TransformType * deformation)
{
  m_RegisteredDeformation = deformation;
  if (!m_RegisteredFrom)
  {
    this->GetOutput()->Set(deformation);
    return;
  }
  const auto composite = CompositeType::New();
  composite->AddTransform(const_cast<TransformType *>(m_RegisteredFrom.GetPointer()));
  composite->AddTransform(deformation);
  this->GetOutput()->Set(composite);
}

template <typename TFixedImage, typename TMovingImage>
void
DeformableRegistrationMethod<TFixedImage, TMovingImage>::CheckIsRegistered() const
{
  const auto isMoved = [this] {
    const FixedImageType & fixed = *m_Registered;
    return fixed.GetBufferedRegion() != m_RegisteredGrid->GetBufferedRegion() ||
           fixed.GetOrigin() != m_RegisteredGrid->GetOrigin() || fixed.GetSpacing() != m_RegisteredGrid->GetSpacing() ||
           fixed.GetDirection() != m_RegisteredGrid->GetDirection();
  };
  if (!m_RegisteredDeformation || m_Registered.GetPointer() != this->GetFixedImage() || isMoved())
  {
    GPURegistrationDetail::ThrowBadInput(
      *this, "The fixed image has not been registered, or not on the grid that it has now. Call Update() first.");
  }
}

template <typename TFixedImage, typename TMovingImage>
auto
DeformableRegistrationMethod<TFixedImage, TMovingImage>::MakeField() const -> typename DisplacementFieldType::Pointer
{
  const auto field = DisplacementFieldType::New();
  field->CopyInformation(m_RegisteredGrid);
  field->SetRegions(m_RegisteredGrid->GetBufferedRegion());
  field->Allocate();
  return field;
}

template <typename TFixedImage, typename TMovingImage>
gpureg::ParallelFor
DeformableRegistrationMethod<TFixedImage, TMovingImage>::MakeParallelFor() const
{
  return GPURegistrationDetail::MakeParallelFor(this->GetNumberOfWorkUnits());
}

template <typename TFixedImage, typename TMovingImage>
auto
DeformableRegistrationMethod<TFixedImage, TMovingImage>::GetWarpedImage() const -> typename MovingImageType::Pointer
{
  this->CheckIsRegistered();
  const auto resampler = GPUResampleImageFilter<MovingImageType, MovingImageType>::New();
  resampler->SetDevice(this->m_Use.GetDevice());
  resampler->SetMeasuresKernelTime(this->m_Use.GetMeasuresKernelTime());
  resampler->SetInput(this->GetMovingImage());
  resampler->SetTransform(this->GetTransform());
  resampler->SetReferenceImage(this->GetFixedImage());
  resampler->UseReferenceImageOn();
  if (!m_MovingKey.empty() && m_MovingKey == GPURegistrationDetail::MakeSource(*this->GetMovingImage()).key)
  {
    resampler->SetInputOnDevice(m_Moving.get());
  }
  resampler->Update();
  this->m_Statistics = resampler->GetEvaluationStatistics();
  return resampler->GetOutput();
}

template <typename TFixedImage, typename TMovingImage>
auto
DeformableRegistrationMethod<TFixedImage, TMovingImage>::GetDisplacementField() const ->
  typename DisplacementFieldType::Pointer
{
  this->CheckIsRegistered();
  const auto   field = this->MakeField();
  auto * const vectors = field->GetBufferPointer();
  const auto   store = [&](std::int64_t first, std::int64_t count, const float * in) {
    for (std::int64_t n = first; n < first + count; ++n, in += 3)
    {
      typename FixedImageType::PointType point;
      field->TransformIndexToPhysicalPoint(field->ComputeIndex(n), point);
      Point<double, ImageDimension> moved;
      for (unsigned int d = 0; d < ImageDimension; ++d)
      {
        moved[d] = point[d] + in[d];
      }
      if (m_RegisteredFrom)
      {
        moved = m_RegisteredFrom->TransformPoint(moved);
      }
      for (unsigned int d = 0; d < ImageDimension; ++d)
      {
        vectors[n][d] = moved[d] - point[d];
      }
    }
  };
  GPURegistrationDetail::CallEngine(*this, [&] { this->TakeDisplacements(store, this->MakeParallelFor()); });
  return field;
}

template <typename TFixedImage, typename TMovingImage>
auto
DeformableRegistrationMethod<TFixedImage, TMovingImage>::GetInverseTransform() const -> typename TransformType::Pointer
{
  this->CheckIsRegistered();
  const auto                      field = this->MakeField();
  const auto                      parallelFor = this->MakeParallelFor();
  typename TransformType::Pointer behind;
  gpureg::EvaluationStatistics    ofInitial;
  m_InitialInverseErrors.clear();
  GPURegistrationDetail::CallEngine(*this, [&] {
    if (m_RegisteredFrom)
    {
      m_Inverter.Run(this->m_Use.GetDevice().GetName(), {}, [&](gpureg::FieldInverter & engine) {
        GPURegistrationDetail::TransformInverter<ImageDimension> inverter(engine, parallelFor);
        behind = inverter.Invert(*m_RegisteredFrom);
        m_InitialInverseErrors = inverter.GetErrors();
        ofInitial = inverter.GetStatistics();
      });
    }
    m_InverseErrors = this->ComputeInverse(*field, parallelFor);
  });
  // One engine may have computed both inverses.
  const std::int64_t deviceBytes = std::max(ofInitial.deviceBytes, this->m_Statistics.deviceBytes);
  this->m_Statistics = Add(ofInitial, this->m_Statistics);
  this->m_Statistics.deviceBytes = deviceBytes;
  const auto inverse = DisplacementFieldTransformType::New();
  inverse->SetDisplacementField(field);
  if (!behind)
  {
    return inverse.GetPointer();
  }
  const auto composite = CompositeType::New();
  composite->AddTransform(inverse);
  composite->AddTransform(behind);
  return composite.GetPointer();
}

template <typename TFixedImage, typename TMovingImage>
gpureg::InverseErrors
DeformableRegistrationMethod<TFixedImage, TMovingImage>::ComputeInverse(DisplacementFieldType &     field,
                                                                        const gpureg::ParallelFor & parallelFor) const
{
  gpureg::InverseErrors errors;
  m_Inverter.Run(this->m_Use.GetDevice().GetName(), {}, [&](gpureg::FieldInverter & engine) {
    GPURegistrationDetail::TransformInverter<ImageDimension> inverter(engine, parallelFor);
    errors = inverter.InvertInto(*m_RegisteredDeformation, field);
    this->m_Statistics = inverter.GetStatistics();
  });
  return errors;
}

template <typename TFixedImage, typename TMovingImage>
template <typename TLevelResult>
const TLevelResult &
DeformableRegistrationMethod<TFixedImage, TMovingImage>::GetLevelResult(const std::vector<TLevelResult> & levels,
                                                                        unsigned int                      level) const
{
  if (level >= levels.size())
  {
    GPURegistrationDetail::ThrowBadInput(
      *this, "There are results of ", levels.size(), " levels, and none of level ", level, ".");
  }
  return levels[level];
}

template <typename TFixedImage, typename TMovingImage>
void
DeformableRegistrationMethod<TFixedImage, TMovingImage>::PrintSelf(std::ostream & os, Indent indent) const
{
  Superclass::PrintSelf(os, indent);
  os << indent << "CurrentLevel: " << m_CurrentLevel << std::endl;
  os << indent << "CurrentIteration: " << m_CurrentIteration << std::endl;
}

} // namespace itk

#endif
