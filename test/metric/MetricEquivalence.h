// SPDX-License-Identifier: Apache-2.0
// A test fixture that compares our metrics on every device with ITK's over set-ups. ITK's metrics and the set-ups take most of the time, so
// each set-up is made, and evaluated by ITK, once for all devices. GPUREG_TEST_DEVICES excludes devices.
#ifndef MetricEquivalence_h
#define MetricEquivalence_h

#include "EquivalenceMatrix.h"
#include "MetricCase.h"
#include "TestDevices.h"
#include "TestSeeds.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <random>
#include <string>
#include <vector>

namespace gpuregtest
{

/** Changes a case so that it is possible: ITK's recursive Gaussian needs four voxels along every axis. */
inline void
MakePossible(MetricCase & c)
{
  if (c.geometry == Geometry::OneSlice && c.dimension == 3)
  {
    c.gradientFilter = false;
  }
}

class MetricEquivalence : public ::testing::Test
{
protected:
  /** Returns why nothing follows from a comparison, whatever our result; an empty string if something does. A recursive gradient far from
   *  an edge, where it is 1e-12 of its largest value, has no other digits. */
  static std::string
  FindWhyEmpty(const MetricCase & c, const MetricComparison & result)
  {
    if (result.isFlat)
    {
      return "the masks exclude nearly all but the background";
    }
    if (result.isNearEdge)
    {
      return "rounding decides about a sample";
    }
    if ((result.sensitivity.ofDerivative > MostSensitive || result.sensitivity.ofValue > MostSensitiveOfValue) &&
        !HasNoInformation(c, result.itk))
    {
      return TooSensitive;
    }
    if (result.itk.validPoints <= result.samples / 8)
    {
      return "hardly anything overlaps";
    }
    if (c.measure == Measure::MeanSquares && c.gradientFilter &&
        GetNorm(result.itk.derivative) < 1e-10 * std::abs(result.itk.value))
    {
      return "the gradient is what rounding leaves";
    }
    return c.measure == Measure::Mattes && c.bins > 5 && std::abs(result.itk.value) < 1e-2 ? "there is no information"
                                                                                           : "";
  }

  /** Makes the case and compares; repeats it with other images if nothing follows from it.
   *  \param ofValue the largest relative difference of values. */
  void
  Check(MetricCase c, double ofValue = 1e-5)
  {
    MakePossible(c);
    MetricComparison result;
    std::string      whyEmpty;
    for (int attempt = 0; attempt == 0 || (attempt < 8 && !whyEmpty.empty()); ++attempt)
    {
      if (attempt == 1)
      {
        ++m_Redrawn;
        std::cout << "drawn again, because " << whyEmpty << ": " << ::testing::PrintToString(c) << std::endl;
        EXPECT_TRUE(m_IsFuzz || whyEmpty != TooSensitive) << "a set-up that each run repeats";
      }
      c.seed += attempt * 1000000;
      SCOPED_TRACE(::testing::PrintToString(c));
      ASSERT_NO_THROW(result = c.dimension == 2 ? Compare<2>(c, m_DeviceNames) : Compare<3>(c, m_DeviceNames));
      whyEmpty = FindWhyEmpty(c, result);
    }
    SCOPED_TRACE(::testing::PrintToString(c));
    if (!whyEmpty.empty() && m_IsRandom)
    {
      ++m_InVain;
      std::cout << "drawn eight times in vain: " << ::testing::PrintToString(c) << std::endl;
      return;
    }
    ASSERT_EQ(whyEmpty, "") << "eight times, nothing followed from the comparison";
    if (result.isInDoubles)
    {
      std::cout << "compared with ITK's metric of doubles: " << ::testing::PrintToString(c) << std::endl;
    }
    const auto isBeyondTolerance = [&](const DeviceAnswer & answer) {
      return (!HasNoSlope(c, result.itk) &&
              GetRelativeError(answer.ours.derivative, result.itk.derivative) > GetTolerance(c)) ||
             std::abs(answer.ours.value - result.itk.value) > ofValue * std::abs(result.itk.value);
    };
    if (!HasNoInformation(c, result.itk) &&
        std::any_of(result.devices.begin(), result.devices.end(), isBeyondTolerance))
    {
      ++m_Sensitive;
      std::cout << "compared within twice ITK's own sensitivity, " << result.sensitivity.ofDerivative
                << " of the derivative and " << result.sensitivity.ofValue
                << " of the value: " << ::testing::PrintToString(c) << std::endl;
      EXPECT_TRUE(m_IsFuzz) << "a set-up that each run repeats is beyond the tolerance";
    }
    for (const DeviceAnswer & answer : result.devices)
    {
      SCOPED_TRACE(answer.device);
      EXPECT_TRUE(answer.isOnDevice);
      ExpectEqual(c, result.itk, answer.ours, result.sensitivity, ofValue);
      // Devices agree better with each other than with ITK, unless derivatives are what rounding leaves.
      if (GetNorm(result.itk.derivative) > 1e-12)
      {
        EXPECT_LE(GetRelativeError(answer.ours.derivative, result.devices.front().ours.derivative),
                  std::clamp(2 * result.sensitivity.ofDerivative, 1e-5, MostSensitive))
          << "and " << result.devices.front().device;
      }
    }
  }

  /** Returns true if the exact result is 0: all but one bin are padding, so every sample has the same fixed bin; or the samples' values
   *  do not vary. */
  static bool
  HasNoInformation(const MetricCase & c, const Answer & itk)
  {
    return (c.measure == Measure::Correlation && itk.value == 0.0) || (c.measure == Measure::Mattes && c.bins == 5);
  }

  /** Returns true if the derivative is exactly 0: values lie in two bins of a joint histogram, where ITK has no slope in the first and
   *  the last half bin; or only background, in the first half bin, is sampled where there is a gradient. The absolute difference has no
   *  slope where only background is sampled, either. */
  static bool
  HasNoSlope(const MetricCase & c, const Answer & itk)
  {
    const bool isJointHistogram = c.measure == Measure::JointHistogram;
    return (isJointHistogram && c.bins == 6) ||
           ((isJointHistogram || c.measure == Measure::MeanAbsoluteDifferences) && GetNorm(itk.derivative) == 0.0);
  }

  /** Returns the largest relative difference of derivatives in a case that is not sensitive. In the neighborhood correlation, the
   *  flatter a neighborhood, the larger its force, and with it the effect of rounding displacements. */
  static double
  GetTolerance(const MetricCase & c)
  {
    return c.many || c.measure == Measure::NeighborhoodCorrelation ? 1e-4 : 1e-5;
  }

  /** Compares the result of one device with ITK's. \param sensitivity of the case, see MetricComparison; \param ofValue as for Check. */
  static void
  ExpectEqual(
    const MetricCase & c, const Answer & itk, const Answer & ours, const Sensitivity & sensitivity, double ofValue)
  {
    EXPECT_EQ(ours.validPoints, itk.validPoints);
    if (HasNoInformation(c, itk))
    {
      EXPECT_NEAR(ours.value, 0.0, 1e-12);
      EXPECT_NEAR(itk.value, 0.0, 1e-12);
      EXPECT_NEAR(GetNorm(ours.derivative), 0.0, 1e-6);
      EXPECT_NEAR(GetNorm(itk.derivative), 0.0, 1e-12);
      return;
    }
    // These tolerances remain for rounding: with many samples, 2e-7 voxel for displacements of 4 voxels, and 4e-6 bin for values in 100
    // bins. It shows if forces nearly cancel: one case in 500 with many samples exceeds 1e-5; the worst of 1600 was 2.6e-5. Neither result
    // is known more closely than ITK's own sensitivity. Where ITK rounds values to float and a device does not, ITK's metric of doubles is
    // the reference (MetricComparison::isInDoubles).
    const double valueTolerance = std::clamp(2 * sensitivity.ofValue, ofValue, std::max(ofValue, MostSensitiveOfValue));
    EXPECT_NEAR(ours.value, itk.value, valueTolerance * std::abs(itk.value));
    EXPECT_NEAR(ours.valueAlone, itk.valueAlone, valueTolerance * std::abs(itk.valueAlone));
    ASSERT_EQ(ours.derivative.size(), itk.derivative.size());
    if (HasNoSlope(c, itk))
    {
      EXPECT_EQ(GetNorm(ours.derivative), 0.0);
      EXPECT_EQ(GetNorm(itk.derivative), 0.0);
      return;
    }
    ASSERT_GT(GetNorm(itk.derivative), 0.0);
    EXPECT_LE(GetRelativeError(ours.derivative, itk.derivative),
              std::clamp(2 * sensitivity.ofDerivative, GetTolerance(c), MostSensitive))
      << "of norm " << GetNorm(itk.derivative) << " by ITK, " << GetNorm(ours.derivative) << " by ours";
  }

  /** Draws the settings in which set-ups of every metric differ. draw(n) returns one of 0 … n - 1. */
  template <typename TDraw>
  static void
  DrawSetUp(MetricCase & c, const TDraw & draw)
  {
    c.dimension = 2 + draw(2);
    c.doublePixels = draw(2) == 1;
    c.masks = static_cast<gpuregtest::Masks>(draw(4));
    c.sampling = static_cast<Sampling>(draw(3));
    c.geometry = static_cast<Geometry>(draw(8));
    c.motion = static_cast<Motion>(draw(1 + static_cast<unsigned int>(LastMotionButSplines)));
    c.interpolation = static_cast<Interpolation>(draw(3));
    c.gradientFilter = draw(2) == 1;
  }

  /** Checks `cases` cases by their seeds, from firstSeed on, or as many as the environment demands. The seeds are the same in every run, so
   *  a run of all tests repeats few of them; tools/run-fuzz.sh draws new ones, 300 a run. */
  template <typename TCheckSeed>
  void
  CheckRandomCases(std::uint64_t firstSeed, const TCheckSeed & checkSeed, std::uint64_t cases = 24)
  {
    m_IsRandom = true;
    m_IsFuzz = std::getenv("GPUREG_TEST_SEED") != nullptr || std::getenv("GPUREG_TEST_CASES") != nullptr;
    const std::uint64_t count = ForEachSeed(firstSeed, cases, checkSeed, GetCaseThreads());
    EXPECT_LE(m_InVain, std::max<std::uint64_t>(1, count / 200)) << "set-ups that were drawn eight times in vain";
    EXPECT_LE(m_Redrawn, std::max<std::uint64_t>(1, count / 20)) << "too few of the drawn set-ups were compared";
    EXPECT_LE(m_Sensitive, std::max<std::uint64_t>(1, count / 20))
      << "too many comparisons had the tolerance of ITK's own sensitivity";
    std::cout << "set-ups drawn again: " << m_Redrawn << ", of sensitive derivatives: " << m_Sensitive << std::endl;
  }

  static constexpr const char * TooSensitive = "ITK's own results depend on the last digits of its input";

  /** Set-ups in which ITK's own results change more than this, if moving values change by a device's rounding error, are not compared. */
  static constexpr double MostSensitive = 1e-2;
  static constexpr double MostSensitiveOfValue = 1e-3;

  const std::vector<std::string> m_DeviceNames = GetDeviceNames();

  bool                       m_IsRandom = false;
  bool                       m_IsFuzz = false; // the environment demands other set-ups than those that each run repeats
  std::atomic<std::uint64_t> m_InVain{ 0 };
  std::atomic<std::uint64_t> m_Redrawn{ 0 };   // set-ups, counting each repetition
  std::atomic<std::uint64_t> m_Sensitive{ 0 }; // set-ups, counted once for all devices

  /** Checks a case in 2D and in 3D, with pixels of either type. */
  void
  CheckAllTypes(MetricCase c)
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

  const std::function<void(const MetricCase &)> m_CheckAllTypes = [this](const MetricCase & c) { CheckAllTypes(c); };
};

} // namespace gpuregtest

#endif
