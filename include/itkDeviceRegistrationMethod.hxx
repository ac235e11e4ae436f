// SPDX-License-Identifier: Apache-2.0
#ifndef itkDeviceRegistrationMethod_hxx
#define itkDeviceRegistrationMethod_hxx

#include "itkDeviceRegistrationMethod.h"

#include "GPURegistrationDetail/core/itkGPURegistrationThreads.h"
#include "GPURegistrationDetail/registration/itkGPURegisteredImage.h"
#include "GPURegistrationDetail/registration/itkGPURegistrationMethod.h"

#include <algorithm>

namespace itk
{

template <typename TFixedImage, typename TMovingImage>
DeviceRegistrationMethod<TFixedImage, TMovingImage>::DeviceRegistrationMethod()
{
  this->SetPrimaryInputName("FixedImage");
  this->AddRequiredInputName("MovingImage");
  this->SetNumberOfRequiredOutputs(1);
  this->ProcessObject::SetNthOutput(0, DecoratedTransformType::New());
}

template <typename TFixedImage, typename TMovingImage>
void
DeviceRegistrationMethod<TFixedImage, TMovingImage>::SetFixedImage(const FixedImageType * image)
{
  this->ProcessObject::SetInput("FixedImage", const_cast<FixedImageType *>(image));
}

template <typename TFixedImage, typename TMovingImage>
auto
DeviceRegistrationMethod<TFixedImage, TMovingImage>::GetFixedImage() const -> const FixedImageType *
{
  return static_cast<const FixedImageType *>(this->ProcessObject::GetInput("FixedImage"));
}

template <typename TFixedImage, typename TMovingImage>
void
DeviceRegistrationMethod<TFixedImage, TMovingImage>::SetMovingImage(const MovingImageType * image)
{
  this->ProcessObject::SetInput("MovingImage", const_cast<MovingImageType *>(image));
}

template <typename TFixedImage, typename TMovingImage>
auto
DeviceRegistrationMethod<TFixedImage, TMovingImage>::GetMovingImage() const -> const MovingImageType *
{
  return static_cast<const MovingImageType *>(this->ProcessObject::GetInput("MovingImage"));
}

template <typename TFixedImage, typename TMovingImage>
auto
DeviceRegistrationMethod<TFixedImage, TMovingImage>::GetOutput() -> DecoratedTransformType *
{
  return static_cast<DecoratedTransformType *>(this->ProcessObject::GetOutput(0));
}

template <typename TFixedImage, typename TMovingImage>
auto
DeviceRegistrationMethod<TFixedImage, TMovingImage>::GetTransform() -> TransformType *
{
  return this->GetOutput()->GetModifiable();
}

template <typename TFixedImage, typename TMovingImage>
auto
DeviceRegistrationMethod<TFixedImage, TMovingImage>::GetTransform() const -> const TransformType *
{
  return static_cast<const DecoratedTransformType *>(this->ProcessObject::GetOutput(0))->Get();
}

template <typename TFixedImage, typename TMovingImage>
ModifiedTimeType
DeviceRegistrationMethod<TFixedImage, TMovingImage>::GetMTime() const
{
  using GPURegistrationDetail::GetTimeOf;
  return std::max({ Superclass::GetMTime(),
                    GetTimeOf<ImageDimension>(m_InitialTransform.GetPointer()),
                    GetTimeOf<ImageDimension>(m_FixedImageMask.GetPointer()),
                    GetTimeOf<ImageDimension>(m_MovingImageMask.GetPointer()) });
}

template <typename TFixedImage, typename TMovingImage>
void
DeviceRegistrationMethod<TFixedImage, TMovingImage>::GenerateData()
{
  m_Warnings.clear();
  m_Statistics = {};
  GPURegistrationDetail::CallEngine(*this, [this] { this->RegisterImages(); });
}

template <typename TFixedImage, typename TMovingImage>
std::vector<gpureg::MemoryPlan>
DeviceRegistrationMethod<TFixedImage, TMovingImage>::GetMemoryPlans()
{
  this->VerifyPreconditions();
  this->UpdateOutputInformation();
  std::vector<gpureg::MemoryPlan> plans;
  GPURegistrationDetail::CallEngine(*this, [&] {
    using GPURegistrationDetail::RegisteredFor;
    GPURegistrationDetail::RegisteredImages images(*this, m_Use.GetDeviceNames(), RegisteredFor::Plan);
    plans = this->PlanImages(images);
  });
  return plans;
}

template <typename TFixedImage, typename TMovingImage>
template <typename TProblem>
void
DeviceRegistrationMethod<TFixedImage, TMovingImage>::AddImages(GPURegistrationDetail::RegisteredImages & images,
                                                               TProblem &                                problem) const
{
  const auto fixed = images.Add(*this->GetFixedImage(), m_FixedImageMask.GetPointer(), "fixed");
  const auto moving = images.Add(*this->GetMovingImage(), m_MovingImageMask.GetPointer(), "moving");
  GPURegistrationDetail::SetImages(problem, ImageDimension, fixed, moving);
}

template <typename TFixedImage, typename TMovingImage>
template <typename TEngine, typename TProblem, typename TSettings>
std::vector<gpureg::MemoryPlan>
DeviceRegistrationMethod<TFixedImage, TMovingImage>::PlanBy(GPURegistrationDetail::RegisteredImages & images,
                                                            TProblem                                  problem,
                                                            const TSettings &                         settings) const
{
  this->AddImages(images, problem);
  // The method's own engine may have a result on other devices.
  std::unique_ptr<TEngine> engine;
  using GPURegistrationDetail::GetPlans; // or those of an engine of several devices
  using GPURegistrationDetail::ReserveEngine;
  ReserveEngine(engine, images.GetDeviceNames());
  return GetPlans(*engine, problem, settings);
}

template <typename TFixedImage, typename TMovingImage>
template <typename TEngine, typename TProblem, typename TSettings, typename TOnProgress>
auto
DeviceRegistrationMethod<TFixedImage, TMovingImage>::RegisterBy(std::unique_ptr<TEngine> &                engine,
                                                                GPURegistrationDetail::RegisteredImages & images,
                                                                TProblem &                                problem,
                                                                const TSettings &                         settings,
                                                                const TOnProgress &                       onProgress)
{
  using GPURegistrationDetail::ReserveEngine; // or that of an engine of several devices
  ReserveEngine(engine, images.GetDeviceNames());
  engine->SetTiming(m_Use.GetMeasuresKernelTime());
  const auto parallelFor = GPURegistrationDetail::MakeParallelFor(this->GetNumberOfWorkUnits());
  this->AddImages(images, problem);
  engine->MakeRoom(problem, settings);
  images.Load(parallelFor);
  auto result = engine->Register(problem, settings, parallelFor, [&](const auto & progress) {
    onProgress(progress);
    this->InvokeEvent(IterationEvent());
    GPURegistrationDetail::ReportProgress(*this, static_cast<float>(progress.share));
  });
  m_Statistics = Add(images.GetStatistics(), engine->GetStatistics());
  m_Warnings = result.warnings;
  for (const std::string & warning : m_Warnings)
  {
    itkWarningMacro("" << warning << '.');
  }
  return result;
}

template <typename TFixedImage, typename TMovingImage>
void
DeviceRegistrationMethod<TFixedImage, TMovingImage>::PrintSelf(std::ostream & os, Indent indent) const
{
  Superclass::PrintSelf(os, indent);
  m_Use.Print(os, indent);
  itkPrintSelfObjectMacro(InitialTransform);
  itkPrintSelfObjectMacro(FixedImageMask);
  itkPrintSelfObjectMacro(MovingImageMask);
}

} // namespace itk

#endif
