// SPDX-License-Identifier: Apache-2.0
#include "engine/registration/diffeomorphic/GreedyScheme.h"

#include "engine/filter/LevelGeometry.h"
#include "engine/runtime/ForEachItem.h"

#include "gpureg/core/Error.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace gpureg
{

GreedyScheme::GreedyScheme(SchemeWorkspace & workspace)
  : m_Workspace(workspace)
  , m_Fixed(*workspace.queue, workspace.deviceName, &workspace.imageScratch)
  , m_Moving(*workspace.queue, workspace.deviceName, &workspace.imageScratch)
  , m_FixedMask(*workspace.queue, workspace.deviceName, &workspace.imageScratch)
  , m_MovingMask(*workspace.queue, workspace.deviceName, &workspace.imageScratch)
  , m_UpdateSmoother(*workspace.queue)
  , m_FieldSmoother(*workspace.queue)
{}

void
GreedyScheme::BeginLevel(const DiffeomorphicProblem & problem, const DiffeomorphicSettings & settings, int number)
{
  Queue &          queue = *m_Workspace.queue;
  const int        levels = static_cast<int>(settings.iterations.size());
  const int        iterations = settings.iterations[static_cast<std::size_t>(number)];
  const double     edge = std::ldexp(FindShortestEdge(problem.fixed, problem.dimension), levels - 1 - number);
  const LevelMaker maker{ queue, m_Workspace.lines };
  const LevelImage fixed = MakeLevelImage(
    maker, problem.fixed, "fixed", FindFactors(problem.fixed, problem.dimension, edge), m_Fixed, m_FixedMask);
  const LevelImage moving = MakeLevelImage(
    maker, problem.moving, "moving", FindFactors(problem.moving, problem.dimension, edge), m_Moving, m_MovingMask);
  const LevelGrid before =
    std::exchange(m_Level, MakeLevelGrid(problem.dimension, fixed.image->GetSize(), fixed.toPoint));
  ReserveFields(m_Workspace, m_Level);
  CarryField(m_Workspace, before, m_Level, m_Field);
  ReserveFactors(queue, m_Factors);
  Reserve(queue, m_Longest, sizeof(float));
  m_UpdateSmoother.Set(settings.updateSigma, m_Level.grid);
  m_FieldSmoother.Set(settings.fieldSigma, m_Level.grid);
  if (!m_Forces || !(m_Similarity == settings.similarity))
  {
    m_Forces.reset();
    m_Forces = MakeFieldForces(m_Workspace.backend, m_Workspace.queue, settings.similarity);
    m_Similarity = settings.similarity;
  }
  m_Forces->SetImages(m_Level.grid, fixed, moving, problem.initial.first, number, queue.GetParallelFor());
  Reserve(queue, m_Values, sizeof(float) * static_cast<std::size_t>(std::max(1, iterations)));
}

bool
GreedyScheme::Iterate(const DiffeomorphicSettings & settings, int t)
{
  Queue &            queue = *m_Workspace.queue;
  FieldReducer &     reducer = m_Workspace.reducer;
  Memory &           update = *m_Workspace.first;
  Memory &           second = *m_Workspace.second;
  const std::int64_t voxels = kernels::CountFieldVoxels(&m_Level.grid);
  m_Forces->Enqueue(reducer, *m_Field, second, update, *m_Values, t);
  // The smoothed update lies where it was smoothed along x.
  m_UpdateSmoother.SmoothAndMeasure(update, second, update, second, reducer, *m_Longest);
  kernels::LongestVector longest{};
  longest.length = static_cast<float>(settings.step);
  longest.slot = kernels::FactorOfInner;
  ForEachItem<kernels::FindScaleFactorKernel>(queue, 1, longest, Input<float>(*m_Longest), Output<float>(*m_Factors));
  ForEachItem<kernels::ComposeFieldsKernel>(queue,
                                            voxels,
                                            Precision::Single,
                                            m_Level.grid,
                                            Input<float>(*m_Factors),
                                            Input<RealNumber>(*m_Field),
                                            Input<RealNumber>(second),
                                            Output<RealNumber>(update));
  m_FieldSmoother.Smooth(update, *m_Field, second, *m_Field);
  return true;
}

std::vector<double>
GreedyScheme::DownloadCosts(int count)
{
  std::vector<float> values(static_cast<std::size_t>(count));
  if (count > 0)
  {
    m_Workspace.queue->Download(values.data(), *m_Values, sizeof(float) * values.size());
  }
  bool                hasVoxels = false;
  std::vector<double> costs;
  for (const float value : values)
  {
    if (!std::isfinite(value))
    {
      throw BadInputError("the deformation has grown beyond all numbers: take a shorter step, or a larger fieldSigma");
    }
    const std::optional<double> cost = m_Forces->FindCost(value);
    hasVoxels = hasVoxels || cost;
    costs.push_back(cost.value_or(0.0));
  }
  if (!costs.empty() && !hasVoxels)
  {
    throw BadInputError(
      "no voxel of the fixed image is mapped into the moving image, or all of them are outside of a mask: begin "
      "with a transform that brings them together");
  }
  return costs;
}

const Memory &
GreedyScheme::MakeField(DeformationField field)
{
  if (field != DeformationField::Forward)
  {
    throw BadInputError(
      "the greedy scheme finds one deformation, from the fixed to the moving image, without an inverse");
  }
  return *m_Field;
}

std::size_t
GreedyScheme::GetDeviceBytes() const
{
  std::size_t bytes =
    m_UpdateSmoother.GetDeviceBytes() + m_FieldSmoother.GetDeviceBytes() + (m_Forces ? m_Forces->GetDeviceBytes() : 0);
  for (const ImageLevel * image : { &m_Fixed, &m_Moving, &m_FixedMask, &m_MovingMask })
  {
    bytes += image->GetDeviceBytes();
  }
  for (const MemoryPointer * array : { &m_Field, &m_Factors, &m_Longest, &m_Values })
  {
    bytes += SizeOf(*array);
  }
  return bytes;
}

} // namespace gpureg
