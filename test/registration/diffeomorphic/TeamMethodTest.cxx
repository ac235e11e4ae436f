// SPDX-License-Identifier: Apache-2.0
// Registers by ITK's classes on several devices together, and compares the results with those of one device.
#include "ErrorOfRecord.h"
#include "ImageComparison.h"
#include "SyNCase.h"
#include "TeamMethodCase.h"

#include "itkDiffeomorphicRegistrationMethod.h"
#include "itkGPUError.h"

#include "itkAffineTransform.h"
#include "itkCompositeTransform.h"
#include "itkDisplacementFieldTransform.h"
#include "itkEllipseSpatialObject.h"

#include <atomic>
#include <cmath>
#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

namespace gpuregtest
{

namespace
{
using gpureg::SimilarityKind;
using Volume = itk::Image<float, 3>;
template <typename TImage>
using Greedy = itk::DiffeomorphicRegistrationMethod<TImage, TImage>;
using FieldTransform = itk::DisplacementFieldTransform<double, 3>;

/** Two images, the moving one deformed by some voxels, and the class that registers them greedily. */
template <typename TImage = Volume>
struct LongCase
{
  LongCase()
  {
    Random               random(7);
    const SmoothFunction texture(random, 8.0, 20.0);
    const auto           centre = grid.GetCentre();
    const auto           getValue = [&](const auto & q) { return 1000.0 + 600.0 * texture(q); };
    fixed = MakeImage<TImage>(grid, [&](const auto & p) { return getValue(p - centre); });
    moving = MakeImage<TImage>(grid, [&](const auto & p) {
      auto q = p - centre;
      q[0] += 1.2 * std::sin(0.1 * q[2]) + 0.4;
      q[2] -= 0.9 * std::cos(0.15 * q[0]);
      return getValue(q);
    });
  }

  typename Greedy<TImage>::Pointer
  MakeMethod(const itk::GPUDevice & device) const
  {
    const auto                              method = Greedy<TImage>::New();
    typename Greedy<TImage>::IterationsType iterations(3);
    iterations[0] = 5;
    iterations[1] = 8;
    iterations[2] = 4;
    method->SetDevice(device);
    method->SetFixedImage(fixed);
    method->SetMovingImage(moving);
    method->SetNumberOfIterationsPerLevel(iterations);
    method->SetStep(0.5);
    return method;
  }

  Grid<3>                  grid{ MakeObliqueLongGrid() };
  typename TImage::Pointer fixed;
  typename TImage::Pointer moving;
};

/** A mask that counts how often it is evaluated. */
class CountingMask : public itk::EllipseSpatialObject<3>
{
public:
  using Self = CountingMask;
  using Superclass = itk::EllipseSpatialObject<3>;
  using Pointer = itk::SmartPointer<Self>;
  itkFactorylessNewMacro(Self);

  bool
  IsInsideInObjectSpace(const PointType & point) const override
  {
    ++count;
    return Superclass::IsInsideInObjectSpace(point);
  }

  mutable std::atomic<std::int64_t> count{ 0 };
};

/** Makes a mask that leaves out the ends of a grid. */
CountingMask::Pointer
MakeMask(const Grid<3> & grid, double radius)
{
  const auto mask = CountingMask::New();
  const auto place = itk::AffineTransform<double, 3>::New();
  place->SetTranslation(grid.GetCentre().GetVectorFromOrigin());
  mask->SetRadiusInObjectSpace(radius);
  mask->SetObjectToParentTransform(place);
  mask->Update();
  return mask;
}

/** Expects that both methods have the same result, to the bit. */
template <typename TImage>
void
ExpectSameResult(Greedy<TImage> & team, Greedy<TImage> & one)
{
  EXPECT_TRUE(
    HaveSameBits(*team.GetDeformation()->GetDisplacementField(), *one.GetDeformation()->GetDisplacementField()));
  EXPECT_TRUE(HaveSameBits(*team.GetDisplacementField(), *one.GetDisplacementField()));
  EXPECT_TRUE(HaveSameBits(*team.GetWarpedImage(), *one.GetWarpedImage()));
  const auto getField = [](const auto & transform) {
    const auto * const composite = dynamic_cast<const itk::CompositeTransform<double, 3> *>(transform.GetPointer());
    const auto * const its = composite != nullptr ? composite->GetNthTransformConstPointer(0) : transform.GetPointer();
    return dynamic_cast<const FieldTransform &>(*its).GetDisplacementField();
  };
  const auto inverse = team.GetInverseTransform();
  const auto inverseOfOne = one.GetInverseTransform();
  EXPECT_TRUE(HaveSameBits(*getField(inverse), *getField(inverseOfOne)));
  EXPECT_EQ(team.GetInverseErrors().largest, one.GetInverseErrors().largest);
  EXPECT_EQ(team.GetSmallestJacobianDeterminant(), one.GetSmallestJacobianDeterminant());
  for (unsigned int level = 0; level < 3; ++level)
  {
    ASSERT_EQ(team.GetCosts(level).size(), one.GetCosts(level).size());
    EXPECT_NEAR(team.GetCosts(level).back(), one.GetCosts(level).back(), 1e-6);
  }
}

using TeamMethodTest = TeamMethodCase;
} // namespace

TEST_P(TeamMethodTest, ComputesTheDeformationOfOneDevice)
{
  const LongCase<> its;
  const auto       one = its.MakeMethod(this->GetDevice());
  one->Update();
  ASSERT_GT(one->GetLogJacobianDeviation(), 0.01);
  const auto bytesOfOne = one->GetEvaluationStatistics().bytesUp;
  for (const std::size_t further : { 1U, 2U })
  {
    const auto team = its.MakeMethod(this->GetDevice());
    team->SetFurtherDevices(this->GetFurther(further));
    unsigned int events = 0;
    team->AddObserver(itk::IterationEvent(), [&events](const itk::EventObject &) { ++events; });
    team->Update();
    EXPECT_EQ(events, 17U);
    // The statistics count the upload of the images to each device; the host needs none.
    const auto pixels = static_cast<std::int64_t>(its.fixed->GetBufferedRegion().GetNumberOfPixels());
    const auto bytes = GetParam() == "host" ? 0 : static_cast<std::int64_t>(2 * further * pixels * sizeof(float));
    EXPECT_GE(team->GetEvaluationStatistics().bytesUp - bytesOfOne, bytes - pixels);
    ExpectSameResult(*team, *one);
  }
}

TEST_P(TeamMethodTest, TakesMasksAnInitialTransformAndOtherPixels)
{
  const LongCase<itk::Image<short, 3>> its;
  const auto                           affine = itk::AffineTransform<double, 3>::New();
  affine->SetCenter(its.grid.GetCentre());
  affine->Rotate(0, 1, 0.02);
  const auto mask = MakeMask(its.grid, 60.0);
  const auto prepare = [&](std::size_t further) {
    const auto method = its.MakeMethod(this->GetDevice());
    method->SetFurtherDevices(this->GetFurther(further));
    method->SetFixedImageMask(mask);
    method->SetMovingImageMask(MakeMask(its.grid, 65.0));
    method->SetInitialTransform(affine);
    return method;
  };
  const auto one = prepare(0);
  one->Update();
  const auto pixels = static_cast<std::int64_t>(its.fixed->GetBufferedRegion().GetNumberOfPixels());
  EXPECT_EQ(mask->count, pixels);
  const auto team = prepare(1);
  team->Update();
  // The mask is evaluated once for all devices.
  EXPECT_EQ(mask->count, 2 * pixels);
  ExpectSameResult(*team, *one);
}

TEST_P(TeamMethodTest, FollowsADeformation)
{
  const LongCase<> its;
  const auto       coarse = itk::DisplacementFieldTransform<double, 3>::New();
  Grid<3>          grid = its.grid;
  grid.spacing.Fill(3.0);
  grid.size = { { 12, 10, 54 } };
  grid.SetCentre(its.grid.GetCentre());
  coarse->SetDisplacementField(MakeImage<FieldTransform::DisplacementFieldType>(grid, [&](const auto & p) {
    itk::Vector<double, 3> moved;
    moved.Fill(0.5 * std::sin(0.1 * p[2]));
    return moved;
  }));
  const auto one = its.MakeMethod(this->GetDevice());
  const auto team = its.MakeMethod(this->GetDevice());
  team->SetFurtherDevices(this->GetFurther(1));
  for (const auto & method : { one, team })
  {
    method->SetInitialTransform(coarse);
    method->Update();
  }
  ASSERT_GT(one->GetLogJacobianDeviation(), 0.01);
  EXPECT_EQ(CountFurtherApart(*team->GetDisplacementField(), *one->GetDisplacementField(), 2e-5), 0U);
  EXPECT_EQ(CountFurtherApart(*team->GetWarpedImage(), *one->GetWarpedImage(), 0.05), 0U);
}

TEST_P(TeamMethodTest, ComparesSeveralPairs)
{
  const LongCase<> its;
  const auto       one = its.MakeMethod(this->GetDevice());
  const auto       team = its.MakeMethod(this->GetDevice());
  const auto       pair = Greedy<Volume>::ImagePairType::New();
  pair->SetFixedImage(its.fixed);
  pair->SetMovingImage(its.moving);
  pair->SetSimilarity("NormalizedMutualInformation");
  pair->SetWeight(0.5);
  team->SetFurtherDevices(this->GetFurther(2));
  for (const auto & method : { one, team })
  {
    method->SetSimilarity("MeanSquares");
    method->Update();
  }
  const auto bySquares = one->GetDisplacementField();
  EXPECT_EQ(CountFurtherApart(*team->GetDisplacementField(), *bySquares, 1e-4), 0U);
  for (const auto & method : { one, team })
  {
    method->AddImagePair(pair);
    method->Update();
  }
  EXPECT_GT(CountFurtherApart(*one->GetDisplacementField(), *bySquares, 0.01), 1000U);
  EXPECT_EQ(CountFurtherApart(*team->GetDisplacementField(), *one->GetDisplacementField(), 1e-4), 0U);
}

TEST_P(TeamMethodTest, SaysWhatGreedyDevicesDoNotDoAndGoesOn)
{
  const LongCase<> its;
  const auto       method = its.MakeMethod(this->GetDevice());
  method->Update();
  const auto alone = method->GetDisplacementField();
  EXPECT_TRUE(method->GetFurtherDevices().empty());
  const auto before = method->GetMTime();
  method->SetFurtherDevices(this->GetFurther(1));
  EXPECT_GT(method->GetMTime(), before);
  const auto after = method->GetMTime();
  method->SetFurtherDevices(this->GetFurther(1));
  EXPECT_EQ(method->GetMTime(), after);
  std::ostringstream text;
  method->Print(text);
  EXPECT_NE(text.str().find("FurtherDevices: " + GetParam()), std::string::npos) << text.str();
  const auto expectRefused = [&](const std::string & words) {
    ExpectThrows<itk::GPUUnsupportedError>(words, [&] { method->Update(); });
    EXPECT_THROW(method->GetDisplacementField(), itk::GPUBadInputError);
  };
  method->SetSmoothing("Recursive");
  expectRefused("with discrete Gaussians");
  method->SetSmoothing("Discrete");
  method->SetScheme("Velocity");
  expectRefused("by the greedy scheme");
  method->SetScheme("Greedy");
  method->SetStep(-1);
  EXPECT_THROW(method->Update(), itk::GPUBadInputError);
  method->SetStep(0.5);
  ExpectThrows<itk::ExceptionObject>("nothing:0", [] { itk::GPUDevice::FromName("nothing:0"); });
  // An observer ends the work of all devices.
  const auto tag = method->AddObserver(itk::IterationEvent(), [&](const itk::EventObject &) {
    if (method->GetCurrentLevel() == 1)
    {
      method->AbortGenerateDataOn();
    }
  });
  EXPECT_THROW(method->Update(), itk::ProcessAborted);
  method->RemoveObserver(tag);
  method->AbortGenerateDataOff();
  method->Update();
  EXPECT_TRUE(HaveSameBits(*alone, *method->GetDisplacementField()));
  method->SetFurtherDevices({});
  method->Update();
  EXPECT_TRUE(HaveSameBits(*alone, *method->GetDisplacementField()));
  // One device does what several do not.
  method->SetSmoothing("Recursive");
  method->Update();
  EXPECT_FALSE(HaveSameBits(*alone, *method->GetDisplacementField()));
}

TEST_P(TeamMethodTest, RefusesTwoDimensions)
{
  using Picture = itk::Image<float, 2>;
  const auto its = MakeCase<2>(SimilarityKind::NeighborhoodCorrelation, 1);
  const auto method = itk::DiffeomorphicRegistrationMethod<Picture, Picture>::New();
  method->SetDevice(this->GetDevice());
  method->SetFurtherDevices(this->GetFurther(1));
  method->SetFixedImage(its.fixed);
  method->SetMovingImage(its.moving);
  ExpectThrows<itk::GPUUnsupportedError>("images of three dimensions", [&] { method->Update(); });
}

INSTANTIATE_TEST_SUITE_P(Devices, TeamMethodTest, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace gpuregtest
