// SPDX-License-Identifier: Apache-2.0
// Tests that load images on a device share these.
#ifndef gpuregtest_LoadedImageCase_h
#define gpuregtest_LoadedImageCase_h

#include "TestDevices.h"
#include "TestImages.h"
#include "TestParallelFor.h"

#include "gpureg/image/LoadedImage.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace gpuregtest
{

inline const gpureg::Size ImageSize{ 21, 18, 11 };

/** Returns a filler that copies from an array, which must outlive it. */
template <typename T>
gpureg::Filler
CopyFrom(const std::vector<T> & array)
{
  return [&array](std::int64_t first, std::int64_t count, void * out) {
    std::memcpy(out, array.data() + first, static_cast<std::size_t>(count) * sizeof(T));
  };
}

/** Returns values with flat regions, some of them exactly on the edges of bins. */
template <typename TReal>
std::vector<TReal>
MakeValues(const gpureg::Size & size, double offset, int seed)
{
  Random             random(seed);
  std::vector<TReal> values(static_cast<std::size_t>(gpureg::CountOf(size)));
  for (TReal & value : values)
  {
    const double kind = Uniform(random, 0.0, 1.0);
    value = static_cast<TReal>(offset + (kind < 0.3   ? 0.0
                                         : kind < 0.6 ? std::floor(Uniform(random, 0.0, 101.0))
                                                      : Uniform(random, 0.0, 100.0)));
  }
  values.front() = static_cast<TReal>(offset);
  values.back() = static_cast<TReal>(offset + 100.0);
  return values;
}

template <typename TReal>
void
Load(gpureg::LoadedImage & image, const std::vector<TReal> & values)
{
  gpureg::Source source;
  source.key = { reinterpret_cast<std::uintptr_t>(values.data()) };
  source.memory.push_back({ values.data(), values.size() * sizeof(TReal) });
  source.isKeyTrusted = false;
  image.Load(source,
             sizeof(TReal) == sizeof(float) ? gpureg::Precision::Single : gpureg::Precision::Double,
             values.data(),
             static_cast<std::int64_t>(values.size()),
             OneAfterTheOther);
}

class LoadedImageCase : public DeviceTest
{
protected:
  void
  SetUp() override
  {
    if (!gpureg::HasDoubles(GetParam()))
    {
      GTEST_SKIP() << "this device has no doubles";
    }
  }
};

} // namespace gpuregtest

#endif
