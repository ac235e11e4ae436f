// SPDX-License-Identifier: Apache-2.0
// Registers a case by itk::SyNImageRegistrationMethod and by the engine's SyN, and compares the fields.
#ifndef RegisterSyN_h
#define RegisterSyN_h

#include "SyNCase.h"
#include "TestDevices.h"
#include "TestParallelFor.h"

#include "gpureg/image/LoadedImage.h"
#include "gpureg/registration/diffeomorphic/DiffeomorphicRegistration.h"

#include "itkANTSNeighborhoodCorrelationImageToImageMetricv4.h"
#include "itkAffineTransform.h"
#include "itkCastImageFilter.h"
#include "itkCudaCorrelationRatioMetric.h"
#include "itkCudaMattesNMI.h"
#include "itkDemonsImageToImageMetricv4.h"
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
#include <type_traits>
#include <vector>

namespace gpuregtest
{

/** The fields that ITK's result and the engine's both have. */
constexpr gpureg::DeformationField AllFields[] = {
  gpureg::DeformationField::FixedToMiddle,  gpureg::DeformationField::MiddleToFixed,
  gpureg::DeformationField::MovingToMiddle, gpureg::DeformationField::MiddleToMoving,
  gpureg::DeformationField::Forward,        gpureg::DeformationField::Inverse
};

/** A result: fields of vectors as ITK lays them out, in the order of AllFields. */
struct SyNResult
{
  std::array<std::vector<double>, 6> fields;
  std::vector<double>                costs; // of the last level
};

/** Makes ITK's metric of a method's types, or, where ITK has none, this module's on the host.
 *  \tparam TMethod an itk::SyNImageRegistrationMethod. */
template <typename TMethod>
typename TMethod::ImageMetricType::Pointer
MakeMetric(const gpureg::SimilaritySettings & settings)
{
  using ImageType = typename TMethod::FixedImageType;
  using RealType = typename TMethod::RealType;
  typename TMethod::ImageMetricType::Pointer made;
  if (settings.kind == gpureg::SimilarityKind::MeanSquares)
  {
    made = itk::MeanSquaresImageToImageMetricv4<ImageType, ImageType, ImageType, RealType>::New();
  }
  else if (settings.kind == gpureg::SimilarityKind::Demons)
  {
    made = itk::DemonsImageToImageMetricv4<ImageType, ImageType, ImageType, RealType>::New();
  }
  else if (settings.kind == gpureg::SimilarityKind::MattesMutualInformation)
  {
    const auto metric =
      itk::MattesMutualInformationImageToImageMetricv4<ImageType, ImageType, ImageType, RealType>::New();
    metric->SetNumberOfHistogramBins(settings.bins);
    made = metric;
  }
  else if (settings.kind == gpureg::SimilarityKind::NormalizedMutualInformation)
  {
    const auto metric = itk::CudaMattesNMI<ImageType, ImageType, ImageType, RealType>::New();
    metric->SetDevice(itk::GPUDevice::FromName("host"));
    metric->SetNumberOfHistogramBins(settings.bins);
    made = metric;
  }
  else if (settings.kind == gpureg::SimilarityKind::CorrelationRatio)
  {
    const auto metric = itk::CudaCorrelationRatioMetric<ImageType, ImageType, ImageType, RealType>::New();
    metric->SetDevice(itk::GPUDevice::FromName("host"));
    metric->SetNumberOfHistogramBins(settings.bins);
    made = metric;
  }
  else
  {
    const auto metric =
      itk::ANTSNeighborhoodCorrelationImageToImageMetricv4<ImageType, ImageType, ImageType, RealType>::New();
    itk::Size<TMethod::ImageDimension> radius;
    radius.Fill(settings.radius);
    metric->SetRadius(radius);
    made = metric;
  }
  made->SetUseFixedImageGradientFilter(false);
  made->SetUseMovingImageGradientFilter(false);
  return made;
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

/** Returns an image with pixels of another type. */
template <typename TImage, typename TFrom>
typename TImage::Pointer
Cast(TFrom * from)
{
  const auto cast = itk::CastImageFilter<TFrom, TImage>::New();
  cast->SetInput(from);
  cast->InPlaceOff();
  cast->Update();
  return cast->GetOutput();
}

/** Returns an affine transform with parameters of another type; null for null. */
template <typename TReal, unsigned int VDimension>
typename itk::AffineTransform<TReal, VDimension>::Pointer
Cast(const itk::AffineTransform<double, VDimension> * from)
{
  if (from == nullptr)
  {
    return nullptr;
  }
  const auto transform = itk::AffineTransform<TReal, VDimension>::New();
  auto       matrix = transform->GetMatrix();
  auto       offset = transform->GetOffset();
  for (unsigned int r = 0; r < VDimension; ++r)
  {
    offset[r] = static_cast<TReal>(from->GetOffset()[r]);
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      matrix[r][d] = static_cast<TReal>(from->GetMatrix()[r][d]);
    }
  }
  transform->SetMatrix(matrix);
  transform->SetOffset(offset);
  return transform;
}

/** Sets up each level of a method: its shrink factors, and the transform's adaptors. */
template <typename TMethod, unsigned int VDimension, typename TPixel>
void
SetLevels(TMethod & method, const SyNCase<VDimension, TPixel> & its)
{
  using TransformType = typename TMethod::OutputTransformType;
  using FieldType = typename TransformType::DisplacementFieldType;
  const gpureg::SyNSettings & syn = its.settings.syn;
  const unsigned int          levels = static_cast<unsigned int>(its.settings.iterations.size());
  method.SetNumberOfLevels(levels);
  typename TMethod::NumberOfIterationsArrayType              iterations(levels);
  typename TMethod::SmoothingSigmasArrayType                 sigmas(levels);
  typename TMethod::TransformParametersAdaptorsContainerType adaptors;
  const auto                                                 field = FieldType::New();
  field->CopyInformation(its.fixed);
  field->SetRegions(its.fixed->GetBufferedRegion());
  for (unsigned int level = 0; level < levels; ++level)
  {
    typename TMethod::ShrinkFactorsPerDimensionContainerType factors;
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      factors[d] = syn.shrinkFactors.empty() ? 1 : syn.shrinkFactors[level][d];
    }
    method.SetShrinkFactorsPerDimension(level, factors);
    iterations[level] = its.settings.iterations[level];
    sigmas[level] = static_cast<float>(syn.smoothingSigmas.empty() ? levels - 1 - level : syn.smoothingSigmas[level]);
    const auto shrink = itk::ShrinkImageFilter<FieldType, FieldType>::New();
    shrink->SetShrinkFactors(factors);
    shrink->SetInput(field);
    shrink->UpdateOutputInformation();
    const auto adaptor = itk::DisplacementFieldTransformParametersAdaptor<TransformType>::New();
    adaptor->SetRequiredSpacing(shrink->GetOutput()->GetSpacing());
    adaptor->SetRequiredSize(shrink->GetOutput()->GetLargestPossibleRegion().GetSize());
    adaptor->SetRequiredDirection(shrink->GetOutput()->GetDirection());
    adaptor->SetRequiredOrigin(shrink->GetOutput()->GetOrigin());
    adaptors.push_back(adaptor.GetPointer());
  }
  method.SetNumberOfIterationsPerLevel(iterations);
  method.SetSmoothingSigmasPerLevel(sigmas);
  method.SetSmoothingSigmasAreSpecifiedInPhysicalUnits(syn.sigmasAreInMillimetres);
  method.SetTransformParametersAdaptorsPerLevel(adaptors);
}

/** Sets a metric's masks, if a case has some. */
template <typename TMetric, unsigned int VDimension, typename TPixel>
void
SetMasks(TMetric & metric, const SyNCase<VDimension, TPixel> & its)
{
  const auto makeMask = [](auto * image) {
    const auto mask = itk::ImageMaskSpatialObject<VDimension>::New();
    mask->SetImage(image);
    mask->Update();
    return mask;
  };
  if (its.fixedMask)
  {
    metric.SetFixedImageMask(makeMask(its.fixedMask.GetPointer()));
  }
  if (its.movingMask)
  {
    metric.SetMovingImageMask(makeMask(its.movingMask.GetPointer()));
  }
}

/** Sets all of a method's inputs and settings.
 *  \param metric the metric, without masks.
 *  \param method an itk::SyNImageRegistrationMethod with images of any pixels and transforms of any reals. */
template <typename TMethod, unsigned int VDimension, typename TPixel>
void
SetUpMethod(TMethod & method, typename TMethod::ImageMetricType & metric, const SyNCase<VDimension, TPixel> & its)
{
  using RealType = typename TMethod::RealType;
  using TransformType = typename TMethod::OutputTransformType;
  const gpureg::SyNSettings & syn = its.settings.syn;
  SetMasks(metric, its);
  method.SetFixedImage(Cast<typename TMethod::FixedImageType>(its.fixed.GetPointer()));
  method.SetMovingImage(Cast<typename TMethod::MovingImageType>(its.moving.GetPointer()));
  if (its.initial)
  {
    method.SetMovingInitialTransform(Cast<RealType, VDimension>(its.initial.GetPointer()));
  }
  if (its.fixedInitial)
  {
    method.SetFixedInitialTransform(Cast<RealType, VDimension>(its.fixedInitial.GetPointer()));
  }
  method.SetMetric(&metric);
  SetLevels(method, its);
  const auto makeField = [&its] {
    const auto field = TransformType::DisplacementFieldType::New();
    field->CopyInformation(its.fixed);
    field->SetRegions(its.fixed->GetBufferedRegion());
    field->Allocate(true);
    return field;
  };
  const auto transform = TransformType::New();
  transform->SetDisplacementField(makeField());
  transform->SetInverseDisplacementField(makeField());
  method.SetInitialTransform(transform);
  method.InPlaceOn();
  method.SetLearningRate(static_cast<RealType>(its.settings.step));
  method.SetGaussianSmoothingVarianceForTheUpdateField(static_cast<RealType>(std::pow(its.settings.updateSigma, 2)));
  method.SetGaussianSmoothingVarianceForTheTotalField(static_cast<RealType>(std::pow(its.settings.fieldSigma, 2)));
  method.SetAverageMidPointGradients(syn.averagesGradients);
  method.SetConvergenceThreshold(static_cast<RealType>(its.settings.convergenceThreshold));
  // A window that no level fills.
  method.SetConvergenceWindowSize(its.settings.convergenceWindow > 0 ? its.settings.convergenceWindow : 100000);
  typename TMethod::OptimizerWeightsType weights(VDimension);
  for (unsigned int d = 0; d < VDimension; ++d)
  {
    weights[d] = its.settings.weights[d];
  }
  method.SetOptimizerWeights(weights);
}

/** Updates a method that is set up. */
template <typename TMethod>
SyNResult
Register(TMethod & method)
{
  SyNResult  result;
  const auto ofLevel = method.AddObserver(itk::MultiResolutionIterationEvent(),
                                          [&result](const itk::EventObject &) { result.costs.clear(); });
  const auto ofIteration = method.AddObserver(itk::IterationEvent(), [&](const itk::EventObject & event) {
    if (!itk::MultiResolutionIterationEvent().CheckEvent(&event))
    {
      result.costs.push_back(method.GetCurrentMetricValue());
    }
  });
  method.Update();
  method.RemoveObserver(ofLevel);
  method.RemoveObserver(ofIteration);
  const auto & fixedToMiddle = *method.GetModifiableFixedToMiddleTransform();
  const auto & movingToMiddle = *method.GetModifiableMovingToMiddleTransform();
  const auto & transform = *method.GetTransform();
  result.fields = {
    GetVectors(*fixedToMiddle.GetDisplacementField()),  GetVectors(*fixedToMiddle.GetInverseDisplacementField()),
    GetVectors(*movingToMiddle.GetDisplacementField()), GetVectors(*movingToMiddle.GetInverseDisplacementField()),
    GetVectors(*transform.GetDisplacementField()),      GetVectors(*transform.GetInverseDisplacementField())
  };
  return result;
}

/** Registers by a method of a class.
 *  \tparam TMethod itk::SyNImageRegistrationMethod, or derived from it. */
template <typename TMethod, unsigned int VDimension, typename TPixel>
SyNResult
RegisterBy(const SyNCase<VDimension, TPixel> & its)
{
  const auto method = TMethod::New();
  SetUpMethod(*method, *MakeMetric<TMethod>(its.settings.similarity), its);
  return Register(*method);
}

template <unsigned int VDimension, typename TPixel>
SyNResult
RegisterByITK(const SyNCase<VDimension, TPixel> & its)
{
  return RegisterBy<typename SyNCase<VDimension, TPixel>::MethodType>(its);
}

/** An image, and its mask if it has one, on a device. */
template <unsigned int VDimension, typename TPixel>
class SideOnDevice
{
public:
  SideOnDevice(const std::string & device, const SyNCase<VDimension, TPixel> & its, bool isFixed)
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
    const auto precision = std::is_same_v<TPixel, double> ? gpureg::Precision::Double : gpureg::Precision::Single;
    m_Values.Load({}, precision, image.GetBufferPointer(), count, OnThreads(2));
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

template <unsigned int VDimension, typename TPixel>
SyNResult
RegisterOnDevice(const std::string & device, const SyNCase<VDimension, TPixel> & its, std::int64_t threads = 2)
{
  SideOnDevice<VDimension, TPixel> fixed(device, its, true);
  SideOnDevice<VDimension, TPixel> moving(device, its, false);
  gpureg::DiffeomorphicProblem     problem;
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
ComputeDistance(const std::vector<double> & a, const std::vector<double> & b, unsigned int dimension, double voxel)
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

// Voxels, and a share of the cost.
struct SyNDistance
{
  double mean = 0;
  double largest = 0;
  double ofCost = 0;
};

template <unsigned int VDimension, typename TPixel>
SyNDistance
CompareResults(const SyNCase<VDimension, TPixel> & its, const SyNResult & a, const SyNResult & b)
{
  const auto & factors = its.settings.syn.shrinkFactors;
  const double voxel = its.fixed->GetSpacing()[0] * (factors.empty() ? 1 : factors.back()[0]);
  SyNDistance  distance;
  for (std::size_t t = 0; t < std::min(a.costs.size(), b.costs.size()); ++t)
  {
    distance.ofCost = std::max(distance.ofCost, std::abs(a.costs[t] - b.costs[t]) / std::abs(b.costs[t]));
  }
  for (std::size_t n = 0; n < std::size(AllFields); ++n)
  {
    const FieldDistance one = ComputeDistance(a.fields[n], b.fields[n], VDimension, voxel);
    distance.mean = std::max(distance.mean, one.mean);
    distance.largest = std::max(distance.largest, one.largest);
  }
  return distance;
}

} // namespace gpuregtest

#endif
