// SPDX-License-Identifier: Apache-2.0
// A misalignment and a deformation that are known are found by the program RegisterFiles, whose files say the same as each other;
// and by the free-form stage alone, on larger voxels too.
#include "DeformationError.h"
#include "FreeFormStage.h"
#include "ImageFile.h"
#include "KnownDeformation.h"
#include "LabelDice.h"
#include "ProgramTest.h"
#include "WavyBall.h"

#include "itkCompositeTransform.h"
#include "itkIdentityTransform.h"
#include "itkImageRegionIteratorWithIndex.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <sstream>
#include <string>

namespace
{

using namespace example;

/** Of the ball's eight parts, each with a number; 0 outside. */
Labels::Pointer
MakeParts(const Volume * ball)
{
  const auto labels = Labels::New();
  labels->CopyInformation(ball);
  labels->SetRegions(ball->GetBufferedRegion());
  labels->Allocate();
  for (itk::ImageRegionIteratorWithIndex<Labels> voxel(labels, labels->GetBufferedRegion()); !voxel.IsAtEnd(); ++voxel)
  {
    const auto point = labels->TransformIndexToPhysicalPoint<double>(voxel.GetIndex());
    const auto part = 1 + (point[0] > 47) + 2 * (point[1] > 49) + 4 * (point[2] > 44);
    voxel.Set(static_cast<short>(ball->GetPixel(voxel.GetIndex()) > 40 ? part : 0));
  }
  return labels;
}

/** The ball is misaligned as the moving image, and deformed as the fixed one. */
struct Problem
{
  Problem()
  {
    const auto             ball = MakeWavyBall();
    itk::Vector<double, 3> axis;
    axis.Fill(1.0);
    itk::Vector<double, 3> shift;
    shift[0] = 4;
    shift[1] = -3;
    shift[2] = 2;
    Volume::PointType centre;
    centre[0] = 47;
    centre[1] = 49;
    centre[2] = 44;
    affine->SetCenter(centre);
    affine->Scale(1.04);
    affine->Rotate3D(axis, 0.12);
    affine->Translate(shift);
    const auto inverse = affine->GetInverseTransform();
    const auto deformation = MakeKnownDeformation(ball, DeformationKind::BSpline, 11, 6.0, 12.0).transform;
    const auto parts = MakeParts(ball);
    fixed = MakeDeformedPair(ball, deformation).fixed;
    fixedParts = ResampleLabels(parts, ball, deformation);
    moving = Resample(ball, ball, inverse);
    movingParts = ResampleLabels(parts, ball, inverse);
    const auto composite = itk::CompositeTransform<double, 3>::New();
    composite->AddTransform(affine);
    composite->AddTransform(deformation); // the first to be applied
    truth = composite.GetPointer();
  }

  double
  GetMeanError(const Transform * transform) const
  {
    return MeasureDeformationError(transform, truth, fixed, FindHeadThreshold(fixed)).head.mean;
  }

  itk::AffineTransform<double, 3>::Pointer affine = itk::AffineTransform<double, 3>::New();
  Volume::Pointer                          fixed;
  Volume::Pointer                          moving;
  Labels::Pointer                          fixedParts;
  Labels::Pointer                          movingParts;
  Transform::Pointer                       truth;
};

/** The largest difference between two images. */
double
GetLargestDifference(const Volume * a, const Volume * b)
{
  EXPECT_EQ(a->GetBufferedRegion(), b->GetBufferedRegion());
  double     largest = 0;
  const auto count = a->GetBufferedRegion().GetNumberOfPixels();
  for (itk::SizeValueType n = 0; n < count; ++n)
  {
    largest = std::max<double>(largest, std::abs(a->GetBufferPointer()[n] - b->GetBufferPointer()[n]));
  }
  return largest;
}

TEST(RegisterFiles, FindsAKnownDeformationAndWritesWhatItFound)
{
  const Problem problem;
  for (const auto & device : itk::GPUDevice::GetAvailable())
  {
    SCOPED_TRACE(device.GetName());
    const Folder folder;
    WriteVolume(problem.fixed, folder / "fixed.mha");
    WriteVolume(problem.moving, folder / "moving.mha");
    WriteLabels(problem.movingParts, folder / "labels.mha");
    WriteTransform(problem.truth, folder / "truth.tfm");
    const auto run = [&](const std::string & output, const std::string & options) {
      return Execute(FindProgram("RegisterFiles") + " " + (folder / "fixed.mha") + " " + (folder / "moving.mha") + " " +
                       (folder / output) + " --device " + device.GetName() + " " + options,
                     folder / "log");
    };
    run("affine.mha", "--affine");
    const auto text =
      run("warped.mha",
          "--free-form --spacing 10 --field " + (folder / "field.mha") + " --labels " + (folder / "labels.mha") +
            " --warped-labels " + (folder / "warped-labels.mha") + " --truth " + (folder / "truth.tfm"));
    EXPECT_NE(text.find("smallest Jacobian determinant 0."), std::string::npos) << text;

    const auto   affine = ReadTransform(folder / "affine.tfm");
    const auto   transform = ReadTransform(folder / "warped.tfm");
    const double affineError = problem.GetMeanError(affine);
    const double error = problem.GetMeanError(transform);
    const auto affineDice = ComputeDice(problem.fixedParts, ResampleLabels(problem.movingParts, problem.fixed, affine));
    const auto warpedLabels = ReadLabels(folder / "warped-labels.mha");
    const auto dice = ComputeDice(problem.fixedParts, warpedLabels);
    std::cout << device.GetName() << ": mean error " << affineError << " mm after affine, " << error
              << " mm after free-form; Dice " << affineDice << "; " << dice << '\n';
    EXPECT_LT(affineError, 0.5 * problem.GetMeanError(itk::IdentityTransform<double, 3>::New()));
    EXPECT_LT(error, 0.2 * affineError);
    // By nearest neighbour twice, labels are not the same even where nothing is wrong.
    const double best =
      GetMeanDice(ComputeDice(problem.fixedParts, ResampleLabels(problem.movingParts, problem.fixed, problem.truth)));
    EXPECT_LT(GetMeanDice(affineDice), best - 0.03);
    EXPECT_GT(GetMeanDice(dice), best - 0.01);

    // ITK itself, with the transform that was written, makes of the moving files what was written.
    const auto warped = ReadVolume(folder / "warped.mha");
    EXPECT_LT(GetLargestDifference(warped, Resample(problem.moving, problem.fixed, transform)), 1e-3);
    EXPECT_GT(GetLargestDifference(warped, ReadVolume(folder / "affine.mha")), 10.0);
    const auto same = ComputeDice(warpedLabels, ResampleLabels(problem.movingParts, problem.fixed, transform));
    EXPECT_GT(GetSmallestDice(same).dice, 0.9999);
    const auto field = ReadImageFile<DisplacementField>(folder / "field.mha", "a displacement field");
    const auto expected = SampleDisplacements(transform, problem.fixed);
    ASSERT_EQ(field->GetBufferedRegion(), expected->GetBufferedRegion());
    double largest = 0;
    for (itk::SizeValueType n = 0; n < field->GetBufferedRegion().GetNumberOfPixels(); ++n)
    {
      largest = std::max(largest, (field->GetBufferPointer()[n] - expected->GetBufferPointer()[n]).GetNorm());
    }
    EXPECT_LT(largest, 1e-5); // mm: written as floats
  }
}

TEST(FreeFormStage, FindsAKnownDeformationOnLargerVoxelsToo)
{
  const Problem    problem;
  FreeFormSettings settings;
  settings.device = itk::GPUDevice::FromName("host");
  settings.spacing = 10;
  settings.levels = 2;
  const double before = problem.GetMeanError(problem.affine);
  for (const unsigned int shrink : { 1u, 2u })
  {
    settings.shrink = shrink;
    std::ostringstream progress;
    const auto         result = RegisterFreeForm(problem.fixed, problem.moving, problem.affine, settings, progress);
    const double       error = problem.GetMeanError(result.transform);
    std::cout << "voxels " << shrink << " times as long: " << result << ", error " << error << " mm, before " << before
              << " mm\n";
    EXPECT_LT(error, (shrink == 1 ? 0.15 : 0.3) * before);
    EXPECT_GT(result.smallestDeterminant, 0.0);
    ASSERT_EQ(result.costs.size(), 2u);
    for (const auto & level : result.costs)
    {
      EXPECT_LT(level.last, level.first);
    }
  }
}

TEST(MakeCoarserGrid, ReachesOverTheImageAboutItsCentre)
{
  const auto image = MakeWavyBall();
  image->SetRegions(Volume::SizeType{ { 49, 40, 36 } });
  image->SetOrigin(image->TransformIndexToPhysicalPoint<double>({ { 3, -5, 7 } }));
  const auto grid = MakeCoarserGrid(image, 2);
  EXPECT_EQ(grid->GetLargestPossibleRegion().GetSize(), (VolumeGrid::SizeType{ { 25, 20, 18 } }));
  EXPECT_EQ(grid->GetSpacing(), image->GetSpacing() * 2.0);
  // An odd number of voxels begins with the same one, an even number with two of them.
  const auto first = image->TransformPhysicalPointToContinuousIndex<double>(grid->GetOrigin());
  EXPECT_NEAR(first[0], 0.0, 1e-12);
  EXPECT_NEAR(first[1], 0.5, 1e-12);
  EXPECT_NEAR(first[2], 0.5, 1e-12);
}

} // namespace
