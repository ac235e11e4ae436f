// SPDX-License-Identifier: Apache-2.0
#include "FreeFormByLBFGS.h"
#include "MeanShrink.h"

#include "itkBSplineTransformParametersAdaptor.h"
#include "itkCudaMattesNMI.h"
#include "itkGPUBSplinePenaltyMetric.h"
#include "itkLBFGSOptimizerv4.h"
#include "itkWeightedSumMultiMetricv4.h"

#include <algorithm>
#include <cmath>

namespace bench
{

namespace
{
using example::Volume;
using Spline = itk::BSplineTransform<double, 3, 3>;

/** Returns a B-spline that begins at the outer edge of the first voxels, with as many cells of length `spacing`, in mm, as cover the
 *  image, each divided into 2^finer cells along each axis, so that each level's grid is contained in the next one's. */
Spline::Pointer
MakeSpline(const Volume * fixed, double spacing, unsigned int finer)
{
  Spline::MeshSizeType            mesh;
  Spline::PhysicalDimensionsType  extent;
  itk::ContinuousIndex<double, 3> corner(fixed->GetLargestPossibleRegion().GetIndex());
  for (unsigned int d = 0; d < 3; ++d)
  {
    const double length = fixed->GetSpacing()[d] * static_cast<double>(fixed->GetLargestPossibleRegion().GetSize(d));
    const auto   cells = static_cast<itk::SizeValueType>(std::ceil(length / spacing));
    mesh[d] = cells << finer;
    extent[d] = spacing * static_cast<double>(cells);
    corner[d] -= 0.5;
  }
  Spline::OriginType origin;
  fixed->TransformContinuousIndexToPhysicalPoint(corner, origin);
  const auto spline = Spline::New();
  spline->SetTransformDomainOrigin(origin);
  spline->SetTransformDomainPhysicalDimensions(extent);
  spline->SetTransformDomainDirection(fixed->GetDirection());
  spline->SetTransformDomainMeshSize(mesh);
  spline->SetIdentity();
  return spline;
}

void
Refine(Spline & spline, const Spline & finer)
{
  const auto adaptor = itk::BSplineTransformParametersAdaptor<Spline>::New();
  adaptor->SetTransform(&spline);
  adaptor->SetRequiredFixedParameters(finer.GetFixedParameters());
  adaptor->AdaptTransformParameters();
}

/** Optimizes the spline of one level, so that its weighted sum decreases. \returns the number of evaluations */
unsigned int
Descend(Spline & spline, const Volume * fixed, const Volume * moving, double spacing, const LBFGSSettings & settings)
{
  using SumType = itk::WeightedSumMultiMetricv4<3, 3, Volume>;
  const auto similarity = itk::CudaMattesNMI<Volume, Volume>::New();
  similarity->SetDevice(settings.device);
  similarity->SetNumberOfHistogramBins(settings.bins);
  similarity->SetFixedImage(fixed);
  similarity->SetMovingImage(moving);
  similarity->SetVirtualDomainFromImage(fixed);
  similarity->SetMovingTransform(&spline);
  const auto penalty = itk::GPUBSplinePenaltyMetric<Volume>::New();
  penalty->SetDevice(settings.device);
  penalty->SetVirtualDomainFromImage(fixed);
  penalty->SetMovingTransform(&spline);
  // The method's energy is in voxels, in steps of the grid.
  penalty->SetBendingEnergyWeight(std::pow(spacing, 4) / std::pow(fixed->GetSpacing()[0], 2));
  const auto sum = SumType::New();
  sum->AddMetric(similarity);
  sum->AddMetric(penalty);
  SumType::WeightsArrayType weights(2);
  weights[0] = 1.0 - settings.bending;
  weights[1] = settings.bending;
  sum->SetMetricWeights(weights);
  sum->Initialize();

  const auto optimizer = itk::LBFGSOptimizerv4::New();
  optimizer->SetMetric(sum);
  optimizer->SetMaximumNumberOfFunctionEvaluations(settings.evaluations);
  optimizer->SetGradientConvergenceTolerance(1e-9);
  optimizer->SetDefaultStepLength(fixed->GetSpacing()[0]);
  optimizer->StartOptimization();
  return static_cast<unsigned int>(optimizer->GetOptimizer()->get_num_evaluations());
}
} // namespace

LBFGSResult
RegisterByLBFGS(const Volume * fixed, const Volume * moving, const LBFGSSettings & settings)
{
  LBFGSResult result{ nullptr, 0 };
  for (unsigned int level = settings.levels; level-- > 0;)
  {
    const auto spline = MakeSpline(fixed,
                                   std::ldexp(settings.spacing, static_cast<int>(settings.levels) - 1),
                                   settings.levels - 1 - level);
    if (result.spline)
    {
      Refine(*result.spline, *spline);
    }
    else
    {
      result.spline = spline;
    }
    const itk::FixedArray<unsigned int, 3> factors(1u << level);
    result.evaluations += Descend(*result.spline,
                                  ShrinkByMeans(fixed, factors),
                                  ShrinkByMeans(moving, factors),
                                  std::ldexp(settings.spacing, static_cast<int>(level)),
                                  settings);
  }
  return result;
}

} // namespace bench
