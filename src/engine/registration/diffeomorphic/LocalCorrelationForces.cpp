// SPDX-License-Identifier: Apache-2.0
#include "engine/registration/diffeomorphic/LocalCorrelationForces.h"

#include "engine/field/CountBlocks.h"
#include "engine/field/ScaledValues.h"
#include "engine/filter/LevelGeometry.h"
#include "engine/registration/diffeomorphic/DeviceTeam.h"
#include "engine/runtime/ForEachItem.h"
#include "engine/transform/FixedPoint.h"

#include "gpureg/transform/TransformChain.h"

#include <algorithm>

namespace gpureg
{

namespace
{
std::size_t
CountBytes(std::int64_t voxels, int floats)
{
  return static_cast<std::size_t>(voxels) * static_cast<std::size_t>(floats) * sizeof(float);
}
} // namespace

LocalCorrelationForces::LocalCorrelationForces(Queue & queue, int radius, double noise)
  : m_Queue(queue)
  , m_Radius(radius)
  , m_NoiseVariance(static_cast<float>(noise * noise))
{}

void
LocalCorrelationForces::SetImages(const LevelGrid &    level,
                                  TeamMember *         member,
                                  const LevelImage &   fixed,
                                  const LevelImage &   moving,
                                  const DisplacedMap & initial,
                                  int,
                                  const ParallelFor &)
{
  const kernels::FieldGrid & grid = level.grid;
  const Range                held = GetVoxels(level, level.slab.held);
  const DisplacedMap         toMoving = Compose(InvertMap(moving.toPoint), initial);
  m_OwnPlanes = level.slab.GetOwnOfHeld();
  m_Member = member;
  m_VoxelsOfLevel = fixed.image->GetCount();
  m_Warp.grid = grid;
  m_Warp.toImage = ToFixedMap(Compose(toMoving.ofPoints, fixed.toPoint));
  SkipPlanes(m_Warp.toImage, level.slab.held.first);
  std::copy(toMoving.ofDisplacements.begin(), toMoving.ofDisplacements.end(), m_Warp.displacementToImage);
  const Size & size = moving.image->GetSize();
  std::copy(size.begin(), size.end(), m_Warp.imageSize);
  m_Warp.hasMask = moving.mask != nullptr;
  m_HasFixedMask = fixed.mask != nullptr;
  m_Correlation.variance = m_NoiseVariance;
  m_Correlation.hasWeights = m_Warp.hasMask || m_HasFixedMask;
  for (int axis = 0; axis < 3; ++axis)
  {
    m_Correlation.radius[axis] = axis < grid.dimension ? std::min(m_Radius, grid.size[axis] - 1) : 0;
  }
  // From 0 to 1.
  const auto scaleValues = [this](const LevelImage & image, const Range & voxels, MemoryPointer & scaled) {
    const ImageSummary & summary = image.summary;
    WriteScaled(m_Queue, *image.image, voxels, summary.minimum, 1 / (summary.maximum - summary.minimum), scaled);
  };
  scaleValues(fixed, held, m_Fixed);
  scaleValues(moving, { 0, moving.image->GetCount() }, m_Moving);
  const std::int64_t voxels = kernels::CountFieldVoxels(&grid);
  Reserve(m_Queue, m_Warped, CountBytes(voxels, 1));
  Reserve(m_Queue, m_Sums, CountBytes(voxels, kernels::CountBoxSums(&m_Correlation)));
  if (m_Warp.hasMask)
  {
    Reserve(m_Queue, m_Weights, CountBytes(voxels, 1));
    WriteScaled(m_Queue, *moving.mask, 0, 1, m_MovingMask);
  }
  if (m_HasFixedMask)
  {
    Reserve(m_Queue, m_FixedWeights, CountBytes(voxels, 1));
    ForEachItem<kernels::WeighMaskKernel>(m_Queue,
                                          voxels,
                                          fixed.mask->GetPrecision(),
                                          Input<RealNumber>(*fixed.mask->GetMemory(), held.first),
                                          Output<float>(*m_FixedWeights));
  }
}

void
LocalCorrelationForces::Enqueue(
  FieldReducer & reducer, const Memory & field, Memory & gradients, Memory & forces, Memory & values, std::int64_t slot)
{
  const kernels::FieldGrid & grid = m_Warp.grid;
  const std::int64_t         voxels = kernels::CountFieldVoxels(&grid);
  const std::int64_t         blocksAlongY = CountBlocks(m_Queue, grid, 1, kernels::DeviceBoxesLength);
  const std::int64_t         blocksAlongZ = CountBlocks(m_Queue, grid, 2, kernels::DeviceBoxesLength);
  // Weights of the fixed mask alone are the same along any field.
  const Memory * const weights = m_Warp.hasMask ? m_Weights.get() : (m_HasFixedMask ? m_FixedWeights.get() : nullptr);
  ForEachItem<kernels::WarpImageKernel>(m_Queue,
                                        voxels,
                                        m_Warp,
                                        Input<float>(field),
                                        Input<float>(*m_Moving),
                                        Input<float>(m_MovingMask.get()),
                                        Output<float>(*m_Warped),
                                        Output<float>(gradients),
                                        Output<float>(m_Weights.get()));
  if (m_Warp.hasMask && m_HasFixedMask)
  {
    ForEachItem<kernels::MultiplyWeightKernel>(m_Queue,
                                               voxels,
                                               Input<float>(*m_FixedWeights),
                                               Output<float>(*m_Weights));
  }
  ForEachItem<kernels::SumProductsInPlaneKernel>(m_Queue,
                                                 blocksAlongY,
                                                 Precision::Single,
                                                 grid,
                                                 m_Correlation,
                                                 Input<RealNumber>(*m_Fixed),
                                                 Input<RealNumber>(*m_Warped),
                                                 Input<RealNumber>(weights),
                                                 Output<RealNumber>(*m_Sums));
  // The terms wait where the forces will be.
  Memory & parts = reducer.GetPartials(blocksAlongZ);
  ForEachItem<kernels::ComputeCorrelationTermsKernel>(m_Queue,
                                                      blocksAlongZ,
                                                      Precision::Single,
                                                      grid,
                                                      m_Correlation,
                                                      Input<RealNumber>(*m_Sums),
                                                      Input<RealNumber>(weights),
                                                      Output<RealNumber>(parts),
                                                      Output<RealNumber>(forces));
  const Range own = LocateBlocks(m_Queue, grid, kernels::DeviceBoxesLength, m_OwnPlanes);
  reducer.Sum(parts, own.first, own.count, values, slot);
  ForEachItem<kernels::SumTermsInPlaneKernel>(m_Queue,
                                              blocksAlongY,
                                              Precision::Single,
                                              grid,
                                              m_Correlation,
                                              Input<RealNumber>(forces),
                                              Output<RealNumber>(*m_Sums));
  ForEachItem<kernels::ComputeCorrelationForcesKernel>(m_Queue,
                                                       blocksAlongZ,
                                                       Precision::Single,
                                                       grid,
                                                       m_Correlation,
                                                       Input<RealNumber>(*m_Sums),
                                                       Input<RealNumber>(*m_Fixed),
                                                       Input<RealNumber>(*m_Warped),
                                                       Input<RealNumber>(weights),
                                                       Input<RealNumber>(gradients),
                                                       Output<RealNumber>(forces));
  if (m_Member != nullptr)
  {
    m_Member->SumOnDevice(m_Queue, values, slot);
  }
}

std::optional<double>
LocalCorrelationForces::ComputeCost(float value) const
{
  // Minus the mean over all voxels. A sum of 0 means that no voxel had a weight.
  return value == 0 ? std::nullopt : std::optional<double>(-value / static_cast<double>(m_VoxelsOfLevel));
}

std::size_t
LocalCorrelationForces::GetDeviceBytes() const
{
  std::size_t bytes = 0;
  for (const MemoryPointer * array :
       { &m_Fixed, &m_Moving, &m_MovingMask, &m_FixedWeights, &m_Warped, &m_Weights, &m_Sums })
  {
    bytes += SizeOf(*array);
  }
  return bytes;
}

void
LocalCorrelationForces::Plan(const LevelGrid &   level,
                             const LevelImage &  fixed,
                             const LevelImage &  moving,
                             const std::string & name,
                             MemoryLedger &      ledger)
{
  const std::int64_t      voxels = kernels::CountFieldVoxels(&level.grid);
  const bool              hasMovingMask = moving.mask != nullptr;
  const bool              hasFixedMask = fixed.mask != nullptr;
  kernels::BoxCorrelation correlation{};
  correlation.hasWeights = hasMovingMask || hasFixedMask;
  ledger.Reserve(name + "fixed values", CountBytes(voxels, 1));
  ledger.Reserve(name + "moving values", CountBytes(moving.image->GetCount(), 1));
  ledger.Reserve(name + "warped values", CountBytes(voxels, 1));
  ledger.Reserve(name + "sums", CountBytes(voxels, kernels::CountBoxSums(&correlation)));
  ledger.Reserve(name + "weights", hasMovingMask ? CountBytes(voxels, 1) : 0);
  ledger.Reserve(name + "moving mask", hasMovingMask ? CountBytes(moving.image->GetCount(), 1) : 0);
  ledger.Reserve(name + "fixed weights", hasFixedMask ? CountBytes(voxels, 1) : 0);
  FieldReducer::Plan(CountBlocks(m_Queue, level.grid, 2, kernels::DeviceBoxesLength), "scratch: ", ledger);
}

} // namespace gpureg
