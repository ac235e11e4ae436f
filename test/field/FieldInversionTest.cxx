// SPDX-License-Identifier: Apache-2.0
// Inverses of fields: ITK's iterations against itk::InvertDisplacementFieldImageFilter, and Newton's by what they leave.
#include "FieldCase.h"

#include "itkInvertDisplacementFieldImageFilter.h"

#include <limits>

namespace gpuregtest
{

namespace
{
using namespace gpureg::kernels;

/** The error at a voxel, in voxels. */
float
ComputeInversionError(
  const FieldGrid & grid, const InversionState & state, const Floats & field, const Floats & inverse, std::int64_t item)
{
  static Floats lengths;
  lengths.resize(static_cast<std::size_t>(CountFieldVoxels(&grid)));
  MeasureInversionError(&grid, field.data(), inverse.data(), &state, lengths.data(), item);
  return lengths[static_cast<std::size_t>(item)];
}

/** The number of parts of a grid whose errors are judged together. */
constexpr int Parts = 3;

/** A field's inverse by ITK's iterations, from an estimate on, and one iteration more, which does nothing. */
struct Inverse
{
  Inverse(const FieldGrid & grid, const Floats & field, Floats estimate, const InversionRule & rule)
    : vectors(std::move(estimate))
  {
    for (int n = 0; n <= rule.iterations; ++n)
    {
      float  largest[Parts] = {};
      double sums[Parts] = {};
      ForEachItem(rule.voxels, [&](std::int64_t item) {
        const float error = ComputeInversionError(grid, state, field, vectors, item);
        largest[item % Parts] = std::max(largest[item % Parts], error);
        sums[item % Parts] += error;
      });
      const float asFloats[Parts] = { static_cast<float>(sums[0]),
                                      static_cast<float>(sums[1]),
                                      static_cast<float>(sums[2]) };
      JudgeInversion(&rule, largest, asFloats, &state, 0);
      ForEachItem(rule.voxels,
                  [&](std::int64_t item) { StepInverse(&grid, field.data(), &state, vectors.data(), item); });
    }
  }

  Floats         vectors;
  InversionState state{};
};

/** The largest error that a field's inverse has, in voxels. */
float
ComputeLargestError(const FieldGrid & grid, const Floats & field, const Floats & inverse)
{
  const InversionState state{};
  float                largest = 0;
  ForEachItem(CountFieldVoxels(&grid), [&](std::int64_t item) {
    largest = std::max(largest, ComputeInversionError(grid, state, field, inverse, item));
  });
  return largest;
}

template <unsigned int VDimension>
void
TestITKsIterations()
{
  using ImageType = FieldImage<VDimension>;
  ForEachFieldCase<VDimension>([](const FieldCase<VDimension> & its, Random & random) {
    const Floats field = its.DrawSmoothField(random, 1.5, 12.0);
    const Floats estimate = its.DrawSmoothField(random, 1.0, 12.0);
    // Another number of iterations in each; the last rule's thresholds are met at once.
    InversionRule rules[] = { { its.voxels, 0.1F, 0.001F, 0, Parts },
                              { its.voxels, 1e-3F, 1e-4F, 0, Parts },
                              { its.voxels, 1e3F, 1e3F, 0, Parts } };
    for (InversionRule & rule : rules)
    {
      for (const int most : { 1, 2, 20 })
      {
        rule.iterations = most;
        const auto filter = itk::InvertDisplacementFieldImageFilter<ImageType>::New();
        filter->SetInput(its.MakeImage(field));
        filter->SetInverseFieldInitialEstimate(its.MakeImage(estimate));
        filter->SetMaximumNumberOfIterations(most);
        filter->SetMaxErrorToleranceThreshold(rule.largestError);
        filter->SetMeanErrorToleranceThreshold(rule.meanError);
        filter->SetEnforceBoundaryCondition(true);
        filter->Update();
        const Inverse ours(its.forKernels, field, estimate, rule);
        // Roundings of a step's length, relative to its own, add up over the iterations; the error there is up to 5 voxels.
        const double rounding = 60 * its.FindRounding(3.0);
        EXPECT_NEAR(ours.state.largestError, filter->GetMaxErrorNorm(), rounding);
        EXPECT_NEAR(ours.state.meanError, filter->GetMeanErrorNorm(), rounding);
        EXPECT_LE(its.ComputeLargestDifference(ours.vectors, *filter->GetOutput()), rounding);
      }
    }
  });
}

template <unsigned int VDimension>
void
TestNewton()
{
  Grid<VDimension> grid = MakeFieldGrids<VDimension>().front();
  grid.size.Fill(VDimension == 2 ? 61 : 31);
  grid.spacing.Fill(0.7);
  const FieldCase<VDimension> its(grid);
  Random                      random(23);
  // Up to 3 voxels; the smallest determinant is about 0.3. The border is 0, as an inverse's there.
  Floats field = its.DrawSmoothField(random, 2.0, 14.0);
  its.FadeTowardsEdge(8.0, field);
  const NewtonRule    rule{ 16, 1e-5F, 1, 0 };
  const InversionRule itks{ its.voxels, 0.1F, 0.001F, 20, Parts };
  Floats              inverse(field.size());
  Floats              errors(static_cast<std::size_t>(its.voxels));
  const auto          invert = [&](Floats & vectors) {
    ForEachItem(its.voxels, [&](std::int64_t item) {
      InvertByNewton(&its.forKernels, &rule, field.data(), vectors.data(), errors.data(), item);
    });
  };
  invert(inverse);
  const float left = ComputeLargestError(its.forKernels, field, inverse);
  const float leftByITK =
    ComputeLargestError(its.forKernels, field, Inverse(its.forKernels, field, Floats(field.size()), itks).vectors);
  EXPECT_LE(left, rule.error);
  EXPECT_EQ(left, *std::max_element(errors.begin(), errors.end()));
  EXPECT_LE(100.0F * left, leftByITK);
  // From there on it does nothing: to the bit.
  Floats again = inverse;
  invert(again);
  EXPECT_EQ(again, inverse);
}
} // namespace

TEST(FieldInversion, IsITKs2D)
{
  TestITKsIterations<2>();
}

TEST(FieldInversion, IsITKs3D)
{
  TestITKsIterations<3>();
}

TEST(FieldInversion, ByNewtonLeavesAHundredthOfITKs2D)
{
  TestNewton<2>();
}

TEST(FieldInversion, ByNewtonLeavesAHundredthOfITKs3D)
{
  TestNewton<3>();
}

TEST(FieldInversion, ByNewtonNeverMakesAnErrorLarger)
{
  // Any vectors: the field folds everywhere.
  const FieldCase<3> its(MakeFieldGrids<3>().back());
  Random             random(7);
  const Floats       field = its.DrawField(random, 2.0);
  const NewtonRule   rule{ 10, 0.0F, 0, 0 };
  const Floats       estimate = its.DrawField(random, 1.0);
  Floats             inverse = estimate;
  int                better = 0;
  ForEachItem(its.voxels, [&](std::int64_t item) {
    const InversionState state{};
    float                left = -1;
    InvertByNewton(&its.forKernels, &rule, field.data(), inverse.data(), &left - item, item);
    const float before = ComputeInversionError(its.forKernels, state, field, estimate, item);
    const float after = ComputeInversionError(its.forKernels, state, field, inverse, item);
    EXPECT_LE(after, before);
    EXPECT_EQ(left, after);
    better += after < before;
  });
  EXPECT_GT(2 * better, its.voxels);
}

TEST(FieldInversion, EndsWhereAVectorIsNaN)
{
  const FieldCase<2> its(MakeFieldGrids<2>().back());
  Random             random(9);
  Floats             field = its.DrawField(random, 0.4);
  field[3 * 30] = std::numeric_limits<float>::quiet_NaN();
  const InversionRule rule{ its.voxels, 0.1F, 0.001F, 3, Parts };
  const Inverse       inverse(its.forKernels, field, Floats(field.size()), rule);
  EXPECT_EQ(inverse.state.iterations, 1);
  EXPECT_TRUE(inverse.state.isDone);
}

} // namespace gpuregtest
