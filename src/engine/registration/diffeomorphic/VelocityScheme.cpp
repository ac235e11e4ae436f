// SPDX-License-Identifier: Apache-2.0
#include "engine/registration/diffeomorphic/VelocityScheme.h"

#include "engine/field/FieldSums.h"
#include "engine/filter/LevelGeometry.h"
#include "engine/filter/LevelImage.h"
#include "engine/runtime/ForEachItem.h"

#include "gpureg/core/Error.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace gpureg
{

namespace
{
// Of v/2, and one more of v, which then has the same steps: half a voxel where v has 32.
constexpr int SquaringsToMiddle = 5;

// An inverse needs one reading or two, each of which squares the error; no step is halved where nothing folds. Error: voxels.
constexpr kernels::NewtonRule Refinement{ 16, 1e-4F, 0 };

RegisteredImage
DescribeLevel(const LevelImage & level)
{
  RegisteredImage image;
  image.image = level.image;
  image.mask = level.mask;
  image.size = level.image->GetSize();
  image.indexToPoint = level.toPoint;
  return image;
}
} // namespace

VelocityScheme::Side::Side(SchemeWorkspace & workspace)
  : values(*workspace.queue, workspace.deviceName, &workspace.imageScratch)
  , mask(*workspace.queue, workspace.deviceName, &workspace.imageScratch)
  , middle(workspace)
{}

VelocityScheme::VelocityScheme(SchemeWorkspace & workspace)
  : m_Workspace(workspace)
  , m_Filter(*workspace.queue)
  , m_Fixed(workspace)
  , m_Moving(workspace)
  , m_Forces(workspace)
  , m_UpdateSmoother(*workspace.queue)
  , m_FieldSmoother(*workspace.queue)
  , m_ToMiddle(*workspace.queue)
  , m_Whole(*workspace.queue)
{}

void
VelocityScheme::BeginLevel(const DiffeomorphicProblem & problem, const DiffeomorphicSettings & settings, int number)
{
  Queue &      queue = *m_Workspace.queue;
  const int    coarser = static_cast<int>(settings.iterations.size()) - 1 - number;
  const double edge = std::ldexp(FindShortestEdge(problem.fixed, problem.dimension), coarser);
  const auto   makeImage = [&](Side & side, const RegisteredImage & image, const char * which) {
    const Size factors = FindFactors(image, problem.dimension, edge);
    return MakeLevelImage({ queue, m_Workspace.lines }, image, which, factors, side.values, side.mask);
  };
  const LevelImage fixed = makeImage(m_Fixed, problem.fixed, "fixed");
  const LevelImage moving = makeImage(m_Moving, problem.moving, "moving");
  const LevelGrid  before =
    std::exchange(m_Level, MakeLevelGrid(problem.dimension, fixed.image->GetSize(), fixed.toPoint));
  ReserveFields(m_Workspace, m_Level);
  CarryField(m_Workspace, before, m_Level, m_Velocity);
  const double lowest = std::min(fixed.summary.minimum, moving.summary.minimum);
  m_Fixed.middle.BeginLevel(m_Filter, DescribeLevel(fixed), "fixed", {}, m_Level, {}, lowest);
  m_Moving.middle.BeginLevel(m_Filter, DescribeLevel(moving), "moving", {}, m_Level, problem.initial.first, lowest);
  m_Forces.BeginLevel(settings, number, problem.dimension, m_Fixed.middle, m_Moving.middle);
  m_UpdateSmoother.Set(settings.updateSigma, m_Level.grid);
  m_FieldSmoother.Set(settings.fieldSigma, m_Level.grid);
  m_ToMiddle.Set(m_Level.grid, 0.5, SquaringsToMiddle);
  m_Whole.Set(m_Level.grid, 1.0, SquaringsToMiddle + 1);
  Reserve(queue, m_Update, 3 * sizeof(float) * static_cast<std::size_t>(kernels::CountFieldVoxels(&m_Level.grid)));
  ReserveFactors(queue, m_Factors);
  Reserve(queue, m_Longest, sizeof(float));
}

bool
VelocityScheme::Iterate(const DiffeomorphicSettings & settings, int t)
{
  this->ResampleImages();
  if (t == 0)
  {
    // Says if nothing of an image is there.
    m_Fixed.middle.MeasureRange();
    m_Moving.middle.MeasureRange();
  }
  Queue &            queue = *m_Workspace.queue;
  const std::int64_t elements = 3 * kernels::CountFieldVoxels(&m_Level.grid);
  Memory &           update = *m_Update;
  Memory &           other = *m_Workspace.first;
  this->MakeUpdate(m_Fixed, m_Moving, 2 * std::int64_t{ t }, 0.5 * settings.step, update);
  this->MakeUpdate(m_Moving, m_Fixed, 2 * std::int64_t{ t } + 1, 0.5 * settings.step, other);
  AddFields(queue, elements, MakeWeights(1, -1), update, other, update);
  AddFields(queue, elements, MakeWeights(1, 1), *m_Velocity, update, *m_Velocity);
  if (settings.fieldSigma > 0)
  {
    m_FieldSmoother.Smooth(*m_Velocity, *m_Workspace.first, *m_Velocity);
  }
  return true;
}

void
VelocityScheme::ResampleImages()
{
  Memory & field = *m_Workspace.first;
  for (Side * side : { &m_Fixed, &m_Moving })
  {
    m_ToMiddle.Enqueue(*m_Velocity, side == &m_Fixed, *m_Workspace.second, field);
    side->middle.Resample(field);
  }
}

void
VelocityScheme::MakeUpdate(const Side & fixed, const Side & moving, std::int64_t slot, double length, Memory & update)
{
  Queue & queue = *m_Workspace.queue;
  m_Forces.Enqueue(fixed.middle.GetResampled(), moving.middle.GetResampled(), slot);
  m_UpdateSmoother.SmoothAndMeasure(
    m_Forces.GetDerivative(), *m_Workspace.second, update, m_Workspace.reducer, *m_Longest);
  kernels::LongestVector longest{};
  longest.length = static_cast<float>(m_Forces.GetSign() * length);
  longest.slot = kernels::FactorOfOuter;
  ForEachItem<kernels::FindScaleFactorKernel>(queue, 1, longest, Input<float>(*m_Longest), Output<float>(*m_Factors));
  ScaleField(queue, 3 * kernels::CountFieldVoxels(&m_Level.grid), *m_Factors, update);
}

const Memory &
VelocityScheme::MakeField(DeformationField field)
{
  switch (field)
  {
    case DeformationField::Forward:
      m_Whole.Enqueue(*m_Velocity, false, *m_Workspace.second, *m_Workspace.first);
      break;
    case DeformationField::Inverse:
      this->MakeInverse();
      break;
    default:
      throw BadInputError("the velocity scheme finds a deformation and its inverse; SyN has the halves of both");
  }
  return *m_Workspace.first;
}

void
VelocityScheme::MakeInverse()
{
  Queue &            queue = *m_Workspace.queue;
  const std::int64_t voxels = kernels::CountFieldVoxels(&m_Level.grid);
  Memory &           inverse = *m_Workspace.first;
  Memory &           scratch = *m_Workspace.second;
  Reserve(queue, m_Deformation, 3 * sizeof(float) * static_cast<std::size_t>(voxels));
  m_Whole.Enqueue(*m_Velocity, false, scratch, *m_Deformation);
  m_Whole.Enqueue(*m_Velocity, true, scratch, inverse);
  // Both are interpolated between voxels, where they lose a little of each other.
  ForEachItem<kernels::InvertByNewtonKernel>(queue,
                                             voxels,
                                             Precision::Single,
                                             m_Level.grid,
                                             Refinement,
                                             Input<RealNumber>(*m_Deformation),
                                             Output<RealNumber>(inverse),
                                             Output<float>(scratch));
}

std::size_t
VelocityScheme::GetDeviceBytes() const
{
  std::size_t bytes = m_Filter.GetSize() + m_Forces.GetDeviceBytes() + m_UpdateSmoother.GetDeviceBytes() +
                      m_FieldSmoother.GetDeviceBytes() + m_ToMiddle.GetDeviceBytes() + m_Whole.GetDeviceBytes();
  for (const Side * side : { &m_Fixed, &m_Moving })
  {
    bytes += side->values.GetDeviceBytes() + side->mask.GetDeviceBytes() + side->middle.GetDeviceBytes();
  }
  for (const MemoryPointer * array : { &m_Velocity, &m_Update, &m_Deformation, &m_Factors, &m_Longest })
  {
    bytes += SizeOf(*array);
  }
  return bytes;
}

} // namespace gpureg
