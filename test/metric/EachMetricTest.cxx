// SPDX-License-Identifier: Apache-2.0
// What every metric promises, on every device: the same bits from any number of threads, its settings in print, and errors
// after which it works again.
#include "EachMetric.h"
#include "TestDevices.h"
#include "TestImages.h"

#include "gpureg/Device.h"

#include "itkAffineTransform.h"
#include "itkGPUError.h"

#include <cstring>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

namespace gpuregtest
{

namespace
{
using ImageType = TestImage<float, 3>;
using TransformType = itk::AffineTransform<double, 3>;

Grid<3>
MakeGrid()
{
  Grid<3> grid;
  grid.size = { { 37, 34, 21 } };
  grid.spacing[1] = 1.2;
  return grid;
}

struct Bits
{
  std::vector<double> numbers;

  bool
  operator==(const Bits & other) const
  {
    return numbers.size() == other.numbers.size() &&
           std::memcmp(numbers.data(), other.numbers.data(), numbers.size() * sizeof(double)) == 0;
  }
};

class EachMetricTest : public DeviceTest
{
protected:
  EachMetricTest()
  {
    std::tie(m_Fixed, m_Moving) = MakeImagePair<ImageType>(MakeGrid(), MakeGrid(), 3);
    m_Transform->SetCenter(MakeGrid().GetCentre());
    auto   parameters = m_Transform->GetParameters();
    Random random(8);
    for (unsigned int p = 0; p < 12; ++p)
    {
      parameters[p] += Uniform(random, -0.03, 0.03) * (p < 9 ? 1.0 : 30.0);
    }
    m_Transform->SetParameters(parameters);
  }

  template <typename TMetric>
  void
  SetGoodInput(TMetric & metric) const
  {
    metric.SetDevice(this->GetDevice());
    metric.SetFixedImage(m_Fixed);
    metric.SetMovingImage(m_Moving);
    metric.SetMovingTransform(m_Transform);
    metric.SetGradientSource(itk::ObjectToObjectMetricBaseTemplateEnums::GradientSource::GRADIENT_SOURCE_MOVING);
    metric.UseSampledPointSetOff();
    metric.UseVirtualSampledPointSetOff();
  }

  template <typename TMetric>
  void
  SetPoints(TMetric & metric) const
  {
    const auto points = TMetric::VirtualPointSetType::New();
    points->Initialize();
    Random random(5);
    for (unsigned int n = 0; n < 3000; ++n)
    {
      itk::Vector<double, 3> index;
      for (unsigned int d = 0; d < 3; ++d)
      {
        index[d] = Uniform(random, 2.0, static_cast<double>(MakeGrid().size[d]) - 3.0);
      }
      points->SetPoint(n, MakeGrid().GetPoint(index));
    }
    metric.SetVirtualSampledPointSet(points);
    metric.UseSampledPointSetOn();
    metric.UseVirtualSampledPointSetOn();
  }

  /** Value, derivative and the values of some candidates. */
  template <typename TMetric>
  Bits
  Ask(TMetric & metric) const
  {
    metric.Initialize();
    typename TMetric::MeasureType    value = 0;
    typename TMetric::DerivativeType derivative;
    metric.GetValueAndDerivative(value, derivative);
    Bits bits{ { value, metric.GetValue() } };
    bits.numbers.insert(bits.numbers.end(), derivative.begin(), derivative.end());
    auto moved = m_Transform->GetParameters();
    moved[10] += 0.7;
    for (const double of : metric.GetValues({ m_Transform->GetParameters(), moved }))
    {
      bits.numbers.push_back(of);
    }
    return bits;
  }

  /** Whether Initialize() refuses what it has, and works again with good input. */
  template <typename TException, typename TMetric>
  void
  ExpectRefusal(TMetric & metric, const Bits & good, const std::string & word)
  {
    try
    {
      metric.Initialize();
      ADD_FAILURE() << "taken: " << word;
    }
    catch (const TException & error)
    {
      EXPECT_NE(std::string(error.GetDescription()).find(word), std::string::npos) << error.GetDescription();
    }
    this->SetGoodInput(metric);
    EXPECT_TRUE(this->Ask(metric) == good) << "after the complaint of " << word;
  }

  ImageType::Pointer
  MakeImageOf(float bad) const
  {
    const auto image = MakeImagePair<ImageType>(MakeGrid(), MakeGrid(), 3).first;
    image->GetBufferPointer()[4321] = bad;
    return image;
  }

  ImageType::Pointer           m_Fixed;
  ImageType::Pointer           m_Moving;
  const TransformType::Pointer m_Transform = TransformType::New();
};
} // namespace

TEST_P(EachMetricTest, GivesTheSameBitsForAnyNumberOfThreads)
{
  ForEachMetric<ImageType>([&](const auto & metric, const char * name) {
    SCOPED_TRACE(name);
    for (const bool usesPoints : { false, true })
    {
      this->SetGoodInput(*metric);
      if (usesPoints)
      {
        this->SetPoints(*metric);
      }
      metric->SetMaximumNumberOfWorkUnits(1);
      const Bits ofOne = this->Ask(*metric);
      EXPECT_GT(metric->GetNumberOfValidPoints(), 1000u);
      for (const unsigned int threads : { 2u, 7u })
      {
        metric->SetMaximumNumberOfWorkUnits(threads);
        EXPECT_TRUE(this->Ask(*metric) == ofOne) << threads << (usesPoints ? ", points" : "");
      }
    }
  });
}

TEST_P(EachMetricTest, PrintsItsDevice)
{
  ForEachMetric<ImageType>([&](const auto & metric, const char * name) {
    SCOPED_TRACE(name);
    this->SetGoodInput(*metric);
    std::ostringstream text;
    metric->Print(text);
    EXPECT_NE(text.str().find(GetParam()), std::string::npos) << text.str();
    EXPECT_NE(text.str().find("TrustsTimeStamps"), std::string::npos) << text.str();
    EXPECT_NE(text.str().find(metric->GetNameOfClass()), std::string::npos) << text.str();
  });
}

TEST_P(EachMetricTest, RefusesBadInputAndGoesOn)
{
  gpureg::ReleaseIdleMemory(GetParam());
  const auto before = gpureg::GetMemoryInUse(GetParam());
  ForEachMetric<ImageType>([&](const auto & metric, const char * name) {
    SCOPED_TRACE(name);
    this->SetGoodInput(*metric);
    const Bits good = this->Ask(*metric);
    metric->SetFixedImage(this->MakeImageOf(std::numeric_limits<float>::quiet_NaN()));
    this->ExpectRefusal<itk::GPUBadInputError>(*metric, good, "fixed image has 1 of");
    metric->SetMovingImage(this->MakeImageOf(std::numeric_limits<float>::infinity()));
    this->ExpectRefusal<itk::GPUBadInputError>(*metric, good, "moving image has 1 of");
    metric->SetFixedImage(ImageType::New());
    this->ExpectRefusal<itk::GPUBadInputError>(*metric, good, "fixed image is empty");
    metric->SetMovingImage(nullptr);
    this->ExpectRefusal<itk::ExceptionObject>(*metric, good, "MovingImage is not present");
    metric->SetMovingTransform(nullptr);
    this->ExpectRefusal<itk::ExceptionObject>(*metric, good, "");
    metric->SetGradientSource(itk::ObjectToObjectMetricBaseTemplateEnums::GradientSource::GRADIENT_SOURCE_BOTH);
    this->ExpectRefusal<itk::GPUBadInputError>(*metric, good, "gradient source");
    metric->UseSampledPointSetOn();
    this->ExpectRefusal<itk::GPUBadInputError>(*metric, good, "sampled point set");
    EXPECT_THROW(metric->GetValues({ TransformType::ParametersType(5) }), itk::GPUBadInputError);
    EXPECT_TRUE(this->Ask(*metric) == good);
  });
  gpureg::ReleaseIdleMemory(GetParam());
  EXPECT_EQ(gpureg::GetMemoryInUse(GetParam()), before) << "memory was left behind";
}

/** Pixels that are mended in place, without a time stamp, between two calls of Initialize(). */
TEST_P(EachMetricTest, SeesThatANaNWasReplaced)
{
  ForEachMetric<ImageType>([&](const auto & metric, const char * name) {
    SCOPED_TRACE(name);
    this->SetGoodInput(*metric);
    const Bits good = this->Ask(*metric);
    for (auto * const image : { m_Fixed.GetPointer(), m_Moving.GetPointer() })
    {
      float &     pixel = image->GetBufferPointer()[777];
      const float kept = pixel;
      pixel = std::numeric_limits<float>::quiet_NaN();
      EXPECT_THROW(metric->Initialize(), itk::GPUBadInputError);
      pixel = kept;
      EXPECT_TRUE(this->Ask(*metric) == good);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Devices, EachMetricTest, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace gpuregtest
