// SPDX-License-Identifier: Apache-2.0
#ifndef itkGPUSyNImageRegistrationMethod_hxx
#define itkGPUSyNImageRegistrationMethod_hxx

#include "itkGPUSyNImageRegistrationMethod.h"

#include "GPURegistrationDetail/core/itkGPURegistrationThreads.h"
#include "GPURegistrationDetail/registration/itkGPURegisteredImage.h"
#include "GPURegistrationDetail/registration/itkGPURegistrationMethod.h"
#include "GPURegistrationDetail/transform/itkGPUTransformInverter.h"

#include <algorithm>
#include <array>
#include <iterator>

// All members have the same template parameters.
#define itkGPUSyNTemplate              \
  template <typename TFixedImage,      \
            typename TMovingImage,     \
            typename TOutputTransform, \
            typename TVirtualImage,    \
            typename TPointSet>
#define itkGPUSyN GPUSyNImageRegistrationMethod<TFixedImage, TMovingImage, TOutputTransform, TVirtualImage, TPointSet>

// These files define the functions that read the settings and inputs, and those that look what observers change.
#include "itkGPUSyNImageRegistrationMethodInputs.hxx"
#include "itkGPUSyNImageRegistrationMethodChanges.hxx"

namespace itk
{

itkGPUSyNTemplate void
itkGPUSyN::GenerateData()
{
  const struct Updating
  {
    bool & flag;
    ~Updating()
    {
      flag = false;
    }
  } updating{ m_IsUpdating = true };
  this->DownloadMiddle();
  m_HasResult = false;
  m_InverseErrors = {};
  m_Continues = this->m_FixedToMiddleTransform && this->m_MovingToMiddleTransform;
  m_Use.Compute(
    *this,
    "Register smaller images.",
    [this] {
      this->CheckInputs();
      return this->FindUnsupportedFeature();
    },
    [this] { this->RegisterOnDevice(); },
    [this] { Superclass::GenerateData(); });
}

itkGPUSyNTemplate std::vector<gpureg::MemoryPlan>
                  itkGPUSyN::GetMemoryPlans()
{
  if (m_IsUpdating)
  {
    GPURegistrationDetail::ThrowBadInput(*this, "An observer asks for the plan of Update(). Ask for it before.");
  }
  this->UpdateOutputInformation();
  this->DownloadMiddle();
  m_Continues = this->m_FixedToMiddleTransform && this->m_MovingToMiddleTransform;
  this->CheckInputs();
  std::vector<gpureg::MemoryPlan> plans;
  GPURegistrationDetail::CallEngine(*this, [&] {
    const std::string unsupported = this->FindUnsupportedFeature();
    if (!unsupported.empty())
    {
      throw gpureg::UnsupportedError(unsupported);
    }
    using GPURegistrationDetail::RegisteredFor;
    GPURegistrationDetail::RegisteredImages images(*this, this->ChooseDevices(), RegisteredFor::Plan);
    const auto                              problems = this->MakeProblems(this->MakePairs(), images);
    plans =
      GPURegistrationDetail::DiffeomorphicEngine(images.GetDeviceNames()).GetPlans(problems, this->MakeSettings());
  });
  return plans;
}

itkGPUSyNTemplate void
itkGPUSyN::RegisterOnDevice()
{
  this->AllocateOutputs();
  gpureg::DiffeomorphicSettings settings = this->MakeSettings();
  m_Pairs = this->MakePairs();
  m_Inputs.Forget();
  m_Middle.Forget();
  // An observer of the first event may change what is planned and uploaded next.
  this->BeginLevel(0, settings);
  m_IsObserved = this->HasObserver(IterationEvent()) || this->HasObserver(MultiResolutionIterationEvent());
  const std::vector<std::string> devices = this->ChooseDevices();
  GPURegistrationDetail::ReserveEngine(m_Engine, devices);
  m_Engine->SetTiming(m_Use.GetMeasuresKernelTime());
  const auto parallelFor = GPURegistrationDetail::MakeParallelFor(this->GetNumberOfWorkUnits());
  GPURegistrationDetail::RegisteredImages   images(*this, devices, GPURegistrationDetail::RegisteredFor::Result);
  std::vector<gpureg::DiffeomorphicProblem> problems;
  try
  {
    problems = this->MakeProblems(m_Pairs, images);
    m_Engine->MakeRoom(problems, settings);
    images.Load(parallelFor);
  }
  catch (const GPUBadInputError & error)
  {
    // An override leaves it to ITK's class.
    throw gpureg::BadInputError(error.GetDescription());
  }
  this->Remember(m_Inputs, this->MakeInputSource());
  this->Remember(m_Middle, this->MakeMiddleSource());

  // Restores the previous state.
  const auto forget = [this,
                       fixed = this->m_FixedToMiddleTransform,
                       moving = this->m_MovingToMiddleTransform,
                       fields = this->GetMiddleFields()] {
    m_IsMiddleOnDevice = false;
    m_IsTeamAtWork = false;
    this->m_FixedToMiddleTransform = fixed;
    this->m_MovingToMiddleTransform = moving;
    if (fixed && moving)
    {
      this->SetMiddleFields(fields);
    }
  };
  const auto progress = [&](const gpureg::DiffeomorphicProgress & where) {
    if (!this->m_FixedToMiddleTransform || !this->m_MovingToMiddleTransform)
    {
      this->m_FixedToMiddleTransform = OutputTransformType::New();
      this->m_MovingToMiddleTransform = OutputTransformType::New();
      this->Remember(m_Middle, this->MakeMiddleSource());
    }
    m_IsMiddleOnDevice = true;
    if (where.iteration > 0)
    {
      this->EndIteration(static_cast<SizeValueType>(where.iteration), where.downloadCost(), settings);
    }
  };
  const auto levelDone = [&](const gpureg::DiffeomorphicProgress & where) {
    progress(where);
    this->m_CurrentIteration = static_cast<SizeValueType>(where.iteration) + 1;
    if (where.level + 1 < where.levels)
    {
      this->BeginLevel(static_cast<SizeValueType>(where.level) + 1, settings);
    }
  };
  try
  {
    m_IsTeamAtWork = m_Engine->IsTeam();
    const gpureg::DiffeomorphicResult result = m_Engine->Register(problems, settings, parallelFor, progress, levelDone);
    m_IsTeamAtWork = false;
    this->CheckUnchanged(true);
    m_Statistics = Add(images.GetStatistics(), m_Engine->GetStatistics());
    const auto field = this->Download(gpureg::DeformationField::Forward);
    const auto inverse = this->Download(gpureg::DeformationField::Inverse);
    this->m_OutputTransform->SetDisplacementField(field);
    this->m_OutputTransform->SetInverseDisplacementField(inverse);
    this->DownloadMiddleIfHeld();
    for (const std::string & warning : result.warnings)
    {
      itkWarningMacro("" << warning << '.');
    }
  }
  catch (...)
  {
    forget();
    throw;
  }
  m_HasResult = true;
  this->m_CurrentLevel = this->m_NumberOfLevels;
  this->GetTransformOutput()->Set(this->m_OutputTransform);
}

itkGPUSyNTemplate void
itkGPUSyN::BeginLevel(SizeValueType level, gpureg::DiffeomorphicSettings & settings)
{
  this->m_CurrentLevel = level;
  this->m_CurrentIteration = 0;
  this->m_CurrentMetricValue = 0;
  this->m_CurrentConvergenceValue = 0;
  this->m_IsConverged = false;
  m_Convergence = ConvergenceType::New();
  m_Convergence->SetWindowSize(this->m_ConvergenceWindowSize);
  this->Invoke(MultiResolutionIterationEvent(), settings);
  m_Grid = this->MakeLevelGrid(level);
}

itkGPUSyNTemplate void
itkGPUSyN::EndIteration(SizeValueType iteration, double value, gpureg::DiffeomorphicSettings & settings)
{
  this->m_CurrentIteration = iteration;
  this->m_CurrentMetricValue = static_cast<RealType>(value);
  m_Convergence->AddEnergyValue(this->m_CurrentMetricValue);
  this->m_CurrentConvergenceValue = m_Convergence->GetConvergenceValue();
  this->m_IsConverged = this->m_CurrentConvergenceValue < this->m_ConvergenceThreshold;
  this->DownloadMiddleIfHeld();
  this->Invoke(IterationEvent(), settings);
}

itkGPUSyNTemplate auto
itkGPUSyN::MakeField() const -> typename DisplacementFieldType::Pointer
{
  const auto field = DisplacementFieldType::New();
  field->CopyInformation(m_Grid);
  field->SetRegions(m_Grid->GetLargestPossibleRegion());
  field->Allocate();
  return field;
}

itkGPUSyNTemplate auto
itkGPUSyN::Download(gpureg::DeformationField which) const -> typename DisplacementFieldType::Pointer
{
  const auto field = this->MakeField();
  m_Engine->TakeDisplacements(GPURegistrationDetail::StoreIn(*field),
                              GPURegistrationDetail::MakeParallelFor(this->GetNumberOfWorkUnits()),
                              which);
  return field;
}

itkGPUSyNTemplate auto
itkGPUSyN::GetRefinedInverse() const -> typename DisplacementFieldType::Pointer
{
  if (!m_HasResult)
  {
    GPURegistrationDetail::ThrowBadInput(*this,
                                         "There is no deformation on a device. Call Update() first; if ITK's code has "
                                         "computed it, as a warning said, invert its displacement field, such as by "
                                         "itk::InvertDisplacementFieldImageFilter.");
  }
  const auto inverse = this->MakeField();
  GPURegistrationDetail::CallEngine(*this, [&] {
    m_InverseErrors = m_Engine->TakeInverse(GPURegistrationDetail::StoreIn(*inverse),
                                            GPURegistrationDetail::MakeParallelFor(this->GetNumberOfWorkUnits()));
  });
  return inverse;
}

itkGPUSyNTemplate void
itkGPUSyN::DownloadMiddle() const
{
  if (!m_IsMiddleOnDevice)
  {
    return;
  }
  if (m_IsTeamAtWork)
  {
    GPURegistrationDetail::ThrowUnsupported(*this, NoMiddleYet, '.');
  }
  using gpureg::DeformationField;
  constexpr DeformationField which[] = { DeformationField::FixedToMiddle,
                                         DeformationField::MiddleToFixed,
                                         DeformationField::MovingToMiddle,
                                         DeformationField::MiddleToMoving };
  MiddleFields               fields;
  GPURegistrationDetail::CallEngine(*this, [&] {
    std::transform(std::begin(which), std::end(which), fields.begin(), [this](DeformationField one) {
      return this->Download(one);
    });
  });
  m_IsMiddleOnDevice = false;
  this->SetMiddleFields(fields);
  if (m_IsUpdating && !m_Inputs.GetKey().empty())
  {
    this->Remember(m_Middle, this->MakeMiddleSource());
  }
}

itkGPUSyNTemplate auto
itkGPUSyN::GetMiddleFields() const -> MiddleFields
{
  MiddleFields fields;
  if (this->m_FixedToMiddleTransform && this->m_MovingToMiddleTransform)
  {
    fields = { this->m_FixedToMiddleTransform->GetModifiableDisplacementField(),
               this->m_FixedToMiddleTransform->GetModifiableInverseDisplacementField(),
               this->m_MovingToMiddleTransform->GetModifiableDisplacementField(),
               this->m_MovingToMiddleTransform->GetModifiableInverseDisplacementField() };
  }
  return fields;
}

itkGPUSyNTemplate void
itkGPUSyN::SetMiddleFields(const MiddleFields & fields) const
{
  this->m_FixedToMiddleTransform->SetDisplacementField(fields[0]);
  this->m_FixedToMiddleTransform->SetInverseDisplacementField(fields[1]);
  this->m_MovingToMiddleTransform->SetDisplacementField(fields[2]);
  this->m_MovingToMiddleTransform->SetInverseDisplacementField(fields[3]);
}

itkGPUSyNTemplate void
itkGPUSyN::DownloadMiddleIfHeld() const
{
  if (!m_IsTeamAtWork && this->m_FixedToMiddleTransform && this->m_MovingToMiddleTransform &&
      (this->m_FixedToMiddleTransform->GetReferenceCount() > 1 ||
       this->m_MovingToMiddleTransform->GetReferenceCount() > 1))
  {
    this->DownloadMiddle();
  }
}

itkGPUSyNTemplate void
itkGPUSyN::PrintSelf(std::ostream & os, Indent indent) const
{
  if (!m_IsTeamAtWork)
  {
    this->DownloadMiddle();
  }
  Superclass::PrintSelf(os, indent);
  m_Use.Print(os, indent);
  m_Use.PrintFurtherDevices(os, indent);
}

} // namespace itk

#undef itkGPUSyNTemplate
#undef itkGPUSyN

#endif
