// SPDX-License-Identifier: Apache-2.0
// Tests free-form deformation with each similarity and each optimizer: values equal those of ITK's metrics, with masks and without;
// gradients are those of the cost; known deformations are found.
#include "ErrorOfRecord.h"
#include "FreeFormProblem.h"
#include "TestDevices.h"
#include "TestSeeds.h"

#include "itkCudaCorrelationRatioMetric.h"
#include "itkCudaMattesNMI.h"
#include "itkGPUBSplinePenaltyMetric.h"

#include "itkANTSNeighborhoodCorrelationImageToImageMetricv4.h"
#include "itkAffineTransform.h"
#include "itkCorrelationImageToImageMetricv4.h"
#include "itkEllipseSpatialObject.h"
#include "itkIdentityTransform.h"
#include "itkImageMaskSpatialObject.h"
#include "itkMattesMutualInformationImageToImageMetricv4.h"
#include "itkMeanSquaresImageToImageMetricv4.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iostream>
#include <ostream>
#include <tuple>
#include <utility>

namespace gpuregtest
{

namespace
{
using ImageType = itk::Image<float, 3>;
using PointType = ImageType::PointType;
using gpureg::FreeFormOptimizer;
using gpureg::SimilarityKind;
using Contrast = Problem<3>::Contrast;

constexpr SimilarityKind Kinds[] = { SimilarityKind::NormalizedMutualInformation,
                                     SimilarityKind::MattesMutualInformation,
                                     SimilarityKind::CorrelationRatio,
                                     SimilarityKind::MeanSquares,
                                     SimilarityKind::Correlation,
                                     SimilarityKind::NeighborhoodCorrelation };

struct Masks
{
  itk::SpatialObject<3>::Pointer fixed;
  itk::SpatialObject<3>::Pointer moving;
};

/** Returns masks: an ellipsoid in the fixed image, and half of the moving image's voxels. */
Masks
MakeMasks(const Problem<3> & problem)
{
  Masks      masks;
  const auto ellipse = itk::EllipseSpatialObject<3>::New();
  ellipse->SetCenterInObjectSpace(problem.grid.GetCentre());
  ellipse->SetRadiusInObjectSpace(0.4 * problem.grid.GetExtent(0));
  ellipse->Update();
  masks.fixed = ellipse;

  using MaskImageType = itk::Image<unsigned char, 3>;
  const auto image = MaskImageType::New();
  image->CopyInformation(problem.moving);
  image->SetRegions(problem.moving->GetBufferedRegion());
  image->Allocate();
  for (itk::ImageRegionIteratorWithIndex<MaskImageType> it(image, image->GetBufferedRegion()); !it.IsAtEnd(); ++it)
  {
    const auto index = it.GetIndex();
    it.Set(3 * index[0] + index[1] - index[2] > 3 * 20 ? 1 : 0);
  }
  const auto mask = itk::ImageMaskSpatialObject<3>::New();
  mask->SetImage(image);
  mask->Update();
  masks.moving = mask;
  return masks;
}

/** Returns the value of one of ITK's metrics for a problem's images and a transform. */
template <typename TMetric>
double
GetITKsValue(const typename TMetric::Pointer & metric,
             const Problem<3> &                problem,
             const Problem<3>::TransformType & transform,
             const Masks &                     masks)
{
  metric->SetFixedImage(problem.fixed);
  metric->SetMovingImage(problem.moving);
  metric->SetVirtualDomainFromImage(problem.fixed);
  metric->SetMovingTransform(const_cast<Problem<3>::TransformType *>(&transform));
  metric->SetFixedImageMask(masks.fixed);
  metric->SetMovingImageMask(masks.moving);
  metric->Initialize();
  return metric->GetValue();
}

double
GetITKsValue(SimilarityKind                    kind,
             const Problem<3> &                problem,
             const Problem<3>::TransformType & transform,
             const Masks &                     masks,
             unsigned int                      radius,
             unsigned int                      bins = 64)
{
  if (kind == SimilarityKind::MattesMutualInformation)
  {
    using MetricType = itk::MattesMutualInformationImageToImageMetricv4<ImageType, ImageType>;
    const auto metric = MetricType::New();
    metric->SetNumberOfHistogramBins(bins);
    return GetITKsValue<MetricType>(metric, problem, transform, masks);
  }
  if (kind == SimilarityKind::MeanSquares)
  {
    using MetricType = itk::MeanSquaresImageToImageMetricv4<ImageType, ImageType>;
    const auto range = [](const ImageType & image) {
      const auto * const first = image.GetBufferPointer();
      return std::minmax_element(first, first + image.GetBufferedRegion().GetNumberOfPixels());
    };
    const auto   fixed = range(*problem.fixed);
    const auto   moving = range(*problem.moving);
    const double unit = std::max(*fixed.second, *moving.second) - std::min(*fixed.first, *moving.first);
    return GetITKsValue<MetricType>(MetricType::New(), problem, transform, masks) / (unit * unit);
  }
  if (kind == SimilarityKind::Correlation)
  {
    using MetricType = itk::CorrelationImageToImageMetricv4<ImageType, ImageType>;
    return GetITKsValue<MetricType>(MetricType::New(), problem, transform, masks);
  }
  using MetricType = itk::ANTSNeighborhoodCorrelationImageToImageMetricv4<ImageType, ImageType>;
  const auto             metric = MetricType::New();
  MetricType::RadiusType radii;
  radii.Fill(radius);
  metric->SetRadius(radii);
  return GetITKsValue<MetricType>(metric, problem, transform, masks);
}

class FreeFormSimilarityTest : public DeviceTest
{
protected:
  /** Returns a method with a single level, in the images' own resolution, without a penalty. */
  MethodOf<3>::Pointer
  MakePlainMethod(const Problem<3> & problem, SimilarityKind kind)
  {
    const auto method = problem.MakeMethod(GetParam());
    method->SetNumberOfLevels(1);
    method->SetNumberOfIterations(1);
    method->SetBendingEnergyWeight(0);
    method->SetSimilarity(kind);
    method->SetNeighborhoodRadius(2);
    return method;
  }

  /** Returns the cost if a deformation is applied before an initial transform. */
  static double
  GetCost(MethodOf<3> & method, Problem<3>::TransformType * initial, Problem<3>::TransformType * deformation)
  {
    const auto composite = Problem<3>::CompositeType::New();
    if (initial != nullptr)
    {
      composite->AddTransform(initial);
    }
    composite->AddTransform(deformation);
    method.SetInitialTransform(composite);
    method.Update();
    return method.GetCosts(0).front();
  }

  /** Expects a step of this method to be against the gradient: along random directions of all control points, the cost changes as the
   *  step predicts. */
  void
  ExpectStepIsDownhill(MethodOf<3> & method, Problem<3>::TransformType * initial, double leastCosine)
  {
    constexpr double shift = 0.2; // mm
    constexpr int    directions = 8;
    method.SetInitialTransform(initial);
    method.Update();
    const auto deformation = MethodOf<3>::DeformationType::New();
    deformation->SetFixedParameters(method.GetDeformation()->GetFixedParameters());
    const itk::Array<double> step = method.GetDeformation()->GetParameters();
    method.SetOptimizer(FreeFormOptimizer::Adam);
    Random random(31);
    double product = 0, squares = 0, slopeSquares = 0;
    for (int n = 0; n < directions; ++n)
    {
      itk::Array<double> direction(step.size());
      std::generate(direction.begin(), direction.end(), [&random] { return Uniform(random, -1, 1); });
      const double along = -dot_product(step, direction);
      double       slope = 0;
      for (const double sign : { 1.0, -1.0 })
      {
        deformation->SetParametersByValue(itk::Array<double>(direction * (sign * shift)));
        slope += sign * GetCost(method, initial, deformation) / (2 * shift);
      }
      product += along * slope;
      squares += along * along;
      slopeSquares += slope * slope;
    }
    EXPECT_GT(product / std::sqrt(squares * slopeSquares), leastCosine);
  }
};
} // namespace

TEST_P(FreeFormSimilarityTest, ValuesAreITKs)
{
  constexpr unsigned int radius = 2;
  const Problem<3>       problem(6);
  for (const bool isMasked : { false, true })
  {
    const Masks masks = isMasked ? MakeMasks(problem) : Masks{};
    for (const auto kind : { SimilarityKind::MattesMutualInformation,
                             SimilarityKind::MeanSquares,
                             SimilarityKind::Correlation,
                             SimilarityKind::NeighborhoodCorrelation })
    {
      if (isMasked && kind == SimilarityKind::MattesMutualInformation)
      {
        // Its bins reach over all values, and those of ITK's metric over the ones inside of masks.
        continue;
      }
      SCOPED_TRACE(std::string(gpureg::GetName(kind)) + (isMasked ? " inside of masks" : ""));
      const auto method = this->MakePlainMethod(problem, kind);
      method->SetNeighborhoodRadius(radius);
      method->SetFixedImageMask(masks.fixed);
      method->SetMovingImageMask(masks.moving);
      method->Update();
      const auto   identity = itk::IdentityTransform<double, 3>::New();
      const double wanted = GetITKsValue(kind, problem, *identity, masks, radius, method->GetNumberOfHistogramBins());
      EXPECT_NEAR(method->GetCosts(0).front(), wanted, 1e-5 * std::abs(wanted));
    }
  }
}

/** The values of two kinds that ITK does not have are those of this module's metrics. */
TEST_P(FreeFormSimilarityTest, ValuesAlongAnInitialCompositeAreITKs)
{
  constexpr unsigned int radius = 2;
  const Problem<3>       problem(6, Contrast::Another, 30);
  const auto             composite = problem.MakeBentComposite();
  for (const auto kind : Kinds)
  {
    SCOPED_TRACE(gpureg::GetName(kind));
    const auto method = this->MakePlainMethod(problem, kind);
    method->SetNeighborhoodRadius(radius);
    method->SetInitialTransform(composite);
    method->Update();
    double wanted = 0;
    if (kind == SimilarityKind::NormalizedMutualInformation)
    {
      const auto metric = itk::CudaMattesNMI<ImageType, ImageType>::New();
      metric->SetNumberOfHistogramBins(method->GetNumberOfHistogramBins());
      wanted = GetITKsValue<itk::CudaMattesNMI<ImageType, ImageType>>(metric, problem, *composite, {});
    }
    else if (kind == SimilarityKind::CorrelationRatio)
    {
      const auto metric = itk::CudaCorrelationRatioMetric<ImageType, ImageType>::New();
      metric->SetNumberOfHistogramBins(method->GetNumberOfHistogramBins());
      wanted = GetITKsValue<itk::CudaCorrelationRatioMetric<ImageType, ImageType>>(metric, problem, *composite, {});
    }
    else
    {
      wanted = GetITKsValue(kind, problem, *composite, {}, radius, method->GetNumberOfHistogramBins());
    }
    EXPECT_NEAR(method->GetCosts(0).front(), wanted, 1e-5 * std::abs(wanted));
  }
}

TEST_P(FreeFormSimilarityTest, GradientsAreTheCosts)
{
  const Problem<3> problem(17, Contrast::Same, 30);
  const auto       composite = problem.MakeBentComposite(1.2);
  for (const bool beginsBent : { false, true })
  {
    for (const auto kind : Kinds)
    {
      // One similarity of each kind of evaluation along a composite, and those without one.
      const bool isEither = kind == SimilarityKind::NormalizedMutualInformation;
      const bool isBent =
        isEither || kind == SimilarityKind::Correlation || kind == SimilarityKind::NeighborhoodCorrelation;
      if (isEither || isBent == beginsBent)
      {
        SCOPED_TRACE(std::string(gpureg::GetName(kind)) + (beginsBent ? " along a composite" : ""));
        const auto method = this->MakePlainMethod(problem, kind);
        method->SetOptimizer(FreeFormOptimizer::ConjugateGradient);
        this->ExpectStepIsDownhill(*method, beginsBent ? composite.GetPointer() : nullptr, 0.9995);
      }
    }
  }
}

/** An iteration draws the same samples each time. Their forces point along central differences, not along the derivative of the
 *  interpolation. */
TEST_P(FreeFormSimilarityTest, GradientsOfDrawnSamplesAreTheCosts)
{
  const Problem<3> problem(17, Contrast::Same);
  const auto       composite = problem.MakeBentComposite(1.2);
  for (const auto kind : { SimilarityKind::CorrelationRatio, SimilarityKind::Correlation })
  {
    SCOPED_TRACE(gpureg::GetName(kind));
    const auto method = this->MakePlainMethod(problem, kind);
    method->SetOptimizer(FreeFormOptimizer::AdaptiveStochasticGradientDescent);
    method->SetNumberOfSamples(20000);
    this->ExpectStepIsDownhill(*method, composite, 0.999);
  }
}

/** A step is against (1 - Σ wₙ) ∇S + Σ wₙ ∇Pₙ (Modat 2010, equation 1), so similarity and penalties have the same weights as in the
 *  cost. A stochastic step is a gain times the gradient. The penalty's gradient is that of its metric. The similarity's slope is a
 *  central difference along two directions: along the component of the step perpendicular to the penalty's gradient, which gives the
 *  gain, and along the penalty's gradient. */
TEST_P(FreeFormSimilarityTest, StepsWeighThePenaltiesAsTheCostDoes)
{
  constexpr double       voxel = 1.3;
  constexpr double       spacing = 8.0;
  constexpr double       furthest = 0.1; // largest move of a control point, mm
  const Problem<3>       problem(17, Contrast::Same, 30);
  ImageType::SpacingType voxels;
  voxels.Fill(voxel);
  problem.fixed->SetSpacing(voxels);
  for (const auto & [kind, bending, jacobian] :
       { std::tuple{ SimilarityKind::MeanSquares, 0.01, 0.0 },
         std::tuple{ SimilarityKind::MeanSquares, 0.0, 0.8 },
         std::tuple{ SimilarityKind::NormalizedMutualInformation, 0.01, 0.0 } })
  {
    SCOPED_TRACE(::testing::Message() << gpureg::GetName(kind) << ", bending " << bending << ", Jacobian " << jacobian);
    const double weight = bending + jacobian;
    const auto   method = this->MakePlainMethod(problem, kind);
    method->SetOptimizer(FreeFormOptimizer::AdaptiveStochasticGradientDescent);
    method->SetControlPointSpacing(spacing);
    method->SetBendingEnergyWeight(bending);
    method->SetJacobianPenaltyWeight(jacobian);
    const auto runTo = [&](unsigned int iterations) {
      method->SetNumberOfIterations(iterations);
      method->Update();
      return itk::Array<double>(method->GetDeformation()->GetParameters());
    };
    const itk::Array<double> here = runTo(4);
    const itk::Array<double> step(runTo(5) - here);

    const auto deformation = MethodOf<3>::DeformationType::New();
    deformation->SetFixedParameters(method->GetDeformation()->GetFixedParameters());
    deformation->SetParametersByValue(here);
    const auto penalty = itk::GPUBSplinePenaltyMetric<ImageType>::New();
    penalty->SetDevice(this->GetDevice());
    penalty->SetMovingTransform(deformation);
    penalty->SetBendingEnergyWeight(bending * std::pow(spacing, 4) /
                                    (voxel * voxel)); // bending is in steps of the grid
    penalty->SetJacobianPenaltyWeight(jacobian);
    penalty->Initialize();
    itk::GPUBSplinePenaltyMetric<ImageType>::DerivativeType ofPenalty;
    penalty->GetDerivative(ofPenalty); // includes their weights; points downhill, as in ITK
    method->SetBendingEnergyWeight(0);
    method->SetJacobianPenaltyWeight(0);
    method->SetNumberOfIterations(1);

    const auto similarityAlong = [&](const itk::Array<double> & direction) {
      const double shift = furthest / direction.inf_norm();
      double       difference = 0;
      for (const double sign : { 1.0, -1.0 })
      {
        deformation->SetParametersByValue(itk::Array<double>(here + direction * (sign * shift)));
        difference -= sign * GetCost(*method, nullptr, deformation);
      }
      return (1 - weight) * difference / (2 * shift);
    };
    const double             squared = dot_product(ofPenalty, ofPenalty);
    const itk::Array<double> aside(step - ofPenalty * (dot_product(step, ofPenalty) / squared));
    const double             gain = dot_product(aside, aside) / similarityAlong(aside);
    const double             ofSimilarity = similarityAlong(ofPenalty);
    const double             ofPenalties = dot_product(step, ofPenalty) / gain - ofSimilarity;
    std::cout << gpureg::GetName(kind) << ": the penalty weighs " << ofPenalties / squared << " of its weight, and "
              << std::abs(ofPenalties / ofSimilarity) << " of the similarity along its gradient" << std::endl;
    EXPECT_GT(gain, 0.0);
    // The error of central differences of an interpolated image.
    EXPECT_NEAR(ofPenalties / squared, 1.0, 0.03);
  }
}

/** Rounding errors of the moving values in a flat part do not count as structure. */
TEST_P(FreeFormSimilarityTest, ACorrelationWithAFlatPartIsNothing)
{
  const Problem<3> problem(6);
  const auto       half = MakeImage<ImageType>(problem.grid, [&](const PointType & p) {
    return p[0] < problem.grid.GetCentre()[0] ? 17.3 : 20.0 + p[1];
  });
  const auto       side = itk::EllipseSpatialObject<3>::New();
  auto             centre = problem.grid.GetCentre();
  centre[0] -= 0.25 * problem.grid.GetExtent(0);
  side->SetCenterInObjectSpace(centre);
  side->SetRadiusInObjectSpace(0.2 * problem.grid.GetExtent(0));
  side->Update();
  const auto method = this->MakePlainMethod(problem, SimilarityKind::Correlation);
  method->SetMovingImage(half);
  for (const unsigned int samples : { 0u, 5000u })
  {
    method->SetNumberOfSamples(samples);
    method->SetFixedImageMask(side);
    method->Update();
    EXPECT_EQ(method->GetCosts(0).front(), 0.0) << samples;
    EXPECT_EQ(method->GetDeformation()->GetParameters().inf_norm(), 0.0) << "no force acts on any point";
    method->SetFixedImageMask(nullptr);
    method->Update();
    EXPECT_LT(method->GetCosts(0).front(), -1e-6) << samples;
  }
}

TEST_P(FreeFormSimilarityTest, EachFindsAKnownDeformationByEachOptimizer)
{
  const Problem<3> problem(GetSeeds(23, 1).first, Contrast::Same);
  // By Adam and by the conjugate gradient, mm.
  const std::tuple<SimilarityKind, ErrorOfRecord, ErrorOfRecord> cases[] = {
    { SimilarityKind::NormalizedMutualInformation, 0.0893, 0.0848 },
    { SimilarityKind::MattesMutualInformation, 0.172, 0.153 },
    { SimilarityKind::CorrelationRatio, 0.0761, 0.079 },
    { SimilarityKind::MeanSquares, 0.0732, 0.0657 },
    { SimilarityKind::Correlation, 0.0706, 0.0686 },
    { SimilarityKind::NeighborhoodCorrelation, 0.0548, 0.053 }
  };
  for (const auto & [kind, byAdam, byConjugateGradient] : cases)
  {
    for (const auto optimizer : { FreeFormOptimizer::Adam, FreeFormOptimizer::ConjugateGradient })
    {
      SCOPED_TRACE(std::string(gpureg::GetName(kind)) + " by " + gpureg::GetName(optimizer));
      const auto method = problem.MakeMethod(GetParam());
      method->SetSimilarity(kind);
      method->SetOptimizer(optimizer);
      method->SetNumberOfIterations(optimizer == FreeFormOptimizer::Adam ? 40 : 15);
      method->SetNeighborhoodRadius(2);
      method->SetBendingEnergyWeight(kind == SimilarityKind::MeanSquares ? 1e-5 : 1e-3);
      method->Update();
      EXPECT_TRUE(IsWithinRecord(GetParam(),
                                 problem.GetError(*method->GetTransform()),
                                 optimizer == FreeFormOptimizer::Adam ? byAdam : byConjugateGradient));
      for (unsigned int level = 0; level < 2; ++level)
      {
        const auto & costs = method->GetCosts(level);
        EXPECT_LT(costs.back(), costs.front());
        if (optimizer == FreeFormOptimizer::ConjugateGradient)
        {
          EXPECT_TRUE(std::is_sorted(costs.rbegin(), costs.rend())) << "a line leads uphill";
        }
      }
    }
  }
}

/** Every device draws the same samples, each time. */
TEST_P(FreeFormSimilarityTest, DrawnSamplesFindAKnownDeformationToo)
{
  const Problem<3> problem(GetSeeds(29, 1).first, Contrast::Same);
  const auto       masks = MakeMasks(problem);
  // By Adam and by the adaptive stochastic gradient descent, mm.
  const std::tuple<SimilarityKind, ErrorOfRecord, ErrorOfRecord> cases[] = {
    { SimilarityKind::NormalizedMutualInformation, 0.103, 0.0741 },
    { SimilarityKind::CorrelationRatio, 0.0819, 0.135 },
    { SimilarityKind::Correlation, 0.0753, 0.134 }
  };
  for (const auto & [kind, byAdam, byStochasticDescent] : cases)
  {
    for (const auto optimizer : { FreeFormOptimizer::Adam, FreeFormOptimizer::AdaptiveStochasticGradientDescent })
    {
      SCOPED_TRACE(std::string(gpureg::GetName(kind)) + " by " + gpureg::GetName(optimizer));
      const auto method = problem.MakeMethod(GetParam());
      method->SetSimilarity(kind);
      method->SetOptimizer(optimizer);
      method->SetNumberOfSamples(2000);
      method->SetNumberOfIterations(60);
      method->Update();
      EXPECT_TRUE(IsWithinRecord(GetParam(),
                                 problem.GetError(*method->GetTransform()),
                                 optimizer == FreeFormOptimizer::Adam ? byAdam : byStochasticDescent));
      const auto field = method->GetDisplacementField();
      EXPECT_EQ(field->GetBufferedRegion(), problem.fixed->GetBufferedRegion());
      PointType point;
      problem.fixed->TransformIndexToPhysicalPoint(field->GetBufferedRegion().GetIndex(), point);
      EXPECT_LT((point + field->GetPixel(field->GetBufferedRegion().GetIndex()) -
                 method->GetTransform()->TransformPoint(point))
                  .GetNorm(),
                1e-4);
      method->SetNumberOfIterations(5);
      method->SetFixedImageMask(masks.fixed);
      method->SetMovingImageMask(masks.moving);
      method->Update();
      const auto few = method->GetDeformation()->GetParameters();
      method->SetSeed(2);
      method->Update();
      EXPECT_NE(method->GetDeformation()->GetParameters(), few);
      method->SetSeed(1);
      method->SetNumberOfWorkUnits(3);
      method->Update();
      EXPECT_EQ(method->GetDeformation()->GetParameters(), few);
      method->SetDevice(itk::GPUDevice::FromName("host"));
      method->Update();
      EXPECT_LT((method->GetDeformation()->GetParameters() - few).rms(), 2e-3);
    }
  }
}

/** While the gain is measured, penalties' gradients do not change; with a large weight, steps once grew without a bound. */
TEST_P(FreeFormSimilarityTest, StochasticStepsAreBoundedWhateverThePenaltiesWeigh)
{
  const Problem<2> problem(5, Problem<2>::Contrast::Same);
  for (const auto kind :
       { SimilarityKind::MeanSquares, SimilarityKind::Correlation, SimilarityKind::NormalizedMutualInformation })
  {
    for (const double weight : { 0.01, 0.3, 0.9 })
    {
      for (const unsigned int samples : { 0u, 1000u })
      {
        SCOPED_TRACE(std::string(gpureg::GetName(kind)) + ", weight " + std::to_string(weight) + ", samples " +
                     std::to_string(samples));
        const auto method = problem.MakeMethod(GetParam());
        method->SetSimilarity(kind);
        method->SetOptimizer(FreeFormOptimizer::AdaptiveStochasticGradientDescent);
        method->SetBendingEnergyWeight(weight);
        method->SetNumberOfSamples(samples);
        method->SetNumberOfIterations(60);
        ASSERT_NO_THROW(method->Update());
        // With a larger penalty it finds less, but nothing wrong.
        const auto spline = itk::BSplineTransform<double, 2, 3>::New();
        EXPECT_LT(problem.GetError(*method->GetTransform()), 1.05 * problem.GetError(*spline));
        EXPECT_GT(method->GetSmallestJacobianDeterminant(), 0.0);
      }
    }
  }
}

/** Levels end as with Adam and the conjugate gradient. */
TEST_P(FreeFormSimilarityTest, StochasticLevelsEndWhereTheyHaveConverged)
{
  const Problem<2> problem(5, Problem<2>::Contrast::Same);
  const auto       method = problem.MakeMethod(GetParam());
  method->SetOptimizer(FreeFormOptimizer::AdaptiveStochasticGradientDescent);
  method->SetNumberOfLevels(1);
  method->SetNumberOfIterations(60);
  method->SetConvergenceThreshold(0.5);
  method->SetConvergenceWindowSize(5);
  method->Update();
  EXPECT_EQ(method->GetCosts(0).size(), 10u);
}

/** If samples that are drawn again all miss a small mask, the iteration has no cost, and the registration continues with the next
 *  samples. */
TEST_P(FreeFormSimilarityTest, AnIterationWhoseSamplesAllMissTheMaskHasNoCost)
{
  const Problem<3> problem(5, Contrast::Same);
  using MaskType = itk::ImageMaskSpatialObject<3>;
  const auto mask = MaskType::New();
  const auto centre = problem.grid.GetCentre();
  mask->SetImage(
    MakeImage<MaskType::ImageType>(problem.grid, [&](const auto & p) { return (p - centre).GetNorm() < 4.0 ? 1 : 0; }));
  mask->Update();
  const auto method = problem.MakeMethod(GetParam());
  method->SetSimilarity(SimilarityKind::MeanSquares);
  method->SetFixedImageMask(mask);
  method->SetNumberOfLevels(1);
  method->SetNumberOfSamples(100);
  method->SetNumberOfIterations(40);
  for (const unsigned int seed : { 1u, 2u, 3u })
  {
    method->SetSeed(seed);
    ASSERT_NO_THROW(method->Update()) << seed;
    const auto costs = method->GetCosts(0);
    EXPECT_TRUE(std::any_of(costs.begin(), costs.end(), [](double cost) { return std::isnan(cost); })) << seed;
    EXPECT_TRUE(std::none_of(costs.begin(), costs.end(), [](double cost) { return cost < 0; })) << seed;
  }
}

/** If gradients are nearly 0 at the start, steps are bounded. */
TEST_P(FreeFormSimilarityTest, StochasticStepsStayAtAnOptimumThatTheyBeginAt)
{
  const Problem<3>                                              problem(29, Contrast::Same);
  const auto                                                    truth = problem.MakeField(1);
  const std::tuple<SimilarityKind, unsigned int, ErrorOfRecord> cases[] = {
    { SimilarityKind::MeanSquares, 2000, 0.0156 },
    { SimilarityKind::NormalizedMutualInformation, 0, 0.0236 },
    { SimilarityKind::CorrelationRatio, 0, 0.013 },
    { SimilarityKind::Correlation, 2000, 0.00901 }
  };
  for (const auto & [kind, samples, record] : cases)
  {
    SCOPED_TRACE(gpureg::GetName(kind));
    const auto method = problem.MakeMethod(GetParam());
    method->SetSimilarity(kind);
    method->SetOptimizer(FreeFormOptimizer::AdaptiveStochasticGradientDescent);
    method->SetNumberOfSamples(samples);
    method->SetNumberOfLevels(1);
    method->SetNumberOfIterations(30);
    method->SetBendingEnergyWeight(kind == SimilarityKind::MeanSquares ? 1e-5 : 1e-3);
    method->SetInitialTransform(truth);
    method->Update();
    EXPECT_TRUE(IsWithinRecord(GetParam(), problem.GetError(*method->GetTransform()), record));
    EXPECT_GT(method->GetSmallestJacobianDeterminant(), 0.95);
  }
}

TEST_P(FreeFormSimilarityTest, LevelsEndWhereTheyHaveConverged)
{
  const Problem<3> problem(31, Contrast::Same);
  for (const auto & [optimizer, record] :
       { std::pair(FreeFormOptimizer::Adam, ErrorOfRecord(0.0753)),
         std::pair(FreeFormOptimizer::ConjugateGradient, ErrorOfRecord(0.029, 0.0296)) })
  {
    SCOPED_TRACE(gpureg::GetName(optimizer));
    const auto method = problem.MakeMethod(GetParam());
    method->SetSimilarity(SimilarityKind::Correlation);
    method->SetOptimizer(optimizer);
    method->SetNumberOfIterations(60);
    method->SetConvergenceThreshold(1e-3);
    method->SetConvergenceWindowSize(5);
    method->Update();
    for (unsigned int level = 0; level < 2; ++level)
    {
      EXPECT_GE(method->GetCosts(level).size(), 10u);
      EXPECT_LT(method->GetCosts(level).size(), 60u);
    }
    EXPECT_TRUE(IsWithinRecord(GetParam(), problem.GetError(*method->GetTransform()), record));
  }
}

TEST_P(FreeFormSimilarityTest, WhatIsMaskedOutIsNotLookedAt)
{
  const Problem<3> problem(8, Contrast::Same);
  const auto       masks = MakeMasks(problem);
  // Values outside of the fixed mask may be anything.
  const auto spoiled = MakeImage<ImageType>(problem.grid, [&](const PointType & p) {
    return masks.fixed->IsInsideInWorldSpace(p)
             ? problem.fixed->GetPixel(problem.fixed->TransformPhysicalPointToIndex(p))
             : 100.0 + 3.0 * p[0];
  });
  const auto errorInside = [&](const MethodOf<3> & method) {
    double      sum = 0;
    std::size_t count = 0;
    for (itk::ImageRegionIteratorWithIndex<ImageType> it(problem.fixed, problem.fixed->GetBufferedRegion());
         !it.IsAtEnd();
         ++it)
    {
      PointType p;
      problem.fixed->TransformIndexToPhysicalPoint(it.GetIndex(), p);
      if (p.EuclideanDistanceTo(problem.grid.GetCentre()) < 0.3 * problem.grid.GetExtent(0))
      {
        sum += method.GetTransform()->TransformPoint(p).EuclideanDistanceTo(problem.Deform(p));
        ++count;
      }
    }
    return sum / static_cast<double>(count);
  };
  const auto method = problem.MakeMethod(GetParam());
  method->SetSimilarity(SimilarityKind::Correlation);
  method->SetFixedImage(spoiled);
  method->Update();
  const double without = errorInside(*method);
  method->SetFixedImageMask(masks.fixed);
  method->Update();
  EXPECT_TRUE(IsWithinRecord(GetParam(), errorInside(*method), 0.101));
  EXPECT_LT(errorInside(*method), 0.5 * without);
  method->SetNumberOfSamples(2000);
  method->Update();
  EXPECT_TRUE(IsWithinRecord(GetParam(), errorInside(*method), 0.0847)) << "of few samples";
  EXPECT_LT(errorInside(*method), 0.5 * without) << "of few samples";
}

TEST_P(FreeFormSimilarityTest, WhatThereIsNotIsRefused)
{
  const Problem<3> problem(3);
  const auto       method = problem.MakeMethod(GetParam());
  method->SetNumberOfIterations(2);
  EXPECT_THROW(method->SetSimilarity("MeanCubes"), itk::GPUBadInputError);
  EXPECT_THROW(method->SetSimilarity("Demons"), itk::GPUBadInputError);
  EXPECT_THROW(method->SetOptimizer("Evolution"), itk::GPUBadInputError);
  method->SetSimilarity("NeighborhoodCorrelation");
  method->SetOptimizer("ConjugateGradient");
  EXPECT_EQ(method->GetSimilarityName(), "NeighborhoodCorrelation");
  EXPECT_EQ(method->GetOptimizerName(), "ConjugateGradient");
  method->SetNeighborhoodRadius(0);
  EXPECT_THROW(method->Update(), itk::GPUBadInputError);
  method->SetNeighborhoodRadius(1);
  for (const auto kind : { static_cast<SimilarityKind>(17), SimilarityKind::Demons })
  {
    method->SetSimilarity(kind);
    EXPECT_THROW(method->Update(), itk::GPUBadInputError);
  }
  method->SetSimilarity(SimilarityKind::MeanSquares);
  method->SetConvergenceThreshold(-1);
  EXPECT_THROW(method->Update(), itk::GPUBadInputError);
  method->SetConvergenceThreshold(1e-3);
  method->SetConvergenceWindowSize(0);
  EXPECT_THROW(method->Update(), itk::GPUBadInputError);
  method->SetConvergenceWindowSize(10);

  method->SetNumberOfSamples(100);
  EXPECT_THROW(method->Update(), itk::GPUBadInputError) << "lines are of one function";
  method->SetOptimizer(FreeFormOptimizer::Adam);
  method->SetSimilarity(SimilarityKind::NeighborhoodCorrelation);
  EXPECT_THROW(method->Update(), itk::GPUBadInputError) << "a neighborhood contains all voxels";
  method->SetNumberOfSamples(itk::SizeValueType{ 1 } << 40);
  method->SetSimilarity(SimilarityKind::MeanSquares);
  EXPECT_THROW(method->Update(), itk::GPUBadInputError);
  method->SetNumberOfSamples(0);

  const auto nothing = itk::EllipseSpatialObject<3>::New();
  PointType  away;
  away.Fill(1e4);
  nothing->SetCenterInObjectSpace(away);
  nothing->Update();
  method->SetFixedImageMask(nothing);
  EXPECT_THROW(method->Update(), itk::GPUBadInputError);
  method->SetFixedImageMask(nullptr);
  method->SetMovingImageMask(nothing);
  EXPECT_THROW(method->Update(), itk::GPUBadInputError);
  // A corner to which the fixed image is not mapped.
  const auto corner = itk::EllipseSpatialObject<3>::New();
  corner->SetCenterInObjectSpace(problem.moving->TransformIndexToPhysicalPoint<double>({ { 0, 0, 0 } }));
  corner->SetRadiusInObjectSpace(1.5);
  corner->Update();
  for (const auto kind : Kinds)
  {
    SCOPED_TRACE(gpureg::GetName(kind));
    method->SetSimilarity(kind);
    method->SetMovingImageMask(corner);
    EXPECT_THROW(method->Update(), itk::GPUBadInputError);
    method->SetMovingImageMask(nullptr);
    EXPECT_NO_THROW(method->Update());
  }
}

/** A stochastic step with all voxels is a gain times the gradient: normalized to unit length, it is the gradient's direction. */
TEST_P(FreeFormSimilarityTest, GradientsAreTheHosts)
{
  const Problem<3> problem(17);
  for (const auto kind : Kinds)
  {
    SCOPED_TRACE(gpureg::GetName(kind));
    const auto method = this->MakePlainMethod(problem, kind);
    method->SetOptimizer(FreeFormOptimizer::AdaptiveStochasticGradientDescent);
    const auto findDirection = [&method] {
      method->Update();
      const itk::Array<double> step = method->GetDeformation()->GetParameters();
      return itk::Array<double>(step / step.two_norm());
    };
    const itk::Array<double> here = findDirection();
    ASSERT_NEAR(here.two_norm(), 1.0, 1e-12) << "there is no gradient";
    method->SetDevice(itk::GPUDevice::FromName("host"));
    const double distance = itk::Array<double>(findDirection() - here).two_norm();
    std::cout << gpureg::GetName(kind) << ": " << distance << " of its length from the host's" << std::endl;
    EXPECT_LT(distance, 1e-5);
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, FreeFormSimilarityTest, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace gpuregtest
