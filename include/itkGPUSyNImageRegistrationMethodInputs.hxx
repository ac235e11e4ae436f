// SPDX-License-Identifier: Apache-2.0
// The settings and inputs of GPUSyNImageRegistrationMethod: what a device lacks of them, and how the engine takes them. Only
// itkGPUSyNImageRegistrationMethod.hxx includes it, where the macros are that name the class.
#ifndef itkGPUSyNImageRegistrationMethodInputs_hxx
#define itkGPUSyNImageRegistrationMethodInputs_hxx

#include "GPURegistrationDetail/core/itkGPURegistrationGeometry.h"
#include "GPURegistrationDetail/registration/itkGPURegisteredImage.h"
#include "GPURegistrationDetail/registration/itkGPURegistrationMethod.h"
#include "GPURegistrationDetail/registration/itkGPUSyNMetric.h"
#include "GPURegistrationDetail/transform/itkGPUTransformChain.h"

#include "itkDisplacementFieldTransformParametersAdaptor.h"
#include "itkImageMaskSpatialObject.h"
#include "itkShrinkImageFilter.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace itk
{

itkGPUSyNTemplate auto
itkGPUSyN::FindImageMetrics() const -> std::vector<ImageMetricType *>
{
  auto * const metric = this->m_Metric.GetPointer();
  using MultiMetricType = typename Superclass::MultiMetricType;
  std::vector<ImageMetricType *> metrics;
  if (dynamic_cast<const MultiMetricType *>(metric) == nullptr)
  {
    metrics.push_back(dynamic_cast<ImageMetricType *>(metric));
  }
  else if (GPURegistrationDetail::IsExactly<MultiMetricType>(metric))
  {
    for (const auto & one : static_cast<MultiMetricType *>(metric)->GetMetricQueue())
    {
      metrics.push_back(dynamic_cast<ImageMetricType *>(one.GetPointer()));
    }
  }
  const bool areOfImages = std::find(metrics.begin(), metrics.end(), nullptr) == metrics.end();
  return areOfImages ? metrics : std::vector<ImageMetricType *>();
}

itkGPUSyNTemplate std::vector<double>
                  itkGPUSyN::GetWeights() const
{
  using MultiMetricType = typename Superclass::MultiMetricType;
  auto * const        several = dynamic_cast<MultiMetricType *>(this->m_Metric.GetPointer());
  std::vector<double> weights;
  if (several != nullptr)
  {
    const auto given = several->GetMetricWeights();
    weights.assign(given.begin(), given.end());
  }
  return weights.empty() ? std::vector<double>(this->FindImageMetrics().size(), 1.0) : weights;
}

itkGPUSyNTemplate std::string
                  itkGPUSyN::FindUnsupportedFeature()
{
  const SizeValueType metrics = this->FindImageMetrics().size();
  if (metrics == 0)
  {
    return "The metric is not made of metrics of images alone.";
  }
  const std::vector<double> weights = this->GetWeights();
  if (weights.size() != metrics || !std::all_of(weights.begin(), weights.end(), [](double w) { return w >= 0; }))
  {
    return "The weights of the metrics are not one number for each, of 0 or more.";
  }
  using GPURegistrationDetail::IsOfReals;
  if (!IsOfReals<TFixedImage> || !IsOfReals<TMovingImage> || ImageDimension < 2 || ImageDimension > 3)
  {
    return "The images are not of float or double in 2 or 3 dimensions.";
  }
  if (this->GetNumberOfIndexedInputs() != 2 * metrics)
  {
    return "There is not one fixed image and one moving one for each metric.";
  }
  for (SizeValueType n = 0; n < metrics; ++n)
  {
    if (this->GetFixedImage(n) == nullptr || this->GetMovingImage(n) == nullptr)
    {
      return "There is not one fixed image and one moving one for each metric.";
    }
  }
  if (!this->m_DownsampleImagesForMetricDerivatives)
  {
    return "DownsampleImagesForMetricDerivatives is off.";
  }
  if (this->m_MetricSamplingStrategy != Superclass::MetricSamplingStrategyEnum::NONE)
  {
    return "The metric is to be sampled.";
  }
  const auto domain = this->GetCurrentLevelVirtualDomainImage();
  if (domain && !GPURegistrationGeometry::HaveSameGrid<ImageDimension>(*domain, *this->GetFixedImage()))
  {
    return "The metric's virtual domain is not the fixed image's.";
  }
  const std::string inputs = this->FindUnsupportedInput();
  return inputs.empty() ? this->FindUnsupportedLevel() : inputs;
}

itkGPUSyNTemplate std::string
                  itkGPUSyN::FindUnsupportedInput() const
{
  using MetricReader = GPURegistrationDetail::SyNMetric<TFixedImage, TMovingImage, TVirtualImage, RealType>;
  const auto  metrics = this->FindImageMetrics();
  std::string unsupported;
  for (SizeValueType n = 0; n < metrics.size(); ++n)
  {
    ImageMetricType & metric = *metrics[n];
    unsupported = unsupported.empty() ? MetricReader(metric).FindUnsupportedFeature() : unsupported;
    for (const bool isFixed : { true, false })
    {
      const ImageBaseType * const image = isFixed ? static_cast<const ImageBaseType *>(this->GetFixedImage(n))
                                                  : static_cast<const ImageBaseType *>(this->GetMovingImage(n));
      if (unsupported.empty() && image->GetBufferedRegion() != image->GetLargestPossibleRegion())
      {
        unsupported = "An image is not buffered as a whole.";
      }
      if (unsupported.empty())
      {
        unsupported =
          MetricReader::FindUnsupportedFeature(isFixed ? metric.GetFixedImageMask() : metric.GetMovingImageMask(),
                                               *image);
      }
    }
  }
  for (const InitialTransformType * const initial :
       { this->GetFixedInitialTransform(), this->GetMovingInitialTransform() })
  {
    bool isKnown = true;
    MakeChain(initial, isKnown);
    if (unsupported.empty() && !isKnown)
    {
      unsupported = std::string("The initial transform ") + initial->GetNameOfClass() +
                    " is not made of linear transforms, B-splines and displacement fields.";
    }
  }
  return unsupported;
}

itkGPUSyNTemplate std::string
                  itkGPUSyN::FindUnsupportedLevel() const
{
  this->CheckLevels();
  if (this->m_NumberOfLevels > 1 &&
      this->GetFixedImage()->GetLargestPossibleRegion().GetIndex() != ImageRegion<ImageDimension>().GetIndex())
  {
    return "The fixed image's first voxel has an index that is not 0, and there are several levels.";
  }
  if (this->m_ConvergenceWindowSize < 2)
  {
    return "The convergence window has less than two values.";
  }
  // At the first level ITK adapts a state alone.
  for (SizeValueType level = m_Continues ? 0 : 1; level < this->m_NumberOfLevels; ++level)
  {
    // The displacement field transform's fixed parameters: size, origin, spacing and direction.
    const auto grid = this->MakeLevelGrid(level);
    const auto expected = DisplacementFieldTransform<RealType, ImageDimension>::New();
    const auto field = DisplacementFieldType::New();
    field->CopyInformation(grid);
    field->SetRegions(grid->GetLargestPossibleRegion());
    expected->SetDisplacementField(field);
    const auto & adaptor = this->m_TransformParametersAdaptorsPerLevel[level];
    const auto & has = adaptor ? adaptor->GetRequiredFixedParameters() : expected->GetFixedParameters();
    const auto & needs = expected->GetFixedParameters();
    using AdaptorType = DisplacementFieldTransformParametersAdaptor<TOutputTransform>;
    if (adaptor && !GPURegistrationDetail::IsExactly<AdaptorType>(adaptor.GetPointer()))
    {
      return "The transform adaptor of level " + std::to_string(level) + " is of a class of its own.";
    }
    bool isEqual = adaptor ? has.Size() == needs.Size()
                           : level > 0 && this->GetShrinkFactorsPerDimension(static_cast<unsigned int>(level)) ==
                                            this->GetShrinkFactorsPerDimension(static_cast<unsigned int>(level - 1));
    for (SizeValueType n = 0; isEqual && n < needs.Size(); ++n)
    {
      isEqual = std::abs(has[n] - needs[n]) <= 1e-6 * grid->GetSpacing().GetVnlVector().min_value();
    }
    if (!isEqual)
    {
      return "The transform adaptor of level " + std::to_string(level) + " does not follow the shrink factors.";
    }
  }
  return "";
}

itkGPUSyNTemplate std::vector<std::string>
                  itkGPUSyN::ChooseDevices() const
{
  std::vector<std::string>     devices = m_Use.GetDeviceNames();
  gpureg::DiffeomorphicProblem problem;
  problem.dimension = ImageDimension;
  problem.further.resize(this->FindImageMetrics().size() - 1);
  const auto usable = gpureg::TeamRegistration::CountUsable(problem, this->MakeSettings(), devices.size());
  if (usable.devices < devices.size())
  {
    m_Use.WarnOnce(*this,
                   "Of " + std::to_string(devices.size()) + " devices the first " + std::to_string(usable.devices) +
                     " register: " + usable.reason + ".");
    devices.resize(usable.devices);
  }
  return devices;
}

itkGPUSyNTemplate void
itkGPUSyN::CheckInputs() const
{
  this->CheckMetrics();
  this->CheckLevels();
  this->CheckState();
  const SizeValueType pairs = this->GetNumberOfIndexedInputs() / 2;
  const SizeValueType metrics = this->FindImageMetrics().size();
  for (SizeValueType n = 0; n < std::min(pairs, metrics); ++n)
  {
    GPURegistrationDetail::CheckHasPixels(*this, this->GetFixedImage(n), "fixed");
    GPURegistrationDetail::CheckHasPixels(*this, this->GetMovingImage(n), "moving");
  }
}

itkGPUSyNTemplate void
itkGPUSyN::CheckMetrics() const
{
  using MultiMetricType = typename Superclass::MultiMetricType;
  const auto check = [this](Object * one) {
    if (one == nullptr)
    {
      GPURegistrationDetail::ThrowBadInput(*this, "There is no metric, or one of several is missing. Set it.");
    }
    const auto * const metric = dynamic_cast<const ImageMetricType *>(one);
    if (metric == nullptr || !this->m_DownsampleImagesForMetricDerivatives)
    {
      return;
    }
    for (const bool isFixed : { true, false })
    {
      const auto * const mask = isFixed ? metric->GetFixedImageMask() : metric->GetMovingImageMask();
      if (mask != nullptr && dynamic_cast<const ImageMaskSpatialObject<ImageDimension> *>(mask) == nullptr)
      {
        GPURegistrationDetail::ThrowBadInput(*this,
                                             "The mask of a ",
                                             isFixed ? "fixed" : "moving",
                                             " image is of class ",
                                             mask->GetNameOfClass(),
                                             ", and SyN takes an ImageMaskSpatialObject. Set one, or call "
                                             "SetDownsampleImagesForMetricDerivatives(false).");
      }
    }
  };
  check(this->m_Metric.GetPointer());
  if (auto * const several = dynamic_cast<MultiMetricType *>(this->m_Metric.GetPointer()))
  {
    for (const auto & one : several->GetMetricQueue())
    {
      check(one.GetPointer());
    }
  }
}

itkGPUSyNTemplate void
itkGPUSyN::CheckLevels() const
{
  const SizeValueType levels = this->m_NumberOfLevels;
  if (levels == 0)
  {
    GPURegistrationDetail::ThrowBadInput(*this, "There are no levels. Set one or more.");
  }
  if (this->m_NumberOfIterationsPerLevel.Size() < levels || this->m_SmoothingSigmasPerLevel.Size() < levels ||
      this->m_ShrinkFactorsPerLevel.size() < levels || this->m_TransformParametersAdaptorsPerLevel.size() < levels)
  {
    GPURegistrationDetail::ThrowBadInput(*this,
                                         "There are ",
                                         levels,
                                         " levels; set numbers of iterations, smoothing sigmas, shrink factors and "
                                         "transform adaptors for each of them.");
  }
}

itkGPUSyNTemplate void
itkGPUSyN::CheckState() const
{
  if (m_Continues)
  {
    if (!this->m_TransformParametersAdaptorsPerLevel[0])
    {
      GPURegistrationDetail::ThrowBadInput(
        *this, "A registration that continues from middle transforms needs a transform adaptor of its first level.");
    }
    for (const auto & transform : { this->m_FixedToMiddleTransform, this->m_MovingToMiddleTransform })
    {
      if (!transform->GetDisplacementField() || !transform->GetInverseDisplacementField())
      {
        GPURegistrationDetail::ThrowBadInput(*this,
                                             "A registration continues from middle transforms that have a displacement "
                                             "field and its inverse. Set both, or no middle transforms.");
      }
    }
  }
}

itkGPUSyNTemplate gpureg::MiddleState
                  itkGPUSyN::MakeState(const OutputTransformType & transform)
{
  const typename DisplacementFieldType::ConstPointer toMiddle = transform.GetDisplacementField();
  const typename DisplacementFieldType::ConstPointer fromMiddle = transform.GetInverseDisplacementField();
  const auto                                         fill = [](typename DisplacementFieldType::ConstPointer field) {
    return [field](std::int64_t first, std::int64_t count, void * out) {
      auto * to = static_cast<float *>(out);
      for (std::int64_t n = first; n < first + count; ++n, to += 3)
      {
        to[2] = 0;
        std::copy_n(field->GetBufferPointer()[n].Begin(), ImageDimension, to);
      }
    };
  };
  const auto          region = toMiddle->GetBufferedRegion();
  gpureg::MiddleState state;
  state.size = GPURegistrationGeometry::SizeOf(region.GetSize());
  state.indexToPoint = GPURegistrationGeometry::GetIndexToPointMap<ImageDimension>(*toMiddle, region);
  state.toMiddle = fill(toMiddle);
  state.fromMiddle = fill(fromMiddle);
  return state;
}

itkGPUSyNTemplate gpureg::TransformChain
                  itkGPUSyN::MakeChain(const InitialTransformType * transform, bool & isKnown)
{
  gpureg::TransformChain chain;
  chain.dimension = static_cast<int>(ImageDimension);
  isKnown = transform == nullptr || GPUTransformChain::Append<RealType, ImageDimension>(*transform, chain);
  return chain;
}

itkGPUSyNTemplate auto
itkGPUSyN::MakeLevelGrid(SizeValueType level) const -> typename ImageBaseType::Pointer
{
  const auto domain = TVirtualImage::New();
  domain->CopyInformation(this->GetFixedImage());
  domain->SetRegions(this->GetFixedImage()->GetLargestPossibleRegion());
  const auto shrink = ShrinkImageFilter<TVirtualImage, TVirtualImage>::New();
  shrink->SetShrinkFactors(this->GetShrinkFactorsPerDimension(static_cast<unsigned int>(level)));
  shrink->SetInput(domain);
  shrink->UpdateOutputInformation();
  const auto grid = ImageBaseType::New();
  grid->CopyInformation(shrink->GetOutput());
  grid->SetRegions(shrink->GetOutput()->GetLargestPossibleRegion());
  return grid;
}

itkGPUSyNTemplate std::vector<gpureg::FurtherPair>
                  itkGPUSyN::MakePairs() const
{
  using MetricReader = GPURegistrationDetail::SyNMetric<TFixedImage, TMovingImage, TVirtualImage, RealType>;
  const auto                       metrics = this->FindImageMetrics();
  const std::vector<double>        weights = this->GetWeights();
  std::vector<gpureg::FurtherPair> pairs(metrics.size());
  // All values count.
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (SizeValueType n = 0; n < pairs.size(); ++n)
  {
    pairs[n].similarity = MetricReader(*metrics[n]).GetSettings();
    pairs[n].weight = weights[n];
    pairs[n].fixedRange = pairs[n].movingRange = gpureg::ValueRange{ { -infinity, infinity } };
  }
  return pairs;
}

itkGPUSyNTemplate std::vector<gpureg::DiffeomorphicProblem>
                  itkGPUSyN::MakeProblems(const std::vector<gpureg::FurtherPair> &  pairs,
                        GPURegistrationDetail::RegisteredImages & images) const
{
  gpureg::DiffeomorphicProblem problem;
  bool                         isKnown = true;
  problem.dimension = static_cast<int>(ImageDimension);
  problem.initial = MakeChain(this->GetMovingInitialTransform(), isKnown);
  problem.fixedInitial = MakeChain(this->GetFixedInitialTransform(), isKnown);
  if (m_Continues)
  {
    problem.fixedState = MakeState(*this->m_FixedToMiddleTransform);
    problem.movingState = MakeState(*this->m_MovingToMiddleTransform);
  }
  problem.further.assign(pairs.begin() + 1, pairs.end());
  std::vector<gpureg::DiffeomorphicProblem> problems(images.GetDeviceNames().size(), problem);
  const auto                                metrics = this->FindImageMetrics();
  for (SizeValueType n = 0; n < metrics.size(); ++n)
  {
    const auto fixed = images.Add(*this->GetFixedImage(n), metrics[n]->GetFixedImageMask(), "fixed");
    const auto moving = images.Add(*this->GetMovingImage(n), metrics[n]->GetMovingImageMask(), "moving");
    for (SizeValueType device = 0; device < problems.size(); ++device)
    {
      auto & its = problems[device];
      (n == 0 ? its.fixed : its.further[n - 1].fixed) = fixed[device];
      (n == 0 ? its.moving : its.further[n - 1].moving) = moving[device];
    }
  }
  return problems;
}

itkGPUSyNTemplate gpureg::DiffeomorphicSettings
                  itkGPUSyN::MakeSettings() const
{
  this->CheckLevels();
  const gpureg::FurtherPair     first = this->MakePairs().front();
  gpureg::DiffeomorphicSettings settings;
  gpureg::SyNSettings &         syn = settings.syn;
  settings.scheme = gpureg::DiffeomorphicScheme::SyN;
  settings.similarity = first.similarity;
  settings.flat =
    gpureg::GetFlatNeighborhoodsOfITK<typename TFixedImage::PixelType, typename TMovingImage::PixelType, RealType>();
  settings.weight = first.weight;
  settings.fixedRange = first.fixedRange;
  settings.movingRange = first.movingRange;
  settings.iterations.clear();
  for (SizeValueType level = 0; level < this->m_NumberOfLevels; ++level)
  {
    constexpr SizeValueType most = std::numeric_limits<int>::max();
    settings.iterations.push_back(static_cast<int>(std::min(this->m_NumberOfIterationsPerLevel[level], most)));
    gpureg::Size factors{ 1, 1, 1 };
    for (unsigned int d = 0; d < ImageDimension; ++d)
    {
      factors[d] = static_cast<int>(this->m_ShrinkFactorsPerLevel[level][d]);
    }
    syn.shrinkFactors.push_back(factors);
    syn.smoothingSigmas.push_back(std::max<double>(this->m_SmoothingSigmasPerLevel[level], 0));
  }
  syn.sigmasAreInMillimetres = this->m_SmoothingSigmasAreSpecifiedInPhysicalUnits;
  syn.averagesGradients = this->m_AverageMidPointGradients;
  if (!this->m_OptimizerWeightsAreIdentity && this->m_OptimizerWeights.Size() == ImageDimension)
  {
    std::copy(this->m_OptimizerWeights.begin(), this->m_OptimizerWeights.end(), settings.weights.begin());
  }
  settings.convergenceThreshold = this->m_ConvergenceThreshold;
  settings.convergenceWindow = GPURegistrationDetail::ToEngineCount(this->m_ConvergenceWindowSize);
  const auto firstIndex = this->GetFixedImage()->GetLargestPossibleRegion().GetIndex();
  for (unsigned int d = 0; d < ImageDimension; ++d)
  {
    syn.firstIndex[d] = static_cast<int>(firstIndex[d]);
  }
  const auto sigmaOf = [](double variance) { return std::sqrt(std::max(variance, 0.0)); };
  settings.updateSigma = sigmaOf(this->GetGaussianSmoothingVarianceForTheUpdateField());
  settings.fieldSigma = sigmaOf(this->GetGaussianSmoothingVarianceForTheTotalField());
  settings.step = this->m_LearningRate;
  return settings;
}

itkGPUSyNTemplate bool
itkGPUSyN::HasFurtherPairs() const
{
  const std::vector<gpureg::FurtherPair> pairs = this->MakePairs();
  bool                                   isEqual = pairs.size() == m_Pairs.size();
  for (SizeValueType n = 0; isEqual && n < pairs.size(); ++n)
  {
    isEqual = pairs[n].weight == m_Pairs[n].weight && (n == 0 || pairs[n].similarity == m_Pairs[n].similarity);
  }
  return isEqual;
}

} // namespace itk

#endif
