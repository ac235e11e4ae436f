// SPDX-License-Identifier: Apache-2.0
#include "engine/registration/diffeomorphic/VelocityScheme.h"

#include "engine/field/FieldSums.h"
#include "engine/filter/LevelGeometry.h"
#include "engine/filter/LevelImage.h"
#include "engine/runtime/ForEachItem.h"

#include "gpureg/core/Error.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace gpureg
{

namespace
{
// v/2 is squared so often, and v once more, so that both begin with the same steps: half a voxel where v has 32.
constexpr int SquaringsToMiddle = 5;

// Smoothings of v where exp(v) folds: together they are as one of √20 times the sigma.
constexpr int MostUnfoldings = 20;

// How many times an image's range its value outside may be away from 0: it is subtracted from the values, and would take their last digits.
constexpr double FarthestOutside = 4096;

// Steps in which marks of folds are carried along v. An even number, so that the last marks lie where the first ones did.
constexpr int MarkSteps = 16;
} // namespace

VelocityScheme::LevelValues::LevelValues(SchemeWorkspace & workspace)
  : values(*workspace.queue, workspace.deviceName, &workspace.imageScratch)
  , mask(*workspace.queue, workspace.deviceName, &workspace.imageScratch)
{}

VelocityScheme::VelocityScheme(SchemeWorkspace & workspace)
  : FieldScheme(workspace, FieldBorder::Smoothed)
  , m_Forces(workspace)
  , m_ToMiddle(*workspace.queue)
  , m_Whole(*workspace.queue)
{}

void
VelocityScheme::BeginLevel(const DiffeomorphicProblem & problem, const DiffeomorphicSettings & settings, int number)
{
  const int    coarser = static_cast<int>(settings.iterations.size()) - 1 - number;
  const double edge = std::ldexp(ComputeShortestEdge(problem.fixed, problem.dimension), coarser);
  const auto   weighed = ListWeighedPairs(problem, settings, FirstPair::IsKept);
  ResizeItems(m_Pairs, weighed.size(), [this] { return std::make_unique<LevelPair>(m_Workspace); });
  std::size_t n = 0;
  const auto  pairs = ListMiddleSources(weighed, settings.flat, [&](const WeighedPair & pair) {
    return this->MakeSources(pair, problem, edge, *m_Pairs[n++]);
  });
  if (coarser == 0)
  {
    m_Workspace.FreeImageScratch();
  }
  const RegisteredImage & fixed = pairs.front().fixed.image;
  const LevelGrid before = this->SetLevel(MakeLevelGrid(problem.dimension, fixed.size, fixed.indexToPoint), settings);
  CarryField(m_Workspace, before, m_Level, FieldEdge::Continues, m_Velocity);
  m_Forces.BeginLevel(problem, settings, pairs, number, m_Level);
  m_ToMiddle.Set(m_Level.grid, 0.5, SquaringsToMiddle);
  m_Whole.Set(m_Level.grid, 1.0, SquaringsToMiddle + 1);
  m_Unfoldings = 0;
  Reserve(*m_Workspace.queue, m_Update, CountBytes(m_Level.grid));
}

MiddleSources
VelocityScheme::MakeSources(const WeighedPair &          pair,
                            const DiffeomorphicProblem & problem,
                            double                       edge,
                            LevelPair &                  made)
{
  const LevelMaker maker{ *m_Workspace.queue, m_Workspace.lines, true };
  const auto       makeImage = [&](const RegisteredImage & image, const char * which, LevelValues & its) {
    return MakeLevelImage(maker, image, which, ComputeFactors(image, problem.dimension, edge), its.values, its.mask);
  };
  const LevelImage fixed = makeImage(pair.pair.fixed, "fixed", made.fixed);
  const LevelImage moving = makeImage(pair.pair.moving, "moving", made.moving);
  const double     lowest = std::min(fixed.summary.minimum, moving.summary.minimum);
  const bool       haveOneUnit = Describe(pair.pair.similarity.kind).values == ValueForm::OneUnit;
  const auto       makeSource = [&](const LevelImage & image) {
    const double range = image.summary.maximum - image.summary.minimum;
    const bool   isNear = haveOneUnit || std::abs(lowest) <= FarthestOutside * range;
    return MiddleSource{ AsRegistered(image), {}, isNear ? lowest : image.summary.minimum };
  };
  return { pair, makeSource(fixed), makeSource(moving) };
}

void
VelocityScheme::Move(const DiffeomorphicSettings & settings, int t)
{
  this->ResampleImages();
  if (t == 0)
  {
    m_Forces.CheckImages();
  }
  Queue &            queue = *m_Workspace.queue;
  const std::int64_t elements = 3 * kernels::CountFieldVoxels(&m_Level.grid);
  Memory &           update = *m_Update;
  Memory &           other = *m_Workspace.first;
  this->MakeUpdateOf(settings, MiddleRole::AsGiven, t, update);
  this->MakeUpdateOf(settings, MiddleRole::Exchanged, t, other);
  AddFields(queue, elements, MakeWeights(1, -1), update, other, update);
  AddFields(queue, elements, MakeWeights(1, 1), *m_Velocity, update, *m_Velocity);
  if (this->SmoothsField())
  {
    m_FieldSmoother.Smooth(*m_Velocity, *m_Workspace.first, update, *m_Velocity);
  }
}

bool
VelocityScheme::Unfold()
{
  if (!this->SmoothsField() || m_Unfoldings == MostUnfoldings)
  {
    return false;
  }
  Queue &            queue = *m_Workspace.queue;
  const std::int64_t voxels = kernels::CountFieldVoxels(&m_Level.grid);
  Memory &           deformation = *m_Workspace.first;
  Memory &           marks = *m_Update;
  ForEachItem<kernels::MarkFoldsKernel>(queue, voxels, m_Level.grid, Input<float>(deformation), Output<float>(marks));
  for (int step = 0; step < MarkSteps; ++step)
  {
    const std::int64_t before = step % 2 == 0 ? 0 : voxels;
    ForEachItem<kernels::SpreadMarksKernel>(queue,
                                            voxels,
                                            m_Level.grid,
                                            1.0F / MarkSteps,
                                            before,
                                            voxels - before,
                                            Input<float>(*m_Velocity),
                                            Output<float>(marks));
  }
  Memory & smoothed = deformation;
  m_FieldSmoother.Smooth(*m_Velocity, smoothed, this->GetScratch(), smoothed);
  ForEachItem<kernels::TakeWhereMarkedKernel>(
    queue, voxels, m_Level.grid, Input<float>(marks), Input<float>(smoothed), Output<float>(*m_Velocity));
  ++m_Unfoldings;
  return true;
}

Memory &
VelocityScheme::GetScratch()
{
  if (m_Forces.HasScratch())
  {
    return m_Forces.GetScratch();
  }
  Reserve(*m_Workspace.queue, m_Workspace.second, CountBytes(m_Level.grid));
  return *m_Workspace.second;
}

void
VelocityScheme::ResampleImages()
{
  Memory & field = *m_Workspace.first;
  m_ToMiddle.Enqueue(*m_Velocity, true, *m_Update, field);
  m_Forces.ResampleFixed(field, *m_Update);
  m_ToMiddle.Enqueue(*m_Velocity, false, *m_Update, field);
  m_Forces.ResampleMoving(field, *m_Update);
}

void
VelocityScheme::MakeUpdateOf(const DiffeomorphicSettings & settings, MiddleRole role, int t, Memory & update)
{
  int      sign = 1;
  Memory & derivative = m_Forces.Enqueue(role, t, sign);
  Memory & second = this->GetSecondArray(settings, derivative);
  // Both updates together are a step long at most.
  const double length = 0.5 * sign * settings.step;
  this->MakeUpdate(settings, derivative, update, second, update, length, kernels::FactorOfOuter);
  ScaleField(*m_Workspace.queue, 3 * kernels::CountFieldVoxels(&m_Level.grid), *m_Factors, update);
}

const Memory &
VelocityScheme::MakeField(DeformationField field)
{
  switch (field)
  {
    case DeformationField::Forward:
      m_Whole.Enqueue(*m_Velocity, false, *m_Update, this->ReserveFirst());
      break;
    case DeformationField::Inverse:
      return this->MakeInverse().inverse;
    default:
      throw BadInputError("the velocity scheme finds a deformation and its inverse; SyN has the halves of both");
  }
  return *m_Workspace.first;
}

InvertedDeformation
VelocityScheme::MakeInverse()
{
  Memory & inverse = this->ReserveFirst();
  Memory & scratch = this->GetScratch();
  Memory & deformation = *m_Update;
  m_Whole.Enqueue(*m_Velocity, false, scratch, deformation);
  m_Whole.Enqueue(*m_Velocity, true, scratch, inverse);
  // Both are interpolated between voxels, where they lose a little of each other.
  this->RefineInverse(deformation, inverse, scratch);
  return { deformation, inverse };
}

void
VelocityScheme::FreeForces()
{
  m_Forces.Release();
  m_Pairs.clear();
}

std::size_t
VelocityScheme::GetDeviceBytes() const
{
  std::size_t bytes = this->GetUpdateBytes() + m_Forces.GetDeviceBytes();
  for (const auto & pair : m_Pairs)
  {
    for (const LevelValues * image : { &pair->fixed, &pair->moving })
    {
      bytes += image->values.GetDeviceBytes() + image->mask.GetDeviceBytes();
    }
  }
  for (const MemoryPointer * array : { &m_Velocity, &m_Update })
  {
    bytes += SizeOf(*array);
  }
  return bytes;
}

kernels::FieldGrid
VelocityScheme::PlanLevel(const DiffeomorphicProblem &  problem,
                          const DiffeomorphicSettings & settings,
                          int                           number,
                          MemoryLedger &                ledger)
{
  const int    coarser = static_cast<int>(settings.iterations.size()) - 1 - number;
  const double edge = std::ldexp(ComputeShortestEdge(problem.fixed, problem.dimension), coarser);
  const auto   weighed = ListWeighedPairs(problem, settings, FirstPair::IsKept);
  ResizeItems(m_Pairs, weighed.size(), [this] { return std::make_unique<LevelPair>(m_Workspace); });
  std::size_t n = 0;
  const auto  pairs = ListMiddleSources(weighed, settings.flat, [&](const WeighedPair & pair) {
    LevelPair & made = *m_Pairs[n++];
    const auto  plan = [&](const RegisteredImage & image, const char * which, LevelValues & its) {
      return PlanLevelImage(*m_Workspace.queue,
                            image,
                            ComputeFactors(image, problem.dimension, edge),
                            true,
                            "levels of images: pair " + std::to_string(pair.number + 1) + " " + which,
                            "scratch: shrunk image",
                            its.values,
                            its.mask,
                            ledger);
    };
    return MiddleSources{ pair,
                          { AsRegistered(plan(pair.pair.fixed, "fixed", made.fixed)), {} },
                          { AsRegistered(plan(pair.pair.moving, "moving", made.moving)), {} } };
  });
  if (coarser == 0)
  {
    SchemeWorkspace::PlanNoImageScratch(ledger);
  }
  const RegisteredImage & fixed = pairs.front().fixed.image;
  const LevelGrid         level = MakeLevelGrid(problem.dimension, fixed.size, fixed.indexToPoint);
  this->PlanUpdates(level.grid, settings, ledger);
  m_Forces.PlanLevel(pairs, settings.iterations[static_cast<std::size_t>(number)], level, ledger);
  ledger.Reserve("fields: velocity", CountBytes(level.grid));
  ledger.Reserve("scratch: update", CountBytes(level.grid));
  return level.grid;
}

} // namespace gpureg
