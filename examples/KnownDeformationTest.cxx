// SPDX-License-Identifier: Apache-2.0
// Tests that deformations are as large as requested and the same for the same seed, and that measures give known values.
#include "DeformationError.h"
#include "DisplacementField.h"
#include "KnownDeformation.h"
#include "LabelDice.h"

#include "itkImageRegionIteratorWithIndex.h"
#include "itkMultiThreaderBase.h"
#include "itkTranslationTransform.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

namespace
{

using namespace example;

/** Returns a ball of 100 on a dark background, with a darker one inside: 36 × 40 × 32 voxels of 5 mm, rotated about z. */
Volume::Pointer
MakePhantom()
{
  Volume::SpacingType spacing;
  spacing.Fill(5.0);
  Volume::PointType origin;
  origin[0] = 20;
  origin[1] = -30;
  origin[2] = 7;
  Volume::DirectionType direction;
  direction.SetIdentity();
  direction(0, 0) = direction(1, 1) = std::cos(0.3);
  direction(1, 0) = std::sin(0.3);
  direction(0, 1) = -direction(1, 0);
  const auto image = Volume::New();
  image->SetRegions(Volume::SizeType{ { 36, 40, 32 } });
  image->SetSpacing(spacing);
  image->SetOrigin(origin);
  image->SetDirection(direction);
  image->Allocate();
  for (itk::ImageRegionIteratorWithIndex<Volume> voxel(image, image->GetBufferedRegion()); !voxel.IsAtEnd(); ++voxel)
  {
    const auto & index = voxel.GetIndex();
    const double radius =
      std::sqrt(std::pow(index[0] - 17.5, 2) + std::pow(index[1] - 19.5, 2) + std::pow(index[2] - 15.5, 2));
    voxel.Set(radius < 6 ? 60 : radius < 13 ? 100 : radius < 14 ? 3 : 0);
  }
  return image;
}

itk::TranslationTransform<double, 3>::Pointer
MakeShift(double x, double y, double z)
{
  itk::Vector<double, 3> offset;
  offset[0] = x;
  offset[1] = y;
  offset[2] = z;
  const auto shift = itk::TranslationTransform<double, 3>::New();
  shift->Translate(offset);
  return shift;
}

/** Returns the displacements of voxels that are not exactly 0. */
std::vector<double>
GetDisplacements(const Transform * transform, const Volume * image)
{
  std::vector<double> lengths;
  for (itk::ImageRegionConstIteratorWithIndex<Volume> voxel(image, image->GetBufferedRegion()); !voxel.IsAtEnd();
       ++voxel)
  {
    if (voxel.Get() != 0)
    {
      const auto point = image->TransformIndexToPhysicalPoint<double>(voxel.GetIndex());
      lengths.push_back(transform->TransformPoint(point).EuclideanDistanceTo(point));
    }
  }
  return lengths;
}

double
GetMean(const std::vector<double> & values)
{
  double sum = 0;
  for (const double value : values)
  {
    sum += value;
  }
  return sum / static_cast<double>(values.size());
}

bool
AreSame(const DisplacementField * a, const DisplacementField * b)
{
  const auto count = a->GetBufferedRegion().GetNumberOfPixels();
  return std::equal(a->GetBufferPointer(), a->GetBufferPointer() + count, b->GetBufferPointer());
}

class KnownDeformationOf : public testing::TestWithParam<DeformationKind>
{};

TEST_P(KnownDeformationOf, HasTheMeanDisplacementThatWasAskedFor)
{
  const auto image = MakePhantom();
  for (std::uint32_t seed = 1; seed < 6; ++seed)
  {
    // Less than for heads, since the phantom is smaller; and a maximum that is not reached.
    const auto known = MakeKnownDeformation(image, GetParam(), seed, 3.0, 100.0);
    const auto lengths = GetDisplacements(known.transform, image);
    EXPECT_NEAR(GetMean(lengths), 3.0, 1e-9) << known;
    EXPECT_NEAR(known.meanDisplacement, 3.0, 1e-9) << known;
    EXPECT_NEAR(known.largestDisplacement, *std::max_element(lengths.begin(), lengths.end()), 1e-9) << known;
    EXPECT_GT(known.smallestDeterminant, 0.1) << known;
    const auto jacobian = MeasureJacobian(SampleDisplacements(known.transform, image));
    EXPECT_NEAR(known.smallestDeterminant, jacobian.smallest, 1e-9) << known;
    EXPECT_EQ(jacobian.folded, 0u) << known;
  }
}

TEST_P(KnownDeformationOf, IsLessWhereItWouldComeToTheMaximum)
{
  const auto image = MakePhantom();
  const auto known = MakeKnownDeformation(image, GetParam(), 1, 3.0, 4.0);
  const auto lengths = GetDisplacements(known.transform, image);
  EXPECT_NEAR(*std::max_element(lengths.begin(), lengths.end()), 4.0, 1e-9) << known;
  EXPECT_NEAR(known.largestDisplacement, 4.0, 1e-9) << known;
  EXPECT_NEAR(known.meanDisplacement, GetMean(lengths), 1e-9) << known;
  EXPECT_LT(known.meanDisplacement, 3.0) << known;
}

TEST_P(KnownDeformationOf, TheSameSeedIsTheSameToTheBit)
{
  const auto         image = MakePhantom();
  const auto         first = MakeKnownDeformation(image, GetParam(), 7, 3.0);
  const unsigned int threads = itk::MultiThreaderBase::GetGlobalDefaultNumberOfThreads();
  itk::MultiThreaderBase::SetGlobalDefaultNumberOfThreads(threads > 1 ? 1 : 3);
  const auto second = MakeKnownDeformation(image, GetParam(), 7, 3.0);
  itk::MultiThreaderBase::SetGlobalDefaultNumberOfThreads(threads);
  const auto other = MakeKnownDeformation(image, GetParam(), first.seed + 1, 3.0);
  EXPECT_EQ(first.seed, second.seed);
  EXPECT_EQ(first.smallestDeterminant, second.smallestDeterminant);
  const auto field = SampleDisplacements(first.transform, image);
  EXPECT_TRUE(AreSame(field, SampleDisplacements(second.transform, image)));
  EXPECT_FALSE(AreSame(field, SampleDisplacements(other.transform, image)));
}

TEST_P(KnownDeformationOf, OneThatFoldsIsDrawnAgain)
{
  const auto image = MakePhantom();
  // So large that this seed's deformation folds.
  const bool          isSpline = GetParam() == DeformationKind::BSpline;
  const std::uint32_t seed = isSpline ? 5 : 1;
  const auto          known = MakeKnownDeformation(image, GetParam(), seed, isSpline ? 14.0 : 7.0, 1000.0);
  EXPECT_GT(known.seed, seed);
  EXPECT_GT(known.smallestDeterminant, 0.1);
  EXPECT_THROW(MakeKnownDeformation(image, GetParam(), 1, 1000.0, 1000.0), std::runtime_error);
}

TEST_P(KnownDeformationOf, TheTruthHasNoError)
{
  const auto image = MakePhantom();
  const auto known = MakeKnownDeformation(image, GetParam(), 3, 3.0);
  const auto pair = MakeDeformedPair(image, known.transform);
  const auto threshold = ComputeHeadThreshold(pair.fixed);
  for (const auto & error :
       { MeasureDeformationError(known.transform, pair.truth, pair.fixed, threshold),
         MeasureDeformationError(SampleDisplacements(known.transform, pair.fixed), pair.truth, pair.fixed, threshold) })
  {
    EXPECT_NEAR(error.all.maximum, 0.0, 1e-12);
    EXPECT_NEAR(error.head.maximum, 0.0, 1e-12);
    EXPECT_GT(error.all.voxels, error.head.voxels);
    EXPECT_GT(error.head.voxels, 1000u);
  }
  EXPECT_EQ(MeasureDeformationError(known.transform, pair.truth, pair.fixed, threshold).all.maximum, 0.0);
}

INSTANTIATE_TEST_SUITE_P(,
                         KnownDeformationOf,
                         testing::Values(DeformationKind::BSpline, DeformationKind::ThinPlate),
                         [](const auto & info) {
                           return info.param == DeformationKind::BSpline ? "BSpline" : "ThinPlate";
                         });

TEST(KnownDeformation, AnImageOfZerosHasNone)
{
  const auto image = MakePhantom();
  image->FillBuffer(0);
  EXPECT_THROW(MakeKnownDeformation(image, DeformationKind::BSpline, 1), std::runtime_error);
  EXPECT_THROW(MakeKnownDeformation(image, DeformationKind::ThinPlate, 1), std::runtime_error);
}

TEST(MakeDeformedPair, TheFixedImageIsWhatTheTruthLeadsTo)
{
  const auto image = MakePhantom();
  // Two voxels along the image's x axis.
  const auto & direction = image->GetDirection();
  const auto   shift = MakeShift(10 * direction(0, 0), 10 * direction(1, 0), 10 * direction(2, 0));
  const auto   pair = MakeDeformedPair(image, shift);
  EXPECT_NEAR(pair.fixed->GetPixel({ { 10, 20, 16 } }), image->GetPixel({ { 12, 20, 16 } }), 1e-3);
  EXPECT_NEAR(pair.fixed->GetPixel({ { 4, 20, 16 } }), image->GetPixel({ { 6, 20, 16 } }), 1e-3);
  EXPECT_EQ(pair.moving.GetPointer(), image.GetPointer());
}

TEST(DeformationError, OfAShiftIsItsLength)
{
  const auto image = MakePhantom();
  const auto identity = MakeShift(0, 0, 0);
  const auto error = MeasureDeformationError(MakeShift(0.6, 0, -0.8).GetPointer(), identity, image, 50);
  for (const auto & statistics : { error.all, error.head })
  {
    EXPECT_NEAR(statistics.mean, 1.0, 1e-12);
    EXPECT_NEAR(statistics.median, 1.0, 1e-12);
    EXPECT_NEAR(statistics.percentile95, 1.0, 1e-12);
    EXPECT_NEAR(statistics.maximum, 1.0, 1e-12);
  }
}

/** Distances of 0 to 100 mm along a row of 101 voxels, of which the first is 0 and the last 50 are bright. */
TEST(DeformationError, HasItsVoxelsAndPercentiles)
{
  const auto image = Volume::New();
  image->SetRegions(Volume::SizeType{ { 101, 1, 1 } });
  image->Allocate();
  const auto field = DisplacementField::New();
  field->SetRegions(image->GetBufferedRegion());
  field->Allocate();
  for (int x = 0; x <= 100; ++x)
  {
    image->SetPixel({ { x, 0, 0 } }, x == 0 ? 0 : x <= 50 ? 1 : 2);
    itk::Vector<double, 3> vector(0.0);
    vector[2] = x;
    field->SetPixel({ { x, 0, 0 } }, vector);
  }
  const auto identity = MakeShift(0, 0, 0);
  const auto error = MeasureDeformationError(field, identity, image, 1);
  EXPECT_EQ(error.all.voxels, 100u);
  EXPECT_NEAR(error.all.mean, 50.5, 1e-12);
  EXPECT_NEAR(error.all.median, 50, 1e-12);
  EXPECT_NEAR(error.all.percentile95, 95, 1e-12);
  EXPECT_NEAR(error.all.maximum, 100, 1e-12);
  EXPECT_EQ(error.head.voxels, 50u);
  EXPECT_NEAR(error.head.mean, 75.5, 1e-12);
  EXPECT_NEAR(error.head.median, 75, 1e-12);
  EXPECT_THROW(MeasureDeformationError(field, identity, image, 2), std::runtime_error);
}

TEST(DeformationError, TheHeadIsBrighterThanHalfOfOtsusThreshold)
{
  const double threshold = ComputeHeadThreshold(MakePhantom());
  // Otsu's threshold is in the first bin above the dark shell's 3.
  EXPECT_GT(threshold, 1.5);
  EXPECT_LT(threshold, 1.7);
}

TEST(MeasureJacobian, OfAnAffineMapIsItsDeterminant)
{
  const auto image = MakePhantom();
  const auto affine = itk::AffineTransform<double, 3>::New();
  affine->Scale(1.2);
  affine->Shear(0, 2, 0.3);
  affine->Rotate(0, 1, 0.5);
  const auto field = SampleDisplacements(affine, image);
  const auto jacobian = MeasureJacobian(field);
  EXPECT_NEAR(jacobian.smallest, 1.2 * 1.2 * 1.2, 1e-10);
  EXPECT_EQ(jacobian.folded, 0u);

  // Scaled by two, the map to the origin is a reflection through it.
  const auto nothing = itk::AffineTransform<double, 3>::New();
  nothing->Scale(1e-12);
  const auto reflected = MeasureJacobian(SampleDisplacements(nothing, image), 2.0);
  EXPECT_NEAR(reflected.smallest, -1.0, 1e-10);
  EXPECT_EQ(reflected.folded, 34u * 38u * 30u);

  const auto slice = DisplacementField::New();
  slice->SetRegions(DisplacementField::SizeType{ { 8, 8, 1 } });
  slice->Allocate(true);
  EXPECT_THROW(MeasureJacobian(slice), std::runtime_error);
}

/** Returns boxes of labels 1 and 2, side by side along y, shifted along x. */
Labels::Pointer
MakeBoxes(int shift)
{
  const auto labels = Labels::New();
  labels->SetRegions(Labels::SizeType{ { 20, 20, 10 } });
  labels->Allocate(true);
  for (int z = 2; z < 6; ++z)
  {
    for (int y = 4; y < 16; ++y)
    {
      for (int x = 4; x < 9; ++x)
      {
        labels->SetPixel({ { x + shift, y, z } }, y < 8 ? 1 : 2);
      }
    }
  }
  return labels;
}

TEST(ComputeDice, OfTheSameIsOne)
{
  const auto dice = ComputeDice(MakeBoxes(0), MakeBoxes(0));
  ASSERT_EQ(dice.size(), 2u);
  EXPECT_EQ(dice[0].label, 1);
  EXPECT_EQ(dice[0].dice, 1.0);
  EXPECT_EQ(dice[0].sizeA, 5u * 4u * 4u);
  EXPECT_EQ(dice[1].label, 2);
  EXPECT_EQ(dice[1].dice, 1.0);
  EXPECT_EQ(GetMeanDice(dice), 1.0);
}

TEST(ComputeDice, OfShiftedBoxesIsWhatTheyShare)
{
  auto a = MakeBoxes(0);
  auto b = MakeBoxes(2);
  b->SetPixel({ { 0, 0, 0 } }, 7); // a label that the other image does not have
  const auto dice = ComputeDice(a, b);
  ASSERT_EQ(dice.size(), 3u);
  EXPECT_DOUBLE_EQ(dice[0].dice, 3.0 / 5.0);
  EXPECT_DOUBLE_EQ(dice[1].dice, 3.0 / 5.0);
  EXPECT_EQ(dice[2].label, 7);
  EXPECT_EQ(dice[2].dice, 0.0);
  EXPECT_EQ(dice[2].sizeA, 0u);
  EXPECT_EQ(dice[2].sizeB, 1u);
  EXPECT_DOUBLE_EQ(GetMeanDice(dice), 0.4);
  EXPECT_EQ(GetSmallestDice(dice).label, 7);
}

TEST(ComputeDice, AShiftIsUndone)
{
  const auto back = ResampleLabels(MakeBoxes(2), MakeBoxes(0), MakeShift(2, 0, 0));
  EXPECT_EQ(GetMeanDice(ComputeDice(MakeBoxes(0), back)), 1.0);
}

TEST(ComputeDice, BadInput)
{
  const auto other = Labels::New();
  other->SetRegions(Labels::SizeType{ { 2, 2, 2 } });
  other->Allocate(true);
  EXPECT_THROW(ComputeDice(MakeBoxes(0), other), std::runtime_error);
  EXPECT_THROW(GetMeanDice(ComputeDice(other, other)), std::runtime_error);
  EXPECT_THROW(GetSmallestDice(ComputeDice(other, other)), std::runtime_error);
  EXPECT_THROW(ReadLabels("there-is-none.nii.gz"), std::runtime_error);
}

/** A number that a short cannot hold is not taken for another label. */
TEST(ReadLabels, TakesWholeNumbersOnly)
{
  const std::string name = testing::TempDir() + "labels-of-floats.mha";
  const auto        numbers = Volume::New();
  numbers->SetRegions(Volume::SizeType{ { 2, 2, 2 } });
  numbers->Allocate(true);
  const auto write = [&](float value) {
    numbers->SetPixel({ { 1, 0, 1 } }, value);
    WriteVolume(numbers, name);
  };
  write(-32768);
  EXPECT_EQ(ReadLabels(name)->GetPixel({ { 1, 0, 1 } }), -32768);
  EXPECT_EQ(ReadLabels(name)->GetPixel({ { 0, 0, 1 } }), 0);
  for (const float wrong : { 2.5f, 32768.0f, std::numeric_limits<float>::quiet_NaN() })
  {
    write(wrong);
    EXPECT_THROW(ReadLabels(name), std::runtime_error) << wrong;
  }
  std::remove(name.c_str());
}

} // namespace
