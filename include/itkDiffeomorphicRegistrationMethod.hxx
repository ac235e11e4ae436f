// SPDX-License-Identifier: Apache-2.0
#ifndef itkDiffeomorphicRegistrationMethod_hxx
#define itkDiffeomorphicRegistrationMethod_hxx

#include "itkDiffeomorphicRegistrationMethod.h"

#include "GPURegistrationDetail/registration/itkGPURegisteredImage.h"
#include "GPURegistrationDetail/transform/itkGPUTransformInverter.h"

#include <algorithm>
#include <cstddef>
#include <string>

namespace itk
{

template <typename TFixedImage, typename TMovingImage>
DiffeomorphicRegistrationMethod<TFixedImage, TMovingImage>::DiffeomorphicRegistrationMethod()
{
  const gpureg::DiffeomorphicSettings settings;
  m_NumberOfIterationsPerLevel.SetSize(static_cast<SizeValueType>(settings.iterations.size()));
  std::copy(settings.iterations.begin(), settings.iterations.end(), m_NumberOfIterationsPerLevel.begin());
  m_Scheme = settings.scheme;
  m_RegisteredScheme = settings.scheme;
  m_Similarity = settings.similarity.kind;
  m_NumberOfHistogramBins = static_cast<unsigned int>(settings.similarity.bins);
  m_NeighborhoodRadius = static_cast<unsigned int>(settings.similarity.radius);
  m_UpdateSmoothingSigma = settings.updateSigma;
  m_FieldSmoothingSigma = settings.fieldSigma;
  m_Step = settings.step;
  m_Smoothing = settings.smoothing;
  m_Optimizer = settings.optimizer;
  m_Noise = settings.noise;
  m_ConvergenceThreshold = settings.convergenceThreshold;
  m_ConvergenceWindowSize = static_cast<unsigned int>(settings.convergenceWindow);
  m_Weight = settings.weight;
}

template <typename TFixedImage, typename TMovingImage>
void
DiffeomorphicRegistrationMethod<TFixedImage, TMovingImage>::SetScheme(SchemeEnum scheme)
{
  if (m_Scheme == scheme)
  {
    return;
  }
  m_Scheme = scheme;
  const gpureg::SmoothingSigmas usual = gpureg::GetUsualSigmas(scheme);
  m_UpdateSmoothingSigma = m_HasOwnUpdateSigma ? m_UpdateSmoothingSigma : usual.update;
  m_FieldSmoothingSigma = m_HasOwnFieldSigma ? m_FieldSmoothingSigma : usual.field;
  this->Modified();
}

template <typename TFixedImage, typename TMovingImage>
void
DiffeomorphicRegistrationMethod<TFixedImage, TMovingImage>::SetScheme(const std::string & choice)
{
  GPURegistrationDetail::CallEngine(*this, [&] { this->SetScheme(gpureg::GetDiffeomorphicScheme(choice)); });
}

template <typename TFixedImage, typename TMovingImage>
void
DiffeomorphicRegistrationMethod<TFixedImage, TMovingImage>::SetUpdateSmoothingSigma(double sigma)
{
  m_HasOwnUpdateSigma = true;
  if (m_UpdateSmoothingSigma != sigma)
  {
    m_UpdateSmoothingSigma = sigma;
    this->Modified();
  }
}

template <typename TFixedImage, typename TMovingImage>
void
DiffeomorphicRegistrationMethod<TFixedImage, TMovingImage>::SetFieldSmoothingSigma(double sigma)
{
  m_HasOwnFieldSigma = true;
  if (m_FieldSmoothingSigma != sigma)
  {
    m_FieldSmoothingSigma = sigma;
    this->Modified();
  }
}

template <typename TFixedImage, typename TMovingImage>
void
DiffeomorphicRegistrationMethod<TFixedImage, TMovingImage>::AddImagePair(ImagePairType * pair)
{
  if (pair == nullptr)
  {
    GPURegistrationDetail::ThrowBadInput(*this, "AddImagePair() was given no pair.");
  }
  m_ImagePairs.emplace_back(pair);
  this->Modified();
}

template <typename TFixedImage, typename TMovingImage>
void
DiffeomorphicRegistrationMethod<TFixedImage, TMovingImage>::ClearImagePairs()
{
  for (std::size_t n = 0; n < m_ImagePairs.size(); ++n)
  {
    this->ProcessObject::RemoveInput("FixedImageOfPair" + std::to_string(n + 2));
    this->ProcessObject::RemoveInput("MovingImageOfPair" + std::to_string(n + 2));
  }
  m_ImagePairs.clear();
  this->Modified();
}

template <typename TFixedImage, typename TMovingImage>
void
DiffeomorphicRegistrationMethod<TFixedImage, TMovingImage>::UpdateOutputInformation()
{
  for (std::size_t n = 0; n < m_ImagePairs.size(); ++n)
  {
    const ImagePairType & pair = *m_ImagePairs[n];
    this->ProcessObject::SetInput("FixedImageOfPair" + std::to_string(n + 2),
                                  const_cast<TFixedImage *>(pair.GetFixedImage()));
    this->ProcessObject::SetInput("MovingImageOfPair" + std::to_string(n + 2),
                                  const_cast<TMovingImage *>(pair.GetMovingImage()));
  }
  Superclass::UpdateOutputInformation();
}

template <typename TFixedImage, typename TMovingImage>
ModifiedTimeType
DiffeomorphicRegistrationMethod<TFixedImage, TMovingImage>::GetMTime() const
{
  ModifiedTimeType latest = Superclass::GetMTime();
  for (const auto & pair : m_ImagePairs)
  {
    latest = std::max<ModifiedTimeType>(latest, pair->GetMTime());
  }
  return latest;
}

template <typename TFixedImage, typename TMovingImage>
gpureg::DiffeomorphicSettings
DiffeomorphicRegistrationMethod<TFixedImage, TMovingImage>::MakeSettings() const
{
  if (m_Scheme == SchemeEnum::SyN)
  {
    GPURegistrationDetail::ThrowBadInput(*this, "SyN has a class of its own: take itk::GPUSyNImageRegistrationMethod.");
  }
  gpureg::DiffeomorphicSettings settings;
  settings.scheme = m_Scheme;
  settings.iterations.clear();
  for (const unsigned int iterations : m_NumberOfIterationsPerLevel)
  {
    settings.iterations.push_back(GPURegistrationDetail::ToEngineCount(iterations));
  }
  settings.similarity = { m_Similarity,
                          GPURegistrationDetail::ToEngineCount(m_NumberOfHistogramBins),
                          GPURegistrationDetail::ToEngineCount(m_NeighborhoodRadius) };
  settings.updateSigma = m_UpdateSmoothingSigma;
  settings.fieldSigma = m_FieldSmoothingSigma;
  settings.step = m_Step;
  settings.smoothing = m_Smoothing;
  settings.optimizer = m_Optimizer;
  settings.noise = m_Noise;
  settings.convergenceThreshold = m_ConvergenceThreshold;
  settings.convergenceWindow = GPURegistrationDetail::ToEngineCount(m_ConvergenceWindowSize);
  if (m_OptimizerWeights.Size() != 0)
  {
    if (m_OptimizerWeights.Size() != ImageDimension)
    {
      GPURegistrationDetail::ThrowBadInput(*this,
                                           "There are ",
                                           m_OptimizerWeights.Size(),
                                           " OptimizerWeights; give one an axis, ",
                                           ImageDimension,
                                           ", or none.");
    }
    std::copy(m_OptimizerWeights.begin(), m_OptimizerWeights.end(), settings.weights.begin());
  }
  settings.weight = m_Weight;
  settings.fixedRange = GPURegistrationDetail::ToEngineRange(this->GetFixedImageRange());
  settings.movingRange = GPURegistrationDetail::ToEngineRange(this->GetMovingImageRange());
  return settings;
}

template <typename TFixedImage, typename TMovingImage>
std::vector<gpureg::DiffeomorphicProblem>
DiffeomorphicRegistrationMethod<TFixedImage, TMovingImage>::MakeProblems(
  GPURegistrationDetail::RegisteredImages & images) const
{
  using GPURegistrationDetail::ToEngineCount;
  gpureg::DiffeomorphicProblem problem;
  problem.initial = this->MakeInitialChain();
  std::vector<gpureg::DiffeomorphicProblem> problems(images.GetDeviceNames().size(), problem);
  const auto                                add = [&](const auto * image, const auto * mask, const char * which) {
    const std::string name = "pair " + std::to_string(problems.front().further.size() + 2) + "'s " + which;
    if (image == nullptr)
    {
      GPURegistrationDetail::ThrowBadInput(*this, "There is no ", name, " image. Set it, or do not add the pair.");
    }
    return images.Add(*image, mask, name);
  };
  for (const auto & added : m_ImagePairs)
  {
    const auto          fixed = add(added->GetFixedImage(), added->GetFixedImageMask(), "fixed");
    const auto          moving = add(added->GetMovingImage(), added->GetMovingImageMask(), "moving");
    gpureg::FurtherPair pair;
    pair.similarity = { added->GetSimilarity(),
                        ToEngineCount(added->GetNumberOfHistogramBins()),
                        ToEngineCount(added->GetNeighborhoodRadius()) };
    pair.weight = added->GetWeight();
    pair.fixedRange = GPURegistrationDetail::ToEngineRange(added->GetFixedImageRange());
    pair.movingRange = GPURegistrationDetail::ToEngineRange(added->GetMovingImageRange());
    for (std::size_t n = 0; n < problems.size(); ++n)
    {
      pair.fixed = fixed[n];
      pair.moving = moving[n];
      problems[n].further.push_back(pair);
    }
  }
  return problems;
}

template <typename TFixedImage, typename TMovingImage>
const std::vector<double> &
DiffeomorphicRegistrationMethod<TFixedImage, TMovingImage>::GetCosts(unsigned int level) const
{
  return this->GetLevelResult(m_Result.levels, level).costs;
}

template <typename TFixedImage, typename TMovingImage>
void
DiffeomorphicRegistrationMethod<TFixedImage, TMovingImage>::RegisterDeformation()
{
  m_Result = {};
  m_Deformation = nullptr;
  const gpureg::DiffeomorphicSettings       settings = this->MakeSettings();
  GPURegistrationDetail::RegisteredImages   images(*this,
                                                 this->m_Use.GetDeviceNames(),
                                                 GPURegistrationDetail::RegisteredFor::Result);
  std::vector<gpureg::DiffeomorphicProblem> problems = this->MakeProblems(images);
  m_Result = this->RegisterOnDevice(m_Engine, images, problems, settings, [](const gpureg::DiffeomorphicProgress &) {});
  const gpureg::EvaluationStatistics statistics = this->m_Statistics;
  m_RegisteredScheme = m_Scheme;
  const auto field = this->MakeField();
  this->TakeDisplacements(GPURegistrationDetail::StoreIn(*field), this->MakeParallelFor());
  this->m_Statistics = statistics;
  m_Deformation = DisplacementFieldTransformType::New();
  m_Deformation->SetDisplacementField(field);
  this->SetDeformation(m_Deformation);
}

template <typename TFixedImage, typename TMovingImage>
std::vector<gpureg::MemoryPlan>
DiffeomorphicRegistrationMethod<TFixedImage, TMovingImage>::PlanImages(
  GPURegistrationDetail::RegisteredImages & images) const
{
  const gpureg::DiffeomorphicSettings settings = this->MakeSettings();
  return this->template PlanBy<GPURegistrationDetail::DiffeomorphicEngine>(images,
                                                                           this->MakeProblems(images),
                                                                           settings);
}

template <typename TFixedImage, typename TMovingImage>
void
DiffeomorphicRegistrationMethod<TFixedImage, TMovingImage>::TakeDisplacements(
  const typename Superclass::Taker & take, const gpureg::ParallelFor & parallelFor) const
{
  m_Engine->SetTiming(this->m_Use.GetMeasuresKernelTime());
  m_Engine->TakeDisplacements(take, parallelFor);
  this->m_Statistics = m_Engine->GetStatistics();
}

template <typename TFixedImage, typename TMovingImage>
gpureg::InverseErrors
DiffeomorphicRegistrationMethod<TFixedImage, TMovingImage>::ComputeInverse(
  typename Superclass::DisplacementFieldType & field, const gpureg::ParallelFor & parallelFor) const
{
  if (m_RegisteredScheme == SchemeEnum::Greedy)
  {
    return Superclass::ComputeInverse(field, parallelFor);
  }
  m_Engine->SetTiming(this->m_Use.GetMeasuresKernelTime());
  const gpureg::InverseErrors errors = m_Engine->TakeInverse(GPURegistrationDetail::StoreIn(field), parallelFor);
  this->m_Statistics = m_Engine->GetStatistics();
  return errors;
}

template <typename TFixedImage, typename TMovingImage>
void
DiffeomorphicRegistrationMethod<TFixedImage, TMovingImage>::PrintSelf(std::ostream & os, Indent indent) const
{
  Superclass::PrintSelf(os, indent);
  this->m_Use.PrintFurtherDevices(os, indent);
  os << indent << "Scheme: " << m_Scheme << std::endl;
  os << indent << "Similarity: " << m_Similarity << std::endl;
  os << indent << "NumberOfHistogramBins: " << m_NumberOfHistogramBins << std::endl;
  os << indent << "NumberOfIterationsPerLevel: " << m_NumberOfIterationsPerLevel << std::endl;
  os << indent << "NeighborhoodRadius: " << m_NeighborhoodRadius << std::endl;
  os << indent << "UpdateSmoothingSigma: " << m_UpdateSmoothingSigma << std::endl;
  os << indent << "FieldSmoothingSigma: " << m_FieldSmoothingSigma << std::endl;
  os << indent << "Smoothing: " << m_Smoothing << std::endl;
  os << indent << "Step: " << m_Step << std::endl;
  os << indent << "Optimizer: " << m_Optimizer << std::endl;
  os << indent << "Noise: " << m_Noise << std::endl;
  os << indent << "ConvergenceThreshold: " << m_ConvergenceThreshold << std::endl;
  os << indent << "ConvergenceWindowSize: " << m_ConvergenceWindowSize << std::endl;
  os << indent << "OptimizerWeights: " << m_OptimizerWeights << std::endl;
  os << indent << "Weight: " << m_Weight << std::endl;
  os << indent << "AddedImagePairs: " << m_ImagePairs.size() << std::endl;
}

} // namespace itk

#endif
