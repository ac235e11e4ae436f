// SPDX-License-Identifier: Apache-2.0
#include "engine/registration/Agreement.h"

#include "kernels/core/Prelude.h"
#include "kernels/core/Geometry.h"

#include "engine/core/Matrix3.h"
#include "engine/core/NumberNames.h"
#include "engine/filter/LevelGeometry.h"
#include "engine/registration/LevelSamples.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace gpureg
{

namespace
{
// A small image has at most so many voxels: about 25 along each axis, or 64 in two dimensions.
constexpr double MostVoxels3D = 16384;
constexpr double MostVoxels2D = 4096;
// Images are not shifted along an axis of fewer voxels.
constexpr int LeastLength = 8;
// The agreement is known if both images have an edge in at least this many voxels.
constexpr std::int64_t LeastVoxels = 50;

using Shift = std::array<int, 3>;
using Gradient = std::array<double, 3>;

/** Holds an image's central differences. A difference is known if all voxels that it depends on lie inside the mask. */
class Gradients
{
public:
  Gradients(const kernels::VolumeShape & shape, const std::array<double, 3> & spacing, const SmallImage & image)
    : m_Shape(shape)
    , m_Vectors(image.values.size())
    , m_IsKnown(image.values.size(), 0)
  {
    for (int z = 0; z < shape.size[2]; ++z)
    {
      for (int y = 0; y < shape.size[1]; ++y)
      {
        for (int x = 0; x < shape.size[0]; ++x)
        {
          this->Find({ x, y, z }, spacing, image);
        }
      }
    }
  }

  bool
  IsKnown(std::int64_t voxel) const
  {
    return m_IsKnown[static_cast<std::size_t>(voxel)] != 0;
  }

  const Gradient &
  Get(std::int64_t voxel) const
  {
    return m_Vectors[static_cast<std::size_t>(voxel)];
  }

private:
  void
  Find(const Shift & at, const std::array<double, 3> & spacing, const SmallImage & image)
  {
    const auto voxel = static_cast<std::size_t>(kernels::VoxelOffset(&m_Shape, at[0], at[1], at[2]));
    if (!image.isInside[voxel])
    {
      return;
    }
    for (std::size_t d = 0; d < 3; ++d)
    {
      if (m_Shape.size[d] > 2)
      {
        const auto stride = static_cast<std::size_t>(m_Shape.stride[d]);
        const bool hasBoth = at[d] > 0 && at[d] + 1 < m_Shape.size[d];
        if (!hasBoth || !image.isInside[voxel - stride] || !image.isInside[voxel + stride])
        {
          return;
        }
        m_Vectors[voxel][d] = (image.values[voxel + stride] - image.values[voxel - stride]) / spacing[d];
      }
    }
    m_IsKnown[voxel] = 1;
  }

  const kernels::VolumeShape & m_Shape;
  std::vector<Gradient>        m_Vectors;
  std::vector<char>            m_IsKnown;
};

double
ComputeDot(const Gradient & a, const Gradient & b)
{
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/** Returns the agreement with the moving image moved by a shift; not a number where too few voxels have edges. */
double
ComputeCosine(const kernels::VolumeShape & shape,
              const Gradients &            fixed,
              const Gradients &            moving,
              const Shift &                shift)
{
  double       sum = 0;
  double       weights = 0;
  std::int64_t count = 0;
  const auto   from = [&](int d) { return std::max(0, -shift[static_cast<std::size_t>(d)]); };
  const auto   to = [&](int d) {
    const auto axis = static_cast<std::size_t>(d);
    return shape.size[axis] - std::max(0, shift[axis]);
  };
  const std::int64_t offset = kernels::VoxelOffset(&shape, shift[0], shift[1], shift[2]);
  for (int z = from(2); z < to(2); ++z)
  {
    for (int y = from(1); y < to(1); ++y)
    {
      for (int x = from(0); x < to(0); ++x)
      {
        const std::int64_t voxel = kernels::VoxelOffset(&shape, x, y, z);
        if (!fixed.IsKnown(voxel) || !moving.IsKnown(voxel + offset))
        {
          continue;
        }
        const Gradient & f = fixed.Get(voxel);
        const Gradient & m = moving.Get(voxel + offset);
        const double     lengths = std::sqrt(ComputeDot(f, f) * ComputeDot(m, m));
        if (lengths > 0)
        {
          sum += ComputeDot(f, m) * ComputeDot(f, m) / lengths;
          weights += lengths;
          ++count;
        }
      }
    }
  }
  return count < LeastVoxels || !(weights > 0) ? std::numeric_limits<double>::quiet_NaN() : sum / weights;
}

/** Returns no shift, followed by the shifts to compare with: an eighth of the image's mean length to both sides along each axis, and as far
 *  between all axes, but at most a third of an axis of few slices. */
std::vector<Shift>
MakeShifts(const Size & size, const std::array<double, 3> & spacing)
{
  double lengths = 0;
  int    dimension = 0;
  int    axes = 0;
  for (std::size_t d = 0; d < 3; ++d)
  {
    lengths += size[d] > 1 ? size[d] * spacing[d] : 0;
    dimension += size[d] > 1;
    axes += size[d] >= LeastLength;
  }
  const double distance = lengths / (8.0 * std::max(1, dimension));
  const auto   count = [&](std::size_t d, double length) {
    const auto voxels = static_cast<int>(std::lround(length / spacing[d]));
    return size[d] >= LeastLength ? std::clamp(voxels, 1, size[d] / 3) : 0;
  };
  Shift eighth{};
  Shift between{};
  for (std::size_t d = 0; d < 3; ++d)
  {
    eighth[d] = count(d, distance);
    between[d] = count(d, distance / std::sqrt(std::max(1, axes)));
  }
  std::vector<Shift> shifts{ Shift{} };
  for (std::size_t d = 0; d < 3; ++d)
  {
    for (const int sign : { -1, 1 })
    {
      Shift shift{};
      shift[d] = sign * eighth[d];
      if (shift[d] != 0)
      {
        shifts.push_back(shift);
      }
    }
  }
  for (int signs = 0; axes > 1 && signs < 8; ++signs)
  {
    Shift shift = between;
    bool  isNew = true;
    for (std::size_t d = 0; d < 3; ++d)
    {
      const bool isBack = (signs >> d & 1) != 0;
      isNew = isNew && !(isBack && between[d] == 0);
      shift[d] = isBack ? -between[d] : between[d];
    }
    if (isNew)
    {
      shifts.push_back(shift);
    }
  }
  return shifts;
}

std::string
NamePercent(double share)
{
  return NameNumber(100 * share) + " %";
}

/** Makes a small image from values and a mask from 0 to 1. An empty mask is no mask. */
SmallImage
MakeSmall(std::vector<double> values, const std::vector<double> & mask)
{
  SmallImage small;
  small.isInside.reserve(values.size());
  for (std::size_t n = 0; n < values.size(); ++n)
  {
    small.isInside.push_back(std::isfinite(values[n]) && (mask.empty() || mask[n] >= 0.5));
  }
  small.values = std::move(values);
  return small;
}
} // namespace

Agreement
ComputeAgreement(const Size &                  size,
                 const std::array<double, 3> & spacing,
                 const SmallImage &            fixed,
                 const SmallImage &            moving,
                 const ParallelFor &           parallelFor)
{
  Agreement agreement;
  double    all = 0;
  double    both = 0;
  for (std::size_t n = 0; n < fixed.isInside.size(); ++n)
  {
    all += fixed.isInside[n];
    both += fixed.isInside[n] && moving.isInside[n];
  }
  agreement.overlap = all > 0 ? both / all : 0;
  const kernels::VolumeShape shape = kernels::MakeVolumeShape(size[0], size[1], size[2]);
  const Gradients            fixedEdges(shape, spacing, fixed);
  const Gradients            movingEdges(shape, spacing, moving);
  const std::vector<Shift>   shifts = MakeShifts(size, spacing);
  std::vector<double>        cosines(shifts.size());
  parallelFor(static_cast<std::int64_t>(shifts.size()), [&](std::int64_t task) {
    const auto n = static_cast<std::size_t>(task);
    cosines[n] = ComputeCosine(shape, fixedEdges, movingEdges, shifts[n]);
  });
  agreement.here = cosines.front();
  for (auto beside = cosines.begin() + 1; beside != cosines.end(); ++beside)
  {
    agreement.beside = std::isnan(*beside) ? agreement.beside : std::max(agreement.beside, *beside);
  }
  agreement.isKnown = !std::isnan(agreement.here) && agreement.beside > 0;
  return agreement;
}

AgreementCheck::AgreementCheck(Queue & queue, const std::string & deviceName)
  : m_Queue(queue)
  , m_DeviceName(deviceName)
  , m_Fixed(queue, deviceName, &m_Scratch)
  , m_Moving(queue, deviceName, &m_Scratch)
  , m_Mask(queue, deviceName, &m_Scratch)
{}

Agreement
AgreementCheck::Find(const LevelMaker &      maker,
                     const RegisteredImage & fixed,
                     const RegisteredImage & moving,
                     const TransformChain &  transform,
                     const ParallelFor &     parallelFor)
{
  const int  dimension = transform.dimension;
  const Size ofFixed = ComputeSmallFactors(fixed, fixed, dimension);
  const Size ofMoving = ComputeSmallFactors(fixed, moving, dimension);
  m_Fixed.Make(*fixed.image, fixed.size, ofFixed, maker.lines);
  m_Moving.Make(*moving.image, moving.size, ofMoving, maker.lines);
  const auto download = [&](const DeviceImage * whole, const Size & size, const Size & factors) {
    if (whole == nullptr)
    {
      return std::vector<double>();
    }
    m_Mask.Make(*whole, size, factors, maker.lines);
    return DownloadValues(m_Queue, m_Mask);
  };
  const SmallImage small = MakeSmall(DownloadValues(m_Queue, m_Fixed), download(fixed.mask, fixed.size, ofFixed));
  // The resampler reads the images on its own queue.
  m_Queue.Finish();
  if (!m_Resampler)
  {
    m_Resampler = std::make_unique<Resampler>(m_DeviceName);
  }
  const IndexMap  toPoint = Compose(fixed.indexToPoint, m_Fixed.GetToImage());
  ResampleRequest request;
  request.size = m_Fixed.GetSize();
  request.outputToPoint = toPoint;
  request.transform = transform;
  request.pointToInput = InvertMap(Compose(moving.indexToPoint, m_Moving.GetToImage()));
  request.outside = { std::numeric_limits<double>::quiet_NaN() };
  const auto resample = [&](const ImageLevel & image) {
    ResampleInput input;
    input.size = image.GetSize();
    input.precision = image.GetPrecision();
    input.image = &image;
    std::vector<double> values(static_cast<std::size_t>(CountOf(request.size)));
    WithReal(image.GetPrecision(), [&](auto zero) {
      using Real = decltype(zero);
      request.output = [&values](std::int64_t first, std::int64_t count, const void * in) {
        std::copy(static_cast<const Real *>(in), static_cast<const Real *>(in) + count, values.begin() + first);
      };
      m_Resampler->Resample(input, request, parallelFor);
    });
    return values;
  };
  std::vector<double> values = resample(m_Moving);
  std::vector<double> inMask;
  if (moving.mask != nullptr)
  {
    m_Mask.Make(*moving.mask, moving.size, ofMoving, maker.lines);
    m_Queue.Finish();
    inMask = resample(m_Mask);
  }
  return ComputeAgreement(request.size, GetSpacing(toPoint), small, MakeSmall(std::move(values), inMask), parallelFor);
}

Size
AgreementCheck::ComputeSmallFactors(const RegisteredImage & fixed, const RegisteredImage & image, int dimension)
{
  const auto   edges = GetSpacing(fixed);
  const double most = dimension == 3 ? MostVoxels3D : MostVoxels2D;
  double       volume = static_cast<double>(CountOf(fixed.size));
  for (std::size_t d = 0; d < static_cast<std::size_t>(dimension); ++d)
  {
    volume *= edges[d];
  }
  return ComputeFactors(image, dimension, std::pow(volume / most, 1.0 / dimension));
}

void
AgreementCheck::Release()
{
  for (ImageLevel * image : { &m_Fixed, &m_Moving, &m_Mask })
  {
    image->Release();
  }
  m_Scratch = {};
  m_Resampler.reset();
}

void
AgreementCheck::Plan(const RegisteredImage & fixed,
                     const RegisteredImage & moving,
                     int                     dimension,
                     std::int64_t            vectors,
                     MemoryLedger &          ledger)
{
  const auto plan = [&](const RegisteredImage & image, ImageLevel & made, const std::string & name) {
    const Size        factors = ComputeSmallFactors(fixed, image, dimension);
    const std::string scratch = "check of edges: shrunk image";
    made.Plan(*image.image, image.size, factors, false, "check of edges: " + name, scratch, ledger);
    if (image.mask != nullptr)
    {
      m_Mask.Plan(*image.mask, image.size, factors, false, "check of edges: mask", scratch, ledger);
    }
  };
  plan(fixed, m_Fixed, "fixed");
  plan(moving, m_Moving, "moving");
  ledger.Reserve("check of edges: resampled",
                 BytesOf(m_Moving.GetPrecision()) * static_cast<std::size_t>(m_Fixed.GetCount()));
  ledger.Reserve("check of edges: transform", sizeof(kernels::float4) * static_cast<std::size_t>(vectors));
}

std::size_t
AgreementCheck::GetDeviceBytes() const
{
  const std::size_t levels = m_Fixed.GetDeviceBytes() + m_Moving.GetDeviceBytes() + m_Mask.GetDeviceBytes();
  const std::size_t resampler = m_Resampler ? m_Resampler->GetHeldBytes() : 0;
  return levels + SizeOf(m_Scratch[0]) + SizeOf(m_Scratch[1]) + resampler;
}

void
AgreementCheck::AddWarnings(const Agreement & agreement, double leastOverlap, std::vector<std::string> & warnings)
{
  if (agreement.overlap < leastOverlap)
  {
    warnings.push_back(
      "only " + NamePercent(agreement.overlap) + " of the fixed image lies in the moving one, of the " +
      NamePercent(leastOverlap) +
      " that are to: what is found may be by chance; begin with a transform that brings them together, or give "
      "images that show more of the same");
  }
  if (agreement.IsDoubtful())
  {
    warnings.push_back(
      "the edges of the images agree no better where these have been laid on each other than an eighth of an image "
      "beside that: they are in a wrong place, or of different things; look at the result, begin nearer to the right "
      "place, or search among all rotations");
  }
}

} // namespace gpureg
