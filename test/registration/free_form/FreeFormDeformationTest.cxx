// SPDX-License-Identifier: Apache-2.0
// Tests free-form deformation: it recovers known deformations, on every device, and with the same bits each time, in any geometry; it
// refuses bad input, and works again afterwards. The cost is the weighted sum of a similarity and penalties.
#include "ErrorOfRecord.h"
#include "BentTransform.h"
#include "FreeFormProblem.h"
#include "ImageComparison.h"
#include "Listening.h"
#include "TestDevices.h"
#include "TestSeeds.h"

#include "gpureg/runtime/Device.h"

#include "itkCudaMattesNMI.h"
#include "itkGPUBSplinePenaltyMetric.h"

#include "itkAffineTransform.h"
#include "itkCommand.h"
#include "itkImageMaskSpatialObject.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <limits>
#include <random>

namespace gpuregtest
{

namespace
{
template <unsigned int VDimension>
itk::Array<double>
GetPoints(const MethodOf<VDimension> & method)
{
  return method.GetDeformation()->GetParameters();
}

class FreeFormDeformationTest : public DeviceTest
{
protected:
  template <unsigned int VDimension>
  void
  ExpectFound()
  {
    const Problem<VDimension> problem(GetSeeds(41, 1).first);
    const auto                method = problem.MakeMethod(GetParam());
    method->Update();
    const auto identity = itk::AffineTransform<double, VDimension>::New();
    EXPECT_GT(problem.GetError(*identity), 0.9);
    EXPECT_TRUE(IsWithinRecord(GetParam(), problem.GetError(*method->GetTransform()), 0.0895));
    EXPECT_GT(method->GetSmallestJacobianDeterminant(), 0.3);
    double seconds = 0;
    for (unsigned int level = 0; level < 2; ++level)
    {
      ASSERT_EQ(method->GetCosts(level).size(), 40u);
      EXPECT_LT(method->GetCosts(level).back(), method->GetCosts(level).front());
      EXPECT_GT(method->GetElapsedSeconds(level), 0);
      seconds += method->GetElapsedSeconds(level);
    }
    EXPECT_LE(seconds, method->GetElapsedSeconds());
    EXPECT_THROW(method->GetCosts(2), itk::GPUBadInputError);
    EXPECT_THROW(method->GetElapsedSeconds(2), itk::GPUBadInputError);

    method->SetNumberOfSamples(3000);
    method->Update();
    EXPECT_TRUE(IsWithinRecord(GetParam(), problem.GetError(*method->GetTransform()), 0.106)) << "of few samples";
    method->SetMeasuresKernelTime(true);
    method->GetDisplacementField();
    EXPECT_GT(method->GetEvaluationStatistics().kernelMilliseconds, 0);
  }

  template <unsigned int VDimension>
  void
  ExpectOutputsAgree()
  {
    const Problem<VDimension> problem(5);
    const auto                affine = itk::AffineTransform<double, VDimension>::New();
    affine->SetCenter(problem.grid.GetCentre());
    affine->Scale(1.02);
    this->ExpectOutputsAgree(problem, *affine, VDimension == 2 ? 0.0432 : 0.0496);
    const auto composite = problem.MakeBentComposite();
    EXPECT_GT(problem.GetError(*composite), 0.6);
    this->ExpectOutputsAgree(problem, *composite, VDimension == 2 ? 0.0472 : 0.141);
  }

  /** Expects the cost after a first step to be C = (1 - Σ wₙ) S + Σ wₙ Pₙ at the spline of a run that ends there: S by this module's
   *  metric, P by its penalty metric. */
  template <unsigned int VDimension>
  void
  ExpectCostIsTheWeightedSum(double bending, double linear, double jacobian)
  {
    SCOPED_TRACE(::testing::Message() << VDimension << "D, weights " << bending << ", " << linear << ", " << jacobian);
    using ImageType = typename Problem<VDimension>::ImageType;
    constexpr double                voxel = 1.3;
    constexpr double                spacing = 8.0;
    const Problem<VDimension>       problem(47);
    typename ImageType::SpacingType spacings;
    spacings.Fill(voxel);
    problem.fixed->SetSpacing(spacings);
    const auto method = problem.MakeMethod(GetParam());
    method->SetNumberOfLevels(1);
    method->SetControlPointSpacing(spacing);
    method->SetBendingEnergyWeight(bending);
    method->SetLinearEnergyWeight(linear);
    method->SetJacobianPenaltyWeight(jacobian);
    method->SetNumberOfIterations(1);
    method->Update();
    const auto spline = MethodOf<VDimension>::DeformationType::New();
    spline->SetFixedParameters(method->GetDeformation()->GetFixedParameters());
    spline->SetParametersByValue(method->GetDeformation()->GetParameters());
    EXPECT_GT(GetPoints(*method).inf_norm(), 0.1);
    method->SetNumberOfIterations(2);
    method->Update();

    using SimilarityType = itk::CudaMattesNMI<ImageType, ImageType>;
    const auto similarity = SimilarityType::New();
    similarity->SetDevice(this->GetDevice());
    similarity->SetFixedImage(problem.fixed);
    similarity->SetMovingImage(problem.moving);
    similarity->SetVirtualDomainFromImage(problem.fixed);
    similarity->SetMovingTransform(spline);
    similarity->SetNumberOfHistogramBins(method->GetNumberOfHistogramBins());
    similarity->Initialize();
    const auto penalty = itk::GPUBSplinePenaltyMetric<ImageType>::New();
    penalty->SetDevice(this->GetDevice());
    penalty->SetMovingTransform(spline);
    penalty->SetBendingEnergyWeight(bending * std::pow(spacing, 4) / (voxel * voxel));
    penalty->SetLinearEnergyWeight(linear);
    penalty->SetJacobianPenaltyWeight(jacobian);
    penalty->Initialize();
    const double ofPenalties = penalty->GetValue(); // includes their weights
    const double wanted = (1 - bending - linear - jacobian) * similarity->GetValue() + ofPenalties;
    std::cout << VDimension << "D: " << ofPenalties << " of " << wanted << ", off by "
              << method->GetCosts(0).back() - wanted << std::endl;
    EXPECT_GT(ofPenalties, 1e-3 * std::abs(wanted)) << "the penalties are too small to show";
    ASSERT_EQ(method->GetCosts(0).size(), 2u);
    EXPECT_NEAR(method->GetCosts(0)[1], wanted, 1e-5 * std::abs(wanted));
  }

  /** Expects the field to equal the transform's displacements, and the warped image to be the moving one resampled by the transform. */
  template <unsigned int VDimension>
  void
  ExpectOutputsAgree(const Problem<VDimension> &                         problem,
                     const typename Problem<VDimension>::TransformType & initial,
                     double                                              errorOfRecord)
  {
    const auto method = problem.MakeMethod(GetParam());
    method->SetInitialTransform(&initial);
    method->Update();
    const auto transform = method->GetTransform();
    EXPECT_TRUE(IsWithinRecord(GetParam(), problem.GetError(*transform), errorOfRecord));
    EXPECT_LT(problem.GetError(*transform), 0.2);
    const auto field = method->GetDisplacementField();
    const auto warped = method->GetWarpedImage();
    EXPECT_EQ(warped->GetBufferedRegion(), problem.fixed->GetBufferedRegion());
    double      largest = 0;
    std::size_t different = 0;
    const auto  linear = itk::LinearInterpolateImageFunction<typename Problem<VDimension>::ImageType, double>::New();
    linear->SetInputImage(problem.moving);
    for (itk::ImageRegionIteratorWithIndex<typename Problem<VDimension>::ImageType> it(warped,
                                                                                       warped->GetBufferedRegion());
         !it.IsAtEnd();
         ++it)
    {
      typename Problem<VDimension>::PointType point;
      warped->TransformIndexToPhysicalPoint(it.GetIndex(), point);
      const auto moved = transform->TransformPoint(point);
      largest = std::max(largest, (moved - point - field->GetPixel(it.GetIndex())).GetNorm());
      different += linear->IsInsideBuffer(moved) && std::abs(linear->Evaluate(moved) - it.Get()) > 0.01;
    }
    EXPECT_LT(largest, 1e-4);
    EXPECT_EQ(different, 0u);
  }
};
} // namespace

TEST_P(FreeFormDeformationTest, FindsAKnownDeformationIn3D)
{
  this->ExpectFound<3>();
}

TEST_P(FreeFormDeformationTest, FindsAKnownDeformationIn2D)
{
  this->ExpectFound<2>();
}

TEST_P(FreeFormDeformationTest, OutputsAgreeIn3D)
{
  this->ExpectOutputsAgree<3>();
}

TEST_P(FreeFormDeformationTest, OutputsAgreeIn2D)
{
  this->ExpectOutputsAgree<2>();
}

TEST_P(FreeFormDeformationTest, TheCostIsTheWeightedSum)
{
  this->ExpectCostIsTheWeightedSum<2>(0.2, 0, 0);
  this->ExpectCostIsTheWeightedSum<2>(0.1, 0.2, 0.3);
  this->ExpectCostIsTheWeightedSum<3>(0.2, 0, 0);
  this->ExpectCostIsTheWeightedSum<3>(0, 0.4, 0);
  this->ExpectCostIsTheWeightedSum<3>(0, 0, 0.4);
  this->ExpectCostIsTheWeightedSum<3>(0.1, 0.2, 0.3);
}

/** Steps of 1.5 voxels, with control points that are 5 mm apart, fold the image unless a penalty prevents it. */
TEST_P(FreeFormDeformationTest, TheJacobianPenaltyKeepsItFromFolding)
{
  const Problem<2> problem(47);
  const auto       method = problem.MakeMethod(GetParam());
  method->SetNumberOfLevels(1);
  method->SetControlPointSpacing(5.0);
  method->SetFirstStep(1.5);
  method->SetNumberOfIterations(60);
  method->SetBendingEnergyWeight(1e-6);
  method->Update();
  const double folded = method->GetSmallestJacobianDeterminant();
  EXPECT_LT(folded, 0.0);
  method->SetJacobianPenaltyWeight(0.2);
  method->Update();
  std::cout << "least determinant " << folded << ", with the penalty " << method->GetSmallestJacobianDeterminant()
            << std::endl;
  EXPECT_GT(method->GetSmallestJacobianDeterminant(), 0.0);
}

/** Uses every penalty. */
TEST_P(FreeFormDeformationTest, IsTheSameEachTimeAndAsTheHosts)
{
  const Problem<3> problem(9);
  const auto       method = problem.MakeMethod(GetParam());
  method->SetNumberOfIterations(8);
  method->SetLinearEnergyWeight(0.001);
  method->SetJacobianPenaltyWeight(0.001);
  method->Update();
  const auto first = GetPoints(*method);
  EXPECT_GT(first.inf_norm(), 0.5);
  for (const unsigned int threads : { 1u, 3u })
  {
    method->SetNumberOfWorkUnits(threads);
    method->Modified();
    method->Update();
    EXPECT_EQ(GetPoints(*method), first);
  }
  const auto another = problem.MakeMethod("host");
  another->SetNumberOfIterations(8);
  another->SetLinearEnergyWeight(0.001);
  another->SetJacobianPenaltyWeight(0.001);
  another->Update();
  // Where the gradient is nearly 0, steps are as long as elsewhere, so rounding shows.
  EXPECT_LT((GetPoints(*another) - first).rms(), 2e-3);
}

TEST_P(FreeFormDeformationTest, ImagesOfOtherTypes)
{
  const Problem<3> problem(12);
  using ShortType = itk::Image<short, 3>;
  using DoubleType = itk::Image<double, 3>;
  const auto shorts = MakeImage<ShortType>(problem.grid, [&](const Problem<3>::PointType & p) {
    return std::round(problem.fixed->GetPixel(problem.fixed->TransformPhysicalPointToIndex(p)));
  });
  const auto doubles = DoubleType::New();
  doubles->CopyInformation(problem.moving);
  doubles->SetRegions(problem.moving->GetBufferedRegion());
  doubles->Allocate();
  std::copy_n(problem.moving->GetBufferPointer(),
              problem.moving->GetBufferedRegion().GetNumberOfPixels(),
              doubles->GetBufferPointer());
  const auto method = itk::FreeFormDeformationRegistrationMethod<ShortType, DoubleType>::New();
  method->SetDevice(this->GetDevice());
  method->SetFixedImage(shorts);
  method->SetMovingImage(doubles);
  method->SetNumberOfLevels(2);
  method->SetControlPointSpacing(9.0);
  method->SetNumberOfIterations(40);
  method->SetBendingEnergyWeight(0.001);
  method->Update();
  EXPECT_TRUE(IsWithinRecord(GetParam(), problem.GetError(*method->GetTransform()), 0.036));
}

TEST_P(FreeFormDeformationTest, ControlPointsAreFiveMillimetresOrFiveVoxelsApart)
{
  const Problem<3> problem(3);
  const auto       method = problem.MakeMethod(GetParam());
  method->SetNumberOfLevels(1);
  method->SetNumberOfIterations(1);
  for (const double edge : { 0.6, 1.0, 3.0 })
  {
    Problem<3>::ImageType::SpacingType voxel;
    voxel.Fill(1.1);
    voxel[1] = edge;
    problem.fixed->SetSpacing(voxel);
    problem.moving->SetSpacing(voxel);
    for (const bool isAsked : { false, true })
    {
      auto wanted = MethodOf<3>::SpacingType(5.5);
      wanted[1] = 5 * edge;
      if (isAsked)
      {
        // Along the other axes it stays the default, for which 0 stands.
        wanted[1] = 7.0;
      }
      auto spacing = MethodOf<3>::SpacingType(0.0);
      spacing[1] = isAsked ? wanted[1] : 0.0;
      method->SetControlPointSpacing(spacing);
      method->Update();
      const auto found = method->GetDeformation()->GetCoefficientImages()[0]->GetSpacing();
      for (unsigned int d = 0; d < 3; ++d)
      {
        EXPECT_NEAR(found[d], wanted[d], 1e-9) << "axis " << d << ", voxels of " << edge << " mm";
      }
    }
  }
}

TEST_P(FreeFormDeformationTest, LevelsAreAsManyAsLeaveTheCoarsestEnoughVoxels)
{
  using MethodType = MethodOf<2>;
  struct Case
  {
    itk::SizeValueType side;
    double             edge; // along y; voxels are 1 mm long along x
    unsigned int       levels;
  };
  // Levels begin with 1024 voxels or more; there are at most 4. Voxels are not joined along y if they are already long, nor if there are
  // only 8.
  for (const Case & one : { Case{ 63, 1.0, 1 },
                            Case{ 64, 1.0, 2 },
                            Case{ 127, 1.0, 2 },
                            Case{ 128, 1.0, 3 },
                            Case{ 600, 1.0, 4 },
                            Case{ 66, 4.0, 3 } })
  {
    const auto image = Problem<2>::ImageType::New();
    image->SetRegions(Problem<2>::ImageType::SizeType{ { one.side, one.side } });
    Problem<2>::ImageType::SpacingType spacing(1.0);
    spacing[1] = one.edge;
    image->SetSpacing(spacing);
    image->Allocate();
    for (itk::ImageRegionIteratorWithIndex<Problem<2>::ImageType> it(image, image->GetBufferedRegion()); !it.IsAtEnd();
         ++it)
    {
      it.Set(static_cast<float>((it.GetIndex()[0] / 9 + it.GetIndex()[1] / 7) % 5));
    }
    const auto method = MethodType::New();
    method->SetDevice(this->GetDevice());
    method->SetFixedImage(image);
    method->SetMovingImage(image);
    method->SetNumberOfIterations(1);
    method->Update();
    EXPECT_EQ(method->GetNumberOfLevels(), 0u);
    EXPECT_EQ(method->GetRegisteredLevels(), one.levels)
      << one.side << " by " << one.side << ", y of " << one.edge << " mm";
    EXPECT_EQ(method->GetCosts(one.levels - 1).size(), 1u);
    EXPECT_THROW(method->GetCosts(one.levels), itk::GPUBadInputError);
    // Without a histogram 256 voxels are enough.
    method->SetSimilarity("MeanSquares");
    method->Update();
    EXPECT_EQ(method->GetRegisteredLevels(), std::min(4u, one.levels + 1)) << one.side << " by " << one.side;
    method->SetNumberOfHistogramBins(1);
    method->SetSimilarity("NormalizedMutualInformation");
    EXPECT_THROW(method->Update(), itk::GPUBadInputError);
    EXPECT_EQ(method->GetRegisteredLevels(), 0u);
  }
}

TEST_P(FreeFormDeformationTest, BadInputIsRefusedAndTheMethodGoesOn)
{
  const Problem<3> problem(3);
  const auto       method = problem.MakeMethod(GetParam());
  method->SetNumberOfIterations(3);
  EXPECT_THROW(method->GetDisplacementField(), itk::GPUBadInputError);
  EXPECT_THROW(method->GetWarpedImage(), itk::GPUBadInputError);
  method->Update();
  const auto first = GetPoints(*method);
  const auto expectRefused = [&](const char * words, const auto & spoil, const auto & mend) {
    SCOPED_TRACE(words);
    spoil();
    try
    {
      method->Update();
      ADD_FAILURE() << "was taken";
    }
    catch (const itk::GPUBadInputError & error)
    {
      EXPECT_NE(std::string(error.GetDescription()).find(words), std::string::npos) << error.GetDescription();
    }
    mend();
  };
  expectRefused(
    "1 to 5 levels, or 0 for as many as are of use, not 6",
    [&] { method->SetNumberOfLevels(6); },
    [&] { method->SetNumberOfLevels(2); });
  for (const double spacing :
       { -1.0, 1e-9, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN() })
  {
    expectRefused(
      "give at least a voxel's edge",
      [&] { method->SetControlPointSpacing(spacing); },
      [&] { method->SetControlPointSpacing(9.0); });
  }
  for (const double weight : { -0.1, 1.0, std::numeric_limits<double>::quiet_NaN() })
  {
    expectRefused(
      "weight", [&] { method->SetBendingEnergyWeight(weight); }, [&] { method->SetBendingEnergyWeight(0.001); });
    expectRefused(
      "weight", [&] { method->SetLinearEnergyWeight(weight); }, [&] { method->SetLinearEnergyWeight(0); });
    expectRefused(
      "weight", [&] { method->SetJacobianPenaltyWeight(weight); }, [&] { method->SetJacobianPenaltyWeight(0); });
  }
  // Each weight is less than 1, but together they leave nothing for the similarity.
  expectRefused(
    "they are to be less than 1",
    [&] {
      method->SetBendingEnergyWeight(0.5);
      method->SetLinearEnergyWeight(0.25);
      method->SetJacobianPenaltyWeight(0.25);
    },
    [&] {
      method->SetBendingEnergyWeight(0.001);
      method->SetLinearEnergyWeight(0);
      method->SetJacobianPenaltyWeight(0);
    });
  for (const unsigned int bins : { 4u, 5000u })
  {
    expectRefused(
      "bins", [&] { method->SetNumberOfHistogramBins(bins); }, [&] { method->SetNumberOfHistogramBins(32); });
  }
  expectRefused(
    "at least one iteration", [&] { method->SetNumberOfIterations(0); }, [&] { method->SetNumberOfIterations(3); });
  expectRefused(
    "a first step that is longer than 0", [&] { method->SetFirstStep(0.0); }, [&] { method->SetFirstStep(0.5); });

  const auto constant = MakeImage<itk::Image<float, 3>>(problem.grid, [](const auto &) { return 7.0; });
  method->SetFixedImage(constant);
  EXPECT_THROW(method->GetDisplacementField(), itk::GPUBadInputError);
  expectRefused(
    "fixed image", [&] { method->SetFixedImage(constant); }, [&] { method->SetFixedImage(problem.fixed); });
  const auto broken = MakeImage<itk::Image<float, 3>>(problem.grid, [](const auto & p) { return p[0]; });
  broken->GetBufferPointer()[1234] = std::numeric_limits<float>::quiet_NaN();
  expectRefused(
    "has one value that is infinite",
    [&] { method->SetMovingImage(broken); },
    [&] { method->SetMovingImage(problem.moving); });

  // Constant inside of its mask, whatever the values outside.
  const auto inside = MakeImage<itk::Image<unsigned char, 3>>(problem.grid, [](const auto &) { return 0.0; });
  const auto flat = MakeImage<itk::Image<float, 3>>(problem.grid, [](const auto & p) { return p[0]; });
  const auto count = static_cast<std::ptrdiff_t>(inside->GetBufferedRegion().GetNumberOfPixels());
  std::fill(inside->GetBufferPointer() + count / 3,
            inside->GetBufferPointer() + count / 2,
            static_cast<unsigned char>(1));
  std::fill(flat->GetBufferPointer() + count / 3, flat->GetBufferPointer() + count / 2, 5.0f);
  const auto mask = itk::ImageMaskSpatialObject<3>::New();
  mask->SetImage(inside);
  mask->Update();
  expectRefused(
    "fixed image",
    [&] {
      method->SetFixedImage(flat);
      method->SetFixedImageMask(mask);
    },
    [&] {
      method->SetFixedImage(problem.fixed);
      method->SetFixedImageMask(nullptr);
    });
  expectRefused(
    "moving image",
    [&] {
      method->SetMovingImage(flat);
      method->SetMovingImageMask(mask);
    },
    [&] {
      method->SetMovingImage(problem.moving);
      method->SetMovingImageMask(nullptr);
    });

  const auto away = itk::AffineTransform<double, 3>::New();
  away->Translate(itk::Vector<double, 3>(1000.0));
  expectRefused(
    "begin with a transform that brings them together",
    [&] { method->SetInitialTransform(away); },
    [&] { method->SetInitialTransform(nullptr); });
  method->SetInitialTransform(BentTransform<3>::New());
  EXPECT_THROW(method->Update(), itk::GPUUnsupportedError);
  const auto fieldAndAway = Problem<3>::CompositeType::New();
  fieldAndAway->AddTransform(away);
  fieldAndAway->AddTransform(problem.MakeField(1));
  expectRefused(
    "begin with a transform that brings them together",
    [&] { method->SetInitialTransform(fieldAndAway); },
    [&] { method->SetInitialTransform(nullptr); });
  method->SetMovingImage(nullptr);
  EXPECT_THROW(method->Update(), itk::ExceptionObject);
  method->SetMovingImage(problem.moving);

  Grid<3> tinyGrid = problem.grid;
  tinyGrid.size.Fill(12);
  const auto tiny = MakeImage<itk::Image<float, 3>>(tinyGrid, [](const auto & p) { return p[0]; });
  expectRefused(
    "levels",
    [&] {
      method->SetFixedImage(tiny);
      method->SetNumberOfLevels(5);
    },
    [&] {
      method->SetFixedImage(problem.fixed);
      method->SetNumberOfLevels(2);
    });

  method->Update();
  EXPECT_EQ(GetPoints(*method), first);
}

/** A transform and a mask that are changed in place, and the stored result of the previous registration. */
TEST_P(FreeFormDeformationTest, SeesWhatIsModifiedInPlace)
{
  const Problem<3> problem(5);
  const auto       method = problem.MakeMethod(GetParam());
  method->SetNumberOfIterations(3);
  const auto start = itk::AffineTransform<double, 3>::New();
  const auto several = Problem<3>::CompositeType::New();
  several->AddTransform(start);
  method->SetInitialTransform(several);
  method->Update();
  const auto first = GetPoints(*method);
  start->Translate(itk::Vector<double, 3>(1.5));
  method->Update();
  const auto second = GetPoints(*method);
  EXPECT_NE(first, second);

  const auto inside = MakeImage<itk::Image<unsigned char, 3>>(problem.grid, [](const auto &) { return 1.0; });
  const auto mask = itk::ImageMaskSpatialObject<3>::New();
  mask->SetImage(inside);
  mask->Update();
  method->SetFixedImageMask(mask);
  method->Update();
  EXPECT_EQ(GetPoints(*method), second);
  const auto count = static_cast<std::ptrdiff_t>(inside->GetBufferedRegion().GetNumberOfPixels());
  std::fill(inside->GetBufferPointer(), inside->GetBufferPointer() + count / 2, static_cast<unsigned char>(0));
  inside->Modified();
  method->Update();
  EXPECT_NE(GetPoints(*method), second);

  // The field belongs to the result, not to the present settings.
  const auto field = method->GetDisplacementField();
  method->SetInitialTransform(nullptr);
  EXPECT_TRUE(HaveSameBits(*field, *method->GetDisplacementField()));
}

/** If an initial field is a part of the truth, the rest is found. */
TEST_P(FreeFormDeformationTest, BeginsWithAField)
{
  const Problem<3> problem(21);
  const auto       field = problem.MakeField(0.6);
  const auto       method = problem.MakeMethod(GetParam());
  method->SetInitialTransform(field);
  method->SetNumberOfLevels(1);
  method->Update();
  const double before = problem.GetError(*field);
  EXPECT_GT(before, 0.3);
  EXPECT_TRUE(IsWithinRecord(GetParam(), problem.GetError(*method->GetTransform()), 0.0693));
}

/** Each image is uploaded once, each requested result is downloaded once; besides these there are only small transfers, which contain no
 *  voxels. */
TEST_P(FreeFormDeformationTest, VoxelsCrossTheBusOnce)
{
  const Problem<3> problem(5);
  const auto       bytesOf = [](const itk::Image<float, 3> & image) {
    return static_cast<std::int64_t>(sizeof(float) * image.GetBufferedRegion().GetNumberOfPixels());
  };
  const bool hasBus = !this->GetDevice().IsHost();
  const auto expectBytes = [&](const gpureg::EvaluationStatistics & statistics, std::int64_t up, std::int64_t down) {
    // 8192 values of each image, to find outliers, and a small image of each, to compare edges.
    const std::int64_t looks = 2 * std::int64_t{ 8192 * sizeof(float) } + 2 * bytesOf(*problem.fixed) / 8;
    const std::int64_t little = bytesOf(*problem.fixed) / 3;
    EXPECT_GE(statistics.bytesUp, hasBus ? up : 0);
    EXPECT_LT(statistics.bytesUp, hasBus ? up + little : 1);
    EXPECT_GE(statistics.bytesDown, hasBus ? down : 0);
    EXPECT_LT(statistics.bytesDown, hasBus ? down + looks + little : 1);
  };
  for (const char * const similarity : { "NormalizedMutualInformation", "NeighborhoodCorrelation" })
  {
    SCOPED_TRACE(similarity);
    const auto method = problem.MakeMethod(GetParam());
    method->SetSimilarity(similarity);
    method->SetNumberOfIterations(3);
    method->SetNumberOfLevels(3);
    const auto field = problem.MakeField(0.5);
    method->SetInitialTransform(field);
    method->Update();
    // A vector on a device has four floats.
    const auto vectors = static_cast<std::int64_t>(
      4 * sizeof(float) * field->GetDisplacementField()->GetBufferedRegion().GetNumberOfPixels());
    expectBytes(method->GetEvaluationStatistics(), bytesOf(*problem.fixed) + bytesOf(*problem.moving) + vectors, 0);
    method->GetWarpedImage();
    expectBytes(method->GetEvaluationStatistics(), vectors, bytesOf(*problem.fixed));
    method->GetDisplacementField();
    expectBytes(method->GetEvaluationStatistics(), 0, 3 * bytesOf(*problem.fixed));
    // A moving image that has changed is uploaded again.
    problem.moving->Modified();
    method->GetWarpedImage();
    expectBytes(method->GetEvaluationStatistics(), vectors + bytesOf(*problem.moving), bytesOf(*problem.fixed));
  }
}

/** Twenty more iterations download a few numbers each, while a level's control points are 12 kB or more. If an iteration draws samples,
 *  the tables of their weights are uploaded, 32 bytes for each index of each axis, and data for each control point: no voxels. */
TEST_P(FreeFormDeformationTest, OnlyScalarsCrossTheBusInALevelOnceItHasBegun)
{
  using gpureg::FreeFormOptimizer;
  const Problem<3> problem(5);
  for (const auto & [optimizer, samples] : { std::pair{ FreeFormOptimizer::Adam, 0u },
                                             std::pair{ FreeFormOptimizer::Adam, 2000u },
                                             std::pair{ FreeFormOptimizer::ConjugateGradient, 0u },
                                             std::pair{ FreeFormOptimizer::AdaptiveStochasticGradientDescent, 0u },
                                             std::pair{ FreeFormOptimizer::AdaptiveStochasticGradientDescent, 2000u } })
  {
    SCOPED_TRACE(std::string(gpureg::GetName(optimizer)) + ", samples " + std::to_string(samples));
    const auto method = problem.MakeMethod(GetParam());
    method->SetOptimizer(optimizer);
    method->SetNumberOfSamples(samples);
    method->SetConvergenceThreshold(0.0);
    method->SetNumberOfLevels(1);
    const auto run = [&method](unsigned int iterations) {
      method->SetNumberOfIterations(iterations);
      method->Update();
      return method->GetEvaluationStatistics();
    };
    const auto few = run(6);
    const auto many = run(26);
    EXPECT_EQ(few.bytesUp > 0, !this->GetDevice().IsHost());
    EXPECT_LE(many.bytesUp - few.bytesUp, samples > 0 ? 20 * 6144 : 0);
    EXPECT_LE(many.bytesDown - few.bytesDown, 20 * 512);
  }
}

/** A device stores the moving image's values and their quads (the host only values), and the fixed image's bins and displacements, which
 *  forces overwrite. Everything else is a fraction of a volume: arrays between two axes of a pyramid or of the adjoint interpolation,
 *  coarser levels, and the histograms of chunks. The images are so large that this fraction is small. */
TEST_P(FreeFormDeformationTest, HoldsFewVolumes)
{
  const Problem<3> problem(5);
  Grid<3>          grid = problem.grid;
  grid.size[0] = 112;
  grid.size[1] = 96;
  grid.size[2] = 104;
  const auto centre = grid.GetCentre();
  const auto makeImage = [&](double across) {
    return MakeImage<itk::Image<float, 3>>(grid, [&](const auto & p) {
      const auto x = p - centre;
      return 100.0 + std::sin(0.1 * x[0] + across) + std::sin(0.07 * x[1]) + std::sin(0.09 * x[2] + across * x[0]);
    });
  };
  const auto fixed = makeImage(0.0);
  const auto moving = makeImage(0.02);
  const auto volume = static_cast<double>(sizeof(float) * fixed->GetBufferedRegion().GetNumberOfPixels());
  const auto method = problem.MakeMethod(GetParam());
  method->SetFixedImage(fixed);
  method->SetMovingImage(moving);
  method->SetNumberOfIterations(1);
  method->SetNumberOfLevels(3);
  double held = 0;
  for (int run = 0; run < 3; ++run)
  {
    gpureg::CountMostMemoryFromNow(GetParam());
    const auto before = static_cast<double>(gpureg::GetMemoryInUse(GetParam()));
    method->Modified();
    method->Update();
    const double most = static_cast<double>(gpureg::GetMostMemoryInUse(GetParam())) - (run == 0 ? before : 0);
    std::cout << most / volume << " volumes of floats" << std::endl;
    // A tenth of a volume is for the small images in which edges are compared.
    EXPECT_LT(most, (this->GetDevice().IsHost() ? 8 : 12.1) * volume) << run;
    EXPECT_LE(run == 2 ? most : 0.0, held) << "more memory the third time";
    held = most;
  }
}

TEST_P(FreeFormDeformationTest, ReportsItsProgressAndCanBeAborted)
{
  const Problem<3> problem(3);
  const auto       method = problem.MakeMethod(GetParam());
  method->SetNumberOfIterations(4);
  unsigned int iterations = 0;
  float        lastProgress = 0;
  method->AddObserver(itk::IterationEvent(), [&](const itk::EventObject &) {
    ++iterations;
    EXPECT_GE(method->GetProgress(), lastProgress);
    lastProgress = method->GetProgress();
  });
  method->Update();
  EXPECT_EQ(iterations, 8u);
  EXPECT_EQ(lastProgress, 0.75f) << "before the last one";
  method->AddObserver(itk::IterationEvent(), [&](const itk::EventObject &) { method->AbortGenerateDataOn(); });
  lastProgress = 0;
  method->Modified();
  EXPECT_THROW(method->Update(), itk::ProcessAborted);
  method->RemoveAllObservers();
  method->AbortGenerateDataOff();
  EXPECT_NO_THROW(method->Update());
}

TEST_P(FreeFormDeformationTest, AnAbortEndsItWithTheIterationThatAskedForIt)
{
  const Problem<3> problem(3);
  const auto       method = problem.MakeMethod(GetParam());
  method->SetNumberOfIterations(1000);
  unsigned int iterations = 0;
  method->AddObserver(itk::IterationEvent(), [&](const itk::EventObject &) {
    EXPECT_EQ(method->GetCurrentIteration(), iterations);
    if (++iterations == 7)
    {
      method->AbortGenerateDataOn();
    }
  });
  EXPECT_THROW(method->Update(), itk::ProcessAborted);
  EXPECT_EQ(iterations, 7u);
}

/** Tests that progress is reported while the device works, and that an abort takes effect in time. */
TEST_P(FreeFormDeformationTest, TheHostIsNotFarAheadOfTheDevice)
{
  constexpr unsigned int iterations = 200;
  const Problem<3>       problem(3);
  const auto             method = problem.MakeMethod(GetParam());
  method->SetNumberOfLevels(1);
  method->SetNumberOfIterations(1);
  method->Update();
  const int least = method->GetEvaluationStatistics().synchronizations;
  method->SetNumberOfIterations(iterations);
  using Clock = std::chrono::steady_clock;
  Clock::time_point first, last;
  method->AddObserver(itk::IterationEvent(), [&](const itk::EventObject &) {
    last = Clock::now();
    if (method->GetCurrentIteration() == 0)
    {
      first = last;
    }
  });
  method->Update();
  // If all iterations were enqueued at once, all would be reported at the end. Up to two batches of 16 may be enqueued.
  EXPECT_GT(last - first, (Clock::now() - first) / 2);
  if (!this->GetDevice().IsHost())
  {
    EXPECT_GE(method->GetEvaluationStatistics().synchronizations - least, static_cast<int>(iterations) / 16);
  }
}

TEST_P(FreeFormDeformationTest, TakesOutliersForTheirNeighboursAndWarnsOfOtherThings)
{
  const Problem<3> problem(3);
  const auto       method = problem.MakeMethod(GetParam());
  method->SetNumberOfIterations(5);
  problem.moving->GetBufferPointer()[5000] = 1e9F;
  problem.moving->Modified();
  const std::string warning = "the moving image has 1 value above ";
  const std::string doubted = "the edges of the images agree no better";
  const Listening   listening;
  method->Update();
  ASSERT_FALSE(method->GetWarnings().empty());
  EXPECT_EQ(method->GetWarnings().front().find(warning), 0u) << method->GetWarnings().front();
  EXPECT_EQ(listening.window->Count(warning), 1u);
  EXPECT_EQ(listening.window->Count(doubted), 0u);
  std::mt19937                          random(1);
  std::uniform_real_distribution<float> any(0, 1);
  float * const                         values = problem.moving->GetBufferPointer();
  std::generate_n(values, problem.moving->GetBufferedRegion().GetNumberOfPixels(), [&] { return any(random); });
  problem.moving->Modified();
  method->Update();
  EXPECT_EQ(listening.window->Count(doubted), 1u);
}

TEST_P(FreeFormDeformationTest, PrintsItself)
{
  const auto         method = MethodOf<3>::New();
  std::ostringstream text;
  method->Print(text);
  for (const char * name : { "Device",
                             "InitialTransform",
                             "FixedImageMask",
                             "MovingImageMask",
                             "Similarity",
                             "NeighborhoodRadius",
                             "Optimizer",
                             "NumberOfSamples",
                             "Seed",
                             "ConvergenceThreshold",
                             "ConvergenceWindowSize",
                             "NumberOfLevels",
                             "ControlPointSpacing",
                             "BendingEnergyWeight",
                             "LinearEnergyWeight",
                             "JacobianPenaltyWeight",
                             "NumberOfHistogramBins",
                             "NumberOfIterations",
                             "FirstStep",
                             "CurrentLevel",
                             "CurrentIteration" })
  {
    EXPECT_NE(text.str().find(std::string(name) + ": "), std::string::npos) << name << '\n' << text.str();
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, FreeFormDeformationTest, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace gpuregtest
