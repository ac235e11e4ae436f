// SPDX-License-Identifier: Apache-2.0
// NormalizedOff() gives ITK's own Mattes mutual information: value within 1e-5, derivative within 1e-5 in relative norm
// (1e-4 where samples are many), the same number of valid points; over a grid of set-ups, and random ones from it.
#include "MattesCase.h"
#include "TestDevices.h"
#include "TestSeeds.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <random>

namespace gpuregtest
{

namespace
{
const char * const MasksNames[] = { "none", "fixed", "moving", "both" };
const char * const SamplingNames[] = { "dense", "fixed points", "virtual points" };
const char * const GeometryNames[] = { "plain",      "anisotropic", "oblique",   "start index",
                                       "far origin", "odd sizes",   "one slice", "other virtual domain" };
const char * const MotionNames[] = {
  "translation",    "rigid",         "versor", "similarity",         "affine",           "scale", "two linear",
  "moving initial", "fixed initial", "field",  "field in composite", "affine then field"
};
const char * const InterpolationNames[] = { "linear", "nearest", "B-spline" };

template <typename TEnum>
std::vector<TEnum>
AllUpTo(TEnum last)
{
  std::vector<TEnum> all;
  for (int i = 0; i <= static_cast<int>(last); ++i)
  {
    all.push_back(static_cast<TEnum>(i));
  }
  return all;
}

/** ITK's recursive Gaussian wants four voxels along every axis. */
void
MakePossible(MattesCase & c)
{
  if (c.geometry == Geometry::OneSlice && c.dimension == 3)
  {
    c.gradientFilter = false;
  }
}

class MattesEquivalenceTest : public DeviceTest
{
protected:
  /** A comparison from which nothing follows: rounding decides about a sample, hardly anything overlaps,
   * or the masks leave little but the background. */
  static bool
  IsEmpty(const MattesCase & c, const MattesComparison & result)
  {
    return result.isFlat || result.isNearEdge || result.itk.validPoints <= result.samples / 8 ||
           (c.bins > 5 && std::abs(result.itk.value) < 1e-2);
  }

  /** Makes the case and compares; once more, with other images, where that says nothing. */
  void
  Check(MattesCase c)
  {
    MakePossible(c);
    MattesComparison result;
    for (int attempt = 0; attempt == 0 || (attempt < 4 && IsEmpty(c, result)); ++attempt)
    {
      c.seed += attempt * 1000000;
      m_Redrawn += attempt > 0;
      SCOPED_TRACE(::testing::PrintToString(c));
      ASSERT_NO_THROW(result = c.dimension == 2 ? Compare<2>(c, GetParam()) : Compare<3>(c, GetParam()));
    }
    SCOPED_TRACE(::testing::PrintToString(c));
    ASSERT_FALSE(IsEmpty(c, result)) << "four times, a comparison that would say nothing";
    EXPECT_EQ(result.ours.validPoints, result.itk.validPoints);
    if (c.bins == 5)
    {
      // All but one bin is padding: every sample has the same fixed bin, and there is no information.
      EXPECT_NEAR(result.ours.value, 0.0, 1e-12);
      EXPECT_NEAR(result.itk.value, 0.0, 1e-12);
      EXPECT_NEAR(GetNorm(result.ours.derivative), 0.0, 1e-6);
      EXPECT_NEAR(GetNorm(result.itk.derivative), 0.0, 1e-12);
      return;
    }
    // What is left to rounding: of displacements, 2e-7 voxel at 4 voxels; of many samples' values, 4e-6 bin at 100 bins.
    // Forces that nearly cancel show it: one case in 500 with many samples is beyond 1e-5, of 1600 the worst was 2.6e-5.
    EXPECT_NEAR(result.ours.value, result.itk.value, 1e-5 * std::abs(result.itk.value));
    EXPECT_NEAR(result.ours.valueAlone, result.itk.valueAlone, 1e-5 * std::abs(result.itk.valueAlone));

    ASSERT_EQ(result.ours.derivative.size(), result.itk.derivative.size());
    ASSERT_GT(GetNorm(result.itk.derivative), 0.0);
    EXPECT_LE(GetRelativeError(result.ours.derivative, result.itk.derivative), c.many ? 1e-4 : 1e-5);
  }

  void
  CheckRandomCase(std::uint64_t seed)
  {
    std::mt19937_64    random(seed);
    const auto         draw = [&random](std::uint64_t n) { return static_cast<int>(random() % n); };
    const unsigned int bins[] = { 5, 20, 50, 100 };
    MattesCase         c;
    c.dimension = 2 + draw(2);
    c.doublePixels = draw(2) == 1;
    c.masks = static_cast<gpuregtest::Masks>(draw(4));
    c.sampling = static_cast<Sampling>(draw(3));
    c.geometry = static_cast<Geometry>(draw(8));
    c.motion = static_cast<Motion>(draw(12));
    c.interpolation = static_cast<Interpolation>(draw(3));
    c.gradientFilter = draw(2) == 1;
    c.flatBackground = draw(4) == 0;
    c.bins = bins[draw(4)];
    c.seed = random() % 1000000;
    c.many = c.sampling == Sampling::Dense && c.seed % 4 == 0;
    Check(c);
  }

  std::atomic<std::uint64_t> m_Redrawn{ 0 };

  /** In 2D and in 3D, with pixels of either type. */
  void
  CheckAllTypes(MattesCase c)
  {
    for (const unsigned int dimension : { 2u, 3u })
    {
      for (const bool doublePixels : { false, true })
      {
        c.dimension = dimension;
        c.doublePixels = doublePixels;
        ++c.seed;
        Check(c);
      }
    }
  }
};
} // namespace

std::ostream &
operator<<(std::ostream & os, const MattesCase & c)
{
  return os << c.dimension << "D " << (c.doublePixels ? "double" : "float") << ", "
            << GeometryNames[static_cast<int>(c.geometry)] << ", " << MotionNames[static_cast<int>(c.motion)] << ", "
            << InterpolationNames[static_cast<int>(c.interpolation)] << ", gradient filter "
            << (c.gradientFilter ? "on" : "off") << ", masks " << MasksNames[static_cast<int>(c.masks)] << ", "
            << SamplingNames[static_cast<int>(c.sampling)] << (c.flatBackground ? ", flat background" : "")
            << (c.many ? ", many samples, " : ", ") << c.bins << " bins, seed " << c.seed;
}

TEST_P(MattesEquivalenceTest, Motions)
{
  for (const Motion motion : AllUpTo(Motion::AffineThenField))
  {
    MattesCase c;
    c.motion = motion;
    CheckAllTypes(c);
  }
}

TEST_P(MattesEquivalenceTest, Geometries)
{
  for (const Geometry geometry : AllUpTo(Geometry::OtherVirtualDomain))
  {
    MattesCase c;
    c.geometry = geometry;
    CheckAllTypes(c);
    c.gradientFilter = false;
    CheckAllTypes(c);
  }
}

TEST_P(MattesEquivalenceTest, FieldsInEveryGeometry)
{
  for (const Geometry geometry : AllUpTo(Geometry::OtherVirtualDomain))
  {
    MattesCase c;
    c.geometry = geometry;
    c.motion = Motion::Field;
    CheckAllTypes(c);
    c.motion = Motion::AffineThenField;
    c.doublePixels = true;
    Check(c);
  }
}

TEST_P(MattesEquivalenceTest, Masks)
{
  for (const Masks masks : AllUpTo(Masks::Both))
  {
    for (const Geometry geometry : { Geometry::Plain, Geometry::Oblique })
    {
      MattesCase c;
      c.masks = masks;
      c.geometry = geometry;
      CheckAllTypes(c);
    }
  }
}

TEST_P(MattesEquivalenceTest, Samplings)
{
  for (const Sampling sampling : AllUpTo(Sampling::VirtualPoints))
  {
    for (const Motion motion : { Motion::Rigid, Motion::FixedInitial, Motion::Field, Motion::AffineThenField })
    {
      MattesCase c;
      c.sampling = sampling;
      c.motion = motion;
      c.bins = 20;
      CheckAllTypes(c);
    }
  }
}

TEST_P(MattesEquivalenceTest, Interpolations)
{
  for (const Interpolation interpolation : AllUpTo(Interpolation::BSpline))
  {
    for (const bool gradientFilter : { true, false })
    {
      MattesCase c;
      c.interpolation = interpolation;
      c.gradientFilter = gradientFilter;
      c.geometry = Geometry::Anisotropic;
      CheckAllTypes(c);
    }
  }
}

TEST_P(MattesEquivalenceTest, Bins)
{
  for (const unsigned int bins : { 5u, 6u, 20u, 50u, 100u })
  {
    MattesCase c;
    c.bins = bins;
    CheckAllTypes(c);
  }
}

TEST_P(MattesEquivalenceTest, FlatBackground)
{
  for (const Interpolation interpolation : AllUpTo(Interpolation::BSpline))
  {
    MattesCase c;
    c.flatBackground = true;
    c.interpolation = interpolation;
    CheckAllTypes(c);
    c.motion = Motion::Field;
    CheckAllTypes(c);
  }
}

/** Set-ups whose forces nearly cancel: rounding positions and values to float would leave derivatives 1e-4 and more away
 * from ITK's. On a slice, and at points in a flat background, among 100 bins. */
TEST_P(MattesEquivalenceTest, FewForces)
{
  MattesCase slice;
  slice.geometry = Geometry::OneSlice;
  slice.motion = Motion::Versor;
  slice.gradientFilter = false;
  slice.masks = gpuregtest::Masks::Both;
  slice.bins = 100;
  slice.seed = 2554;
  Check(slice);

  MattesCase points;
  points.dimension = 2;
  points.geometry = Geometry::OneSlice;
  points.motion = Motion::Similarity;
  points.gradientFilter = false;
  points.masks = gpuregtest::Masks::Fixed;
  points.sampling = Sampling::VirtualPoints;
  points.bins = 100;
  points.seed = 421793;
  Check(points);

  MattesCase flat;
  flat.doublePixels = true;
  flat.geometry = Geometry::Anisotropic;
  flat.motion = Motion::CompositeOfTwo;
  flat.gradientFilter = false;
  flat.masks = gpuregtest::Masks::Fixed;
  flat.sampling = Sampling::VirtualPoints;
  flat.flatBackground = true;
  flat.bins = 100;
  flat.seed = 83030;
  Check(flat);
}

/** More samples than are computed precisely. */
TEST_P(MattesEquivalenceTest, ManySamples)
{
  MattesCase many;
  many.many = true;
  for (const Motion motion : AllUpTo(Motion::AffineThenField))
  {
    MattesCase c = many;
    c.motion = motion;
    CheckAllTypes(c);
  }
  for (const Geometry geometry : AllUpTo(Geometry::OtherVirtualDomain))
  {
    MattesCase c = many;
    c.geometry = geometry;
    CheckAllTypes(c);
  }
  for (const Interpolation interpolation : AllUpTo(Interpolation::BSpline))
  {
    for (const bool gradientFilter : { true, false })
    {
      MattesCase c = many;
      c.interpolation = interpolation;
      c.gradientFilter = gradientFilter;
      c.masks = gpuregtest::Masks::Both;
      c.flatBackground = gradientFilter;
      CheckAllTypes(c);
    }
  }
}

TEST_P(MattesEquivalenceTest, RandomSetUps)
{
  const std::uint64_t count = ForEachSeed(
    20240229, 150, [this](std::uint64_t seed) { CheckRandomCase(seed); }, GetCaseThreads());
  EXPECT_LE(m_Redrawn, std::max<std::uint64_t>(1, count / 20))
    << "too few of the set-ups that were drawn were compared";
}

INSTANTIATE_TEST_SUITE_P(Devices, MattesEquivalenceTest, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace gpuregtest
