// SPDX-License-Identifier: Apache-2.0
#ifndef itkAdaptiveStochasticGradientDescentOptimizerv4_hxx
#define itkAdaptiveStochasticGradientDescentOptimizerv4_hxx

#include "itkAdaptiveStochasticGradientDescentOptimizerv4.h"

#include "gpureg/registration/StochasticGain.h"

#include "itkMath.h"
#include "itkRegistrationParameterScalesFromPhysicalShift.h"

#include <algorithm>
#include <cmath>

/** Begins the definition of a member; all members have the same two template parameters. */
#define itkAdaptiveStochasticTemplate template <typename TInternalComputationValueType, typename TImageMetric>
#define itkAdaptiveStochasticClass \
  AdaptiveStochasticGradientDescentOptimizerv4Template<TInternalComputationValueType, TImageMetric>

namespace itk
{

itkAdaptiveStochasticTemplate
itkAdaptiveStochasticClass::AdaptiveStochasticGradientDescentOptimizerv4Template()
{
  this->m_NumberOfIterations = 500;
  this->m_UseConvergenceMonitoring = false;
}

itkAdaptiveStochasticTemplate double
itkAdaptiveStochasticClass::Sigmoid(double x, double minimum, double maximum, double scale)
{
  gpureg::StochasticGain gain;
  gain.sigmoidMinimum = minimum;
  gain.sigmoidMaximum = maximum;
  gain.sigmoidScale = scale;
  return gain.GetAdvance(x);
}

itkAdaptiveStochasticTemplate void
itkAdaptiveStochasticClass::CheckSettings() const
{
  // The conditions are positive, so that a NaN fails them, too.
  const auto check = [this](bool isRight, const char * message) {
    if (!isRight)
    {
      itkExceptionMacro(<< message);
    }
  };
  check(m_Gain >= 0, "Gain is to be above 0, or 0 to estimate it.");
  check(m_GainOffset > 0, "GainOffset is to be above 0.");
  check(m_GainExponent > 0, "GainExponent is to be above 0.");
  check(m_MaximumStepLength >= 0, "MaximumStepLength is to be above 0, or 0 for the mean voxel spacing.");
  check(m_SigmoidMaximum > 0, "SigmoidMaximum is to be above 0.");
  check(m_SigmoidMinimum < 0, "SigmoidMinimum is to be below 0.");
  check(m_SigmoidScale >= 0, "SigmoidScale is to be above 0, or 0 to estimate it.");
  check(m_SigmoidScaleFactor > 0, "SigmoidScaleFactor is to be above 0.");
  check(m_NumberOfGradientMeasurements > 0, "NumberOfGradientMeasurements is to be 1 or more.");
  if (m_NewSamplesEveryIteration)
  {
    check(m_NumberOfSpatialSamples > 0, "NumberOfSpatialSamples is to be 1 or more.");
    check(
      this->FindImageMetric() != nullptr,
      "The metric whose samples are to be drawn is of another class than the optimizer's TImageMetric. Name its class "
      "there, or turn NewSamplesEveryIteration off.");
    check(!this->m_Metric->HasLocalSupport(),
          "The transform has parameters for each voxel, most of which random samples would leave as they are. Turn "
          "NewSamplesEveryIteration off.");
  }
}

itkAdaptiveStochasticTemplate TImageMetric *
itkAdaptiveStochasticClass::FindImageMetric() const
{
  return dynamic_cast<TImageMetric *>(this->m_Metric.GetPointer());
}

/** Returns null if the metric keeps its own samples. */
itkAdaptiveStochasticTemplate std::unique_ptr<typename itkAdaptiveStochasticClass::SamplesType>
                              itkAdaptiveStochasticClass::BeginSampling() const
{
  return m_NewSamplesEveryIteration ? std::make_unique<SamplesType>(*this->FindImageMetric()) : nullptr;
}

itkAdaptiveStochasticTemplate void
itkAdaptiveStochasticClass::Evaluate(SamplesType * samples, Series series, SizeValueType iteration)
{
  if (samples != nullptr)
  {
    samples->Draw(m_NumberOfSpatialSamples,
                  { m_Seed, static_cast<std::uint32_t>(series), static_cast<std::uint32_t>(iteration), 0 });
  }
  this->m_Metric->GetValueAndDerivative(this->m_CurrentMetricValue, this->m_Gradient);
}

itkAdaptiveStochasticTemplate void
itkAdaptiveStochasticClass::StartOptimization(bool doOnlyInitialization)
{
  Superclass::StartOptimization(doOnlyInitialization);
  this->CheckSettings();
  this->m_CurrentIteration = 0;
  m_CurrentTime = 0;
  m_NextTime = 0;
  m_PreviousGradient.SetSize(0);
  this->EstimateSettings();
  if (!doOnlyInitialization)
  {
    this->ResumeOptimization();
  }
}

itkAdaptiveStochasticTemplate std::vector<typename itkAdaptiveStochasticClass::DerivativeType>
                              itkAdaptiveStochasticClass::MeasureGradients(SamplesType * samples, SizeValueType count)
{
  std::vector<DerivativeType> gradients;
  for (SizeValueType n = 0; n < count; ++n)
  {
    this->Evaluate(samples, Series::Measurements, n);
    gradients.push_back(this->m_Gradient);
  }
  return gradients;
}

itkAdaptiveStochasticTemplate void
itkAdaptiveStochasticClass::EstimateSettings()
{
  m_CurrentGain = m_Gain;
  m_CurrentSigmoidScale = m_SigmoidScale;
  m_NoiseFactor = 1;
  if (m_Gain > 0 && (m_SigmoidScale > 0 || !m_UseAdaptiveTime))
  {
    return;
  }
  const auto samples = this->BeginSampling();
  const auto gradients = this->MeasureGradients(samples.get(), samples ? m_NumberOfGradientMeasurements : 1);
  const auto count = static_cast<double>(gradients.size());

  DerivativeType mean = gradients.front();
  for (SizeValueType n = 1; n < gradients.size(); ++n)
  {
    mean += gradients[n];
  }
  mean /= count;
  std::vector<DerivativeType> noise = gradients;
  double                      noisePower = 0;
  for (DerivativeType & one : noise)
  {
    one -= mean;
    noisePower += this->InnerProduct(one, one);
  }
  const double meanPower = this->InnerProduct(mean, mean);
  double       squares = 0;
  for (SizeValueType n = 1; n < noise.size(); ++n)
  {
    for (SizeValueType m = 0; m < n; ++m)
    {
      squares += Math::sqr(this->InnerProduct(noise[n], noise[m]));
    }
  }
  if (noisePower > 0)
  {
    noisePower /= count - 1;
    // The squared length of the mean contains 1/count of the noise.
    const double power = meanPower - noisePower / count;
    m_NoiseFactor = std::max(1 / count, power / (power + noisePower));
  }
  if (m_SigmoidScale <= 0)
  {
    const double deviation = squares > 0 ? std::sqrt(squares / (0.5 * count * (count - 1))) : meanPower;
    // Time does not advance if all derivatives are 0.
    m_CurrentSigmoidScale = deviation > 0 ? m_SigmoidScaleFactor * deviation : 1.0;
  }
  if (m_Gain <= 0)
  {
    this->EstimateGain(gradients);
  }
}

itkAdaptiveStochasticTemplate void
itkAdaptiveStochasticClass::EstimateGain(const std::vector<DerivativeType> & gradients)
{
  const auto estimator = this->MakeStepEstimator();
  double     displacement = 0;
  for (const DerivativeType & gradient : gradients)
  {
    this->m_Gradient = gradient;
    this->ModifyGradientByScales();
    displacement += static_cast<double>(estimator->EstimateStepScale(this->m_Gradient)) / gradients.size();
  }
  // Nothing moves if all derivatives are 0, whatever the gain.
  const double step = displacement > 0 ? this->ComputeMaximumStepLength() / displacement : 1.0;
  m_CurrentGain = m_NoiseFactor * step * std::pow(m_GainOffset, m_GainExponent);
}

/** Returns the estimator that computes the displacements of a step. */
itkAdaptiveStochasticTemplate typename itkAdaptiveStochasticClass::Superclass::ScalesEstimatorType::Pointer
itkAdaptiveStochasticClass::MakeStepEstimator() const
{
  if (this->m_ScalesEstimator.IsNotNull())
  {
    return this->m_ScalesEstimator;
  }
  TImageMetric * const metric = this->FindImageMetric();
  if (metric == nullptr)
  {
    itkExceptionMacro(
      "There is no way to find how far a step moves voxels. Set a scales estimator, or the gain itself.");
  }
  const auto estimator = RegistrationParameterScalesFromPhysicalShift<TImageMetric>::New();
  estimator->SetMetric(metric);
  if (m_NewSamplesEveryIteration)
  {
    estimator->SetVirtualDomainPointSet(metric->GetVirtualSampledPointSet());
  }
  return estimator.GetPointer();
}

itkAdaptiveStochasticTemplate double
itkAdaptiveStochasticClass::ComputeMaximumStepLength() const
{
  if (m_MaximumStepLength > 0)
  {
    return m_MaximumStepLength;
  }
  const TImageMetric * const metric = this->FindImageMetric();
  if (metric == nullptr)
  {
    return static_cast<double>(this->m_ScalesEstimator->EstimateMaximumStepSize());
  }
  const auto spacing = metric->GetVirtualSpacing();
  double     sum = 0;
  for (unsigned int d = 0; d < TImageMetric::VirtualDimension; ++d)
  {
    sum += spacing[d];
  }
  return sum / TImageMetric::VirtualDimension;
}

itkAdaptiveStochasticTemplate void
itkAdaptiveStochasticClass::ResumeOptimization()
{
  this->m_StopConditionDescription.str("");
  this->m_StopConditionDescription << this->GetNameOfClass() << ": ";
  const auto samples = this->BeginSampling();
  this->InvokeEvent(StartEvent());
  this->m_Stop = false;
  while (!this->m_Stop)
  {
    if (this->m_CurrentIteration >= this->m_NumberOfIterations)
    {
      this->m_StopConditionDescription << "Maximum number of iterations (" << this->m_NumberOfIterations
                                       << ") exceeded.";
      this->m_StopCondition = StopConditionObjectToObjectOptimizerEnum::MAXIMUM_NUMBER_OF_ITERATIONS;
      this->StopOptimization();
      break;
    }
    try
    {
      this->Evaluate(samples.get(), Series::Steps, this->m_CurrentIteration);
    }
    catch (const ExceptionObject &)
    {
      this->m_StopCondition = StopConditionObjectToObjectOptimizerEnum::COSTFUNCTION_ERROR;
      this->m_StopConditionDescription << "Metric error during optimization";
      this->StopOptimization();
      throw;
    }
    if (this->m_Stop)
    {
      this->m_StopConditionDescription << "StopOptimization() called";
      break;
    }
    this->AdvanceOneStep();
    ++this->m_CurrentIteration;
  }
}

itkAdaptiveStochasticTemplate void
itkAdaptiveStochasticClass::AdvanceOneStep()
{
  m_CurrentTime = m_NextTime;
  m_CurrentStepFactor = m_CurrentGain / std::pow(m_CurrentTime + m_GainOffset, m_GainExponent);
  if (!m_UseAdaptiveTime)
  {
    m_NextTime = m_CurrentTime + 1;
  }
  else if (m_PreviousGradient.GetSize() == this->m_Gradient.GetSize())
  {
    const double x = -this->InnerProduct(m_PreviousGradient, this->m_Gradient);
    m_NextTime = std::max(0.0, m_CurrentTime + Sigmoid(x, m_SigmoidMinimum, m_SigmoidMaximum, m_CurrentSigmoidScale));
  }
  m_PreviousGradient = this->m_Gradient;

  this->ModifyGradientByScales();
  this->ModifyGradientByLearningRate();
  try
  {
    this->m_Metric->UpdateTransformParameters(this->m_Gradient);
  }
  catch (const ExceptionObject &)
  {
    this->m_StopCondition = StopConditionObjectToObjectOptimizerEnum::UPDATE_PARAMETERS_ERROR;
    this->m_StopConditionDescription << "UpdateTransformParameters error";
    this->StopOptimization();
    throw;
  }
  this->InvokeEvent(IterationEvent());
}

/** Returns the factor of a parameter's derivative, weight over scale. The parameters of a transform with local support share scales and
 * weights. */
itkAdaptiveStochasticTemplate double
itkAdaptiveStochasticClass::GetFactor(SizeValueType parameter) const
{
  const ScalesType & scales = this->GetScales();
  const ScalesType & weights = this->GetWeights();
  const double       weight = this->GetWeightsAreIdentity() ? 1.0 : weights[parameter % weights.GetSize()];
  return this->GetScalesAreIdentity() ? weight : weight / scales[parameter % scales.GetSize()];
}

itkAdaptiveStochasticTemplate double
itkAdaptiveStochasticClass::InnerProduct(const DerivativeType & a, const DerivativeType & b) const
{
  double sum = 0;
  for (SizeValueType p = 0; p < a.GetSize(); ++p)
  {
    sum += a[p] * b[p] * this->GetFactor(p);
  }
  return sum;
}

itkAdaptiveStochasticTemplate void
itkAdaptiveStochasticClass::ModifyGradientByScalesOverSubRange(const IndexRangeType & subrange)
{
  for (auto p = subrange[0]; p <= subrange[1]; ++p)
  {
    this->m_Gradient[p] *= this->GetFactor(p);
  }
}

itkAdaptiveStochasticTemplate void
itkAdaptiveStochasticClass::ModifyGradientByLearningRateOverSubRange(const IndexRangeType & subrange)
{
  for (auto p = subrange[0]; p <= subrange[1]; ++p)
  {
    this->m_Gradient[p] *= m_CurrentStepFactor;
  }
}

itkAdaptiveStochasticTemplate void
itkAdaptiveStochasticClass::PrintSelf(std::ostream & os, Indent indent) const
{
  Superclass::PrintSelf(os, indent);
  os << indent << "Gain: " << m_Gain << std::endl;
  os << indent << "GainOffset: " << m_GainOffset << std::endl;
  os << indent << "GainExponent: " << m_GainExponent << std::endl;
  os << indent << "MaximumStepLength: " << m_MaximumStepLength << std::endl;
  os << indent << "UseAdaptiveTime: " << (m_UseAdaptiveTime ? "On" : "Off") << std::endl;
  os << indent << "SigmoidMaximum: " << m_SigmoidMaximum << std::endl;
  os << indent << "SigmoidMinimum: " << m_SigmoidMinimum << std::endl;
  os << indent << "SigmoidScale: " << m_SigmoidScale << std::endl;
  os << indent << "SigmoidScaleFactor: " << m_SigmoidScaleFactor << std::endl;
  os << indent << "NumberOfGradientMeasurements: " << m_NumberOfGradientMeasurements << std::endl;
  os << indent << "NewSamplesEveryIteration: " << (m_NewSamplesEveryIteration ? "On" : "Off") << std::endl;
  os << indent << "NumberOfSpatialSamples: " << m_NumberOfSpatialSamples << std::endl;
  os << indent << "Seed: " << m_Seed << std::endl;
  os << indent << "CurrentTime: " << m_CurrentTime << std::endl;
  os << indent << "CurrentGain: " << m_CurrentGain << std::endl;
  os << indent << "CurrentSigmoidScale: " << m_CurrentSigmoidScale << std::endl;
  os << indent << "CurrentStepFactor: " << m_CurrentStepFactor << std::endl;
  os << indent << "NoiseFactor: " << m_NoiseFactor << std::endl;
}

} // namespace itk

#undef itkAdaptiveStochasticClass
#undef itkAdaptiveStochasticTemplate

#endif
