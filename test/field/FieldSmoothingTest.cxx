// SPDX-License-Identifier: Apache-2.0
// Smoothing fields, against itk::SyNImageRegistrationMethod's own.
#include "FieldCase.h"

#include "gpureg/core/Error.h"

#include "engine/field/FieldGaussian.h"

#include "itkGaussianOperator.h"
#include "itkSyNImageRegistrationMethod.h"

#include <limits>

namespace gpuregtest
{

namespace
{
using namespace gpureg::kernels;

/** Gives access to SyN's protected functions. */
template <unsigned int VDimension>
class Smoother : public itk::SyNImageRegistrationMethod<itk::Image<double, VDimension>, itk::Image<double, VDimension>>
{
public:
  using Self = Smoother;
  using Pointer = itk::SmartPointer<Self>;
  itkSimpleNewMacro(Self);
  using itk::SyNImageRegistrationMethod<itk::Image<double, VDimension>,
                                        itk::Image<double, VDimension>>::GaussianSmoothDisplacementField;
  using itk::SyNImageRegistrationMethod<itk::Image<double, VDimension>,
                                        itk::Image<double, VDimension>>::ScaleUpdateField;
};

/** Smooths as ITK does. longest: gets the length of the longest vector. */
Floats
Smooth(const FieldGrid & grid, const Floats & field, double variance, float & longest)
{
  FieldSmoothing a{};
  Floats         weights;
  for (int axis = 0; axis < 3; ++axis)
  {
    const Floats along = axis < grid.dimension ? gpureg::MakeFieldGaussian(variance, grid.size[axis]) : Floats{ 1.0F };
    a.radius[axis] = static_cast<int>(along.size()) - 1;
    weights.insert(weights.end(), along.begin(), along.end());
    weights.resize(weights.size() + WeightZeros);
  }
  a.clearsBorder = 1;
  a.measures = 1;
  a.kept = gpureg::ComputeUnsmoothedShare(variance);
  const FieldGrid    numbers = MakeGridOfNumbers(&grid);
  Floats             alongX(field.size()), alongY(field.size()), smoothed(field.size());
  const std::int64_t blocks = CountFieldBlocks(&grid, 2, BlockWidth, BlockLength);
  Floats             parts(static_cast<std::size_t>(blocks));
  ForEachItem(CountFieldBlocks(&numbers, 1, BlockWidth, BlockLength), [&](std::int64_t item) {
    SmoothFieldAlongX(&grid, &a, weights.data(), field.data(), alongX.data(), item);
  });
  ForEachItem(CountFieldBlocks(&numbers, 1, BlockWidth, BlockLength), [&](std::int64_t item) {
    SmoothFieldAlongY(&grid, &a, weights.data(), alongX.data(), alongY.data(), item);
  });
  ForEachItem(blocks, [&](std::int64_t item) {
    SmoothFieldAlongZ(&grid, &a, weights.data(), alongY.data(), field.data(), smoothed.data(), parts.data(), item);
  });
  longest = *std::max_element(parts.begin(), parts.end());
  return smoothed;
}

template <unsigned int VDimension>
void
TestSmoothing()
{
  itk::Object::GlobalWarningDisplayOff();
  ForEachFieldCase<VDimension>([](const FieldCase<VDimension> & its, Random & random) {
    const Floats field = its.DrawField(random, 3.0);
    const auto   smoother = Smoother<VDimension>::New();
    for (const double variance : { 3.0, 0.5, 0.2, 20.0 })
    {
      // Sums are rounded a few times, of which 20 are never met; ITK's Bessel functions are right to 2e-7.
      const double rounding = 20 * its.FindRounding(3.0) + 2e-6;
      const auto   itks = smoother->GaussianSmoothDisplacementField(its.MakeImage(field), variance);
      float        longest = 0;
      float        expected = 0;
      const Floats smoothed = Smooth(its.forKernels, field, variance, longest);
      EXPECT_LE(its.ComputeLargestDifference(smoothed, *itks), rounding) << variance;
      ForEachItem(its.voxels, [&](std::int64_t item) {
        expected = std::max(expected, ComputeLengthOfVector(&its.forKernels, smoothed.data(), item));
      });
      EXPECT_EQ(longest, expected);
    }
  });
}

template <unsigned int VDimension>
void
TestScaling()
{
  ForEachFieldCase<VDimension>([](const FieldCase<VDimension> & its, Random & random) {
    const auto smoother = Smoother<VDimension>::New();
    smoother->SetLearningRate(0.25);
    for (const double most : { 1e-3, 7.0, 0.0 })
    {
      const Floats  field = its.DrawField(random, most);
      LongestVector rule{ 0.25F, 0, FactorOfOuter };
      float         longest = 0;
      float         factors[] = { 1.0F, 1.0F };
      Floats        scaled(field.size());
      ForEachItem(its.voxels, [&](std::int64_t item) {
        longest = std::max(longest, ComputeLengthOfVector(&its.forKernels, field.data(), item));
      });
      ComputeScaleFactor(&rule, &longest, factors, 0);
      ForEachItem(3 * its.voxels, [&](std::int64_t item) { ScaleField(factors, field.data(), scaled.data(), item); });
      const auto itks = smoother->ScaleUpdateField(its.MakeImage(field));
      // A vector is up to 0.25 voxels by ITK's measure; by ours up to that times how much spacings differ.
      const auto [thin, thick] = std::minmax_element(its.forKernels.perSpacing, its.forKernels.perSpacing + VDimension);
      EXPECT_LE(its.ComputeLargestDifference(scaled, *itks), 2e-7 * *thick / *thin);
    }
  });
}
} // namespace

TEST(DiscreteGaussian, HasTheWeightsOfITKs)
{
  // ITK says each time that a grid is smaller than the kernel.
  itk::Object::GlobalWarningDisplayOff();
  for (const double variance : { 0.01, 0.2, 0.5, 1.5, 3.0, 12.0, 80.0 })
  {
    for (const int size : { 1, 2, 3, 4, 10, 200 })
    {
      itk::GaussianOperator<double, 1> itks;
      itks.SetVariance(variance);
      itks.SetMaximumError(0.001);
      itks.SetMaximumKernelWidth(size);
      itks.CreateDirectional();
      const auto ours = gpureg::MakeFieldGaussian(variance, size);
      ASSERT_EQ(itks.GetRadius(0) + 1, ours.size()) << variance << ' ' << size;
      for (std::size_t k = 0; k < ours.size(); ++k)
      {
        // ITK's polynomials for I_0 and I_1 are right to 2e-7; its recurrence for the others begins too near for large variances.
        EXPECT_NEAR(itks[ours.size() - 1 + k], ours[k], variance < 20.0 ? 4e-7 : 3e-4 * ours[k])
          << variance << ' ' << size;
      }
    }
  }
}

TEST(DiscreteGaussian, RefusesVariancesThatDoublesCannotHold)
{
  EXPECT_NO_THROW(gpureg::MakeFieldGaussian(600.0, 1000));
  EXPECT_THROW(gpureg::MakeFieldGaussian(601.0, 1000), gpureg::BadInputError);
  EXPECT_THROW(gpureg::MakeFieldGaussian(-1.0, 1000), gpureg::BadInputError);
  EXPECT_THROW(gpureg::MakeFieldGaussian(std::numeric_limits<double>::quiet_NaN(), 1000), gpureg::BadInputError);
}

TEST(FieldSmoothing, IsITKs2D)
{
  TestSmoothing<2>();
}

TEST(FieldSmoothing, IsITKs3D)
{
  TestSmoothing<3>();
}

TEST(FieldScaling, IsITKs2D)
{
  TestScaling<2>();
}

TEST(FieldScaling, IsITKs3D)
{
  TestScaling<3>();
}

} // namespace gpuregtest
