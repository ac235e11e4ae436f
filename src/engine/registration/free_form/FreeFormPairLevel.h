// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_FreeFormPairLevel_h
#define gpureg_FreeFormPairLevel_h

#include "engine/filter/ImageLevel.h"
#include "engine/metric/MetricCore.h"
#include "engine/registration/LevelSimilarity.h"

#include <cstdint>
#include <memory>

namespace gpureg
{

/** The images of a pair at the current level, and their similarity, on the device. */
struct FreeFormPairLevel
{
  FreeFormPairLevel(const SimilaritySettings &       settings,
                    const SampleDraws &              draws,
                    const std::shared_ptr<Backend> & backend,
                    const std::shared_ptr<Queue> &   queue)
    : core(backend, queue)
    , similarity(MakeLevelSimilarity(core, settings, draws))
    , fixed(*queue, backend->GetDescription().name, &core.samples.GetControlPoints().GetScratch())
    , moving(*queue, backend->GetDescription().name, &core.samples.GetControlPoints().GetScratch())
    , fixedMask(*queue, backend->GetDescription().name, &core.samples.GetControlPoints().GetScratch())
    , movingMask(*queue, backend->GetDescription().name, &core.samples.GetControlPoints().GetScratch())
  {}

  std::int64_t
  GetDeviceBytes() const
  {
    auto bytes = core.samples.GetDeviceBytes() + static_cast<std::int64_t>(SizeOf(informed));
    for (const ImageLevel * image : { &fixed, &moving, &fixedMask, &movingMask })
    {
      bytes += static_cast<std::int64_t>(image->GetDeviceBytes());
    }
    for (const MemoryPointer * array : core.ownArrays)
    {
      bytes += static_cast<std::int64_t>(SizeOf(*array));
    }
    return bytes;
  }

  MetricCore                       core;
  std::unique_ptr<LevelSimilarity> similarity;
  ImageLevel                       fixed;
  ImageLevel                       moving;
  ImageLevel                       fixedMask;
  ImageLevel                       movingMask;
  /** float[kernels::EvaluatedNumbers], of several pairs: see kernels::InformEvaluated. */
  MemoryPointer informed;
  /** The mean square of differences of unrelated values, where several pairs are compared and this one by mean squares. */
  double unrelatedSquare = 0;
};

} // namespace gpureg

#endif
