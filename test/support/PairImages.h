// SPDX-License-Identifier: Apache-2.0
// Pairs of images of which each can be aligned along one axis alone, for tests of methods that compare several pairs.
#ifndef gpuregtest_PairImages_h
#define gpuregtest_PairImages_h

#include "TestParallelFor.h"

#include "gpureg/image/LoadedImage.h"
#include "gpureg/registration/FurtherPair.h"

#include <array>
#include <cmath>
#include <cstddef>
#include <deque>
#include <string>
#include <vector>

namespace gpuregtest
{

/** Voxels, along the axis that a pair shows. */
inline constexpr double Shift = 1.2;

/** Images on a device that vary along one axis alone, so that a pair of them moves nothing along the others. */
class PairImages
{
public:
  PairImages(const std::string & device, int dimension)
    : size{ 28, 26, dimension == 3 ? 24 : 1 }
    , m_Dimension(dimension)
    , m_Device(device)
  {}

  /** Returns stripes across an axis. shift: of their pattern, voxels. */
  gpureg::RegisteredImage
  MakeStripes(std::size_t axis, double shift)
  {
    return this->Load([&](const std::array<int, 3> & index) { return std::sin(0.45 * (index[axis] + shift)); });
  }

  template <typename TFunction>
  gpureg::RegisteredImage
  Load(const TFunction & getValue)
  {
    std::vector<float> & values = m_Values.emplace_back();
    for (int n = 0; n < gpureg::CountOf(size); ++n)
    {
      values.push_back(
        static_cast<float>(getValue(std::array<int, 3>{ n % size[0], n / size[0] % size[1], n / size[0] / size[1] })));
    }
    gpureg::LoadedImage & loaded = m_Loaded.emplace_back(m_Device);
    loaded.Load({}, gpureg::Precision::Single, values.data(), gpureg::CountOf(size), OnThreads(2));
    gpureg::RegisteredImage image;
    image.image = &loaded;
    image.size = size;
    return image;
  }

  gpureg::FurtherPair
  MakePair(std::size_t axis, double weight = 1)
  {
    gpureg::FurtherPair pair;
    pair.fixed = this->MakeStripes(axis, Shift);
    pair.moving = this->MakeStripes(axis, 0);
    pair.similarity.kind = gpureg::SimilarityKind::MeanSquares;
    pair.weight = weight;
    return pair;
  }

  gpureg::Size size;

protected:
  int m_Dimension;

private:
  std::string                     m_Device;
  std::deque<std::vector<float>>  m_Values;
  std::deque<gpureg::LoadedImage> m_Loaded;
};

} // namespace gpuregtest

#endif
