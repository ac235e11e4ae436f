// SPDX-License-Identifier: Apache-2.0
// SyN on every device against itk::SyNImageRegistrationMethod: all fields, and the metric's values, after some iterations.
#include "CompareSyN.h"
#include "SyNCase.h"

#include "itkLinearInterpolateImageFunction.h"

#include <cstdlib>
#include <iostream>
#include <limits>
#include <string>
#include <vector>

namespace gpuregtest
{

namespace
{
using gpureg::SimilarityKind;

// So short that the images do not come to lie on each other, where rounding decides which way they go. It is not 0.1 either, which is also
// the largest error that ends an inversion: then rounding decides whether the first one goes on.
constexpr double Step = 0.05;
template <unsigned int VDimension>
void
CompareIterations(const std::string & device)
{
  for (const SimilarityKind kind : AllKinds)
  {
    for (const int iterations : { 1, 5, 20 })
    {
      auto its = MakeCase<VDimension>(kind, iterations);
      its.settings.step = Step;
      Compare(device, its, std::string(GetName(kind)) + ", " + std::to_string(iterations) + " iterations");
    }
  }
}

template <unsigned int VDimension>
void
CompareMasks(const std::string & device)
{
  for (const SimilarityKind kind : AllKinds)
  {
    auto its = MakeCase<VDimension>(kind, 5);
    AddMasks(its);
    Compare(device, its, std::string(GetName(kind)) + ", masks");
  }
}

/** Returns the Dice coefficient of the bright parts of the fixed image and of another moving image, where a deformation leads.
 *  \param bright values above it are bright */
double
ComputeOverlap(const SyNCase<3> & its, const SyNCase<3>::ImageType & moving, const SyNResult & found, double bright)
{
  const auto interpolator = itk::LinearInterpolateImageFunction<SyNCase<3>::ImageType>::New();
  interpolator->SetInputImage(&moving);
  const std::vector<double> & forward = found.fields[4];
  double                      ofFixed = 0, ofMoving = 0, ofBoth = 0;
  std::size_t                 n = 0;
  for (itk::ImageRegionIteratorWithIndex<SyNCase<3>::ImageType> it(its.fixed, its.fixed->GetBufferedRegion());
       !it.IsAtEnd();
       ++it, n += 3)
  {
    auto point = its.fixed->TransformIndexToPhysicalPoint<double>(it.GetIndex());
    for (unsigned int d = 0; d < 3; ++d)
    {
      point[d] += forward[n + d];
    }
    const bool isFixed = it.Get() > bright;
    const bool isMoving = interpolator->IsInsideBuffer(point) && interpolator->Evaluate(point) > bright;
    ofFixed += isFixed ? 1 : 0;
    ofMoving += isMoving ? 1 : 0;
    ofBoth += isFixed && isMoving ? 1 : 0;
  }
  return 2 * ofBoth / (ofFixed + ofMoving);
}

class SyNRegistrationTest : public ::testing::TestWithParam<std::string>
{};
} // namespace

TEST_P(SyNRegistrationTest, ComputesITKsFields2D)
{
  CompareIterations<2>(GetParam());
}

TEST_P(SyNRegistrationTest, ComputesITKsFields3D)
{
  CompareIterations<3>(GetParam());
}

TEST_P(SyNRegistrationTest, LooksInsideOfMasks)
{
  CompareMasks<2>(GetParam());
  CompareMasks<3>(GetParam());
}

TEST_P(SyNRegistrationTest, GoesThroughLevels)
{
  for (const bool areInMillimetres : { false, true })
  {
    auto its = MakeCase<3>(SimilarityKind::NeighborhoodCorrelation, 0);
    its.settings.iterations = { 4, 3, 2 };
    its.settings.syn.shrinkFactors = { { 3, 2, 3 }, { 2, 2, 2 }, { 1, 1, 1 } };
    its.settings.syn.smoothingSigmas = { 1.5, 0.7, 0.0 };
    its.settings.syn.sigmasAreInMillimetres = areInMillimetres;
    Compare(GetParam(), its, std::string("levels, ") + (areInMillimetres ? "mm" : "voxels"));
  }
  auto its = MakeCase<2>(SimilarityKind::MeanSquares, 0);
  its.settings.iterations = { 5, 5 };
  its.settings.syn.shrinkFactors = { { 4, 3, 1 }, { 2, 2, 1 } };
  Compare(GetParam(), its, "levels");
}

TEST_P(SyNRegistrationTest, ReachesTheOverlapOfMattesByOtherHistograms)
{
  auto its = MakeCase<3>(SimilarityKind::MeanSquares, 0);
  // A texture about 0, which is the value outside, too; what is bright in one image is dark in the other.
  const auto makeImage = [](SyNCase<3>::ImageType * from, double factor) {
    const auto image = Cast<SyNCase<3>::ImageType>(from);
    for (itk::ImageRegionIteratorWithIndex<SyNCase<3>::ImageType> it(image, image->GetBufferedRegion()); !it.IsAtEnd();
         ++it)
    {
      it.Set(static_cast<float>(it.Get() > 0 ? factor * (it.Get() - 100) : 0));
    }
    return image;
  };
  const auto sameContrast = makeImage(its.moving, 1);
  its.fixed = makeImage(its.fixed, 1);
  its.moving = makeImage(its.moving, -0.7);
  const auto findOverlap = [&](SimilarityKind kind, int iterations) {
    its.settings.similarity = { kind, 16, 2 };
    its.settings.iterations = { iterations };
    its.settings.step = 0.1;
    return ComputeOverlap(its, *sameContrast, RegisterOnDevice(GetParam(), its), 20);
  };
  const double before = findOverlap(SimilarityKind::MattesMutualInformation, 0);
  const double byMattes = findOverlap(SimilarityKind::MattesMutualInformation, 40);
  EXPECT_LT(before, 0.6);
  EXPECT_GT(byMattes, 0.88);
  for (const SimilarityKind kind : { SimilarityKind::NormalizedMutualInformation, SimilarityKind::CorrelationRatio })
  {
    const double overlap = findOverlap(kind, 40);
    EXPECT_GT(overlap, byMattes - 0.02) << GetName(kind);
    if (std::getenv("GPUREG_TEST_PRINT") != nullptr)
    {
      std::cout << GetName(kind) << ": " << overlap << ", before " << before << ", Mattes " << byMattes << '\n';
    }
  }
}

TEST_P(SyNRegistrationTest, HasITKsSettings)
{
  const auto compare = [this](const std::string & what, const auto & change) {
    for (const SimilarityKind kind : { SimilarityKind::NeighborhoodCorrelation, SimilarityKind::MeanSquares })
    {
      auto its = MakeCase<3>(kind, 4);
      change(its.settings);
      Compare(GetParam(), its, std::string(GetName(kind)) + ", " + what);
    }
  };
  compare("smoothing the fields", [](auto & settings) { settings.fieldSigma = std::sqrt(0.5); });
  compare("smoothing little", [](auto & settings) { settings.updateSigma = settings.fieldSigma = std::sqrt(0.2); });
  compare("not smoothing", [](auto & settings) { settings.updateSigma = 0; });
  compare("weights", [](auto & settings) { settings.weights = { 1.0, 0.5, 0.0 }; });
  compare("averages", [](auto & settings) { settings.syn.averagesGradients = true; });
  compare("all", [](auto & settings) {
    settings.syn.averagesGradients = true;
    settings.weights = { 0.3, 1.0, 2.0 };
    settings.updateSigma = settings.fieldSigma = std::sqrt(0.3);
    settings.step = 0.7;
  });
  compare("radius and bins", [](auto & settings) {
    settings.similarity.radius = 4;
    settings.similarity.bins = 20;
  });
}

TEST_P(SyNRegistrationTest, BeginsWithLinearTransforms)
{
  for (const SimilarityKind kind : AllKinds)
  {
    auto its = MakeCase<3>(kind, 4);
    its.initial = itk::AffineTransform<double, 3>::New();
    its.initial->SetCenter(MakeGrid<3>().GetCentre());
    const double axis[] = { 0.2, 0.5, 1.0 };
    const double shift[] = { 0.7, -0.4, 0.3 };
    its.initial->Rotate3D(itk::Vector<double, 3>(axis), 0.05);
    its.initial->Translate(itk::Vector<double, 3>(shift));
    its.fixedInitial = itk::AffineTransform<double, 3>::New();
    its.fixedInitial->SetCenter(MakeGrid<3>().GetCentre());
    its.fixedInitial->Scale(1.03);
    AddMasks(its);
    Compare(GetParam(), its, std::string(GetName(kind)) + ", linear transforms");
  }
}

TEST_P(SyNRegistrationTest, LooksForTheBorderWhereITKDoes)
{
  auto grid = MakeGrid<3>();
  grid.start[0] = 4;
  grid.start[1] = 2;
  grid.start[2] = 1;
  auto its = MakeCase<3>(SimilarityKind::MeanSquares, 5, grid);
  its.settings.fieldSigma = std::sqrt(0.5);
  Compare(GetParam(), its, "first index");
}

TEST_P(SyNRegistrationTest, ConvergesWhenITKDoes)
{
  auto its = MakeCase<2>(SimilarityKind::MeanSquares, 60);
  its.settings.convergenceWindow = 5;
  its.settings.convergenceThreshold = 4e-3;
  Compare(GetParam(), its, "convergence");
  EXPECT_LT(RegisterOnDevice(GetParam(), its).costs.size(), 60U);
  EXPECT_GT(RegisterOnDevice(GetParam(), its).costs.size(), 5U);
}

TEST_P(SyNRegistrationTest, IsTheSameOnEachDeviceAndForAnyNumberOfThreads)
{
  for (const SimilarityKind kind : AllKinds)
  {
    const auto      its = MakeCase<3>(kind, 10);
    const SyNResult one = RegisterOnDevice(GetParam(), its, 1);
    const SyNResult three = RegisterOnDevice(GetParam(), its, 3);
    const SyNResult onHost = RegisterOnDevice("host", its);
    EXPECT_EQ(one.fields, three.fields);
    EXPECT_EQ(one.costs, three.costs);
    for (std::size_t n = 0; n < std::size(AllFields); ++n)
    {
      EXPECT_LE(ComputeDistance(one.fields[n], onHost.fields[n], 3, 1.0).largest, Most.largest) << GetName(kind);
    }
  }
}

TEST_P(SyNRegistrationTest, SaysWhatIsWrongAndGoesOn)
{
  const auto good = MakeCase<3>(SimilarityKind::NeighborhoodCorrelation, 2);
  const auto refuses = [&](const auto & change, const std::string & word) {
    auto its = MakeCase<3>(SimilarityKind::NeighborhoodCorrelation, 2);
    change(its);
    try
    {
      RegisterOnDevice(GetParam(), its);
      ADD_FAILURE() << word;
    }
    catch (const gpureg::Error & error)
    {
      EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
    }
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  refuses([](auto & its) { its.settings.iterations = {}; }, "levels");
  refuses([](auto & its) { its.settings.step = 0; }, "step");
  refuses([&](auto & its) { its.settings.updateSigma = nan; }, "sigma");
  refuses([](auto & its) { its.settings.fieldSigma = 1e9; }, "sigma");
  refuses([](auto & its) { its.settings.similarity.radius = 0; }, "radius");
  refuses([](auto & its) { its.settings.similarity = { SimilarityKind::MattesMutualInformation, 3, 2 }; }, "bins");
  refuses([](auto & its) { its.settings.similarity.kind = SimilarityKind::MeanAbsoluteDifferences; },
          "there is no similarity");
  refuses([](auto & its) { its.settings.syn.shrinkFactors = { { 1, 1, 1 }, { 1, 1, 1 } }; }, "shrink factors");
  refuses([](auto & its) { its.settings.syn.shrinkFactors = { { 20, 1, 1 } }; }, "shrink factor");
  refuses([](auto & its) { its.settings.syn.smoothingSigmas = { -1.0 }; }, "sigma");
  refuses([](auto & its) { its.settings.syn.smoothingSigmas = { 1e6 }; }, "sigma");
  refuses([](auto & its) { its.settings.weights = { 0, 0, 0 }; }, "weights");
  refuses([](auto & its) { its.settings.convergenceWindow = 1; }, "window");
  refuses([](auto & its) { its.fixed->FillBuffer(3.0F); }, "constant");
  refuses([](auto & its) { its.moving->FillBuffer(std::numeric_limits<float>::quiet_NaN()); }, "finite");
  const auto shift = [](auto & its) {
    const double far[] = { 1e5, 0, 0 };
    its.initial = itk::AffineTransform<double, 3>::New();
    its.initial->Translate(itk::Vector<double, 3>(far));
  };
  // The moving image is 0 everywhere then.
  for (const SimilarityKind kind : AllKinds)
  {
    const auto move = [&](auto & its) {
      its.settings.similarity.kind = kind;
      shift(its);
    };
    refuses(move, "constant");
  }
  const auto empty = [](auto & its) {
    AddMasks(its);
    its.fixedMask->FillBuffer(0);
  };
  refuses(empty, "no voxel of the fixed image is inside of its mask");
  // Each mask has voxels, but no voxel lies in both.
  const auto exclude = [](auto & its) {
    AddMasks(its);
    its.fixedMask->FillBuffer(0);
    its.movingMask->FillBuffer(0);
    for (int n = 0; n < 8; ++n)
    {
      its.fixedMask->SetPixel({ { 8 + n % 2, 10 + n / 2 % 2, 9 + n / 4 } }, 1);
      its.movingMask->SetPixel({ { 15 + n % 2, 10 + n / 2 % 2, 9 + n / 4 } }, 1);
    }
  };
  refuses(exclude, "no voxel");
  // One slice of three dimensions.
  refuses(
    [](auto & its) {
      auto grid = MakeGrid<3>();
      grid.size[2] = 1;
      its.fixed = MakeCase<3>(SimilarityKind::MeanSquares, 1, grid).fixed;
    },
    "one voxel along axis 2");
  RegisterOnDevice(GetParam(), good);
}

INSTANTIATE_TEST_SUITE_P(Devices, SyNRegistrationTest, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace gpuregtest
