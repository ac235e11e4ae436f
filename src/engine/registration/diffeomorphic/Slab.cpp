// SPDX-License-Identifier: Apache-2.0
#include "engine/registration/diffeomorphic/Slab.h"

#include "engine/field/CountBlocks.h"
#include "engine/field/FieldGaussian.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

namespace gpureg
{

namespace
{
int
ComputeRadius(double sigma)
{
  return sigma > 0 ? static_cast<int>(MakeFieldGaussian(sigma * sigma, std::numeric_limits<int>::max() - 1).size()) - 1
                   : 0;
}
} // namespace

int
CountHaloPlanes(const DiffeomorphicSettings & settings, int radius)
{
  // A composition reads a plane more than the step is long. Jacobians, and gradients of SyN's images, are differences of neighbours. SyN
  // leaves out how the neighborhoods of a voxel change, as ITK does.
  const bool isSyN = settings.scheme == DiffeomorphicScheme::SyN;
  const int  ofStep = isSyN ? 0 : static_cast<int>(std::ceil(settings.step)) + 1;
  const int  ofNeighborhoods = (isSyN ? 1 : 2) * radius;
  const int  planes =
    ofNeighborhoods + ComputeRadius(settings.updateSigma) + ofStep + ComputeRadius(settings.fieldSigma) + 1;
  return (planes + PlanesOfBlocks - 1) / PlanesOfBlocks * PlanesOfBlocks;
}

Slab
CutSlab(int planes, int halo, int members, int member)
{
  std::vector<std::int64_t> begins;
  for (int m = 0; m < members; ++m)
  {
    const double begin = static_cast<double>(planes) * m / members;
    begins.push_back(std::llround(begin / PlanesOfBlocks) * PlanesOfBlocks);
  }
  begins.push_back(planes);
  for (std::size_t m = 0; m + 1 < begins.size(); ++m)
  {
    if (begins[m + 1] - begins[m] < 2 * halo)
    {
      return MakeWholeSlab(planes);
    }
  }
  const auto         m = static_cast<std::size_t>(member);
  const Range        own{ begins[m], begins[m + 1] - begins[m] };
  const std::int64_t begin = std::max<std::int64_t>(0, own.first - halo);
  return { { begin, std::min<std::int64_t>(planes, own.GetEnd() + halo) - begin }, own, planes };
}

} // namespace gpureg
