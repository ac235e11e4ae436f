// SPDX-License-Identifier: Apache-2.0
#include "AntsPipeline.h"

#include "Stopwatch.h"

#include "itkANTSNeighborhoodCorrelationImageToImageMetricv4.h"
#include "itkAffineTransform.h"
#include "itkCastImageFilter.h"
#include "itkCompositeTransform.h"
#include "itkConjugateGradientLineSearchOptimizerv4.h"
#include "itkDisplacementFieldTransform.h"
#include "itkDisplacementFieldTransformParametersAdaptor.h"
#include "itkEuler3DTransform.h"
#include "itkImageMomentsCalculator.h"
#include "itkImageRegionConstIteratorWithIndex.h"
#include "itkImageRegistrationMethodv4.h"
#include "itkMattesMutualInformationImageToImageMetricv4.h"
#include "itkRegistrationParameterScalesFromPhysicalShift.h"
#include "itkShrinkImageFilter.h"
#include "itkSyNImageRegistrationMethod.h"

#include <algorithm>
#include <stdexcept>
#include <typeinfo>
#include <utility>

namespace example
{

namespace
{
/** Registers one pair of images, stage by stage. */
template <typename TReal>
class AntsPipeline
{
public:
  AntsPipeline(const Volume * fixed, const Volume * moving, const AntsSettings & settings)
    : m_Settings(settings)
    , m_Fixed(Convert(fixed))
    , m_Moving(Convert(moving))
  {
    m_Transform->AddTransform(AlignCentres(fixed, moving));
  }

  template <typename TTransform>
  void
  RegisterLinearly(const char * name)
  {
    using MetricType = itk::MattesMutualInformationImageToImageMetricv4<ImageType, ImageType, ImageType, TReal>;
    using MethodType = itk::ImageRegistrationMethodv4<ImageType, ImageType, TTransform>;
    const auto metric = MetricType::New();
    metric->SetNumberOfHistogramBins(m_Settings.bins);
    metric->SetUseFixedImageGradientFilter(false);
    metric->SetUseMovingImageGradientFilter(false);

    const auto scales = itk::RegistrationParameterScalesFromPhysicalShift<MetricType>::New();
    scales->SetMetric(metric);
    scales->SetTransformForward(true);
    const auto optimizer = itk::ConjugateGradientLineSearchOptimizerv4Template<TReal>::New();
    optimizer->SetLowerLimit(0);
    optimizer->SetUpperLimit(2);
    optimizer->SetEpsilon(0.2);
    optimizer->SetLearningRate(m_Settings.step);
    optimizer->SetMaximumStepSizeInPhysicalUnits(m_Settings.step);
    optimizer->SetDoEstimateLearningRateOnce(false);
    optimizer->SetDoEstimateLearningRateAtEachIteration(true);
    optimizer->SetScalesEstimator(scales);
    optimizer->SetMinimumConvergenceValue(m_Settings.convergenceThreshold);
    optimizer->SetConvergenceWindowSize(m_Settings.convergenceWindow);

    const auto method = MethodType::New();
    SetUp(*method, *metric, m_Settings.linearLevels);
    method->SetMetricSamplingStrategy(MethodType::MetricSamplingStrategyEnum::REGULAR);
    method->SetMetricSamplingPercentage(m_Settings.sampledPart);
    method->SetOptimizer(optimizer);
    const auto & levels = m_Settings.linearLevels;
    method->AddObserver(itk::MultiResolutionIterationEvent(),
                        [&levels, level = std::size_t{ 0 }, optimizer](const itk::EventObject &) mutable {
                          optimizer->SetNumberOfIterations(levels[level++].iterations);
                        });
    Update(*method, *metric, name);
  }

  void
  RegisterBySyN()
  {
    using TransformType = itk::DisplacementFieldTransform<TReal, 3>;
    using FieldType = typename TransformType::DisplacementFieldType;
    using MethodType = itk::SyNImageRegistrationMethod<ImageType, ImageType, TransformType>;
    const auto metric =
      itk::ANTSNeighborhoodCorrelationImageToImageMetricv4<ImageType, ImageType, ImageType, TReal>::New();
    typename ImageType::SizeType radius;
    radius.Fill(m_Settings.radius);
    metric->SetRadius(radius);
    metric->SetUseFixedImageGradientFilter(false);
    metric->SetUseMovingImageGradientFilter(false);

    const auto & levels = m_Settings.synLevels;
    const auto   method = MethodType::New();
    SetUp(*method, *metric, levels);
    typename MethodType::NumberOfIterationsArrayType              iterations(levels.size());
    typename MethodType::TransformParametersAdaptorsContainerType adaptors;
    for (std::size_t level = 0; level < levels.size(); ++level)
    {
      iterations[level] = levels[level].iterations;
      const auto shrinker = itk::ShrinkImageFilter<ImageType, ImageType>::New();
      shrinker->SetShrinkFactors(levels[level].shrink);
      shrinker->SetInput(m_Fixed);
      shrinker->UpdateOutputInformation();
      const ImageType & grid = *shrinker->GetOutput();
      const auto        adaptor = itk::DisplacementFieldTransformParametersAdaptor<TransformType>::New();
      adaptor->SetRequiredSpacing(grid.GetSpacing());
      adaptor->SetRequiredSize(grid.GetLargestPossibleRegion().GetSize());
      adaptor->SetRequiredDirection(grid.GetDirection());
      adaptor->SetRequiredOrigin(grid.GetOrigin());
      adaptors.push_back(adaptor.GetPointer());
    }
    method->SetNumberOfIterationsPerLevel(iterations);
    method->SetTransformParametersAdaptorsPerLevel(adaptors);
    method->SetLearningRate(m_Settings.step);
    method->SetConvergenceThreshold(m_Settings.convergenceThreshold);
    method->SetConvergenceWindowSize(m_Settings.convergenceWindow);
    method->SetDownsampleImagesForMetricDerivatives(true);
    method->SetAverageMidPointGradients(false);
    method->SetGaussianSmoothingVarianceForTheUpdateField(m_Settings.updateVariance);
    method->SetGaussianSmoothingVarianceForTheTotalField(m_Settings.totalVariance);

    const auto transform = TransformType::New();
    transform->SetDisplacementField(MakeZeros<FieldType>());
    transform->SetInverseDisplacementField(MakeZeros<FieldType>());
    method->SetInitialTransform(transform);
    method->InPlaceOn();
    Update(*method, *metric, "SyN");
  }

  AntsResult
  Finish()
  {
    itk::ImageRegionConstIteratorWithIndex<ImageType> voxel(m_Fixed, m_Fixed->GetBufferedRegion());
    for (; !voxel.IsAtEnd(); ++voxel)
    {
      typename CompositeType::InputPointType point;
      m_Fixed->TransformIndexToPhysicalPoint(voxel.GetIndex(), point);
      itk::Point<double, 3> moved;
      moved.CastFrom(m_Transform->TransformPoint(point));
      m_Result.points.push_back(moved);
    }
    return std::move(m_Result);
  }

private:
  using ImageType = itk::Image<TReal, 3>;
  using CompositeType = itk::CompositeTransform<TReal, 3>;

  static typename ImageType::Pointer
  Convert(const Volume * image)
  {
    const auto cast = itk::CastImageFilter<Volume, ImageType>::New();
    cast->SetInput(image);
    cast->InPlaceOff();
    cast->Update();
    return cast->GetOutput();
  }

  /** Returns the shift from one image's centre of mass to the other's. */
  static typename itk::Transform<TReal, 3, 3>::Pointer
  AlignCentres(const Volume * fixed, const Volume * moving)
  {
    const auto findCentre = [](const Volume * image) {
      const auto moments = itk::ImageMomentsCalculator<Volume>::New();
      moments->SetImage(image);
      moments->Compute();
      return moments->GetCenterOfGravity();
    };
    const auto fixedCentre = findCentre(fixed);
    const auto shift = findCentre(moving) - fixedCentre;
    const auto transform = itk::AffineTransform<TReal, 3>::New();

    typename itk::AffineTransform<TReal, 3>::InputPointType   centre;
    typename itk::AffineTransform<TReal, 3>::OutputVectorType translation;
    for (unsigned int d = 0; d < 3; ++d)
    {
      centre[d] = static_cast<TReal>(fixedCentre[d]);
      translation[d] = static_cast<TReal>(shift[d]);
    }
    transform->SetCenter(centre);
    transform->SetTranslation(translation);
    return transform.GetPointer();
  }

  template <typename TField>
  typename TField::Pointer
  MakeZeros() const
  {
    const auto field = TField::New();
    field->CopyInformation(m_Fixed);
    field->SetRegions(m_Fixed->GetBufferedRegion());
    field->Allocate(true);
    return field;
  }

  /** Sets the images, levels and metric, which each of the three methods has. */
  template <typename TMethod, typename TMetric>
  void
  SetUp(TMethod & method, TMetric & metric, const std::vector<AntsLevel> & levels) const
  {
    typename TMethod::ShrinkFactorsArrayType   shrinking(levels.size());
    typename TMethod::SmoothingSigmasArrayType smoothing(levels.size());
    for (unsigned int level = 0; level < levels.size(); ++level)
    {
      shrinking[level] = levels[level].shrink;
      smoothing[level] = levels[level].sigma;
    }
    method.SetFixedImage(m_Fixed);
    method.SetMovingImage(m_Moving);
    method.SetMetric(&metric);
    method.SetNumberOfLevels(levels.size());
    method.SetShrinkFactorsPerLevel(shrinking);
    method.SetSmoothingSigmasPerLevel(smoothing);
    method.SetSmoothingSigmasAreSpecifiedInPhysicalUnits(false);
    method.SetMovingInitialTransform(m_Transform);
    method.MetricSamplingReinitializeSeed(m_Settings.seed);
  }

  /** Runs a method, and appends its transform to those before. */
  template <typename TMethod, typename TMetric>
  void
  Update(TMethod & method, const TMetric & metric, const char * name)
  {
    const Stopwatch watch;
    method.Update();
    m_Result.stages.push_back(
      { name, watch.GetSeconds(), static_cast<double>(metric.GetCurrentValue()), typeid(metric) == typeid(TMetric) });
    m_Transform->AddTransform(method.GetModifiableTransform());
  }

  const AntsSettings              m_Settings;
  typename ImageType::Pointer     m_Fixed;
  typename ImageType::Pointer     m_Moving;
  typename CompositeType::Pointer m_Transform = CompositeType::New();
  AntsResult                      m_Result;
};
} // namespace

template <typename TReal>
AntsResult
RegisterAsAnts(const Volume * fixed, const Volume * moving, const AntsSettings & settings)
{
  AntsPipeline<TReal> pipeline(fixed, moving, settings);
  pipeline.template RegisterLinearly<itk::Euler3DTransform<TReal>>("rigid");
  pipeline.template RegisterLinearly<itk::AffineTransform<TReal, 3>>("affine");
  if (!settings.synLevels.empty())
  {
    pipeline.RegisterBySyN();
  }
  return pipeline.Finish();
}

template AntsResult
RegisterAsAnts<float>(const Volume *, const Volume *, const AntsSettings &);
template AntsResult
RegisterAsAnts<double>(const Volume *, const Volume *, const AntsSettings &);

AntsDifference
Compare(const AntsResult & one, const AntsResult & other)
{
  if (one.points.size() != other.points.size())
  {
    throw std::invalid_argument("The registrations are of different images.");
  }
  AntsDifference difference{ 0, 0 };
  for (std::size_t n = 0; n < one.points.size(); ++n)
  {
    const double distance = one.points[n].EuclideanDistanceTo(other.points[n]);
    difference.mean += distance / static_cast<double>(one.points.size());
    difference.maximum = std::max(difference.maximum, distance);
  }
  return difference;
}

} // namespace example
