// SPDX-License-Identifier: Apache-2.0
// Tests bad and odd input of ITK's classes of dense registration on every device: errors say what is wrong, where, and what to do, and the
// object works afterwards. Where ITK's own SyN would crash, its override has the same errors.
#include "FreeFormProblem.h"
#include "ImageComparison.h"
#include "Listening.h"
#include "RegisterSyN.h"
#include "SyNCase.h"
#include "TestDevices.h"
#include "VoxelMask.h"

#include "itkDiffeomorphicRegistrationMethod.h"
#include "itkGPUError.h"
#include "itkGPURegistrationFactory.h"
#include "itkGPUSyNImageRegistrationMethod.h"

#include "itkEllipseSpatialObject.h"
#include "itkObjectToObjectMultiMetricv4.h"

#include <functional>
#include <limits>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

namespace gpuregtest
{

namespace
{
using Image3D = itk::Image<float, 3>;
using SyN = SyNCase<3>::MethodType;
using GPUSyN = itk::GPUSyNImageRegistrationMethod<Image3D, Image3D, SyNCase<3>::TransformType>;
using SpoilSyN = std::function<void(SyN &)>;

using Dense = itk::DiffeomorphicRegistrationMethod<itk::Image<float, 2>, itk::Image<float, 2>>;
using Image2D = itk::Image<float, 2>;
using SpoilDense = std::function<void(Dense &)>;

template <unsigned int VDimension, typename TPoint>
typename itk::EllipseSpatialObject<VDimension>::Pointer
MakeBall(const TPoint & centre, double radius)
{
  const auto ball = itk::EllipseSpatialObject<VDimension>::New();
  ball->SetRadiusInObjectSpace(radius);
  ball->SetCenterInObjectSpace(centre);
  ball->Update();
  return ball;
}

/** Returns the description of what a call throws, or an empty text. */
template <typename TError, typename TCall>
std::string
Catch(const TCall & call)
{
  try
  {
    call();
    return "";
  }
  catch (const TError & error)
  {
    return error.GetDescription();
  }
}

void
ExpectSaid(const std::string & said, const std::vector<std::string> & parts)
{
  for (const std::string & part : parts)
  {
    EXPECT_NE(said.find(part), std::string::npos) << '"' << part << "\" is not in: " << said;
  }
}

enum class Way
{
  ByName,
  AsOverride
};

/** Registers by itk::GPUSyNImageRegistrationMethod, or by its override of ITK's class. */
class SyNMethodBadInputTest : public ::testing::TestWithParam<std::tuple<std::string, Way>>
{
protected:
  void
  SetUp() override
  {
    itk::GPUDevice::SetDefault(itk::GPUDevice::FromName(std::get<0>(GetParam())));
    m_Method = Make();
  }

  void
  TearDown() override
  {
    itk::GPUDevice::SetDefault(m_Before);
  }

  static SyN::Pointer
  Make()
  {
    if (std::get<1>(GetParam()) == Way::ByName)
    {
      return GPUSyN::New().GetPointer();
    }
    itk::GPURegistrationFactory::RegisterAll();
    const auto method = SyN::New();
    itk::GPURegistrationFactory::UnRegisterAll();
    EXPECT_NE(dynamic_cast<const GPUSyN *>(method.GetPointer()), nullptr);
    return method;
  }

  static bool
  IsOverride()
  {
    return std::get<1>(GetParam()) == Way::AsOverride;
  }

  /** Sets all of a method's inputs and settings to good ones. */
  void
  Mend(SyN & method) const
  {
    SetUpMethod(method, *MakeMetric<SyN>(m_Case.settings.similarity), m_Case);
    method.SetFixedInitialTransform(nullptr);
    method.SetMovingInitialTransform(nullptr);
    method.SetFixedToMiddleTransform(nullptr);
    method.SetMovingToMiddleTransform(nullptr);
    method.SetDownsampleImagesForMetricDerivatives(true);
    method.Modified();
  }

  /** Expects an error of itk::GPUBadInputError by name and as an override, and that the method registers afterwards. */
  void
  ExpectRefused(const std::vector<std::string> & parts, const SpoilSyN & spoil)
  {
    this->Mend(*m_Method);
    spoil(*m_Method);
    ExpectSaid(Catch<itk::GPUBadInputError>([this] { m_Method->Update(); }), parts);
    std::ostringstream text;
    m_Method->Print(text);
    EXPECT_FALSE(text.str().empty());
    this->ExpectWorks(parts.front());
  }

  /** Expects an error by name. As an override ITK's code computes, after a warning. */
  void
  ExpectRefusedByName(const std::vector<std::string> & parts, const SpoilSyN & spoil)
  {
    if (!IsOverride())
    {
      this->ExpectRefused(parts, spoil);
      return;
    }
    const auto method = Make();
    this->Mend(*method);
    spoil(*method);
    const Listening listening;
    method->Update();
    EXPECT_EQ(listening.window->Count("Computed by itk::SyNImageRegistrationMethod"), 1U) << parts.front();
    EXPECT_EQ(listening.window->Count(parts.front()), 1U) << parts.front();
  }

  void
  ExpectWorks(const std::string & what)
  {
    this->Mend(*m_Method);
    if (m_Expected.empty())
    {
      const auto method = Make();
      this->Mend(*method);
      m_Expected = Register(*method).fields[4];
    }
    EXPECT_TRUE(Register(*m_Method).fields[4] == m_Expected) << what;
  }

  static SyN::ImageMetricType &
  GetImageMetric(SyN & method)
  {
    return dynamic_cast<SyN::ImageMetricType &>(*method.GetModifiableMetric());
  }

  SyNCase<3>          m_Case = MakeCase<3>(gpureg::SimilarityKind::MeanSquares, 2);
  itk::GPUDevice      m_Before = itk::GPUDevice::GetDefault();
  SyN::Pointer        m_Method;
  std::vector<double> m_Expected; // the field of a new object
};
} // namespace

TEST_P(SyNMethodBadInputTest, TakesNullsOnANewObject)
{
  const auto method = Make();
  method->SetFixedToMiddleTransform(nullptr);
  method->SetMovingToMiddleTransform(nullptr);
  method->SetInitialTransform(nullptr);
  method->SetFixedInitialTransform(nullptr);
  method->SetMovingInitialTransform(nullptr);
  EXPECT_EQ(method->GetModifiableFixedToMiddleTransform(), nullptr);
  EXPECT_EQ(method->GetModifiableMovingToMiddleTransform(), nullptr);
  std::ostringstream text;
  method->Print(text);
  EXPECT_FALSE(text.str().empty());
  ExpectSaid(Catch<itk::ExceptionObject>([&] { method->Update(); }), { "Input Fixed is required but not set" });
  // One transform to the middle is none, as in ITK.
  for (const bool isFixed : { true, false })
  {
    this->Mend(*method);
    const auto transform = SyNCase<3>::TransformType::New();
    isFixed ? method->SetFixedToMiddleTransform(transform) : method->SetMovingToMiddleTransform(transform);
    this->ExpectWorks("new");
    EXPECT_TRUE(Register(*method).fields[4] == m_Expected) << isFixed;
  }
}

TEST_P(SyNMethodBadInputTest, TakesNullsFromObservers)
{
  for (const bool isFixed : { true, false })
  {
    const auto method = Make();
    this->Mend(*method);
    method->AddObserver(itk::IterationEvent(), [&](const itk::EventObject &) {
      isFixed ? method->SetFixedToMiddleTransform(nullptr) : method->SetMovingToMiddleTransform(nullptr);
    });
    method->Update();
    this->ExpectWorks("undisturbed");
    EXPECT_TRUE(GetVectors(*method->GetTransform()->GetDisplacementField()) == m_Expected) << isFixed;
  }
}

TEST_P(SyNMethodBadInputTest, Metrics)
{
  this->ExpectRefused({ "There is no metric", "Set it" }, [](SyN & method) { method.SetMetric(nullptr); });
  this->ExpectRefused({ "or one of several is missing" }, [](SyN & method) {
    const auto several = SyN::MultiMetricType::New();
    several->AddMetric(nullptr);
    method.SetMetric(several);
  });
}

TEST_P(SyNMethodBadInputTest, Masks)
{
  const auto ball = MakeBall<3>(MakeGrid<3>().GetCentre(), 8.0);
  for (const bool isFixed : { true, false })
  {
    const std::string which = isFixed ? "fixed" : "moving";
    const auto        set = [isFixed](SyN & method, const auto * mask) {
      isFixed ? GetImageMetric(method).SetFixedImageMask(mask) : GetImageMetric(method).SetMovingImageMask(mask);
    };
    this->ExpectRefused({ "The mask of a " + which + " image is of class EllipseSpatialObject",
                          "SyN takes an ImageMaskSpatialObject",
                          "SetDownsampleImagesForMetricDerivatives(false)" },
                        [&](SyN & method) { set(method, ball.GetPointer()); });
    const auto & image = isFixed ? *m_Case.fixed : *m_Case.moving;
    const auto   nothing = MakeMask(image, [](const auto &) { return false; });
    this->ExpectRefusedByName({ "No voxel of the " + which + " image is inside of its mask",
                                "Set another mask, or none" },
                              [&](SyN & method) { set(method, nothing.GetPointer()); });
  }
  // The remedy that the message names is possible.
  const auto method = Make();
  this->Mend(*method);
  GetImageMetric(*method).SetFixedImageMask(ball.GetPointer());
  method->SetDownsampleImagesForMetricDerivatives(false);
  const Listening listening;
  EXPECT_NO_THROW(method->Update());
  EXPECT_EQ(listening.window->Count("DownsampleImagesForMetricDerivatives is off"), 1U);
}

TEST_P(SyNMethodBadInputTest, Images)
{
  for (const bool isFixed : { true, false })
  {
    const std::string which = isFixed ? "fixed" : "moving";
    const auto        set = [isFixed](SyN & method, const Image3D * image) {
      isFixed ? method.SetFixedImage(image) : method.SetMovingImage(image);
    };
    const auto & good = isFixed ? *m_Case.fixed : *m_Case.moving;
    const auto   unallocated = Image3D::New();
    unallocated->CopyInformation(&good);
    unallocated->SetRegions(good.GetBufferedRegion());
    this->ExpectRefused({ "The " + which + " image has no pixels", "Allocate and fill it" },
                        [&](SyN & method) { set(method, unallocated); });
    this->ExpectRefused({ "The " + which + " image has no pixels" },
                        [&](SyN & method) { set(method, Image3D::New().GetPointer()); });
    const auto constant = Cast<Image3D>(const_cast<Image3D *>(&good));
    constant->FillBuffer(7);
    this->ExpectRefusedByName({ "the " + which + " image is constant", "give one whose values vary" },
                              [&](SyN & method) { set(method, constant); });
    Grid<3> slice = MakeGrid<3>();
    slice.size[1] = 2;
    const auto thin = MakeImage<Image3D>(slice, [](const auto & p) { return p[0] + p[2]; });
    if (!IsOverride())
    {
      // ITK's own smoothing and inversion of so thin images are nobody's concern.
      this->ExpectRefused({ "the " + which + " image has 2 voxels along axis 1" },
                          [&](SyN & method) { set(method, thin); });
      const auto broken = Cast<Image3D>(const_cast<Image3D *>(&good));
      broken->GetBufferPointer()[77] = std::numeric_limits<float>::quiet_NaN();
      this->ExpectRefused({ "the " + which + " image has one value that is infinite or not a number" },
                          [&](SyN & method) { set(method, broken); });
    }
  }
  const auto away = itk::AffineTransform<double, 3>::New();
  away->Translate(itk::Vector<double, 3>(1e4));
  this->ExpectRefusedByName({ "begin with a transform that brings them together" },
                            [&](SyN & method) { method.SetMovingInitialTransform(away); });
}

TEST_P(SyNMethodBadInputTest, Settings)
{
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  this->ExpectRefused({ "There are no levels" }, [](SyN & method) { method.SetNumberOfLevels(0); });
  this->ExpectRefused({ "There are 2 levels; set numbers of iterations" },
                      [](SyN & method) { method.SetNumberOfLevels(2); });
  this->ExpectRefused({ "There are 1 levels; set numbers of iterations" },
                      [](SyN & method) { method.SetNumberOfIterationsPerLevel({}); });
  this->ExpectRefused({ "There are 1 levels; set numbers of iterations" },
                      [](SyN & method) { method.SetSmoothingSigmasPerLevel({}); });
  this->ExpectRefused({ "A registration continues from middle transforms that have a displacement field" },
                      [](SyN & method) {
                        method.SetFixedToMiddleTransform(SyN::OutputTransformType::New());
                        method.SetMovingToMiddleTransform(SyN::OutputTransformType::New());
                      });
  for (const double bad : { 0.0, nan, 7.0 })
  {
    this->ExpectRefusedByName({ "a step of " }, [bad](SyN & method) { method.SetLearningRate(bad); });
  }
  this->ExpectRefusedByName({ "the sigma that smooths an update" },
                            [](SyN & method) { method.SetGaussianSmoothingVarianceForTheUpdateField(900); });
  this->ExpectRefusedByName({ "the sigma that smooths the field" },
                            [](SyN & method) { method.SetGaussianSmoothingVarianceForTheTotalField(900); });
  this->ExpectRefusedByName({ "a level's smoothing sigma of 40 voxels is longer" }, [](SyN & method) {
    SyN::SmoothingSigmasArrayType sigmas(1);
    sigmas.Fill(40);
    method.SetSmoothingSigmasPerLevel(sigmas);
  });
}

INSTANTIATE_TEST_SUITE_P(Devices,
                         SyNMethodBadInputTest,
                         ::testing::Combine(::testing::ValuesIn(GetDeviceNames()),
                                            ::testing::Values(Way::ByName, Way::AsOverride)),
                         [](const ::testing::TestParamInfo<SyNMethodBadInputTest::ParamType> & info) {
                           std::string name = std::get<0>(info.param);
                           std::replace(name.begin(), name.end(), ':', '_');
                           return name + (std::get<1>(info.param) == Way::ByName ? "_ByName" : "_AsOverride");
                         });

namespace
{
class DenseMethodBadInputTest : public ::testing::TestWithParam<std::tuple<std::string, const char *>>
{
protected:
  Dense::Pointer
  Make(const Image2D * fixed, const Image2D * moving) const
  {
    const auto method = Dense::New();
    method->SetDevice(itk::GPUDevice::FromName(std::get<0>(GetParam())));
    this->Mend(*method);
    method->SetFixedImage(fixed);
    method->SetMovingImage(moving);
    return method;
  }

  /** Sets all of a method's inputs and settings to good ones. */
  void
  Mend(Dense & method) const
  {
    Dense::IterationsType iterations(2);
    iterations[0] = 4;
    iterations[1] = 3;
    method.SetScheme(std::get<1>(GetParam()));
    method.SetFixedImage(m_Problem.fixed);
    method.SetMovingImage(m_Problem.moving);
    method.SetFixedImageMask(nullptr);
    method.SetMovingImageMask(nullptr);
    method.SetInitialTransform(nullptr);
    method.SetNumberOfIterationsPerLevel(iterations);
    method.SetStep(0.5);
    method.SetUpdateSmoothingSigma(1.7);
    method.SetFieldSmoothingSigma(0.6);
    method.SetNeighborhoodRadius(2);
  }

  Dense::Pointer
  MakeGood() const
  {
    return this->Make(m_Problem.fixed, m_Problem.moving);
  }

  static Dense::DisplacementFieldType::Pointer
  Register(Dense & method)
  {
    method.Update();
    return method.GetDisplacementField();
  }

  void
  ExpectRefused(const std::vector<std::string> & parts, const SpoilDense & spoil)
  {
    ExpectSaid(Catch<itk::GPUError>([&] {
                 spoil(*m_Method);
                 m_Method->Update();
               }),
               parts);
    EXPECT_THROW(m_Method->GetDisplacementField(), itk::GPUBadInputError) << parts.front();
    this->Mend(*m_Method);
    EXPECT_TRUE(HaveSameBits(*m_Expected, *Register(*m_Method))) << parts.front();
  }

  Problem<2>                            m_Problem{ 41, Problem<2>::Contrast::Same, 34 };
  Dense::Pointer                        m_Method = this->MakeGood();
  Dense::DisplacementFieldType::Pointer m_Expected = Register(*this->MakeGood());
};
} // namespace

TEST_P(DenseMethodBadInputTest, Images)
{
  for (const bool isFixed : { true, false })
  {
    const std::string which = isFixed ? "fixed" : "moving";
    const auto        set = [isFixed](Image2D * image) {
      return [=](Dense & method) { isFixed ? method.SetFixedImage(image) : method.SetMovingImage(image); };
    };
    Image2D &  good = isFixed ? *m_Problem.fixed : *m_Problem.moving;
    const auto unallocated = Image2D::New();
    unallocated->CopyInformation(&good);
    unallocated->SetRegions(good.GetBufferedRegion());
    this->ExpectRefused({ "The " + which + " image has no pixels", "Allocate and fill it" }, set(unallocated));
    const auto constant = Cast<Image2D>(&good);
    constant->FillBuffer(7);
    this->ExpectRefused({ "the " + which + " image is constant", "give one whose values vary" }, set(constant));
    const auto broken = Cast<Image2D>(&good);
    broken->GetBufferPointer()[77] = std::numeric_limits<float>::infinity();
    this->ExpectRefused({ "the " + which + " image has one value that is infinite or not a number" }, set(broken));
  }
  const auto away = itk::AffineTransform<double, 2>::New();
  away->Translate(itk::Vector<double, 2>(1e4));
  this->ExpectRefused({ "begin with a transform that brings them together" },
                      [&](Dense & method) { method.SetInitialTransform(away); });
  EXPECT_THROW(Dense::New()->Update(), itk::ExceptionObject);
}

TEST_P(DenseMethodBadInputTest, MasksAndTransforms)
{
  for (const bool isFixed : { true, false })
  {
    const std::string which = isFixed ? "fixed" : "moving";
    const Image2D &   image = isFixed ? *m_Problem.fixed : *m_Problem.moving;
    const auto        set = [isFixed](const auto & mask) {
      return [=](Dense & method) { isFixed ? method.SetFixedImageMask(mask) : method.SetMovingImageMask(mask); };
    };
    this->ExpectRefused({ "No voxel of the " + which + " image is inside of its mask", "Set another mask, or none" },
                        set(MakeMask(image, [](const auto &) { return false; })));
    this->ExpectRefused({ "No voxel of the " + which + " image is inside of its mask" },
                        set(MakeBall<2>(itk::Point<double, 2>(1e5), 10)));
  }
  this->ExpectRefused({ "initial" }, [](Dense & method) {
    method.SetInitialTransform(itk::DisplacementFieldTransform<double, 2>::New());
  });
}

TEST_P(DenseMethodBadInputTest, Settings)
{
  this->ExpectRefused({ "a step of 0 voxels", "above 0" }, [](Dense & method) { method.SetStep(0); });
  this->ExpectRefused({ "the sigma that smooths an update" },
                      [](Dense & method) { method.SetUpdateSmoothingSigma(25); });
  this->ExpectRefused({ "the sigma that smooths the field" },
                      [](Dense & method) { method.SetFieldSmoothingSigma(25); });
  this->ExpectRefused({ "iterations for 0 levels" }, [](Dense & method) { method.SetNumberOfIterationsPerLevel({}); });
  this->ExpectRefused({ "a neighborhood's radius, in voxels, is 99" },
                      [](Dense & method) { method.SetNeighborhoodRadius(99); });
}

/** A region that begins elsewhere is the same image where its origin moves along. */
TEST_P(DenseMethodBadInputTest, TakesAnyStartIndex)
{
  const auto shift = [](const Image2D & image) {
    const auto                shifted = Cast<Image2D>(const_cast<Image2D *>(&image));
    auto                      region = image.GetBufferedRegion();
    const Image2D::OffsetType by{ { 7, -300 } };
    const auto                first = image.TransformIndexToPhysicalPoint<double>(region.GetIndex());
    region.SetIndex(region.GetIndex() + by);
    shifted->SetRegions(region);
    const auto now = shifted->TransformIndexToPhysicalPoint<double>(region.GetIndex());
    shifted->SetOrigin(shifted->GetOrigin() + (first - now));
    return shifted;
  };
  const auto found = Register(*this->Make(shift(*m_Problem.fixed), shift(*m_Problem.moving)));
  EXPECT_EQ(found->GetBufferedRegion().GetIndex(1), m_Problem.fixed->GetBufferedRegion().GetIndex(1) - 300);
  ASSERT_EQ(found->GetBufferedRegion().GetSize(), m_Expected->GetBufferedRegion().GetSize());
  const auto expected = GetVectors(*m_Expected);
  const auto vectors = GetVectors(*found);
  EXPECT_LT(ComputeDistance(vectors, expected, 2, 1.0).largest, 1e-5);
}

/** A mask of any shape or grid is that of the voxels whose points are inside. */
TEST_P(DenseMethodBadInputTest, TakesMasksOnOtherGrids)
{
  const auto centre = m_Problem.grid.GetCentre();
  const auto ball = MakeBall<2>(centre, 13.0);
  Grid<2>    fine = m_Problem.grid;
  fine.spacing.Fill(0.37);
  fine.size.Fill(95);
  fine.direction = MakeRotation<2>(-0.4);
  fine.SetCentre(centre);
  const auto finer = MakeMask(*MakeImage<Image2D>(fine, [](const auto &) { return 0.0; }),
                              [&](const auto & p) { return (p - centre)[0] < 6 && ball->IsInsideInWorldSpace(p); });
  for (const itk::SpatialObject<2> * const mask :
       { static_cast<const itk::SpatialObject<2> *>(ball), static_cast<const itk::SpatialObject<2> *>(finer) })
  {
    const auto voxels = [mask](const Image2D & image) {
      return MakeMask(image, [mask](const auto & p) { return mask->IsInsideInWorldSpace(p); });
    };
    const auto expected = this->MakeGood();
    expected->SetFixedImageMask(voxels(*m_Problem.fixed));
    expected->SetMovingImageMask(voxels(*m_Problem.moving));
    const auto found = this->MakeGood();
    found->SetFixedImageMask(mask);
    found->SetMovingImageMask(mask);
    EXPECT_TRUE(HaveSameBits(*Register(*expected), *Register(*found)));
    EXPECT_FALSE(HaveSameBits(*m_Expected, *found->GetDisplacementField()));
  }
}

INSTANTIATE_TEST_SUITE_P(Devices,
                         DenseMethodBadInputTest,
                         ::testing::Combine(::testing::ValuesIn(GetDeviceNames()),
                                            ::testing::Values("Greedy", "Velocity")),
                         [](const ::testing::TestParamInfo<DenseMethodBadInputTest::ParamType> & info) {
                           std::string name = std::get<0>(info.param) + "_" + std::get<1>(info.param);
                           std::replace(name.begin(), name.end(), ':', '_');
                           return name;
                         });

} // namespace gpuregtest
