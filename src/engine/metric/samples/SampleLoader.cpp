// SPDX-License-Identifier: Apache-2.0
#include "engine/metric/samples/SampleLoader.h"

#include "gpureg/core/Error.h"

#include "engine/image/WideValues.h"
#include "engine/metric/samples/IntegerValues.h"
#include "engine/runtime/Transfer.h"
#include "engine/transform/FixedPoint.h"
#include "engine/transform/PackedVectors.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace gpureg
{

namespace
{
// Lanes beyond the grid still count rows before they see that they have no sample; this leaves room for them.
constexpr std::int64_t LanesBeside = 1024;

/** Returns a filler that gives all elements one value. */
template <typename T>
Filler
MakeConstantFiller(T value)
{
  return [value](std::int64_t, std::int64_t count, void * out) { std::fill_n(static_cast<T *>(out), count, value); };
}

/** Writes points in fixed point. Points that are farther away than FarthestVoxel, or not a number, lie in no image: they are written as 0
 *  and are left out. */
class PointFiller
{
public:
  explicit PointFiller(const Filler & points)
    : m_Points(points)
  {}

  void
  operator()(std::int64_t first, std::int64_t count, void * out)
  {
    std::vector<double> indices(3 * static_cast<std::size_t>(count));
    m_Points(first, count, indices.data());
    double                    farthest = 0;
    std::vector<std::int64_t> leftOut;
    auto *                    result = static_cast<kernels::i64 *>(out);
    for (std::int64_t i = 0; i < count; ++i, result += 3)
    {
      const double * const index = &indices[3 * i];
      const bool isNearEnough = std::all_of(index, index + 3, [](double x) { return std::abs(x) < FarthestVoxel; });
      for (int d = 0; d < 3; ++d)
      {
        result[d] = isNearEnough ? ToFixedPoint(index[d]) : 0;
        farthest = isNearEnough ? std::max(farthest, std::abs(index[d])) : farthest;
      }
      if (!isNearEnough)
      {
        leftOut.push_back(first + i);
      }
    }
    const std::lock_guard<std::mutex> lock(m_Mutex);
    m_Farthest = std::max(m_Farthest, farthest);
    m_LeftOut.insert(leftOut.begin(), leftOut.end());
  }

  /** Returns the largest index of all points that are not left out. */
  double
  GetFarthest() const
  {
    return m_Farthest;
  }

  /** Returns a filler of the points' values in which points that are left out get an invalid value. */
  template <typename TValue>
  Filler
  LeaveOut(const Filler & values, TValue invalid) const
  {
    return [this, values, invalid](std::int64_t first, std::int64_t count, void * out) {
      values(first, count, out);
      for (auto it = m_LeftOut.lower_bound(first); it != m_LeftOut.end() && *it < first + count; ++it)
      {
        static_cast<TValue *>(out)[*it - first] = invalid;
      }
    };
  }

private:
  const Filler &         m_Points;
  std::mutex             m_Mutex;
  double                 m_Farthest = 0;
  std::set<std::int64_t> m_LeftOut;
};

/** Returns a filler of the samples' values, as they are stored; empty if there are none. */
Filler
MakeValueFiller(const FixedSamples & samples, const PointFiller & points)
{
  if (!samples.values)
  {
    return {};
  }
  return SampleLoader::GetPrecision(samples) == Precision::Double
           ? MakeIntegerFiller(points.LeaveOut(samples.values, NoFixedValue), ComputeValueExponent(samples.scale))
           : points.LeaveOut(samples.values, static_cast<float>(NoFixedValue));
}
} // namespace

void
CheckCountable(const Size & size, const char * what)
{
  constexpr std::int64_t most = std::numeric_limits<int>::max() - LanesBeside;
  if (static_cast<std::int64_t>(size[0]) * size[1] > most || static_cast<std::int64_t>(size[1]) * size[2] > most)
  {
    throw UnsupportedError(std::string(what) + " of " + std::to_string(size[0]) + " x " + std::to_string(size[1]) +
                           " x " + std::to_string(size[2]) + " voxels has more rows, or more voxels in a slice, than " +
                           std::to_string(most) + "; register a part of it, or a smaller image");
  }
}

FixedSamples
MakeInvalidSample(const FixedSamples & empty)
{
  FixedSamples one;
  one.precision = empty.precision;
  one.virtualSize = { 1, 1, 1 };
  one.scale = empty.scale;
  if (HasBins(empty))
  {
    one.bins = MakeConstantFiller(kernels::u16{ kernels::InvalidBin });
  }
  if (HasValues(empty))
  {
    one.values = empty.precision == Precision::Double ? MakeConstantFiller(NoFixedValue)
                                                      : MakeConstantFiller(static_cast<float>(NoFixedValue));
  }
  if (HasGradient(empty))
  {
    one.gradients = MakeConstantFiller(std::array<float, 3>{});
  }
  return one;
}

double
SampleLoader::Load(const FixedSamples & samples, SampleArrays & arrays)
{
  const std::int64_t count = samples.pointCount > 0 ? samples.pointCount : CountOf(samples.virtualSize);
  PointFiller        points(samples.points);
  UploadExactly(m_Queue,
                arrays.points,
                3 * sizeof(kernels::i64),
                samples.pointCount,
                samples.points ? Filler(std::ref(points)) : Filler());
  if (samples.sampled)
  {
    this->Sample(samples, arrays);
  }
  else
  {
    UploadExactly(m_Queue,
                  arrays.fixedBins,
                  sizeof(kernels::u16),
                  count,
                  samples.bins ? points.LeaveOut(samples.bins, kernels::u16{ kernels::InvalidBin }) : Filler());
    UploadExactly(m_Queue, arrays.fixedValues, BytesOf(GetPrecision(samples)), count, MakeValueFiller(samples, points));
  }
  m_Gradients.Fill(samples, count, arrays.fixedGradients);
  return points.GetFarthest();
}

void
SampleLoader::Plan(const FixedSamples & samples, const std::string & name, MemoryLedger & ledger)
{
  const SampledImage & sampled = *samples.sampled;
  const auto           count = static_cast<std::size_t>(CountOf(samples.virtualSize));
  const std::size_t    bytesOfValue = GetPrecision(samples) == Precision::Double ? sizeof(kernels::i64) : sizeof(float);
  if (!sampled.bins)
  {
    ledger.Free(name + "fixed bins");
  }
  if (!sampled.wantsValues)
  {
    ledger.Free(name + "fixed values");
  }
  ledger.Reserve(name + "fixed mask", sampled.mask != nullptr ? count : 0);
  if (sampled.bins)
  {
    ledger.ReserveExactly(name + "fixed bins", sizeof(kernels::u16) * count);
  }
  if (sampled.wantsValues)
  {
    ledger.ReserveExactly(name + "fixed values", bytesOfValue * count);
  }
  const auto voxels = sampled.isOneGrid ? static_cast<std::int64_t>(count) : sampled.image->GetCount();
  ledger.Touch("scratch: widened image", IsNarrow(*sampled.image) ? CountWideBytes(*sampled.image, voxels) : 0);
  if (!sampled.isOfQueue)
  {
    ledger.Free(name + "fixed mask");
  }
}

void
SampleLoader::Sample(const FixedSamples & samples, SampleArrays & arrays)
{
  const SampledImage & sampled = *samples.sampled;
  if (samples.pointCount > 0)
  {
    throw BadInputError("points cannot be sampled on the device: give their bins or values");
  }
  if (sampled.bins && sampled.wantsValues && GetPrecision(samples) == Precision::Double)
  {
    throw BadInputError("places beside bins are made in single precision: give those of samples in fixed point");
  }
  CheckCountable(sampled.size, "a fixed image");
  ImageSamples places;
  places.sampleSize = samples.virtualSize;
  places.imageSize = sampled.size;
  places.isOneGrid = sampled.isOneGrid;
  places.firstPlane = sampled.firstPlane;
  places.toImage = sampled.toImage;
  places.minimum = sampled.minimum;
  places.unit = sampled.unit;
  places.placeOfMinimum = sampled.placeOfMinimum;
  places.exponent = ComputeValueExponent(samples.scale);
  places.summary = sampled.summary;
  places.isOfQueue = sampled.isOfQueue;
  const BinEdges * const bins = sampled.bins ? &*sampled.bins : nullptr;
  // Arrays that are filled again stay allocated if they have the right size, because other samples may come at each iteration.
  if (bins == nullptr)
  {
    arrays.fixedBins.reset();
  }
  if (!sampled.wantsValues)
  {
    arrays.fixedValues.reset();
  }
  const Memory * mask = nullptr;
  if (sampled.mask != nullptr)
  {
    m_Sampler.FillMask(*sampled.mask, places, m_Mask);
    mask = m_Mask.get();
  }
  else if (sampled.inside)
  {
    UploadExactly(m_Queue, m_Mask, sizeof(kernels::u8), CountOf(samples.virtualSize), sampled.inside);
    mask = m_Mask.get();
  }
  if (bins != nullptr)
  {
    m_Sampler.Fill(*sampled.image, places, bins, kernels::StoredAsBin, mask, arrays.fixedBins);
  }
  if (sampled.wantsValues)
  {
    const kernels::StoredAs form = GetPrecision(samples) == Precision::Double ? kernels::StoredAsInteger
                                   : bins != nullptr                          ? kernels::StoredAsPlace
                                                                              : kernels::StoredAsScaled;
    m_Sampler.Fill(*sampled.image, places, bins, form, mask, arrays.fixedValues);
  }
  if (!sampled.isOfQueue)
  {
    m_Mask.reset();
  }
}

} // namespace gpureg
