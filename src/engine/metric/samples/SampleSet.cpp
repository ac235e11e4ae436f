// SPDX-License-Identifier: Apache-2.0
#include "engine/metric/samples/SampleSet.h"

#include "gpureg/core/Error.h"

#include "engine/metric/samples/AddPartials.h"
#include "engine/metric/samples/IntegerValues.h"
#include "engine/runtime/Operation.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

namespace gpureg
{

namespace
{
/** Returns true if the mapping has a displacement for each voxel of the samples' domain. */
bool
HasVectorsOfVoxels(const SampleMapping & mapping)
{
  const auto hasThem = [](const ChainedGrid & chain) {
    return std::any_of(chain.transform.steps.begin(), chain.transform.steps.end(), [](const ChainStep & step) {
      return step.grid.kind == GridKind::OfOutput;
    });
  };
  return mapping.displacement || hasThem(mapping.chain) || (mapping.preTransforms && hasThem(*mapping.preTransforms));
}
} // namespace

void
SampleSet::SetFixed(const FixedSamples & samples, const ParallelFor & parallelFor)
{
  if (samples.pointCount > std::numeric_limits<int>::max())
  {
    throw UnsupportedError("a sampled point set may hold 2147483647 points, not " + std::to_string(samples.pointCount) +
                           "; sample every voxel instead");
  }
  CheckCountable(samples.virtualSize, "a virtual domain");
  m_Samples.isEmpty = samples.pointCount == 0 && CountOf(samples.virtualSize) == 0;
  m_Samples.fixed = {};
  ++m_Samples.stamp;
  FixedSamples loaded = m_Samples.isEmpty ? MakeInvalidSample(samples) : samples;
  Operate(m_Queue, parallelFor, [&] { m_Samples.farthestPoint = m_Loader.Load(loaded, m_Arrays); });
  loaded.precision = SampleLoader::GetPrecision(loaded);
  m_Samples.fixed = std::move(loaded);
}

void
SampleSet::SetMoving(const MovingImage & image, bool readsQuads, const ParallelFor & parallelFor)
{
  CheckCountable(image.size, "a moving image");
  CheckCountable(image.maskSize, "a moving mask");
  m_Samples.moving = {};
  m_Samples.readsQuads = readsQuads;
  Operate(m_Queue, parallelFor, [&] { m_MovingVolumes.Fill(image, readsQuads, m_Arrays); });
  m_Samples.hasQuads = m_Arrays.quads != nullptr;
  m_Samples.moving = image;
}

void
SampleSet::Plan(const FixedSamples & samples,
                const MovingImage &  image,
                bool                 readsQuads,
                const std::string &  name,
                MemoryLedger &       ledger)
{
  m_Samples.isEmpty = false;
  m_Samples.moving = image;
  m_Samples.readsQuads = readsQuads;
  m_Samples.hasQuads = MovingVolumes::Plan(image, readsQuads, name, ledger);
  m_Samples.fixed = samples;
  m_Samples.fixed.precision = SampleLoader::GetPrecision(samples);
  SampleLoader::Plan(samples, name, ledger);
}

void
SampleSet::PlanMapping(const SampleMapping & mapping, Forces forces, const std::string & name, MemoryLedger & ledger)
{
  const bool overwrites = m_Mover.Plan(mapping, name, ledger);
  if (forces == Forces::OfEachSample)
  {
    ledger.ReserveExactly(name + "forces",
                          overwrites ? 0 : 3 * sizeof(float) * static_cast<std::size_t>(m_Samples.GetCount()));
  }
}

void
SampleSet::CheckIsComplete(bool readsFixedValues) const
{
  if (!(readsFixedValues ? HasValues(m_Samples.fixed) : HasBins(m_Samples.fixed)) || !HasValues(m_Samples.moving))
  {
    throw BadInputError("an image is missing: set the fixed samples and the moving image first");
  }
  if (m_Samples.fixed.precision != m_Samples.moving.precision)
  {
    throw BadInputError(
      "the fixed samples and the moving image are of different precision: set the moving image again");
  }
}

bool
SampleSet::HaveOneUnit() const
{
  return m_Samples.fixed.scale.minimum == m_Samples.moving.scale.minimum &&
         m_Samples.fixed.scale.range == m_Samples.moving.scale.range &&
         ComputeValueExponent(m_Samples.fixed.scale) == ComputeValueExponent(m_Samples.moving.scale);
}

void
SampleSet::UploadMapping(const SampleMapping & mapping, Forces forces)
{
  if (m_Samples.isEmpty && HasVectorsOfVoxels(mapping))
  {
    m_Mover.Upload(MakeLinearMapping(mapping.toMoving), forces);
  }
  else
  {
    m_Mover.Upload(mapping, forces);
  }
}

SampleProblem
SampleSet::MakeProblem(const SampleMapping & mapping,
                       Forces                forces,
                       const SampleGrain &   grain,
                       const SampleNeeds &   needs) const
{
  return this->CutDifferently(this->MakeProblem(mapping, forces, needs.scaledRange), grain, needs);
}

SampleProblem
SampleSet::MakeProblem(const SampleMapping & mapping, Forces forces, double scaledRange) const
{
  const bool hasNoVectors = m_Samples.isEmpty && HasVectorsOfVoxels(mapping);
  return hasNoVectors ? gpureg::MakeProblem(m_Samples, MakeLinearMapping(mapping.toMoving), forces, scaledRange)
                      : gpureg::MakeProblem(m_Samples, mapping, forces, scaledRange);
}

SampleProblem
SampleSet::CutDifferently(SampleProblem problem, const SampleGrain & grain, const SampleNeeds & needs) const
{
  problem.arguments.virtualShape = MakeShape(m_Samples.fixed.virtualSize);
  CutIntoChunks(problem, grain, needs);
  return problem;
}

kernels::SampleMaps
SampleSet::MakeMaps(const IndexMap & toMoving, const kernels::SampleArguments & arguments, double scaledRange) const
{
  kernels::SampleMaps maps = gpureg::MakeMaps(m_Samples, toMoving, scaledRange);
  ReshapeMap(arguments.rowsOfSlab, maps);
  return maps;
}

ForceResult
SampleSet::SumPartials(const kernels::SampleArguments & arguments, const float * partials, std::size_t count) const
{
  std::array<double, kernels::ForceSumCount> sums{};
  AddPartials(partials, kernels::ForceSumCount, count / kernels::ForceSumCount, sums.data());
  return this->MakeForceResult(arguments, sums);
}

ForceResult
SampleSet::MakeForceResult(const kernels::SampleArguments &                   arguments,
                           const std::array<double, kernels::ForceSumCount> & sums) const
{
  ForceResult result;
  result.forceSums = sums;
  std::copy(arguments.centre, arguments.centre + 3, result.centre.begin());
  UndoReshapeOfSums(arguments, m_Samples.fixed.virtualSize, result);
  return result;
}

std::int64_t
SampleSet::GetDeviceBytes() const
{
  std::int64_t bytes = m_Sampler.GetDeviceBytes() + static_cast<std::int64_t>(m_Loader.GetDeviceBytes()) +
                       m_Mover.GetDeviceBytes() + m_Forces.GetDeviceBytes();
  for (const MemoryPointer * array : { &m_Arrays.fixedBins,
                                       &m_Arrays.fixedValues,
                                       &m_Arrays.fixedGradients,
                                       &m_Arrays.points,
                                       &m_Arrays.displacement.GetMemory(),
                                       &m_Arrays.moving,
                                       &m_Arrays.quads,
                                       &m_Arrays.coefficients,
                                       &m_Arrays.gradient,
                                       &m_Arrays.mask,
                                       &m_Arrays.movingBins,
                                       &m_Arrays.chain.parts,
                                       &m_Arrays.chain.vectors,
                                       &m_Arrays.chain.jacobians })
  {
    bytes += static_cast<std::int64_t>(SizeOf(*array));
  }
  return bytes;
}

} // namespace gpureg
