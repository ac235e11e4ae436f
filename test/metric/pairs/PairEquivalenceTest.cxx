// SPDX-License-Identifier: Apache-2.0
// Tests that the metrics that are sums over pairs of values agree with ITK's: value within 1e-5, derivative within 1e-5 in relative norm
// (1e-4 if samples are many), and the same number of valid points; over a grid of set-ups, and random ones from it. The reference for the
// mean of absolute differences, which ITK does not have, is a metric built from ITK's classes.
#include "MetricEquivalence.h"

#include "itkGPUCorrelationImageToImageMetricv4.h"
#include "itkGPUMeanSquaresImageToImageMetricv4.h"
#include "itkTranslationTransform.h"

#include <functional>
#include <set>
#include <string>

namespace gpuregtest
{

namespace
{
class PairEquivalenceTest : public MetricEquivalence
{
protected:
  static constexpr Measure Measures[] = {
    Measure::MeanSquares, Measure::Correlation, Measure::Demons, Measure::MeanAbsoluteDifferences
  };

  static bool
  IsField(Motion motion)
  {
    return motion == Motion::Field || motion == Motion::FieldInComposite || motion == Motion::AffineThenField ||
           motion == Motion::FieldThenField;
  }

  /** Changes a case so that it is possible: demons need a displacement field, and their parent class needs it to stand alone; for a
   *  correlation with a field, ITK gives no derivative. */
  static void
  MakeFit(MetricCase & c)
  {
    if (c.measure == Measure::Demons)
    {
      c.motion = IsField(c.motion) ? c.motion : Motion::Field;
    }
    else
    {
      c.fixedGradient = false;
    }
    if (c.measure == Measure::Correlation && IsField(c.motion))
    {
      c.motion = Motion::Affine;
    }
  }

  /** Checks each metric, in 2D and in 3D, with pixels of either type. A case that becomes one of those before is not checked again. */
  void
  CheckAll(MetricCase c)
  {
    for (const Measure measure : Measures)
    {
      c.measure = measure;
      MetricCase fit = c;
      MakeFit(fit);
      if (m_Checked.insert(::testing::PrintToString(fit)).second)
      {
        CheckAllTypes(fit);
      }
    }
  }

  std::set<std::string> m_Checked;

  const std::function<void(const MetricCase &)> m_CheckAll = [this](const MetricCase & c) { CheckAll(c); };

  void
  CheckRandomCase(std::uint64_t seed)
  {
    std::mt19937_64 random(seed);
    const auto      draw = [&random](std::uint64_t n) { return static_cast<int>(random() % n); };
    MetricCase      c;
    c.measure = Measures[draw(4)];
    DrawSetUp(c, draw);
    c.fixedGradient = draw(2) == 1;
    c.flatBackground = draw(4) == 0;
    c.seed = random() % 1000000;
    c.many = c.sampling == Sampling::Dense && c.seed % 4 == 0;
    MakeFit(c);
    Check(c);
  }
};
} // namespace

TEST_F(PairEquivalenceTest, Motions)
{
  CheckMotions({}, m_CheckAll);
}

TEST_F(PairEquivalenceTest, Geometries)
{
  MetricCase c;
  CheckGeometries(c, m_CheckAll);
  c.gradientFilter = false;
  c.fixedGradient = true;
  CheckGeometries(c, m_CheckAll);
}

TEST_F(PairEquivalenceTest, Masks)
{
  MetricCase c;
  c.geometry = Geometry::Oblique;
  c.fixedGradient = true;
  CheckMasks(c, m_CheckAll);
}

TEST_F(PairEquivalenceTest, Samplings)
{
  MetricCase c;
  c.fixedGradient = true;
  CheckSamplings(c, { Motion::FixedInitial, Motion::Field }, m_CheckAll);
}

TEST_F(PairEquivalenceTest, Interpolations)
{
  MetricCase c;
  c.geometry = Geometry::Anisotropic;
  c.gradientFilter = false;
  CheckInterpolations(c, m_CheckAll);
  c.gradientFilter = true;
  c.flatBackground = true;
  CheckInterpolations(c, m_CheckAll);
}

/** More samples than are computed in fixed point. */
TEST_F(PairEquivalenceTest, ManySamples)
{
  MetricCase c;
  c.many = true;
  for (const bool fixedGradient : { false, true })
  {
    c.fixedGradient = fixedGradient;
    CheckEach(c,
              &MetricCase::motion,
              { Motion::Rigid, Motion::Affine, Motion::Field, Motion::AffineThenField },
              m_CheckAll);
  }
}

/** Samples vary little compared with their distance from the images' means: two masks leave hardly more than the background. */
TEST_F(PairEquivalenceTest, SamplesThatHardlyVary)
{
  MetricCase c;
  c.measure = Measure::Correlation;
  c.geometry = Geometry::Oblique;
  c.interpolation = Interpolation::Nearest;
  c.masks = Masks::Both;
  c.gradientFilter = false;
  c.flatBackground = true;
  c.many = true;
  // With a B-spline, the forces overwrite the displacements in memory; for an affine transform there are only sums.
  for (const Motion motion : { Motion::Affine, Motion::Spline, Motion::AffineBehindField })
  {
    c.motion = motion;
    c.seed = 918444;
    Check(c);
  }
}

/** With few samples, a value equals ITK's except for the rounding of positions to 2^-32 voxel. */
TEST_F(PairEquivalenceTest, FixedPointValues)
{
  for (const Motion motion : { Motion::Translation, Motion::Affine, Motion::MovingInitial, Motion::Field })
  {
    for (const Measure measure : Measures)
    {
      for (const unsigned int dimension : { 2u, 3u })
      {
        MetricCase c;
        c.measure = measure;
        c.motion = motion;
        c.dimension = dimension;
        c.doublePixels = true;
        c.sampling = motion == Motion::MovingInitial ? Sampling::FixedPoints : Sampling::Dense;
        MakeFit(c);
        Check(c, 1e-9);
      }
    }
  }
}

/** If samples are voxels and the gradient is ITK's default, the derivative agrees to a tenth of a float's last digit. The images are
 *  those of ITK's itkMeanSquaresImageToImageMetricv4OnVectorTest2. */
TEST(FixedPointDerivativeTest, OfAHundredVoxels)
{
  using ImageType = itk::Image<double, 3>;
  const auto fixed = ImageType::New();
  fixed->SetRegions(ImageType::SizeType::Filled(5));
  fixed->Allocate();
  const auto moving = ImageType::New();
  moving->SetRegions(ImageType::SizeType::Filled(5));
  moving->Allocate();
  const auto count = static_cast<std::ptrdiff_t>(fixed->GetBufferedRegion().GetNumberOfPixels());
  for (std::ptrdiff_t i = 0; i < count; ++i)
  {
    fixed->GetBufferPointer()[i] = static_cast<double>(i + 1);
    moving->GetBufferPointer()[i] = 1.0 / static_cast<double>(i + 1);
  }
  const auto derivativeOf = [&](itk::ImageToImageMetricv4<ImageType, ImageType> & metric) {
    metric.SetFixedImage(fixed);
    metric.SetMovingImage(moving);
    metric.SetMovingTransform(itk::TranslationTransform<double, 3>::New());
    metric.Initialize();
    double             value = 0;
    itk::Array<double> derivative;
    metric.GetValueAndDerivative(value, derivative);
    return derivative;
  };
  const auto check = [&](auto & metric, auto & parent) {
    const itk::Array<double> expected = derivativeOf(parent);
    for (const std::string & device : GetDeviceNames())
    {
      metric.SetDevice(itk::GPUDevice::FromName(device));
      EXPECT_LE((derivativeOf(metric) - expected).two_norm(), 6e-9 * expected.two_norm())
        << metric.GetNameOfClass() << " on " << device;
    }
  };
  check(*itk::GPUMeanSquaresImageToImageMetricv4<ImageType, ImageType>::New(),
        *itk::MeanSquaresImageToImageMetricv4<ImageType, ImageType>::New());
  check(*itk::GPUCorrelationImageToImageMetricv4<ImageType, ImageType>::New(),
        *itk::CorrelationImageToImageMetricv4<ImageType, ImageType>::New());
}

TEST_F(PairEquivalenceTest, RandomSetUps)
{
  CheckRandomCases(20261123, [this](std::uint64_t seed) { CheckRandomCase(seed); });
}

} // namespace gpuregtest
