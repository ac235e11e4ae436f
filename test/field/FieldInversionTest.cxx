// SPDX-License-Identifier: Apache-2.0
// Inverses of fields on every device: ITK's iterations against itk::InvertDisplacementFieldImageFilter, and Newton's by what they leave,
// found by itk::DisplacementFieldTransform in double precision.
#include "FieldCase.h"
#include "FieldsOnDevice.h"
#include "InverseErrors.h"
#include "TestDevices.h"

#include "engine/field/NewtonInverter.h"

#include "itkInvertDisplacementFieldImageFilter.h"

#include <limits>
#include <numeric>

namespace gpuregtest
{

namespace
{
using namespace gpureg::kernels;
using gpureg::Input;
using gpureg::Output;
using gpureg::RealNumber;

class FieldInversionTest : public DeviceTest
{};

/** A field's inverse by ITK's iterations, from an estimate on, and one iteration more, which does nothing. */
struct Inverse
{
  Inverse(
    FieldsOnDevice & on, const FieldGrid & grid, const Floats & field, const Floats & estimate, InversionRule rule)
  {
    const auto u = on.Upload(field), w = on.Upload(estimate);
    const auto there = on.Upload(std::vector<InversionState>(1));
    const auto lengths = on.MakeUnwritten(rule.voxels);
    for (int n = 0; n <= rule.iterations; ++n)
    {
      on.Run<MeasureInversionErrorKernel>(rule.voxels,
                                          grid,
                                          Input<RealNumber>(*u),
                                          Input<RealNumber>(*w),
                                          Input<InversionState>(*there),
                                          Output<float>(*lengths));
      const auto found = on.GetReducer().ComputeLargestAndSumOfParts(*lengths, rule.voxels);
      rule.parts = found.count;
      on.Run<JudgeInversionKernel>(
        1, rule, Input<float>(*found.memory), Input<float>(*found.memory, found.count), Output<InversionState>(*there));
      on.Run<StepInverseKernel>(
        rule.voxels, grid, Input<RealNumber>(*u), Input<InversionState>(*there), Output<RealNumber>(*w));
    }
    vectors = on.Download<float>(w);
    state = on.Download<InversionState>(there).front();
  }

  Floats         vectors;
  InversionState state{};
};

template <unsigned int VDimension>
void
TestITKsIterations(const std::string & device)
{
  using ImageType = FieldImage<VDimension>;
  FieldsOnDevice on(device);
  ForEachFieldCase<VDimension>([&](const FieldCase<VDimension> & its, Random & random) {
    const Floats field = its.DrawSmoothField(random, 1.5, 12.0);
    const Floats estimate = its.DrawSmoothField(random, 1.0, 12.0);
    // Another number of iterations in each; the last rule's thresholds are met at once.
    InversionRule rules[] = { { its.voxels, 0.1F, 0.001F, 0, 0 },
                              { its.voxels, 1e-3F, 1e-4F, 0, 0 },
                              { its.voxels, 1e3F, 1e3F, 0, 0 } };
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
        const Inverse ours(on, its.forKernels, field, estimate, rule);
        // Roundings of a step's length, relative to its own, add up over the iterations; the error there is up to 5 voxels.
        const double rounding = 60 * its.FindRounding(3.0);
        EXPECT_NEAR(ours.state.largestError, filter->GetMaxErrorNorm(), rounding);
        EXPECT_NEAR(ours.state.meanError, filter->GetMeanErrorNorm(), rounding);
        EXPECT_LE(its.ComputeLargestDifference(ours.vectors, *filter->GetOutput()), rounding);
      }
    }
  });
}

/** A grid of voxels of 0.7 mm, turned. */
template <unsigned int VDimension>
FieldCase<VDimension>
MakeFineCase()
{
  Grid<VDimension> grid = MakeFieldGrids<VDimension>().front();
  for (unsigned int d = 0; d < VDimension; ++d)
  {
    grid.size[d] = VDimension == 2 ? 61 + 2 * d : 31 + d;
  }
  grid.spacing.Fill(0.7);
  return FieldCase<VDimension>(grid);
}

template <unsigned int VDimension>
void
TestNewton(const std::string & device)
{
  FieldsOnDevice              on(device);
  const FieldCase<VDimension> its = MakeFineCase<VDimension>();
  Random                      random(23);
  // Up to 3 voxels; the smallest determinant is about 0.3. The border is 0, as an inverse's there.
  Floats field = its.DrawSmoothField(random, 2.0, 14.0);
  its.FadeTowardsEdge(8.0, field);
  const NewtonRule rule{ 16, 1e-5F, 1, 0 };
  const auto       u = on.Upload(field), w = on.Upload(Floats(field.size())), errors = on.MakeUnwritten(2 * its.voxels);
  gpureg::NewtonInverter inverter(on.GetQueue());
  const auto   improve = [&] { return inverter.Improve(its.forKernels, rule, *u, *w, *errors, on.GetReducer()); };
  const auto   left = improve();
  const Floats inverse = on.Download<float>(w);
  const auto   exact = ComputeErrors(its, field, inverse);
  const double largest = *std::max_element(exact.begin(), exact.end());
  // An error's own rounding: it is the difference of two vectors of up to 3 voxels.
  const double rounding = 4 * its.FindRounding(3.0);
  EXPECT_LE(left.largest, rule.error);
  EXPECT_NEAR(left.largest, largest, rounding);
  EXPECT_NEAR(left.sum / its.voxels, std::accumulate(exact.begin(), exact.end(), 0.0) / its.voxels, rounding);
  const Inverse byITK(on, its.forKernels, field, Floats(field.size()), { its.voxels, 0.1F, 0.001F, 20, 0 });
  const auto    ofITK = ComputeErrors(its, field, byITK.vectors);
  EXPECT_LE(100.0 * largest, *std::max_element(ofITK.begin(), ofITK.end()));
  // From there on it does nothing: to the bit.
  EXPECT_EQ(improve().largest, left.largest);
  EXPECT_EQ(on.Download<float>(w), inverse);
}
} // namespace

TEST_P(FieldInversionTest, IsITKs2D)
{
  TestITKsIterations<2>(GetParam());
}

TEST_P(FieldInversionTest, IsITKs3D)
{
  TestITKsIterations<3>(GetParam());
}

TEST_P(FieldInversionTest, ByNewtonLeavesAHundredthOfITKs2D)
{
  TestNewton<2>(GetParam());
}

TEST_P(FieldInversionTest, ByNewtonLeavesAHundredthOfITKs3D)
{
  TestNewton<3>(GetParam());
}

TEST_P(FieldInversionTest, ByNewtonNeverMakesAnErrorLarger)
{
  // Any vectors: the field folds everywhere.
  FieldsOnDevice     on(GetParam());
  const FieldCase<3> its(MakeFieldGrids<3>().back());
  Random             random(7);
  const Floats       field = its.DrawField(random, 2.0);
  const NewtonRule   rule{ 10, 0.0F, 0, 0 };
  const Floats       estimate = its.DrawField(random, 1.0);
  const auto         w = on.Upload(estimate), errors = on.MakeUnwritten(its.voxels);
  on.Run<InvertByNewtonKernel>(its.voxels,
                               its.forKernels,
                               rule,
                               Input<RealNumber>(*on.Upload(field)),
                               Output<RealNumber>(*w),
                               Output<float>(*errors));
  const auto left = on.Download<float>(errors);
  const auto before = ComputeErrors(its, field, estimate);
  const auto after = ComputeErrors(its, field, on.Download<float>(w));
  int        better = 0;
  // An error is found between vectors that are up to 4 voxels apart along each axis.
  const double rounding = 60 * its.FindRounding(2.0);
  ForEachItem(its.voxels, [&](std::int64_t item) {
    EXPECT_LE(after[item], before[item] + rounding);
    EXPECT_NEAR(left[item], after[item], rounding);
    better += after[item] < before[item];
  });
  EXPECT_GT(2 * better, its.voxels);
}

TEST_P(FieldInversionTest, EndsWhereAVectorIsNaN)
{
  FieldsOnDevice     on(GetParam());
  const FieldCase<2> its(MakeFieldGrids<2>().back());
  Random             random(9);
  Floats             field = its.DrawField(random, 0.4);
  field[3 * 30] = std::numeric_limits<float>::quiet_NaN();
  const Inverse inverse(on, its.forKernels, field, Floats(field.size()), { its.voxels, 0.1F, 0.001F, 3, 0 });
  EXPECT_EQ(inverse.state.iterations, 1);
  EXPECT_TRUE(inverse.state.isDone);
}

INSTANTIATE_TEST_SUITE_P(Devices, FieldInversionTest, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace gpuregtest
