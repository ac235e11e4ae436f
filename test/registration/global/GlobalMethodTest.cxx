// SPDX-License-Identifier: Apache-2.0
// Tests what the global search's class does beside finding a transform: masks, settings, transfers, warnings, times, progress and printing.
#include "ErrorOfRecord.h"
#include "GlobalProblem.h"
#include "Listening.h"
#include "TestDevices.h"

#include "itkCommand.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <sstream>
#include <string>
#include <vector>

namespace gpuregtest
{

namespace
{
constexpr double Degrees = Pi / 180;

constexpr const char * Costs[] = {
  "CorrelationRatio", "MattesMutualInformation", "NormalizedMutualInformation", "Correlation",
  "MeanSquares",      "MeanAbsoluteDifferences"
};

class GlobalMethodTest : public DeviceTest
{};
} // namespace

/** Masks exclude bright objects beside the phantom in both images. */
TEST_P(GlobalMethodTest, Masks)
{
  using ProblemType = GlobalProblem<2>;
  ProblemType problem(7, 75 * Degrees);
  const auto  inverse = ProblemType::AffineType::New();
  problem.truth->GetInverse(inverse);
  const Phantom<2> phantom;
  const auto       centre = problem.grid.GetCentre();
  const auto       inFixed = [&](const auto & p) { return phantom(p - centre); };
  const auto       inMoving = [&](const auto & p) { return phantom(inverse->TransformPoint(p) - centre); };
  const auto       spoil = [](auto & image, const auto & value, double from) {
    for (itk::ImageRegionIteratorWithIndex<itk::Image<float, 2>> it(image, image->GetBufferedRegion()); !it.IsAtEnd();
         ++it)
    {
      ProblemType::PointType point;
      image->TransformIndexToPhysicalPoint(it.GetIndex(), point);
      if (value(point) < 0.05 && point[0] > from)
      {
        it.Set(4000);
      }
    }
  };
  spoil(problem.fixed, inFixed, centre[0]);
  spoil(problem.moving, inMoving, problem.truth->TransformPoint(centre)[0] + 20);
  const auto isFixed = [&](const auto & p) { return inFixed(p) > 2; };
  const auto isMoving = [&](const auto & p) { return inMoving(p) > 2; };
  const auto method = problem.MakeMethod(GetParam());
  method->SetDegreesOfFreedom(7);
  // Otherwise the bright parts would be excluded as outliers, even without a mask.
  constexpr double                 infinity = std::numeric_limits<double>::infinity();
  const double                     ends[] = { -infinity, infinity };
  const itk::FixedArray<double, 2> all(ends);
  method->SetFixedImageRange(all);
  method->SetMovingImageRange(all);
  method->Update();
  EXPECT_GT(problem.GetError(*method->GetTransform()), 5.0) << "without masks";
  method->SetFixedImageMask(MakeMask(*problem.fixed, isFixed));
  method->SetMovingImageMask(MakeMask(*problem.moving, isMoving));
  method->Update();
  EXPECT_TRUE(IsWithinRecord(GetParam(), problem.GetError(*method->GetTransform()), 0.023));
  method->SetFixedImageMask(MakeMask(*problem.fixed, [](const auto &) { return false; }));
  EXPECT_THROW(method->Update(), itk::GPUBadInputError);
  // A mask of one voxel contains none of the coarsest level.
  method->SetFixedImageMask(
    MakeMask(*problem.fixed, [&](const auto & p) { return p.EuclideanDistanceTo(centre) < 1.5; }));
  EXPECT_THROW(method->Update(), itk::GPUBadInputError);
  method->SetFixedImageMask(MakeMask(*problem.fixed, isFixed));
  EXPECT_NO_THROW(method->Update());
  // The moving image's mask is empty, too.
  method->SetMovingImageMask(MakeMask(*problem.moving, [](const auto &) { return false; }));
  EXPECT_THROW(method->Update(), itk::GPUBadInputError);
  method->SetMovingImageMask(MakeMask(*problem.moving, isMoving));
  EXPECT_NO_THROW(method->Update());
}

/** Applies to every cost: at coarser levels, values from outside of a mask blur into it, so the images vary there. */
TEST_P(GlobalMethodTest, WhatIsConstantInsideOfItsMaskIsRefused)
{
  using ImageType = itk::Image<float, 3>;
  const GlobalProblem<3> problem(6, 10 * Degrees, GlobalProblem<3>::Contrast::Same);
  const auto             centre = problem.grid.GetCentre();
  const auto             isInside = [&](const auto & p) { return p.EuclideanDistanceTo(centre) < 40; };
  const Phantom<3>       phantom;
  const auto             flat =
    MakeImage<ImageType>(problem.grid, [&](const auto & p) { return isInside(p) ? 70.0 : phantom(p - centre); });
  const auto mask = MakeMask(*flat, isInside);
  const auto expectRefused = [](auto & method, const std::string & which) {
    try
    {
      method.Update();
      ADD_FAILURE() << "no exception, but a cost of " << method.GetFinalCost();
    }
    catch (const itk::GPUBadInputError & error)
    {
      EXPECT_NE(std::string(error.GetDescription()).find("the " + which + " image is constant inside of its mask"),
                std::string::npos)
        << error.GetDescription();
    }
  };
  for (const char * const cost : Costs)
  {
    SCOPED_TRACE(cost);
    const auto method = problem.MakeMethod(GetParam());
    method->SetCost(cost);
    method->SetDegreesOfFreedom(6);
    method->SetSearchAngles(0, 0);
    method->SetFixedImage(flat);
    method->SetFixedImageMask(mask);
    expectRefused(*method, "fixed");
    method->SetFixedImage(problem.fixed);
    method->SetFixedImageMask(nullptr);
    method->SetMovingImage(flat);
    method->SetMovingImageMask(mask);
    expectRefused(*method, "moving");
    method->SetMovingImageMask(nullptr);
    EXPECT_NO_THROW(method->Update()) << "without the mask";
  }
  // One voxel suffices for an image to vary.
  ImageType::IndexType middle;
  flat->TransformPhysicalPointToIndex(centre, middle);
  flat->SetPixel(middle, 71);
  flat->Modified();
  const auto method = problem.MakeMethod(GetParam());
  method->SetSearchAngles(0, 0);
  method->SetFixedImage(flat);
  method->SetFixedImageMask(mask);
  EXPECT_NO_THROW(method->Update());
}

/** The mask is not much larger than the coarsest level's pixels, and the moving image contains a part of it: that level has other pixels
 *  inside than the finest one. */
TEST_P(GlobalMethodTest, TheOverlapIsOfTheMask)
{
  using ProblemType = GlobalProblem<2>;
  const ProblemType problem(6, 20 * Degrees, ProblemType::Contrast::Same);
  const auto        moving = CutOutPart(*problem.moving);
  const auto        centre = problem.grid.GetCentre();
  const auto        isInside = [&](const auto & p) {
    const auto fromCentre = p - centre;
    return std::abs(fromCentre[0]) < 38 && std::abs(fromCentre[1]) < 6;
  };
  double inside = 0, overlapping = 0;
  for (itk::ImageRegionIteratorWithIndex<ProblemType::ImageType> it(problem.fixed, problem.fixed->GetBufferedRegion());
       !it.IsAtEnd();
       ++it)
  {
    ProblemType::PointType point;
    problem.fixed->TransformIndexToPhysicalPoint(it.GetIndex(), point);
    itk::ContinuousIndex<double, 2> index;
    const bool                      counts = isInside(point);
    inside += counts;
    overlapping +=
      counts && moving->TransformPhysicalPointToContinuousIndex(problem.truth->TransformPoint(point), index);
  }
  const auto method = problem.MakeMethod(GetParam());
  method->SetMovingImage(moving);
  method->SetFixedImageMask(MakeMask(*problem.fixed, isInside));
  method->SetDegreesOfFreedom(6);
  method->SetInitialTransform(problem.truth);
  method->SetSearchAngles(0, 0);
  method->Update();
  EXPECT_LT(overlapping, 0.9 * inside);
  EXPECT_NEAR(method->GetOverlap(), overlapping / inside, 0.04);
}

/** The method is not notified of the change. */
TEST_P(GlobalMethodTest, SeesAMaskThatChangesInPlace)
{
  using MaskType = itk::ImageMaskSpatialObject<2>;
  const GlobalProblem<2> problem(6, 20 * Degrees);
  for (const bool isOfFixed : { true, false })
  {
    SCOPED_TRACE(isOfFixed ? "fixed" : "moving");
    const auto mask = MakeMask(isOfFixed ? *problem.fixed : *problem.moving, [](const auto &) { return true; });
    const auto makeMethod = [&] {
      const auto method = problem.MakeMethod(GetParam());
      isOfFixed ? method->SetFixedImageMask(mask) : method->SetMovingImageMask(mask);
      method->SetInitialTransform(problem.truth);
      method->SetSearchAngles(0, 0);
      method->Update();
      return method;
    };
    const auto   method = makeMethod();
    const double before = method->GetFinalCost();
    // Half of the mask's voxels.
    const auto voxels = const_cast<MaskType::ImageType *>(mask->GetImage());
    auto       region = voxels->GetBufferedRegion();
    region.SetSize(1, region.GetSize(1) / 2);
    for (itk::ImageRegionIterator<MaskType::ImageType> it(voxels, region); !it.IsAtEnd(); ++it)
    {
      it.Set(0);
    }
    voxels->Modified();
    method->Update();
    EXPECT_NE(method->GetFinalCost(), before);
    EXPECT_EQ(method->GetFinalCost(), makeMethod()->GetFinalCost());
  }
}

/** The names of the stages follow from the levels, which settings change. */
TEST_P(GlobalMethodTest, SettingsCount)
{
  const GlobalProblem<2> problem(12, 20 * Degrees);
  const auto             method = problem.MakeMethod(GetParam());
  method->SetInitialTransform(problem.truth);
  method->SetSearchAngles(0, 0);
  const auto getStages = [&] {
    method->Update();
    std::string names;
    for (unsigned int stage = 1; stage < method->GetNumberOfStages(); ++stage)
    {
      names += (stage > 1 ? "; " : "") + method->GetStageName(stage);
    }
    return names;
  };
  // Pixels of 1.9 × 2 mm.
  EXPECT_EQ(getStages(), "12 mm; 8 mm; 4 mm; 2 mm, thinned; 2 mm");
  const double cost = method->GetFinalCost();
  const double overlap = method->GetOverlap();
  method->SetFinestSpacing(0.5);
  EXPECT_EQ(getStages(), "4 mm; 2 mm; 2 mm; 2 mm, thinned; 2 mm");
  EXPECT_NEAR(method->GetFinalCost(), cost, 0.1 * cost) << "the finest level is the same";
  // Levels have at least sixteen pixels along each axis.
  method->SetFinestSpacing(4);
  EXPECT_EQ(getStages(), "12 mm; 12 mm; 8 mm; 4 mm, thinned; 4 mm");
  EXPECT_GT(std::abs(method->GetFinalCost() - cost), 0.1 * cost);
  method->SetFinestSpacing(0);

  EXPECT_LT(overlap, 0.98);
  method->SetLeastOverlap(1);
  method->Update();
  // Outside of the overlap, nothing counts as explained.
  EXPECT_GT(method->GetFinalCost(), 0.5 * (1 - method->GetOverlap()));
  EXPECT_LT(cost, 0.5 * (1 - overlap));
  EXPECT_GE(method->GetOverlap(), overlap);
  method->SetLeastOverlap(0.25);

  method->SetNumberOfHistogramBins(4);
  method->Update();
  EXPECT_GT(method->GetFinalCost(), 4 * cost) << "with fewer bins, more remains unexplained";
}

/** Each image is uploaded once. The images of the coarsest level are downloaded, and a little for each evaluation, which contains no
 *  voxels; with a mask, those of 2 and 4 mm, too, and enough of the image to test that it varies inside. */
TEST_P(GlobalMethodTest, VoxelsCrossTheBusOnce)
{
  const GlobalProblem<3> problem(6, 20 * Degrees);
  const auto             bytesOf = [](const itk::Image<float, 3> & image) {
    return static_cast<std::int64_t>(sizeof(float) * image.GetBufferedRegion().GetNumberOfPixels());
  };
  const std::int64_t fixed = bytesOf(*problem.fixed);
  const std::int64_t moving = bytesOf(*problem.moving);
  // Two voxels along each axis are joined to one; the remaining ones are left out.
  const auto coarsest = static_cast<std::int64_t>(sizeof(float)) * (16 * 17 * 16 + 20 * 20 * 20);
  const bool hasBus = !this->GetDevice().IsHost();
  const auto method = problem.MakeMethod(GetParam());
  method->SetDegreesOfFreedom(6);
  method->SetInitialTransform(problem.truth);
  method->SetSearchAngles(0, 0);
  const auto expectBytes = [&](std::int64_t up, std::int64_t leastDown, std::int64_t mostDown) {
    method->Update();
    std::int64_t evaluations = 0;
    for (unsigned int stage = 0; stage < method->GetNumberOfStages(); ++stage)
    {
      evaluations += static_cast<std::int64_t>(method->GetStageEvaluations(stage));
    }
    const auto         statistics = method->GetEvaluationStatistics();
    const std::int64_t little = fixed / 2;
    EXPECT_GE(statistics.bytesUp, hasBus ? up : 0);
    EXPECT_LT(statistics.bytesUp, hasBus ? up + little : 1);
    EXPECT_GE(statistics.bytesDown, hasBus ? leastDown : 0);
    EXPECT_LT(statistics.bytesDown, hasBus ? mostDown + evaluations * fixed / 16 : 1);
    EXPECT_GE(statistics.deviceBytes, hasBus ? fixed + moving : 0);
  };
  expectBytes(fixed + moving, coarsest, coarsest);
  method->SetFixedImageMask(MakeMask(*problem.fixed, [](const auto &) { return true; }));
  // Images and masks: with voxels of 4.8 mm, these are the levels of 2 and 4 mm.
  expectBytes(2 * fixed + moving, 4 * fixed, 6 * fixed + 4 * coarsest);
}

/** A single voxel of 1e9 would become the centre of mass. */
TEST_P(GlobalMethodTest, TakesOutliersForTheirNeighboursAndWarnsOfThem)
{
  const GlobalProblem<3> problem(6, 20 * Degrees);
  const auto             method = problem.MakeMethod(GetParam());
  method->SetDegreesOfFreedom(6);
  problem.fixed->GetBufferPointer()[5000] = 1e9F;
  problem.fixed->Modified();
  const std::string warning = "the fixed image has 1 value above ";
  const Listening   listening;
  method->Update();
  EXPECT_TRUE(IsWithinRecord(GetParam(), problem.GetError(*method->GetTransform()), 0.00643));
  ASSERT_FALSE(method->GetWarnings().empty());
  EXPECT_EQ(method->GetWarnings().front().find(warning), 0u) << method->GetWarnings().front();
  EXPECT_EQ(listening.window->Count(warning), 1u);
  // With a given range there is no warning.
  auto range = method->GetFixedImageRange();
  range[0] = -1e4;
  range[1] = 1e4;
  method->SetFixedImageRange(range);
  method->Update();
  EXPECT_EQ(listening.window->Count(warning), 1u);
}

TEST_P(GlobalMethodTest, WarnsOfImagesOfOtherThings)
{
  const GlobalProblem<3> problem(6, 20 * Degrees);
  const auto             method = problem.MakeMethod(GetParam());
  method->SetSearchAngles(0, 0);
  std::mt19937                          random(1);
  std::uniform_real_distribution<float> any(0, 1);
  float * const                         values = problem.moving->GetBufferPointer();
  std::generate_n(values, problem.moving->GetBufferedRegion().GetNumberOfPixels(), [&] { return any(random); });
  problem.moving->Modified();
  const Listening listening;
  method->Update();
  EXPECT_EQ(listening.window->Count("the edges of the images agree no better"), 1u);
}

TEST_P(GlobalMethodTest, MeasuresKernelTimes)
{
  const GlobalProblem<2> problem(6, 20 * Degrees);
  const auto             method = problem.MakeMethod(GetParam());
  method->SetInitialTransform(problem.truth);
  method->SetSearchAngles(0, 0);
  method->Update();
  EXPECT_EQ(method->GetEvaluationStatistics().kernelMilliseconds, 0);
  EXPECT_GT(method->GetEvaluationStatistics().launches, 0);
  const auto found = method->GetTransform()->GetParameters();
  method->SetMeasuresKernelTime(true);
  method->Modified();
  method->Update();
  EXPECT_EQ(method->GetTransform()->GetParameters(), found);
  const auto statistics = method->GetEvaluationStatistics();
  EXPECT_GT(statistics.kernelMilliseconds, 0);
  EXPECT_LT(statistics.kernelMilliseconds, statistics.evaluateMilliseconds);
}

TEST_P(GlobalMethodTest, ReportsItsProgressAndCanBeAborted)
{
  const GlobalProblem<2>   problem(6, 10 * Degrees);
  const auto               method = problem.MakeMethod(GetParam());
  unsigned int             iterations = 0;
  float                    lastProgress = 0;
  std::vector<std::string> stages;
  method->AddObserver(itk::IterationEvent(), [&](const itk::EventObject &) {
    ++iterations;
    EXPECT_GE(method->GetProgress(), lastProgress);
    EXPECT_LE(method->GetProgress(), 1.0F);
    lastProgress = method->GetProgress();
    if (stages.empty() || stages.back() != method->GetCurrentStage())
    {
      stages.push_back(method->GetCurrentStage());
    }
  });
  method->Update();
  EXPECT_GT(iterations, 60u);
  EXPECT_GT(lastProgress, 0.85F);
  ASSERT_EQ(stages.size(), method->GetNumberOfStages());
  EXPECT_EQ(stages.back(), "2 mm");
  const auto found = method->GetTransform()->GetParameters();
  method->AddObserver(itk::IterationEvent(), [&](const itk::EventObject &) {
    if (iterations > 30)
    {
      method->AbortGenerateDataOn();
    }
  });
  iterations = 0;
  lastProgress = 0;
  method->Modified();
  EXPECT_THROW(method->Update(), itk::ProcessAborted);
  EXPECT_EQ(iterations, 31u);
  method->RemoveAllObservers();
  method->AbortGenerateDataOff();
  method->Update();
  EXPECT_EQ(method->GetTransform()->GetParameters(), found);
}

TEST_P(GlobalMethodTest, PrintsItself)
{
  const auto         method = GlobalMethodOf<3>::New();
  std::ostringstream text;
  method->Print(text);
  for (const char * name : { "Device: ",
                             "InitialTransform: (null)",
                             "FixedImageMask: (null)",
                             "MovingImageMask: (null)",
                             "DegreesOfFreedom: 12",
                             "Cost: gpureg::GlobalCost::CorrelationRatio",
                             "Optimizer: gpureg::GlobalOptimizer::QuasiNewton",
                             "SearchAngles: [-180, 180] [-180, 180] [-180, 180]",
                             "FinestSpacing: 0",
                             "NumberOfHistogramBins: 0",
                             "NeighborhoodRadius: 4",
                             "LeastOverlap: 0.25",
                             "CurrentStage: " })
  {
    EXPECT_NE(text.str().find(name), std::string::npos) << name;
  }
  const GlobalProblem<3> problem(6, 0);
  const auto             mask = MakeMask(*problem.fixed, [](const auto &) { return true; });
  method->SetInitialTransform(problem.truth);
  method->SetFixedImageMask(mask);
  method->SetMovingImageMask(mask);
  text.str("");
  method->Print(text);
  const std::string all = text.str();
  for (const char * name : { "InitialTransform: ", "FixedImageMask: ", "MovingImageMask: " })
  {
    EXPECT_NE(all.find(name), std::string::npos) << name;
    EXPECT_EQ(all.find(name + std::string("(null)")), std::string::npos) << name;
  }
  EXPECT_NE(all.find("AffineTransform"), std::string::npos);
  EXPECT_NE(all.find("ImageMaskSpatialObject"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Devices, GlobalMethodTest, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace gpuregtest
