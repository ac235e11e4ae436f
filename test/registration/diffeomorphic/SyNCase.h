// SPDX-License-Identifier: Apache-2.0
// One registration by itk::SyNImageRegistrationMethod and by the engine's SyN, and how far their fields are apart.
#ifndef SyNCase_h
#define SyNCase_h

#include "TestDevices.h"
#include "TestImages.h"
#include "TestParallelFor.h"

#include "gpureg/image/LoadedImage.h"
#include "gpureg/registration/diffeomorphic/DiffeomorphicRegistration.h"

#include "itkANTSNeighborhoodCorrelationImageToImageMetricv4.h"
#include "itkAffineTransform.h"
#include "itkDisplacementFieldTransformParametersAdaptor.h"
#include "itkImageMaskSpatialObject.h"
#include "itkImageRegionConstIterator.h"
#include "itkMattesMutualInformationImageToImageMetricv4.h"
#include "itkMeanSquaresImageToImageMetricv4.h"
#include "itkShrinkImageFilter.h"
#include "itkSyNImageRegistrationMethod.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <mutex>
#include <string>
#include <vector>

namespace gpuregtest
{

/** The fields that both have. */
constexpr gpureg::DeformationField AllFields[] = {
  gpureg::DeformationField::FixedToMiddle,  gpureg::DeformationField::MiddleToFixed,
  gpureg::DeformationField::MovingToMiddle, gpureg::DeformationField::MiddleToMoving,
  gpureg::DeformationField::Forward,        gpureg::DeformationField::Inverse
};

/** Two images to register, with what ITK's class is to be told. */
template <unsigned int VDimension>
struct SyNCase
{
  using ImageType = itk::Image<float, VDimension>;
  using MaskType = itk::Image<unsigned char, VDimension>;
  using TransformType = itk::DisplacementFieldTransform<double, VDimension>;
  using FieldType = typename TransformType::DisplacementFieldType;
  using AffineType = itk::AffineTransform<double, VDimension>;
  using MethodType = itk::SyNImageRegistrationMethod<ImageType, ImageType, TransformType>;

  typename ImageType::Pointer fixed;
  typename ImageType::Pointer moving;
  // Null for none.
  typename MaskType::Pointer   fixedMask;
  typename MaskType::Pointer   movingMask;
  typename AffineType::Pointer initial;
  typename AffineType::Pointer fixedInitial;
  /** The same for both; voxels of all levels are as many along each axis. */
  gpureg::DiffeomorphicSettings settings;
};

/** A result: fields of vectors as ITK lays them out, in the order of AllFields. */
struct SyNResult
{
  std::array<std::vector<double>, 6> fields;
  std::vector<double>                costs; // of the last level
};

/** Returns settings with ITK's words: one level that is not shrunk. */
inline gpureg::DiffeomorphicSettings
MakeSyNSettings(gpureg::SimilarityKind kind, int iterations)
{
  gpureg::DiffeomorphicSettings settings;
  settings.scheme = gpureg::DiffeomorphicScheme::SyN;
  settings.iterations = { iterations };
  settings.updateSigma = std::sqrt(3.0);
  settings.fieldSigma = 0;
  settings.step = 0.25;
  settings.similarity = { kind, 32, 2 };
  settings.syn.convergenceWindow = 0;
  // No outliers are looked for, as ITK looks for none.
  settings.fixedRange = settings.movingRange = gpureg::ValueRange{ -1e6, 1e6 };
  return settings;
}

template <unsigned int VDimension>
typename itk::ImageToImageMetricv4<itk::Image<float, VDimension>, itk::Image<float, VDimension>>::Pointer
MakeMetric(const gpureg::SimilaritySettings & settings)
{
  using ImageType = itk::Image<float, VDimension>;
  switch (settings.kind)
  {
    case gpureg::SimilarityKind::MeanSquares:
      return itk::MeanSquaresImageToImageMetricv4<ImageType, ImageType>::New().GetPointer();
    case gpureg::SimilarityKind::MattesMutualInformation:
    {
      const auto metric = itk::MattesMutualInformationImageToImageMetricv4<ImageType, ImageType>::New();
      metric->SetNumberOfHistogramBins(settings.bins);
      return metric.GetPointer();
    }
    default:
    {
      const auto            metric = itk::ANTSNeighborhoodCorrelationImageToImageMetricv4<ImageType, ImageType>::New();
      itk::Size<VDimension> radius;
      radius.Fill(settings.radius);
      metric->SetRadius(radius);
      return metric.GetPointer();
    }
  }
}

template <typename TField>
std::vector<double>
GetVectors(const TField & field)
{
  std::vector<double> vectors;
  for (itk::ImageRegionConstIterator<TField> it(&field, field.GetBufferedRegion()); !it.IsAtEnd(); ++it)
  {
    for (unsigned int d = 0; d < TField::ImageDimension; ++d)
    {
      vectors.push_back(it.Get()[d]);
    }
  }
  return vectors;
}

template <unsigned int VDimension>
SyNResult
RegisterByITK(const SyNCase<VDimension> & its)
{
  using Case = SyNCase<VDimension>;
  const gpureg::SyNSettings & syn = its.settings.syn;
  const unsigned int          levels = static_cast<unsigned int>(its.settings.iterations.size());
  const auto                  metric = MakeMetric<VDimension>(its.settings.similarity);
  metric->SetUseFixedImageGradientFilter(false);
  metric->SetUseMovingImageGradientFilter(false);
  const auto makeMask = [](typename Case::MaskType * image) {
    const auto mask = itk::ImageMaskSpatialObject<VDimension>::New();
    mask->SetImage(image);
    mask->Update();
    return mask;
  };
  if (its.fixedMask)
  {
    metric->SetFixedImageMask(makeMask(its.fixedMask));
  }
  if (its.movingMask)
  {
    metric->SetMovingImageMask(makeMask(its.movingMask));
  }
  const auto method = Case::MethodType::New();
  method->SetFixedImage(its.fixed);
  method->SetMovingImage(its.moving);
  if (its.initial)
  {
    method->SetMovingInitialTransform(its.initial);
  }
  if (its.fixedInitial)
  {
    method->SetFixedInitialTransform(its.fixedInitial);
  }
  method->SetMetric(metric);
  method->SetNumberOfLevels(levels);
  typename Case::MethodType::NumberOfIterationsArrayType              iterations(levels);
  typename Case::MethodType::SmoothingSigmasArrayType                 sigmas(levels);
  typename Case::MethodType::TransformParametersAdaptorsContainerType adaptors;

  const auto makeField = [&] {
    const auto field = Case::FieldType::New();
    field->CopyInformation(its.fixed);
    field->SetRegions(its.fixed->GetBufferedRegion());
    field->Allocate();
    field->FillBuffer(itk::Vector<double, VDimension>(0.0));
    return field;
  };
  const auto transform = Case::TransformType::New();
  transform->SetDisplacementField(makeField());
  transform->SetInverseDisplacementField(makeField());
  for (unsigned int level = 0; level < levels; ++level)
  {
    typename Case::MethodType::ShrinkFactorsPerDimensionContainerType factors;
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      factors[d] = syn.shrinkFactors.empty() ? 1 : syn.shrinkFactors[level][d];
    }
    method->SetShrinkFactorsPerDimension(level, factors);
    iterations[level] = its.settings.iterations[level];
    sigmas[level] = syn.smoothingSigmas.empty() ? levels - 1 - level : syn.smoothingSigmas[level];
    const auto shrink = itk::ShrinkImageFilter<typename Case::FieldType, typename Case::FieldType>::New();
    typename itk::ShrinkImageFilter<typename Case::FieldType, typename Case::FieldType>::ShrinkFactorsType
      shrinkFactors;
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      shrinkFactors[d] = factors[d];
    }
    shrink->SetShrinkFactors(shrinkFactors);
    shrink->SetInput(transform->GetDisplacementField());
    shrink->Update();
    const auto adaptor = itk::DisplacementFieldTransformParametersAdaptor<typename Case::TransformType>::New();
    adaptor->SetRequiredSpacing(shrink->GetOutput()->GetSpacing());
    adaptor->SetRequiredSize(shrink->GetOutput()->GetBufferedRegion().GetSize());
    adaptor->SetRequiredDirection(shrink->GetOutput()->GetDirection());
    adaptor->SetRequiredOrigin(shrink->GetOutput()->GetOrigin());
    adaptor->SetTransform(transform);
    adaptors.push_back(adaptor.GetPointer());
  }
  method->SetNumberOfIterationsPerLevel(iterations);
  method->SetSmoothingSigmasPerLevel(sigmas);
  method->SetSmoothingSigmasAreSpecifiedInPhysicalUnits(syn.sigmasAreInMillimetres);
  method->SetTransformParametersAdaptorsPerLevel(adaptors);
  method->SetInitialTransform(transform);
  method->InPlaceOn();
  method->SetLearningRate(its.settings.step);
  method->SetGaussianSmoothingVarianceForTheUpdateField(std::pow(its.settings.updateSigma, 2));
  method->SetGaussianSmoothingVarianceForTheTotalField(std::pow(its.settings.fieldSigma, 2));
  method->SetAverageMidPointGradients(syn.averagesGradients);
  method->SetConvergenceThreshold(syn.convergenceThreshold);
  // A window that no level fills.
  method->SetConvergenceWindowSize(syn.convergenceWindow > 0 ? syn.convergenceWindow : 100000);
  typename Case::MethodType::OptimizerWeightsType weights(VDimension);
  for (unsigned int d = 0; d < VDimension; ++d)
  {
    weights[d] = syn.weights[d];
  }
  method->SetOptimizerWeights(weights);
  SyNResult result;
  method->AddObserver(itk::MultiResolutionIterationEvent(),
                      [&result](const itk::EventObject &) { result.costs.clear(); });
  method->AddObserver(itk::IterationEvent(), [&](const itk::EventObject & event) {
    if (!itk::MultiResolutionIterationEvent().CheckEvent(&event))
    {
      result.costs.push_back(method->GetCurrentMetricValue());
    }
  });
  method->Update();
  const auto & fixedToMiddle = *method->GetModifiableFixedToMiddleTransform();
  const auto & movingToMiddle = *method->GetModifiableMovingToMiddleTransform();
  result.fields = {
    GetVectors(*fixedToMiddle.GetDisplacementField()),  GetVectors(*fixedToMiddle.GetInverseDisplacementField()),
    GetVectors(*movingToMiddle.GetDisplacementField()), GetVectors(*movingToMiddle.GetInverseDisplacementField()),
    GetVectors(*transform->GetDisplacementField()),     GetVectors(*transform->GetInverseDisplacementField())
  };
  return result;
}

/** An image, and its mask if it has one, on a device. */
template <unsigned int VDimension>
class SideOnDevice
{
public:
  SideOnDevice(const std::string & device, const SyNCase<VDimension> & its, bool isFixed)
    : m_Values(device)
    , m_Mask(device)
  {
    const auto & image = isFixed ? *its.fixed : *its.moving;
    const auto & mask = isFixed ? its.fixedMask : its.movingMask;
    const auto   region = image.GetBufferedRegion();
    const auto   count = static_cast<std::int64_t>(region.GetNumberOfPixels());
    registered.size = { 1, 1, 1 };
    const auto corner = image.template TransformIndexToPhysicalPoint<double>(region.GetIndex());
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      registered.size[d] = static_cast<int>(region.GetSize()[d]);
      registered.indexToPoint.offset[d] = corner[d];
      for (unsigned int c = 0; c < VDimension; ++c)
      {
        registered.indexToPoint.matrix[3 * d + c] = image.GetDirection()[d][c] * image.GetSpacing()[c];
      }
    }
    m_Values.Load({}, gpureg::Precision::Single, image.GetBufferPointer(), count, OnThreads(2));
    registered.image = &m_Values;
    if (mask)
    {
      m_Weights.assign(mask->GetBufferPointer(), mask->GetBufferPointer() + count);
      m_Mask.Load({}, gpureg::Precision::Single, m_Weights.data(), count, OnThreads(2));
      registered.mask = &m_Mask;
    }
  }

  gpureg::RegisteredImage registered;

private:
  gpureg::LoadedImage m_Values;
  std::vector<float>  m_Weights;
  gpureg::LoadedImage m_Mask;
};

template <unsigned int VDimension>
void
AppendAffine(const itk::AffineTransform<double, VDimension> * transform, gpureg::TransformChain & chain)
{
  if (transform != nullptr)
  {
    gpureg::IndexMap map;
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      map.offset[d] = transform->GetOffset()[d];
      for (unsigned int c = 0; c < VDimension; ++c)
      {
        map.matrix[3 * d + c] = transform->GetMatrix()[d][c];
      }
    }
    chain.Append(map);
  }
}

template <unsigned int VDimension>
SyNResult
RegisterOnDevice(const std::string & device, const SyNCase<VDimension> & its, std::int64_t threads = 2)
{
  SideOnDevice<VDimension>     fixed(device, its, true);
  SideOnDevice<VDimension>     moving(device, its, false);
  gpureg::DiffeomorphicProblem problem;
  problem.dimension = problem.initial.dimension = problem.fixedInitial.dimension = VDimension;
  problem.fixed = fixed.registered;
  problem.moving = moving.registered;
  AppendAffine<VDimension>(its.initial, problem.initial);
  AppendAffine<VDimension>(its.fixedInitial, problem.fixedInitial);
  gpureg::DiffeomorphicSettings settings = its.settings;
  if (settings.syn.shrinkFactors.empty())
  {
    settings.syn.shrinkFactors.assign(settings.iterations.size(), { 1, 1, 1 });
  }
  for (unsigned int d = 0; d < VDimension; ++d)
  {
    settings.syn.firstIndex[d] = static_cast<int>(its.fixed->GetBufferedRegion().GetIndex()[d]);
  }
  gpureg::DiffeomorphicRegistration registration(device);
  SyNResult                         result;
  result.costs = registration.Register(problem, settings, OnThreads(threads)).levels.back().costs;
  for (std::size_t n = 0; n < std::size(AllFields); ++n)
  {
    std::vector<double> & field = result.fields[n];
    std::vector<float>    all;
    registration.TakeDisplacements(
      [&all](std::int64_t first, std::int64_t count, const float * in) {
        static std::mutex                 mutex;
        const std::lock_guard<std::mutex> lock(mutex);
        all.resize(std::max(all.size(), static_cast<std::size_t>(3 * (first + count))));
        std::copy_n(in, 3 * count, all.begin() + 3 * first);
      },
      OnThreads(threads),
      AllFields[n]);
    for (std::size_t v = 0; v < all.size(); v += 3)
    {
      field.insert(field.end(), &all[v], &all[v] + VDimension);
    }
  }
  return result;
}

/** How far two fields of vectors are apart. */
struct FieldDistance
{
  double mean = 0;
  double largest = 0;
};

inline FieldDistance
FindDistance(const std::vector<double> & a, const std::vector<double> & b, unsigned int dimension, double voxel)
{
  FieldDistance distance;
  for (std::size_t n = 0; n < a.size(); n += dimension)
  {
    double squares = 0;
    for (std::size_t d = n; d < n + dimension; ++d)
    {
      squares += std::pow((a[d] - b[d]) / voxel, 2);
    }
    distance.mean += std::sqrt(squares) * dimension / static_cast<double>(a.size());
    distance.largest = std::max(distance.largest, std::sqrt(squares));
  }
  return distance;
}

} // namespace gpuregtest

#endif
