// SPDX-License-Identifier: Apache-2.0
#include "engine/registration/diffeomorphic/MiddleImage.h"

#include "engine/core/NumberNames.h"
#include "engine/field/ScaledValues.h"
#include "engine/filter/LevelGeometry.h"
#include "engine/image/SummarizeImage.h"
#include "engine/image/WideValues.h"
#include "engine/runtime/ForEachItem.h"
#include "engine/transform/FixedPoint.h"

#include "gpureg/core/Error.h"
#include "gpureg/registration/MemoryPlan.h"
#include "gpureg/transform/TransformChain.h"

#include <algorithm>
#include <string>

namespace gpureg
{

MiddleImage::MiddleImage(SchemeWorkspace & workspace)
  : m_Workspace(workspace)
  , m_Values(workspace.deviceName)
  , m_Weights(workspace.deviceName)
  , m_ValueLevel(*workspace.queue, workspace.deviceName, &workspace.imageScratch)
  , m_WeightLevel(*workspace.queue, workspace.deviceName, &workspace.imageScratch)
{}

const Memory *
MiddleImage::GetFloats(const DeviceImage & image, bool copies, MemoryPointer & own)
{
  if (!copies && image.GetPrecision() == Precision::Single)
  {
    own.reset();
    return image.GetNumbers();
  }
  WriteScaled(*m_Workspace.queue, image, 0, 1, own);
  return own.get();
}

void
MiddleImage::BeginLevel(RecursiveFilter &             filter,
                        const RegisteredImage &       image,
                        const char *                  which,
                        const std::array<double, 3> & sigmas,
                        const LevelGrid &             grid,
                        const DisplacedMap &          initial,
                        double                        outside)
{
  Queue &    queue = *m_Workspace.queue;
  const bool isSmoothed = std::any_of(sigmas.begin(), sigmas.end(), [](double sigma) { return sigma > 0; });
  m_Image = this->GetFloats(*image.image, isSmoothed, m_Smoothed);
  m_Form = static_cast<int>(m_Smoothed ? NumberType::Float32 : image.image->GetNumberType());
  m_Outside = static_cast<float>(outside);
  // itk::SmoothingRecursiveGaussianImageFilter smooths along the last axis first.
  for (int n = 0; n < grid.grid.dimension; ++n)
  {
    const int    axis = n == 0 ? grid.grid.dimension - 1 : n - 1;
    const double sigma = sigmas[static_cast<std::size_t>(axis)];
    if (sigma > 0)
    {
      filter.ApplyGaussian(*m_Smoothed, image.size, 1, Precision::Single, axis, MakeRecursiveGaussian(sigma));
    }
  }
  m_Mask = image.mask != nullptr ? this->GetFloats(*image.mask, false, m_FloatMask) : nullptr;

  const DisplacedMap toImage = Compose(InvertMap(image.indexToPoint), initial);
  m_Places.toField = ToFixedMap(Compose(toImage.ofPoints, grid.toPoint));
  SkipPlanes(m_Places.toField, grid.slab.held.first);
  m_Places.grid = grid.grid;
  m_Places.fieldGrid.dimension = grid.grid.dimension;
  std::copy(image.size.begin(), image.size.end(), m_Places.fieldGrid.size);
  std::copy(toImage.ofDisplacements.begin(), toImage.ofDisplacements.end(), m_Places.fieldGrid.toIndex);

  const Size         size{ grid.grid.size[0], grid.grid.size[1], grid.grid.size[2] };
  const std::int64_t voxels = kernels::CountFieldVoxels(&grid.grid);
  m_Values.Reserve(queue, voxels);
  m_ValueLevel.Make(m_Values, size, { 1, 1, 1 }, m_Workspace.lines);
  m_Resampled.image = &m_ValueLevel;
  m_Resampled.summaryOnDevice = m_RangeOnDevice = nullptr;
  m_Resampled.mask = nullptr;
  if (m_Mask != nullptr)
  {
    m_Weights.Reserve(queue, voxels);
    m_WeightLevel.Make(m_Weights, size, { 1, 1, 1 }, m_Workspace.lines);
    m_Resampled.mask = &m_WeightLevel;
  }
  m_Resampled.toPoint = GetMapOfGrid(grid);
  MemoryPointer  widened;
  const Memory & floats = m_Smoothed ? *m_Smoothed : Widen(queue, *image.image, widened);
  m_Resampled.summary = SummarizeImage(queue, Precision::Single, image.image->GetCount(), floats);
  if (m_Resampled.summary.notFinite > 0 || !(m_Resampled.summary.maximum > m_Resampled.summary.minimum))
  {
    this->ThrowDoesNotVary(image, which);
  }
  // As the resampled floats are.
  const auto aboveOutside = [this](double value) { return static_cast<float>(value) - m_Outside; };
  m_Resampled.summary.minimum = std::min(aboveOutside(m_Resampled.summary.minimum), 0.0F);
  m_Resampled.summary.maximum = std::max(aboveOutside(m_Resampled.summary.maximum), 0.0F);
  m_Resampled.summary.mean -= m_Outside;
}

void
MiddleImage::ThrowDoesNotVary(const RegisteredImage & image, const char * which) const
{
  const std::string its = std::string("the ") + which + " image";
  if (image.image->GetPrecision() == Precision::Double)
  {
    Queue &            queue = *m_Workspace.queue;
    MemoryPointer      widened;
    const Memory &     values = Widen(queue, *image.image, widened);
    const ImageSummary summary = SummarizeImage(queue, Precision::Double, image.image->GetCount(), values);
    if (summary.maximum > summary.minimum)
    {
      throw BadInputError(its + " has values from " + NameNumber(summary.minimum) + " to " +
                          NameNumber(summary.maximum) +
                          ", which are not different numbers as floats, in which SyN and velocities compute: shift and "
                          "scale them, such as to 0 to 1");
    }
  }
  throw BadInputError(its + " is constant: there is nothing to register; give one whose values vary");
}

void
MiddleImage::Plan(const RecursiveFilter &       filter,
                  const RegisteredImage &       image,
                  const std::array<double, 3> & sigmas,
                  const LevelGrid &             grid,
                  const std::string &           name,
                  MemoryLedger &                ledger)
{
  const Queue &      queue = *m_Workspace.queue;
  const std::int64_t count = image.image->GetCount();
  const std::int64_t voxels = kernels::CountFieldVoxels(&grid.grid);
  const auto         bytesOf = [](std::int64_t floats) { return sizeof(float) * static_cast<std::size_t>(floats); };
  const auto         planFloats = [&](const DeviceImage & from, bool copies, const std::string & array) {
    if (from.GetPrecision() == Precision::Single && !copies)
    {
      ledger.Free(array);
    }
    else
    {
      ledger.Reserve(array, bytesOf(count));
    }
  };
  const bool isSmoothed = std::any_of(sigmas.begin(), sigmas.end(), [](double sigma) { return sigma > 0; });
  planFloats(*image.image, isSmoothed, name + " smoothed");
  for (int axis = 0; axis < grid.grid.dimension; ++axis)
  {
    if (sigmas[static_cast<std::size_t>(axis)] > 0)
    {
      ledger.Reserve("scratch: states of filters", filter.CountGaussianBytes(image.size, 1, axis));
    }
  }
  const Size        size{ grid.grid.size[0], grid.grid.size[1], grid.grid.size[2] };
  const std::string middle = name + " in the middle";
  // The level has all voxels, and needs no array of its own.
  const auto planMiddle = [&](const std::string & array, ImageLevel & level) {
    ledger.Reserve(array, bytesOf(voxels));
    level.Plan(
      PlannedImage(NumberType::Float32, voxels, m_Workspace.deviceName, 0), size, { 1, 1, 1 }, false, "", "", ledger);
    return &level;
  };
  m_Resampled = {};
  m_Resampled.image = planMiddle(middle, m_ValueLevel);
  m_Resampled.toPoint = GetMapOfGrid(grid);
  m_Resampled.summary.maximum = 1;
  if (image.mask != nullptr)
  {
    planFloats(*image.mask, false, name + "'s mask as floats");
    m_Resampled.mask = planMiddle(middle + "'s mask", m_WeightLevel);
  }
  const bool isWidened = IsNarrow(*image.image) && !isSmoothed;
  ledger.Touch("scratch: summary",
               SummaryOnDevice::CountBytes(queue, count) + (isWidened ? CountWideBytes(*image.image) : 0));
  ledger.Reserve(middle + "'s range", SummaryOnDevice::CountBytes(queue, voxels, true));
}

void
MiddleImage::Resample(const FieldPart & field)
{
  Queue &            queue = *m_Workspace.queue;
  const std::int64_t voxels = kernels::CountFieldVoxels(&m_Places.grid);
  ForEachItem<kernels::ResampleMiddleImageKernel>(queue,
                                                  voxels,
                                                  m_Places,
                                                  Input<float>(field),
                                                  Input<void>(*m_Image),
                                                  m_Form,
                                                  m_Outside,
                                                  Output<float>(m_Values.GetValues()));
  if (m_Mask != nullptr)
  {
    ForEachItem<kernels::ResampleMiddleMaskKernel>(
      queue, voxels, m_Places, Input<float>(field), Input<float>(*m_Mask), Output<float>(m_Weights.GetValues()));
  }
}

void
MiddleImage::EnqueueRange()
{
  Queue &            queue = *m_Workspace.queue;
  const std::int64_t voxels = m_Values.GetCount();
  const Memory *     values = m_Values.GetMemory();
  if (m_Mask != nullptr)
  {
    Memory & kept = *m_Workspace.first;
    ForEachItem<kernels::KeepInsideMaskKernel>(
      queue, voxels, Input<float>(*values), Input<float>(*m_Weights.GetMemory()), Output<float>(kept));
    values = &kept;
  }
  m_Range.Enqueue(queue, Precision::Single, voxels, *values);
  m_RangeOnDevice = &m_Range.Join(queue);
}

void
MiddleImage::UseRange()
{
  m_Resampled.summaryOnDevice = m_RangeOnDevice;
  m_Resampled.summary = {};
  m_Resampled.summary.maximum = 1;
}

ImageSummary
MiddleImage::DownloadRange() const
{
  return m_Range.Download(*m_Workspace.queue);
}

} // namespace gpureg
