// SPDX-License-Identifier: Apache-2.0
// Tests that bad input causes an itk::GPUError of the right class, or an error of ITK's own classes, whose message names the problem and
// the remedy. Afterwards the same object works with good input, and no memory is lost.
#include "TestDevices.h"
#include "TestImages.h"
#include "TestMetrics.h"

#include "gpureg/runtime/Device.h"

#include "itkDisplacementFieldTransform.h"
#include "itkGPUError.h"
#include "itkImageMaskSpatialObject.h"
#include "itkTranslationTransform.h"

#include <cmath>
#include <functional>
#include <limits>
#include <typeinfo>

namespace gpuregtest
{

namespace
{
using ImageType = TestImage<float, 2>;
using MetricType = OurMetric<float, 2>;
using TransformType = itk::TranslationTransform<double, 2>;
using FieldTransformType = itk::DisplacementFieldTransform<double, 2>;
using MaskType = itk::ImageMaskSpatialObject<2>;
using PointSetType = MetricType::VirtualPointSetType;

Grid<2>
MakeGrid()
{
  Grid<2> grid;
  grid.size.Fill(40);
  return grid;
}

ImageType::Pointer
MakeConstantImage()
{
  return MakeImage<ImageType>(MakeGrid(), [](const auto &) { return 7.0f; });
}

/** Returns a good image, except for `count` voxels of the value `bad`. */
ImageType::Pointer
MakeImageWith(float bad, unsigned int count)
{
  const auto image = MakeImagePair<ImageType>(MakeGrid(), MakeGrid(), 1).first;
  for (unsigned int n = 0; n < count; ++n)
  {
    image->GetBufferPointer()[100 + 7 * n] = bad;
  }
  return image;
}

MaskType::Pointer
MakeMask(int value)
{
  const auto mask = MaskType::New();
  mask->SetImage(MakeImage<MaskType::ImageType>(MakeGrid(), [value](const auto &) { return value; }));
  mask->Update();
  return mask;
}

class BadInputTest : public DeviceTest
{
protected:
  void
  SetUp() override
  {
    m_BytesBefore = gpureg::GetMemoryInUse(GetParam());
    m_Metric = MetricType::New();
    m_Metric->SetDevice(GetDevice());
    SetGoodInput();
  }

  void
  TearDown() override
  {
    m_Metric = nullptr;
    EXPECT_EQ(gpureg::GetMemoryInUse(GetParam()), m_BytesBefore) << "memory was left behind";
  }

  void
  SetGoodInput()
  {
    const auto images = MakeImagePair<ImageType>(MakeGrid(), MakeGrid(), 1);
    const auto transform = TransformType::New();
    auto       offset = transform->GetOffset();
    offset[0] = 1.3;
    offset[1] = -0.7;
    transform->SetOffset(offset);
    m_Metric->SetFixedImage(images.first);
    m_Metric->SetMovingImage(images.second);
    m_Metric->SetFixedImageMask(static_cast<const MaskType *>(nullptr));
    m_Metric->SetMovingImageMask(static_cast<const MaskType *>(nullptr));
    m_Metric->SetFixedTransform(TransformType::New());
    m_Metric->SetMovingTransform(transform);
    m_Metric->UseSampledPointSetOff();
    m_Metric->UseVirtualSampledPointSetOff();
    m_Metric->SetNumberOfHistogramBins(20);
    m_Metric->SetDevice(GetDevice());
  }

  static std::vector<double>
  Ask(MetricType & metric)
  {
    metric.Initialize();
    double             value;
    itk::Array<double> derivative;
    metric.GetValueAndDerivative(value, derivative);
    std::vector<double> answer(derivative.begin(), derivative.end());
    answer.push_back(value);
    return answer;
  }

  /** Returns the value and the derivative that a new object gives for the good input. */
  std::vector<double>
  GetRightAnswer()
  {
    const auto used = m_Metric;
    m_Metric = MetricType::New();
    SetGoodInput();
    const std::vector<double> answer = Ask(*m_Metric);
    m_Metric = used;
    return answer;
  }

  /** Expects a call to throw an error of exactly this class, whose message contains all words, and the metric to work afterwards. */
  template <typename TKind>
  void
  ExpectComplaint(const std::function<void()> & call, const std::vector<std::string> & words)
  {
    std::string message;
    try
    {
      call();
    }
    catch (const itk::ExceptionObject & e)
    {
      message = e.GetDescription();
      EXPECT_TRUE(typeid(e) == typeid(TKind)) << "a " << e.GetNameOfClass() << ": " << message;
    }
    ASSERT_FALSE(message.empty()) << "nothing was thrown";
    for (const std::string & word : words)
    {
      EXPECT_NE(message.find(word), std::string::npos) << "\"" << word << "\" is not said by: " << message;
    }
    ExpectUsable();
  }

  void
  ExpectUsable()
  {
    SetGoodInput();
    std::vector<double> answer;
    ASSERT_NO_THROW(answer = Ask(*m_Metric));
    EXPECT_EQ(answer, GetRightAnswer());
  }

  MetricType::Pointer m_Metric;
  std::size_t         m_BytesBefore = 0;
};
} // namespace

/** ITK's own classes refuse this with an error of their class, as in all tests below that expect itk::ExceptionObject. */
TEST_P(BadInputTest, NullImages)
{
  m_Metric->SetFixedImage(nullptr);
  ExpectComplaint<itk::ExceptionObject>([&] { m_Metric->Initialize(); }, { "FixedImage is not present" });
  m_Metric->SetMovingImage(nullptr);
  ExpectComplaint<itk::ExceptionObject>([&] { m_Metric->Initialize(); }, { "MovingImage is not present" });
  m_Metric->SetFixedImage(nullptr);
  m_Metric->SetMovingImage(nullptr);
  ExpectComplaint<itk::ExceptionObject>([&] { m_Metric->Initialize(); }, { "Image is not present" });
}

TEST_P(BadInputTest, ImagesWithoutVoxels)
{
  m_Metric->SetFixedImage(ImageType::New());
  ExpectComplaint<itk::GPUBadInputError>([&] { m_Metric->Initialize(); }, { "fixed image is empty" });
  m_Metric->SetMovingImage(ImageType::New());
  ExpectComplaint<itk::GPUBadInputError>([&] { m_Metric->Initialize(); }, { "moving image is empty" });
}

TEST_P(BadInputTest, NullTransforms)
{
  m_Metric->SetMovingTransform(nullptr);
  ExpectComplaint<itk::ExceptionObject>([&] { m_Metric->Initialize(); }, { "MovingTransform is not present" });
  m_Metric->SetFixedTransform(nullptr);
  ExpectComplaint<itk::ExceptionObject>([&] { m_Metric->Initialize(); }, { "FixedTransform is not present" });
}

TEST_P(BadInputTest, NoValueBeforeInitialize)
{
  m_Metric = MetricType::New();
  SetGoodInput();
  ExpectComplaint<itk::GPUBadInputError>([&] { m_Metric->GetValue(); }, { "Initialize() has not been called" });
  m_Metric = MetricType::New();
  SetGoodInput();
  double             value;
  itk::Array<double> derivative;
  ExpectComplaint<itk::GPUBadInputError>([&] { m_Metric->GetValueAndDerivative(value, derivative); },
                                         { "Initialize() has not been called" });
}

TEST_P(BadInputTest, NoValueAfterInitializeHasFailed)
{
  Ask(*m_Metric);
  m_Metric->SetMovingImage(MakeConstantImage());
  EXPECT_THROW(m_Metric->Initialize(), itk::GPUBadInputError);
  ExpectComplaint<itk::GPUBadInputError>([&] { m_Metric->GetValue(); }, { "Initialize()", "failed" });
}

TEST_P(BadInputTest, NoOverlap)
{
  const auto far = TransformType::New();
  auto       offset = far->GetOffset();
  offset.Fill(1000.0);
  far->SetOffset(offset);
  m_Metric->SetMovingTransform(far);
  ExpectComplaint<itk::GPUNoOverlapError>([&] { Ask(*m_Metric); },
                                          { "outside moving image buffer", "overlap", "Initialize the transform" });
}

TEST_P(BadInputTest, TransformOfNaN)
{
  const auto nowhere = TransformType::New();
  auto       offset = nowhere->GetOffset();
  offset[0] = std::numeric_limits<double>::quiet_NaN();
  nowhere->SetOffset(offset);
  m_Metric->SetMovingTransform(nowhere);
  ExpectComplaint<itk::GPUNoOverlapError>([&] { Ask(*m_Metric); }, { "outside moving image buffer" });
}

TEST_P(BadInputTest, ConstantImages)
{
  m_Metric->SetFixedImage(MakeConstantImage());
  ExpectComplaint<itk::GPUBadInputError>([&] { m_Metric->Initialize(); }, { "fixed image is constant", "7" });
  m_Metric->SetMovingImage(MakeConstantImage());
  ExpectComplaint<itk::GPUBadInputError>([&] { m_Metric->Initialize(); }, { "moving image is constant", "7" });
}

TEST_P(BadInputTest, NotFiniteValuesAreCountedAndNamed)
{
  const float infinity = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  m_Metric->SetFixedImage(MakeImageWith(nan, 3));
  ExpectComplaint<itk::GPUBadInputError>([&] { m_Metric->Initialize(); },
                                         { "fixed image", "3 of 1600", "NaN", "[20, 2]" });
  m_Metric->SetMovingImage(MakeImageWith(nan, 5));
  ExpectComplaint<itk::GPUBadInputError>([&] { m_Metric->Initialize(); },
                                         { "moving image", "5 of 1600", "NaN", "[20, 2]" });
  m_Metric->SetFixedImage(MakeImageWith(infinity, 1));
  ExpectComplaint<itk::GPUBadInputError>([&] { m_Metric->Initialize(); }, { "fixed image", "1 of 1600", "infinite" });
  m_Metric->SetMovingImage(MakeImageWith(-infinity, 2));
  ExpectComplaint<itk::GPUBadInputError>([&] { m_Metric->Initialize(); }, { "moving image", "2 of 1600", "infinite" });
}

TEST_P(BadInputTest, EmptyMasks)
{
  m_Metric->SetFixedImageMask(MakeMask(0));
  ExpectComplaint<itk::GPUBadInputError>([&] { Ask(*m_Metric); }, { "Nothing of the fixed image", "mask" });
  m_Metric->SetMovingImageMask(MakeMask(0));
  ExpectComplaint<itk::GPUBadInputError>([&] { Ask(*m_Metric); }, { "Nothing of the moving image", "mask" });
}

TEST_P(BadInputTest, MasksThatLeaveNothingOfTheOverlap)
{
  // Each mask leaves one corner of its image, and the transform maps neither corner near the other.
  const auto makeCorner = [](double sign) {
    const auto mask = MaskType::New();
    mask->SetImage(MakeImage<MaskType::ImageType>(MakeGrid(), [sign](const auto & p) {
      return sign * (p[0] + p[1] - 39.0) > 20.0 ? 1 : 0;
    }));
    mask->Update();
    return mask;
  };
  m_Metric->SetFixedImageMask(makeCorner(1.0));
  m_Metric->SetMovingImageMask(makeCorner(-1.0));
  ExpectComplaint<itk::GPUNoOverlapError>([&] { Ask(*m_Metric); }, { "mask", "overlap" });
}

/** As in ITK, fewer than five bins count as five. */
TEST_P(BadInputTest, TooFewBinsAreFive)
{
  m_Metric->SetNumberOfHistogramBins(3);
  EXPECT_EQ(m_Metric->GetNumberOfHistogramBins(), 5u);
  EXPECT_NO_THROW(Ask(*m_Metric));
  ExpectUsable();
}

TEST_P(BadInputTest, TooManyBins)
{
  m_Metric->SetNumberOfHistogramBins(70000);
  ExpectComplaint<itk::GPUBadInputError>([&] { Ask(*m_Metric); }, { "bins", "70000" });
}

TEST_P(BadInputTest, UnknownDeviceName)
{
  std::vector<std::string> words = GetDeviceNames();
  words.push_back("cuda:77");
  ExpectComplaint<itk::GPUBadInputError>([&] { m_Metric->SetDevice(itk::GPUDevice::FromName("cuda:77")); }, words);
}

TEST_P(BadInputTest, OutOfDeviceMemory)
{
  gpureg::SetMemoryLimit(GetParam(), gpureg::GetMemoryInUse(GetParam()) + 4000);
  try
  {
    Ask(*m_Metric);
    ADD_FAILURE() << "nothing was thrown";
  }
  catch (const itk::GPUOutOfMemoryError & e)
  {
    const std::string message = e.GetDescription();
    EXPECT_NE(message.find("out of memory on " + GetParam()), std::string::npos) << message;
    EXPECT_NE(message.find("4000"), std::string::npos) << message;
  }
  gpureg::SetMemoryLimit(GetParam(), 0);
  ExpectUsable();
}

/** Tests allocation failures at every point of an evaluation. */
TEST_P(BadInputTest, OutOfDeviceMemoryAtAnyPoint)
{
  unsigned int failures = 0;
  bool         works = false;
  for (std::size_t limit = 1000; !works && limit < (std::size_t{ 1 } << 32); limit += limit / 2)
  {
    gpureg::SetMemoryLimit(GetParam(), m_BytesBefore + limit);
    try
    {
      Ask(*m_Metric);
      works = true;
    }
    catch (const itk::GPUOutOfMemoryError & e)
    {
      ++failures;
      EXPECT_NE(std::string(e.GetDescription()).find("out of memory"), std::string::npos) << e.GetDescription();
    }
  }
  gpureg::SetMemoryLimit(GetParam(), 0);
  EXPECT_TRUE(works);
  EXPECT_GT(failures, 3u);
  ExpectUsable();
}

TEST_P(BadInputTest, VirtualDomainThatDoesNotFitTheField)
{
  Grid<2> grid = MakeGrid();
  grid.size.Fill(30);
  const auto field = FieldTransformType::DisplacementFieldType::New();
  grid.ApplyTo(*field);
  field->Allocate(true);
  const auto transform = FieldTransformType::New();
  transform->SetDisplacementField(field);
  m_Metric->SetMovingTransform(transform);
  ExpectComplaint<itk::ExceptionObject>([&] { m_Metric->Initialize(); }, { "displacement field" });
}

TEST_P(BadInputTest, FieldThatIsReplacedAfterInitialize)
{
  const auto makeField = [](unsigned int size) {
    Grid<2> grid = MakeGrid();
    grid.size.Fill(size);
    const auto field = FieldTransformType::DisplacementFieldType::New();
    grid.ApplyTo(*field);
    field->Allocate(true);
    return field;
  };
  const auto transform = FieldTransformType::New();
  transform->SetDisplacementField(makeField(40));
  m_Metric->SetMovingTransform(transform);
  Ask(*m_Metric);
  transform->SetDisplacementField(makeField(10));
  ExpectComplaint<itk::GPUBadInputError>(
    [&] {
      double             value;
      itk::Array<double> derivative;
      m_Metric->GetValueAndDerivative(value, derivative);
    },
    { "displacement field", "virtual domain", "Initialize()" });
}

TEST_P(BadInputTest, PointSetsThatAreMissing)
{
  m_Metric = MetricType::New();
  SetGoodInput();
  m_Metric->UseSampledPointSetOn();
  ExpectComplaint<itk::GPUBadInputError>([&] { m_Metric->Initialize(); },
                                         { "UseSampledPointSet", "no fixed sampled point set" });
  m_Metric = MetricType::New();
  SetGoodInput();
  m_Metric->UseSampledPointSetOn();
  m_Metric->UseVirtualSampledPointSetOn();
  ExpectComplaint<itk::GPUBadInputError>([&] { m_Metric->Initialize(); },
                                         { "UseSampledPointSet", "no virtual sampled point set" });
}

TEST_P(BadInputTest, PointSetsThatAreEmpty)
{
  m_Metric->SetFixedSampledPointSet(MetricType::FixedSampledPointSetType::New());
  m_Metric->UseSampledPointSetOn();
  ExpectComplaint<itk::ExceptionObject>([&] { Ask(*m_Metric); }, { "point" });
  m_Metric->SetVirtualSampledPointSet(PointSetType::New());
  m_Metric->UseSampledPointSetOn();
  m_Metric->UseVirtualSampledPointSetOn();
  ExpectComplaint<itk::GPUBadInputError>([&] { Ask(*m_Metric); }, { "point" });
}

TEST_P(BadInputTest, PointsOutsideOfTheFixedImage)
{
  const auto points = PointSetType::New();
  for (unsigned int n = 0; n < 10; ++n)
  {
    PointSetType::PointType point;
    point.Fill(-500.0 - n);
    points->SetPoint(n, point);
  }
  m_Metric->SetVirtualSampledPointSet(points);
  m_Metric->UseSampledPointSetOn();
  m_Metric->UseVirtualSampledPointSetOn();
  ExpectComplaint<itk::GPUBadInputError>([&] { Ask(*m_Metric); },
                                         { "Nothing of the fixed image", "sampled point set" });
}

TEST_P(BadInputTest, GradientOfTheFixedImage)
{
  m_Metric->SetGradientSource(itk::ObjectToObjectMetricBaseTemplateEnums::GradientSource::GRADIENT_SOURCE_BOTH);
  try
  {
    m_Metric->Initialize();
    ADD_FAILURE() << "nothing was thrown";
  }
  catch (const itk::GPUBadInputError & e)
  {
    EXPECT_NE(std::string(e.GetDescription()).find("gradient source"), std::string::npos);
  }
  m_Metric->SetGradientSource(itk::ObjectToObjectMetricBaseTemplateEnums::GradientSource::GRADIENT_SOURCE_MOVING);
  ExpectUsable();
}

/** 2^31 points or more are refused by their number, before anything is read or allocated. */
TEST_P(BadInputTest, TooManyPoints)
{
  gpureg::MattesMetric engine(GetParam(), 20);
  gpureg::FixedSamples side;
  side.virtualSize = { 10, 10, 10 };
  side.pointCount = std::int64_t{ 1 } << 31;
  bool       wasRead = false;
  const auto reader = [&](std::int64_t, std::int64_t, void *) { wasRead = true; };
  side.bins = reader;
  side.points = reader;
  try
  {
    engine.SetFixedSamples(side, [](std::int64_t, const std::function<void(std::int64_t)> &) {});
    ADD_FAILURE() << "nothing was thrown";
  }
  catch (const gpureg::UnsupportedError & e)
  {
    EXPECT_NE(std::string(e.what()).find("2147483648"), std::string::npos) << e.what();
  }
  EXPECT_FALSE(wasRead);
}

INSTANTIATE_TEST_SUITE_P(Devices, BadInputTest, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace gpuregtest
