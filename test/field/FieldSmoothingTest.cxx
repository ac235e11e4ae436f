// SPDX-License-Identifier: Apache-2.0
// Smoothing fields by discrete Gaussians, and scaling them, on every device, against itk::SyNImageRegistrationMethod's own functions.
#include "FieldCase.h"
#include "FieldsOnDevice.h"
#include "TestDevices.h"

#include "gpureg/core/Error.h"

#include "engine/field/FieldGaussian.h"
#include "engine/field/FieldSmoother.h"
#include "engine/field/FieldSums.h"

#include "itkGaussianOperator.h"
#include "itkSyNImageRegistrationMethod.h"
#include "itkVectorNeighborhoodOperatorImageFilter.h"

#include <cmath>
#include <limits>

namespace gpuregtest
{

namespace
{
using namespace gpureg::kernels;
using gpureg::Input;
using gpureg::Output;

class FieldSmoothingTest : public DeviceTest
{};

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

/** Smooths along each axis as SyN does, and leaves the border as it is then. */
template <unsigned int VDimension>
typename FieldImage<VDimension>::Pointer
SmoothWithBorder(typename FieldImage<VDimension>::Pointer field, double variance)
{
  using ImageType = FieldImage<VDimension>;
  for (unsigned int axis = 0; axis < VDimension; ++axis)
  {
    itk::GaussianOperator<double, VDimension> gaussian;
    gaussian.SetDirection(axis);
    gaussian.SetVariance(variance);
    gaussian.SetMaximumError(0.001);
    gaussian.SetMaximumKernelWidth(static_cast<unsigned int>(field->GetBufferedRegion().GetSize(axis)));
    gaussian.CreateDirectional();
    const auto filter = itk::VectorNeighborhoodOperatorImageFilter<ImageType, ImageType>::New();
    filter->SetOperator(gaussian);
    filter->SetInput(field);
    filter->Update();
    field = filter->GetOutput();
    field->DisconnectPipeline();
  }
  return field;
}

/** A field that a device has smoothed, and the length of its longest vector, voxels. */
struct Smoothed
{
  Floats field;
  float  longest = 0;
};

/** Smooths a field on a device by a standard deviation in voxels. */
Smoothed
Smooth(FieldsOnDevice & on, const FieldGrid & grid, const Floats & field, double sigma, gpureg::FieldBorder border)
{
  const auto            elements = static_cast<std::int64_t>(field.size());
  const auto            given = on.Upload(field);
  const auto            first = on.MakeUnwritten(elements), second = on.MakeUnwritten(elements);
  const auto            result = on.MakeUnwritten(elements), longest = on.MakeUnwritten(1);
  gpureg::FieldSmoother smoother(on.GetQueue());
  smoother.Set(sigma, grid, border);
  smoother.SmoothAndMeasure(*given, *first, *second, *result, on.GetReducer(), *longest);
  const Smoothed smoothed{ on.Download<float>(result), on.Download<float>(longest).front() };
  EXPECT_EQ(on.Download<float>(given), field);
  // Smooths into the first scratch array, as the greedy scheme does.
  const auto again = on.MakeUnwritten(elements);
  smoother.Smooth(*given, *again, *second, *again);
  EXPECT_EQ(on.Download<float>(again), smoothed.field);
  return smoothed;
}

/** Returns the length of the longest vector, in voxels, in double precision. */
double
FindLongest(const FieldGrid & grid, const Floats & field)
{
  double longest = 0;
  for (std::size_t n = 0; n < field.size(); n += 3)
  {
    double squares = 0;
    for (std::size_t d = 0; d < 3; ++d)
    {
      squares += std::pow(static_cast<double>(grid.perSpacing[d]) * field[n + d], 2);
    }
    longest = std::max(longest, std::sqrt(squares));
  }
  return longest;
}

template <unsigned int VDimension>
void
TestSmoothing(const std::string & device)
{
  itk::Object::GlobalWarningDisplayOff();
  FieldsOnDevice on(device);
  ForEachCaseOfBlocks<VDimension>([&](const FieldCase<VDimension> & its, Random & random) {
    const Floats field = its.DrawField(random, 3.0);
    const auto   smoother = Smoother<VDimension>::New();
    for (const double variance : { 3.0, 0.5, 0.2, 20.0 })
    {
      const double sigma = std::sqrt(variance);
      // Sums are rounded a few times, of which 20 are never met; ITK's Bessel functions are right to 2e-7.
      const double   rounding = 20 * its.FindRounding(3.0) + 2e-6;
      const Smoothed found = Smooth(on, its.forKernels, field, sigma, gpureg::FieldBorder::Zero);
      const auto     itks = smoother->GaussianSmoothDisplacementField(its.MakeImage(field), variance);
      EXPECT_LE(its.ComputeLargestDifference(found.field, *itks), rounding) << variance;
      EXPECT_NEAR(found.longest, FindLongest(its.forKernels, found.field), 1e-6 * found.longest) << variance;
      const Smoothed all = Smooth(on, its.forKernels, field, sigma, gpureg::FieldBorder::Smoothed);
      const auto     itksOfAll = SmoothWithBorder<VDimension>(its.MakeImage(field), variance);
      EXPECT_LE(its.ComputeLargestDifference(all.field, *itksOfAll), rounding) << variance;
      EXPECT_NEAR(all.longest, FindLongest(its.forKernels, all.field), 1e-6 * all.longest) << variance;
    }
  });
}

template <unsigned int VDimension>
void
TestScaling(const std::string & device)
{
  FieldsOnDevice on(device);
  ForEachFieldCase<VDimension>([&](const FieldCase<VDimension> & its, Random & random) {
    const auto smoother = Smoother<VDimension>::New();
    smoother->SetLearningRate(0.25);
    for (const double most : { 1e-3, 7.0, 0.0 })
    {
      const Floats        field = its.DrawField(random, most);
      const LongestVector rule{ 0.25F, 0, FactorOfOuter };
      const auto          there = on.Upload(field), factors = on.Upload(Floats{ 1.0F, 1.0F });
      const auto          scratch = on.Upload(field), second = on.Upload(field), longest = on.MakeUnwritten(1);
      // Without a Gaussian it measures alone.
      gpureg::FieldSmoother measure(on.GetQueue());
      measure.Set(0, its.forKernels);
      measure.SmoothAndMeasure(*there, *scratch, *second, *there, on.GetReducer(), *longest);
      EXPECT_EQ(on.Download<float>(there), field);
      on.Run<ComputeScaleFactorKernel>(1, rule, Input<float>(*longest), Output<float>(*factors));
      gpureg::ScaleField(on.GetQueue(), 3 * its.voxels, *factors, *there);
      const auto itks = smoother->ScaleUpdateField(its.MakeImage(field));
      // A vector is up to 0.25 voxels by ITK's measure; by ours up to that times how much spacings differ.
      const auto [thin, thick] = std::minmax_element(its.forKernels.perSpacing, its.forKernels.perSpacing + VDimension);
      EXPECT_LE(its.ComputeLargestDifference(on.Download<float>(there), *itks), 2e-7 * *thick / *thin);
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

TEST_P(FieldSmoothingTest, IsITKs2D)
{
  TestSmoothing<2>(GetParam());
}

TEST_P(FieldSmoothingTest, IsITKs3D)
{
  TestSmoothing<3>(GetParam());
}

TEST_P(FieldSmoothingTest, ScalesAsITK2D)
{
  TestScaling<2>(GetParam());
}

TEST_P(FieldSmoothingTest, ScalesAsITK3D)
{
  TestScaling<3>(GetParam());
}

// Squares of such lengths leave the range of floats.
TEST_P(FieldSmoothingTest, MeasuresLengthsOfAnySize)
{
  FieldsOnDevice     on(GetParam());
  const FieldCase<3> its(MakeFieldGrids<3>().front());
  for (const float scale : { 1.0F, 1e-30F, 1e30F, 1e-15F, 1e15F })
  {
    Floats field(3 * its.voxels);
    field[30] = -0.05F * scale;
    field[31] = 50.0F * scale;
    field[32] = 2.6F * scale;
    EXPECT_NEAR(Smooth(on, its.forKernels, field, 0.0, gpureg::FieldBorder::Smoothed).longest / scale, 3.0, 1e-6)
      << scale;
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, FieldSmoothingTest, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace gpuregtest
