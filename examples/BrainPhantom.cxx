// SPDX-License-Identifier: Apache-2.0
#include "BrainPhantom.h"
#include "RandomDirection.h"

#include <algorithm>
#include <array>

namespace example
{
namespace
{

double
DrawSign(Random * random)
{
  return random->GetVariate() < 0.5 ? -1.0 : 1.0;
}

/** Returns the other contrast's intensity for a T1 intensity, both as fractions of the brightest value; linear between the points of a
 *  curve. */
float
MapContrast(float t1)
{
  constexpr std::array<std::array<float, 2>, 7> curve{ { { 0.00f, 0.00f }, // air
                                                         { 0.06f, 0.15f }, // bone
                                                         { 0.16f, 1.00f }, // fluid
                                                         { 0.32f, 0.60f }, // grey matter
                                                         { 0.45f, 0.25f }, // white matter
                                                         { 0.70f, 0.55f }, // fat
                                                         { 1.00f, 0.45f } } };
  for (std::size_t n = 1; n < curve.size(); ++n)
  {
    if (t1 <= curve[n][0])
    {
      const float fraction = (t1 - curve[n - 1][0]) / (curve[n][0] - curve[n - 1][0]);
      return curve[n - 1][1] + fraction * (curve[n][1] - curve[n - 1][1]);
    }
  }
  return curve.back()[1];
}

} // namespace

itk::AffineTransform<double, 3>::Pointer
MakeTruth(const Volume::PointType & centre, std::uint32_t seed)
{
  const auto random = Random::New();
  random->Initialize(seed);
  itk::Vector<double, 3> scale;
  for (double & factor : scale)
  {
    factor = 1.0 + 0.05 * DrawSign(random);
  }
  const double rotation = 10.0 * itk::Math::pi / 180.0;
  const auto   truth = itk::AffineTransform<double, 3>::New();
  truth->SetCenter(centre);
  truth->Scale(scale);
  truth->Shear(0, 1, 0.03 * DrawSign(random));
  truth->Rotate3D(DrawDirection(random), rotation);
  truth->Translate(15.0 * DrawDirection(random));
  return truth;
}

Volume::Pointer
MakeMovingImage(const Volume * fixed, const itk::AffineTransform<double, 3> * truth, std::uint32_t seed)
{
  const auto          count = fixed->GetBufferedRegion().GetNumberOfPixels();
  const float * const t1 = fixed->GetBufferPointer();
  const float         brightest = *std::max_element(t1, t1 + count);
  const auto          contrast = Volume::New();
  contrast->CopyInformation(fixed);
  contrast->SetRegions(fixed->GetBufferedRegion());
  contrast->Allocate();
  std::transform(t1, t1 + count, contrast->GetBufferPointer(), [=](float value) {
    return brightest * MapContrast(value / brightest);
  });

  // The truth maps fixed to moving points; resampling to the moving grid needs its inverse.
  const auto moving = Resample(contrast,
                               MakeCentredGrid(fixed, 1.2, fixed->GetLargestPossibleRegion().GetSize()),
                               truth->GetInverseTransform());

  const auto random = Random::New();
  random->Initialize(seed);
  const double  variance = 0.03 * brightest * 0.03 * brightest;
  float * const values = moving->GetBufferPointer();
  std::for_each(values, values + count, [&](float & value) {
    value += static_cast<float>(random->GetNormalVariate(0.0, variance));
  });
  return moving;
}

} // namespace example
