// SPDX-License-Identifier: Apache-2.0
// Tests itk::DiffeomorphicRegistrationMethod and the inverses of deformable methods on every device.
#include "ErrorOfRecord.h"
#include "FreeFormProblem.h"
#include "ImageComparison.h"
#include "TestDevices.h"

#include "itkDiffeomorphicRegistrationMethod.h"
#include "itkGPUError.h"

#include "itkAffineTransform.h"
#include "itkBSplineTransform.h"
#include "itkCommand.h"
#include "itkCompositeTransform.h"
#include "itkDisplacementFieldTransform.h"
#include "itkImageDuplicator.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

namespace gpuregtest
{

namespace
{
template <unsigned int VDimension>
using DiffeomorphicMethod =
  itk::DiffeomorphicRegistrationMethod<itk::Image<float, VDimension>, itk::Image<float, VDimension>>;

template <unsigned int VDimension>
typename DiffeomorphicMethod<VDimension>::Pointer
MakeMethod(const Problem<VDimension> & problem, const std::string & device)
{
  const auto                                               method = DiffeomorphicMethod<VDimension>::New();
  typename DiffeomorphicMethod<VDimension>::IterationsType iterations(2);
  iterations[0] = 30;
  iterations[1] = 20;
  method->SetDevice(itk::GPUDevice::FromName(device));
  method->SetFixedImage(problem.fixed);
  method->SetMovingImage(problem.moving);
  method->SetNumberOfIterationsPerLevel(iterations);
  method->SetStep(0.5);
  return method;
}

template <unsigned int VDimension>
typename itk::AffineTransform<double, VDimension>::Pointer
MakeAffine(const Problem<VDimension> & problem)
{
  const auto affine = itk::AffineTransform<double, VDimension>::New();
  affine->SetCenter(problem.grid.GetCentre());
  affine->Rotate(0, 1, 0.02);
  auto shift = affine->GetTranslation();
  shift[0] = 0.8;
  affine->SetTranslation(shift);
  return affine;
}

/** Calls test(point) for the fixed image's voxels that are more than a few voxels inside. */
template <unsigned int VDimension, typename TTest>
void
ForEachInnerPoint(const itk::Image<float, VDimension> & image, const TTest & test)
{
  const auto                                                            region = image.GetBufferedRegion();
  itk::ImageRegionConstIteratorWithIndex<itk::Image<float, VDimension>> voxel(&image, region);
  for (; !voxel.IsAtEnd(); ++voxel)
  {
    bool isInside = true;
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      const auto place = voxel.GetIndex()[d] - region.GetIndex(d);
      isInside &= place >= 5 && place + 5 < static_cast<itk::OffsetValueType>(region.GetSize(d));
    }
    if (isInside)
    {
      typename itk::Image<float, VDimension>::PointType point;
      image.TransformIndexToPhysicalPoint(voxel.GetIndex(), point);
      test(point);
    }
  }
}

/** Expects that the inverse leads back: 0.01 voxel off in the mean, and 0.1 at most. */
template <unsigned int VDimension, typename TMethod>
void
ExpectLeadsBack(const Problem<VDimension> & problem, const TMethod & method)
{
  const auto inverse = method.GetInverseTransform();
  const auto transform = method.GetTransform();
  double     sum = 0;
  double     largest = 0;
  int        count = 0;
  ForEachInnerPoint<VDimension>(*problem.fixed, [&](const auto & point) {
    const auto error = (inverse->TransformPoint(transform->TransformPoint(point)) - point).GetNorm();
    sum += error;
    largest = std::max(largest, error);
    ++count;
  });
  ASSERT_GT(count, 1000);
  EXPECT_LE(sum / count, 0.01 * problem.grid.spacing[0]);
  EXPECT_LE(largest, 0.1 * problem.grid.spacing[0]);
  const gpureg::InverseErrors & errors = method.GetInverseErrors();
  EXPECT_EQ(errors.offVoxels, 0);
  EXPECT_LE(errors.largest, 1e-3);
  EXPECT_LT(errors.unmappedVoxels,
            static_cast<std::int64_t>(problem.fixed->GetBufferedRegion().GetNumberOfPixels() / 4));
}

/** Returns a copy of a field. */
template <typename TField>
typename TField::Pointer
Duplicate(const TField & field)
{
  const auto duplicator = itk::ImageDuplicator<TField>::New();
  duplicator->SetInputImage(&field);
  duplicator->Update();
  return duplicator->GetOutput();
}

class DiffeomorphicMethodTest : public DeviceTest
{
protected:
  template <unsigned int VDimension>
  void
  ExpectFound()
  {
    const Problem<VDimension> problem(41, Problem<VDimension>::Contrast::Same);
    const auto                method = MakeMethod(problem, GetParam());
    unsigned int              events = 0;
    const auto                command = itk::CStyleCommand::New();
    command->SetClientData(&events);
    command->SetCallback(
      [](itk::Object *, const itk::EventObject &, void * data) { ++*static_cast<unsigned int *>(data); });
    method->AddObserver(itk::IterationEvent(), command);
    method->Update();
    EXPECT_EQ(events, 50u);
    const auto identity = itk::AffineTransform<double, VDimension>::New();
    EXPECT_GT(problem.GetError(*identity), 0.9);
    EXPECT_TRUE(IsWithinRecord(GetParam(), problem.GetError(*method->GetTransform()), VDimension == 2 ? 0.116 : 0.21));
    EXPECT_GT(method->GetSmallestJacobianDeterminant(), 0.2);
    EXPECT_EQ(method->GetNumberOfFoldedVoxels(), 0u);
    EXPECT_GT(method->GetLogJacobianDeviation(), 0.0);
    ASSERT_EQ(method->GetCosts(1).size(), 20u);
    EXPECT_LT(method->GetCosts(1).back(), method->GetCosts(0).front());
    EXPECT_THROW(method->GetCosts(2), itk::GPUBadInputError);
    EXPECT_EQ(method->GetTransform(), method->GetDeformation());
    ExpectLeadsBack<VDimension>(problem, *method);

    // Another contrast.
    const Problem<VDimension> other(41);
    const auto                byInformation = MakeMethod(other, GetParam());
    byInformation->SetSimilarity("NormalizedMutualInformation");
    byInformation->Update();
    EXPECT_TRUE(
      IsWithinRecord(GetParam(), other.GetError(*byInformation->GetTransform()), VDimension == 2 ? 0.0969 : 0.201));
  }

  template <unsigned int VDimension>
  void
  ExpectFollowsTheInitialTransform()
  {
    const Problem<VDimension> problem(41, Problem<VDimension>::Contrast::Same);
    const auto                method = MakeMethod(problem, GetParam());
    const auto                affine = MakeAffine(problem);
    method->SetInitialTransform(affine);
    method->Update();
    EXPECT_TRUE(IsWithinRecord(GetParam(), problem.GetError(*method->GetTransform()), VDimension == 2 ? 0.126 : 0.221));
    ExpectLeadsBack<VDimension>(problem, *method);
    const auto field = method->GetDisplacementField();
    ForEachInnerPoint<VDimension>(*problem.fixed, [&](const auto & point) {
      const auto there = affine->TransformPoint(method->GetDeformation()->TransformPoint(point));
      const auto index = field->TransformPhysicalPointToIndex(point);
      EXPECT_LT((point + field->GetPixel(index) - there).GetNorm(), 1e-4);
      EXPECT_LT((method->GetTransform()->TransformPoint(point) - there).GetNorm(), 1e-9);
    });
    EXPECT_EQ(method->GetWarpedImage()->GetBufferedRegion(), problem.fixed->GetBufferedRegion());
  }
};
} // namespace

TEST_P(DiffeomorphicMethodTest, FindsADeformation2D)
{
  ExpectFound<2>();
}

TEST_P(DiffeomorphicMethodTest, FindsADeformation3D)
{
  ExpectFound<3>();
}

TEST_P(DiffeomorphicMethodTest, FollowsTheInitialTransform2D)
{
  ExpectFollowsTheInitialTransform<2>();
}

TEST_P(DiffeomorphicMethodTest, FollowsTheInitialTransform3D)
{
  ExpectFollowsTheInitialTransform<3>();
}

TEST_P(DiffeomorphicMethodTest, FollowsADeformation)
{
  const Problem<2> problem(41, Problem<2>::Contrast::Same);
  const auto       first = MakeMethod(problem, GetParam());
  first->Update();
  const auto                            identity = itk::AffineTransform<double, 2>::New();
  const std::pair<const char *, double> errorsOfRecord[] = { { "Greedy", 0.162 }, { "Velocity", 0.071 } };
  for (const auto & [scheme, errorOfRecord] : errorsOfRecord)
  {
    const auto method = MakeMethod(problem, GetParam());
    method->SetScheme(scheme);
    // The transform of another registration, and behind it a linear one.
    using FieldTransformType = itk::DisplacementFieldTransform<double, 2>;
    const auto field = FieldTransformType::New();
    field->SetDisplacementField(
      Duplicate(*dynamic_cast<const FieldTransformType &>(*first->GetTransform()).GetDisplacementField()));
    const auto composite = itk::CompositeTransform<double, 2>::New();
    composite->AddTransform(identity);
    composite->AddTransform(field);
    method->SetInitialTransform(composite);
    method->Update();
    EXPECT_GT(problem.GetError(*identity), 0.9);
    EXPECT_TRUE(IsWithinRecord(GetParam(), problem.GetError(*method->GetTransform()), errorOfRecord)) << scheme;
    const auto expectLeadsBack = [&](const itk::Transform<double, 2, 2> & whole) {
      double sum = 0;
      double largest = 0;
      int    count = 0;
      ForEachInnerPoint<2>(*problem.fixed, [&](const auto & point) {
        const auto error = (whole.TransformPoint(method->GetTransform()->TransformPoint(point)) - point).GetNorm();
        sum += error;
        largest = std::max(largest, error);
        ++count;
      });
      // Both inverses have errors.
      EXPECT_LE(sum / count, 0.01 * problem.grid.spacing[0]) << scheme;
      EXPECT_LE(largest, 0.2 * problem.grid.spacing[0]) << scheme;
    };
    EXPECT_TRUE(method->GetInitialInverseErrors().empty());
    expectLeadsBack(*method->GetInverseTransform());
    const gpureg::EvaluationStatistics ofBoth = method->GetEvaluationStatistics();
    ASSERT_EQ(method->GetInitialInverseErrors().size(), 1U);
    EXPECT_EQ(method->GetInitialInverseErrors().front().offVoxels, 0);
    EXPECT_GT(method->GetInitialInverseErrors().front().mean, 0);
    EXPECT_LE(method->GetInitialInverseErrors().front().largest, 1e-3);
    // A field knows its inverse if somebody sets it.
    const auto   inverse = first->GetInverseTransform();
    const auto & back = dynamic_cast<const FieldTransformType &>(*inverse);
    field->SetInverseDisplacementField(Duplicate(*back.GetDisplacementField()));
    expectLeadsBack(*method->GetInverseTransform());
    EXPECT_TRUE(method->GetInitialInverseErrors().empty());
    // The statistics count both inversions; on the host nothing is downloaded.
    const gpureg::EvaluationStatistics ofOne = method->GetEvaluationStatistics();
    const auto voxels = static_cast<std::int64_t>(problem.fixed->GetBufferedRegion().GetNumberOfPixels());
    EXPECT_GT(ofBoth.launches, ofOne.launches) << scheme;
    EXPECT_GE(ofBoth.bytesDown - ofOne.bytesDown, GetParam() == "host" ? 0 : 12 * voxels) << scheme;
    EXPECT_GT(ofBoth.evaluateMilliseconds, 0) << scheme;
  }
}

TEST_P(DiffeomorphicMethodTest, SmoothsAsItsSchemeDoesUnlessSomebodySaysHow)
{
  using Method = DiffeomorphicMethod<2>;
  constexpr gpureg::SmoothingSigmas greedy = gpureg::GetUsualSigmas(gpureg::DiffeomorphicScheme::Greedy);
  constexpr gpureg::SmoothingSigmas velocity = gpureg::GetUsualSigmas(gpureg::DiffeomorphicScheme::Velocity);
  const auto                        expect = [](const Method & method, double update, double field) {
    EXPECT_EQ(method.GetUpdateSmoothingSigma(), update);
    EXPECT_EQ(method.GetFieldSmoothingSigma(), field);
  };
  const auto method = Method::New();
  expect(*method, greedy.update, greedy.field);
  auto before = method->GetMTime();
  method->SetScheme("Velocity");
  expect(*method, velocity.update, velocity.field);
  EXPECT_NE(velocity.update, greedy.update);
  EXPECT_NE(velocity.field, greedy.field);
  EXPECT_GT(method->GetMTime(), before);
  method->SetScheme(gpureg::DiffeomorphicScheme::Greedy);
  expect(*method, greedy.update, greedy.field);
  // Sigmas that a program sets stay, also if they are another scheme's own.
  method->SetFieldSmoothingSigma(greedy.field);
  method->SetScheme("Velocity");
  expect(*method, velocity.update, greedy.field);
  method->SetUpdateSmoothingSigma(2.5);
  before = method->GetMTime();
  method->SetUpdateSmoothingSigma(2.5);
  EXPECT_EQ(method->GetMTime(), before);
  method->SetScheme("Greedy");
  expect(*method, 2.5, greedy.field);
  // The order of calls makes no difference.
  const Problem<2> problem(41, Problem<2>::Contrast::Same);
  const auto       schemeFirst = MakeMethod(problem, GetParam());
  schemeFirst->SetScheme("Velocity");
  schemeFirst->SetUpdateSmoothingSigma(1.2);
  const auto sigmaFirst = MakeMethod(problem, GetParam());
  sigmaFirst->SetUpdateSmoothingSigma(1.2);
  sigmaFirst->SetScheme("Velocity");
  // The engine gets them.
  const auto named = MakeMethod(problem, GetParam());
  named->SetScheme("Velocity");
  named->SetFieldSmoothingSigma(velocity.field);
  named->SetUpdateSmoothingSigma(1.2);
  const auto other = MakeMethod(problem, GetParam());
  other->SetScheme("Velocity");
  other->SetFieldSmoothingSigma(greedy.field);
  other->SetUpdateSmoothingSigma(1.2);
  for (const auto & one : { schemeFirst, sigmaFirst, named, other })
  {
    one->Update();
  }
  const auto costs = schemeFirst->GetCosts(0);
  EXPECT_EQ(sigmaFirst->GetCosts(0), costs);
  EXPECT_EQ(named->GetCosts(0), costs);
  EXPECT_NE(other->GetCosts(0), costs);
}

TEST_P(DiffeomorphicMethodTest, FindsAVelocity)
{
  const Problem<2> problem(41, Problem<2>::Contrast::Same);
  const auto       method = MakeMethod(problem, GetParam());
  EXPECT_EQ(method->GetSchemeName(), "Greedy");
  method->SetScheme("Velocity");
  method->SetFieldSmoothingSigma(0.8);
  method->Update();
  EXPECT_EQ(method->GetScheme(), gpureg::DiffeomorphicScheme::Velocity);
  EXPECT_TRUE(IsWithinRecord(GetParam(), problem.GetError(*method->GetTransform()), 0.0373));
  ExpectLeadsBack<2>(problem, *method);
  EXPECT_THROW(method->SetScheme("Fast"), itk::GPUBadInputError);
  method->SetScheme("SyN");
  EXPECT_THROW(method->Update(), itk::GPUBadInputError);
}

TEST_P(DiffeomorphicMethodTest, HasWeightsAnOptimizerAndAConvergenceWindow)
{
  const Problem<2> problem(41, Problem<2>::Contrast::Same);
  const auto       method = MakeMethod(problem, GetParam());
  method->SetOptimizer("Adam");
  method->SetSimilarity("Demons");
  method->SetSimilarity("MattesMutualInformation");
  method->Update();
  EXPECT_EQ(method->GetOptimizerName(), "Adam");
  EXPECT_TRUE(IsWithinRecord(GetParam(), problem.GetError(*method->GetTransform()), 0.419));
  EXPECT_THROW(method->SetOptimizer("Fast"), itk::GPUBadInputError);
  method->SetSimilarity("NeighborhoodCorrelation");
  DiffeomorphicMethod<2>::OptimizerWeightsType weights(2);
  weights[0] = 0;
  weights[1] = 1;
  method->SetOptimizerWeights(weights);
  method->SetConvergenceWindowSize(5);
  method->SetConvergenceThreshold(0.01);
  method->Update();
  EXPECT_GE(method->GetCosts(0).size(), 5u);
  EXPECT_LT(method->GetCosts(0).size(), 30u);
  const auto field = method->GetDisplacementField();
  double     largest[2] = {};
  for (itk::ImageRegionConstIteratorWithIndex<itk::Image<itk::Vector<double, 2>, 2>> it(field,
                                                                                        field->GetBufferedRegion());
       !it.IsAtEnd();
       ++it)
  {
    for (unsigned int d = 0; d < 2; ++d)
    {
      largest[d] = std::max(largest[d], std::abs(it.Get()[d]));
    }
  }
  EXPECT_LT(largest[0], 1e-6);
  EXPECT_GT(largest[1], 0.1);
  method->SetOptimizerWeights(DiffeomorphicMethod<2>::OptimizerWeightsType(3));
  EXPECT_THROW(method->Update(), itk::GPUBadInputError);
}

TEST_P(DiffeomorphicMethodTest, InvertsAFreeFormDeformation)
{
  const Problem<2> problem(41);
  const auto       method = problem.MakeMethod(GetParam());
  EXPECT_THROW(method->GetInverseTransform(), itk::GPUBadInputError);
  method->Update();
  ExpectLeadsBack<2>(problem, *method);
  method->SetInitialTransform(MakeAffine(problem));
  method->Update();
  ExpectLeadsBack<2>(problem, *method);
  // A B-spline knows no inverse of its own.
  const auto spline = itk::BSplineTransform<double, 2, 3>::New();
  spline->SetTransformDomainOrigin(problem.fixed->GetOrigin());
  spline->SetTransformDomainDirection(problem.fixed->GetDirection());
  itk::BSplineTransform<double, 2, 3>::PhysicalDimensionsType dimensions;
  itk::BSplineTransform<double, 2, 3>::MeshSizeType           mesh;
  mesh.Fill(8);
  for (unsigned int d = 0; d < 2; ++d)
  {
    dimensions[d] =
      problem.fixed->GetSpacing()[d] * static_cast<double>(problem.fixed->GetBufferedRegion().GetSize(d) - 1);
  }
  spline->SetTransformDomainPhysicalDimensions(dimensions);
  spline->SetTransformDomainMeshSize(mesh);
  // Only the inner ones of 11 × 11 points move, so that nothing moves at the domain's edge.
  auto coefficients = spline->GetParameters();
  for (itk::SizeValueType n = 0; n < coefficients.GetSize(); ++n)
  {
    const auto x = n % 11;
    const auto y = n / 11 % 11;
    const bool isInside = x > 2 && x < 8 && y > 2 && y < 8;
    coefficients[n] = isInside ? 1.5 * std::sin(1.3 * static_cast<double>(n)) : 0.0;
  }
  spline->SetParameters(coefficients);
  method->SetInitialTransform(spline);
  method->Update();
  ExpectLeadsBack<2>(problem, *method);
  ASSERT_EQ(method->GetInitialInverseErrors().size(), 1U);
  EXPECT_LE(method->GetInitialInverseErrors().front().largest, 1e-3);
  EXPECT_EQ(method->GetInitialInverseErrors().front().offVoxels, 0);
  EXPECT_EQ(method->GetInitialInverseErrors().front().foldedVoxels, 0);
}

TEST_P(DiffeomorphicMethodTest, ComparesSeveralPairs)
{
  const Problem<2> problem(41, Problem<2>::Contrast::Same);
  const Problem<2> other(41);
  const auto       method = MakeMethod(problem, GetParam());
  method->Update();
  const std::int64_t bytesOfOne = method->GetEvaluationStatistics().bytesUp;
  const auto         alone = method->GetDisplacementField();
  const auto         pair = DiffeomorphicMethod<2>::ImagePairType::New();
  pair->SetFixedImage(other.fixed);
  pair->SetMovingImage(other.moving);
  pair->SetSimilarity("NormalizedMutualInformation");
  pair->SetWeight(0);
  method->AddImagePair(pair);
  method->Update();
  // The statistics count the upload of its images; on the host there is none. Weights of Gaussians are kept from before.
  const auto pixels =
    other.fixed->GetBufferedRegion().GetNumberOfPixels() + other.moving->GetBufferedRegion().GetNumberOfPixels();
  const double bytes = GetParam() == "host" ? 0.0 : static_cast<double>(pixels * sizeof(float));
  EXPECT_NEAR(static_cast<double>(method->GetEvaluationStatistics().bytesUp - bytesOfOne), bytes, 64);
  EXPECT_TRUE(HaveSameBits(*alone, *method->GetDisplacementField()));
  // The method notices what changes in the pair.
  pair->SetWeight(1);
  method->Update();
  EXPECT_FALSE(HaveSameBits(*alone, *method->GetDisplacementField()));
  EXPECT_TRUE(IsWithinRecord(GetParam(), problem.GetError(*method->GetTransform()), 0.102));
  // The second pair alone.
  method->SetWeight(0);
  method->Update();
  const auto byOther = MakeMethod(other, GetParam());
  byOther->SetSimilarity("NormalizedMutualInformation");
  byOther->Update();
  EXPECT_TRUE(HaveSameBits(*byOther->GetDisplacementField(), *method->GetDisplacementField()));
  const auto expectRefused = [&](const std::string & words) {
    try
    {
      method->Update();
      ADD_FAILURE() << words;
    }
    catch (const itk::GPUBadInputError & error)
    {
      EXPECT_NE(std::string(error.GetDescription()).find(words), std::string::npos) << error.GetDescription();
    }
  };
  pair->SetWeight(-1);
  expectRefused("pair 2: a pair's weight is -1");
  pair->SetWeight(0);
  expectRefused("the weights of all pairs of images are 0");
  pair->SetWeight(1);
  pair->SetMovingImage(nullptr);
  expectRefused("There is no pair 2's moving image");
  EXPECT_THROW(method->AddImagePair(nullptr), itk::GPUBadInputError);
  EXPECT_EQ(method->GetNumberOfAddedImagePairs(), 1U);
  std::ostringstream text;
  pair->Print(text);
  EXPECT_NE(text.str().find("Weight: 1"), std::string::npos);
  method->ClearImagePairs();
  method->SetWeight(1);
  method->Update();
  EXPECT_TRUE(HaveSameBits(*alone, *method->GetDisplacementField()));
}

TEST_P(DiffeomorphicMethodTest, RefusesBadInputAndGoesOn)
{
  const Problem<2> problem(3, Problem<2>::Contrast::Same);
  const auto       method = MakeMethod(problem, GetParam());
  EXPECT_THROW(method->GetDisplacementField(), itk::GPUBadInputError);
  EXPECT_THROW(method->GetInverseTransform(), itk::GPUBadInputError);
  method->Update();
  const auto first = method->GetDisplacementField();
  const auto expectRefused = [&](const char * words, const auto & spoil, const auto & mend) {
    SCOPED_TRACE(words);
    spoil();
    EXPECT_THROW(method->Update(), itk::GPUBadInputError);
    EXPECT_THROW(method->GetDisplacementField(), itk::GPUBadInputError);
    mend();
  };
  const auto iterations = method->GetNumberOfIterationsPerLevel();
  expectRefused(
    "no levels",
    [&] { method->SetNumberOfIterationsPerLevel({}); },
    [&] { method->SetNumberOfIterationsPerLevel(iterations); });
  for (const double bad : { -1.0, std::numeric_limits<double>::quiet_NaN() })
  {
    expectRefused(
      "step", [&] { method->SetStep(bad); }, [&] { method->SetStep(0.5); });
    expectRefused(
      "update", [&] { method->SetUpdateSmoothingSigma(bad); }, [&] { method->SetUpdateSmoothingSigma(1.732); });
    expectRefused(
      "field", [&] { method->SetFieldSmoothingSigma(bad); }, [&] { method->SetFieldSmoothingSigma(0.6); });
    expectRefused(
      "noise", [&] { method->SetNoise(bad); }, [&] { method->SetNoise(0.01); });
  }
  expectRefused(
    "radius", [&] { method->SetNeighborhoodRadius(0); }, [&] { method->SetNeighborhoodRadius(2); });
  EXPECT_THROW(method->SetSimilarity("Likeness"), itk::GPUBadInputError);
  method->Update();
  EXPECT_TRUE(HaveSameBits(*first, *method->GetDisplacementField()));
}

TEST_P(DiffeomorphicMethodTest, PrintsItself)
{
  std::ostringstream text;
  DiffeomorphicMethod<2>::New()->Print(text);
  for (const char * const word : { "Similarity: ",
                                   "NumberOfHistogramBins: 32",
                                   "NumberOfIterationsPerLevel: [100, 100, 100, 50]",
                                   "NeighborhoodRadius: 2",
                                   "UpdateSmoothingSigma: 1.732",
                                   "FieldSmoothingSigma: 0.6",
                                   "Step: 1",
                                   "Noise: 0.01" })
  {
    EXPECT_NE(text.str().find(word), std::string::npos) << word << " is not in\n" << text.str();
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, DiffeomorphicMethodTest, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace gpuregtest
