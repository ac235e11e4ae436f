// SPDX-License-Identifier: Apache-2.0
// Tests what every metric guarantees on every device: the same bits with any number of threads, printed settings, and errors of the same
// classes, after which the metric works again.
#include "EachMetric.h"
#include "TestDevices.h"
#include "TestImages.h"
#include "TestThreads.h"

#include "gpureg/runtime/Device.h"

#include "itkAffineTransform.h"
#include "itkBSplineTransform.h"
#include "itkDisplacementFieldTransform.h"
#include "itkGPUError.h"
#include "itkImageMaskSpatialObject.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <limits>
#include <sstream>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

namespace gpuregtest
{

namespace
{
using ImageType = TestImage<float, 3>;
using TransformType = itk::AffineTransform<double, 3>;
using FieldTransformType = itk::DisplacementFieldTransform<double, 3>;
using SplineTransformType = itk::BSplineTransform<double, 3, 3>;
using TransformBaseType = itk::Transform<double, 3, 3>;
using DemonsType = itk::GPUDemonsImageToImageMetricv4<ImageType, ImageType>;
using MaskType = itk::ImageMaskSpatialObject<3>;

Grid<3>
MakeGrid()
{
  Grid<3> grid;
  grid.size = { { 37, 34, 21 } };
  grid.spacing[1] = 1.2;
  return grid;
}

using MattesType = itk::CudaMattesNMI<ImageType, ImageType>;
using CorrelationRatioType = itk::CudaCorrelationRatioMetric<ImageType, ImageType>;
using PartialVolumeType = itk::CudaPartialVolumeMutualInformationImageToImageMetricv4<ImageType, ImageType>;
using JointHistogramType = itk::GPUJointHistogramMutualInformationImageToImageMetricv4<ImageType, ImageType>;

template <typename TMetric, typename... TOthers>
constexpr bool IsOneOf = (std::is_same<TMetric, TOthers>::value || ...);

/** True for metrics that divide the range of an image's values into bins. */
template <typename TMetric>
constexpr bool BinsFixed = IsOneOf<TMetric, MattesType, CorrelationRatioType, PartialVolumeType, JointHistogramType>;
template <typename TMetric>
constexpr bool BinsMoving = IsOneOf<TMetric, MattesType, PartialVolumeType, JointHistogramType>;
/** True for metrics that throw if no sample is valid. The others give a warning and the largest value, as ITK's classes do. */
template <typename TMetric>
constexpr bool RefusesNoOverlap = IsOneOf<TMetric, MattesType, CorrelationRatioType, PartialVolumeType>;

/** Returns a field of vectors at a grid's voxels that vary along each axis. */
FieldTransformType::Pointer
MakeFieldTransform(const Grid<3> & grid, double length)
{
  const auto field = MakeImage<FieldTransformType::DisplacementFieldType>(grid, [length](const auto & p) {
    FieldTransformType::OutputVectorType vector;
    vector[0] = length * std::sin(0.2 * p[1]);
    vector[1] = length * std::cos(0.3 * p[2]);
    vector[2] = length * std::sin(0.1 * p[0] + 0.2 * p[1]);
    return vector;
  });
  const auto transform = FieldTransformType::New();
  transform->SetDisplacementField(field);
  return transform;
}

/** Does what ForEachMetric does, with demons, too, which take only a displacement field. */
template <typename TWork>
void
ForEachMetricAndDemons(const TWork & work)
{
  ForEachMetric<ImageType>(work);
  work(DemonsType::New(), "demons");
}

/** Sets the number of bins, and returns the number to which ITK's setter changes it; 0 for a metric without bins. */
template <typename TMetric>
auto
SetBins(TMetric & metric, unsigned int bins, int) -> decltype(metric.GetNumberOfHistogramBins())
{
  metric.SetNumberOfHistogramBins(bins);
  return metric.GetNumberOfHistogramBins();
}
template <typename TMetric>
unsigned int
SetBins(TMetric &, unsigned int, long)
{
  return 0;
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

  /** Returns a moving transform of the kind that a metric needs. */
  template <typename TMetric>
  typename TMetric::MovingTransformType *
  GetGoodTransform() const
  {
    if (std::is_same<TMetric, DemonsType>::value)
    {
      return m_FieldTransform;
    }
    return m_Transform;
  }

  template <typename TMetric>
  void
  SetGoodInput(TMetric & metric) const
  {
    metric.SetDevice(this->GetDevice());
    metric.SetFixedImage(m_Fixed);
    metric.SetMovingImage(m_Moving);
    metric.SetFixedImageMask(static_cast<const MaskType *>(nullptr));
    metric.SetMovingImageMask(static_cast<const MaskType *>(nullptr));
    metric.SetFixedTransform(TransformType::New());
    metric.SetMovingTransform(this->GetGoodTransform<TMetric>());
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

  /** Returns a metric's value, its derivative and the values of some candidates. */
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
    const auto parameters = metric.GetMovingTransform()->GetParameters();
    auto       moved = parameters;
    moved[10] += 0.7;
    for (const double of : metric.GetValues({ parameters, moved }))
    {
      bits.numbers.push_back(of);
    }
    return bits;
  }

  /** Expects Initialize() to refuse the metric's input, and to work again with good input. */
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

  /** Expects a call to throw an error of exactly this class, whose message contains all words, and the metric to give its value again
   *  afterwards. */
  template <typename TException, typename TMetric>
  void
  ExpectComplaint(TMetric &                                   metric,
                  double                                      good,
                  const std::function<void()> &               call,
                  const std::initializer_list<const char *> & words)
  {
    std::string message;
    try
    {
      call();
    }
    catch (const itk::ExceptionObject & error)
    {
      message = error.GetDescription();
      EXPECT_TRUE(typeid(error) == typeid(TException)) << "a " << error.GetNameOfClass() << ": " << message;
    }
    EXPECT_FALSE(message.empty()) << "nothing was thrown, where this was to be said: " << *words.begin();
    for (const char * const word : words)
    {
      EXPECT_NE(message.find(word), std::string::npos) << "\"" << word << "\" is not said by: " << message;
    }
    this->SetGoodInput(metric);
    ASSERT_NO_THROW(metric.Initialize()) << "after: " << message;
    EXPECT_EQ(metric.GetValue(), good) << "after: " << message;
  }

  /** Expects the right result for samples none of which is valid. */
  template <typename TMetric>
  void
  ExpectNoOverlap(TMetric &                                   metric,
                  double                                      good,
                  const std::function<void()> &               evaluate,
                  const std::initializer_list<const char *> & words)
  {
    if (RefusesNoOverlap<TMetric>)
    {
      this->ExpectComplaint<itk::GPUNoOverlapError>(metric, good, evaluate, words);
      return;
    }
    evaluate();
    EXPECT_EQ(metric.GetNumberOfValidPoints(), 0u);
    EXPECT_EQ(metric.GetValue(), itk::NumericTraits<typename TMetric::MeasureType>::max());
    this->SetGoodInput(metric);
    metric.Initialize();
    EXPECT_EQ(metric.GetValue(), good);
  }

  /** Expects the right result for a mask or points that exclude all of an image. */
  template <typename TMetric>
  void
  ExpectNothingSampled(
    TMetric & metric, double good, const std::function<void()> & evaluate, bool isBinned, const char * role)
  {
    if (isBinned)
    {
      this->ExpectComplaint<itk::GPUBadInputError>(metric, good, evaluate, { "Nothing of the", role, "mask" });
    }
    else
    {
      this->ExpectNoOverlap(metric, good, evaluate, { "mask", "overlap" });
    }
  }

  static ImageType::Pointer
  MakeConstantImage()
  {
    return MakeImage<ImageType>(MakeGrid(), [](const auto &) { return 7.0f; });
  }

  /** Returns a mask of the voxels between two numbers along x. */
  static MaskType::Pointer
  MakeMask(double from, double to)
  {
    const auto mask = MaskType::New();
    const auto grid = MakeGrid();
    const auto first = grid.origin[0];
    mask->SetImage(MakeImage<MaskType::ImageType>(grid, [&](const auto & p) {
      return p[0] - first >= from && p[0] - first < to ? 1 : 0;
    }));
    mask->Update();
    return mask;
  }

  ImageType::Pointer
  MakeImageOf(float bad) const
  {
    const auto image = MakeImagePair<ImageType>(MakeGrid(), MakeGrid(), 3).first;
    image->GetBufferPointer()[4321] = bad;
    return image;
  }

  ImageType::Pointer                m_Fixed;
  ImageType::Pointer                m_Moving;
  const TransformType::Pointer      m_Transform = TransformType::New();
  const FieldTransformType::Pointer m_FieldTransform = MakeFieldTransform(MakeGrid(), 0.8);
};
} // namespace

TEST_P(EachMetricTest, GivesTheSameBitsForAnyNumberOfThreads)
{
  const PlatformThreads platformThreads;
  ForEachMetricAndDemons([&](const auto & metric, const char * name) {
    SCOPED_TRACE(name);
    for (const bool usesPoints : { false, true })
    {
      this->SetGoodInput(*metric);
      if (usesPoints)
      {
        this->SetPoints(*metric);
      }
      PlatformThreads::Set(*metric, 1);
      const Bits ofOne = this->Ask(*metric);
      EXPECT_GT(metric->GetNumberOfValidPoints(), 1000u);
      for (const unsigned int threads : { 2u, 7u })
      {
        PlatformThreads::Set(*metric, threads);
        EXPECT_TRUE(this->Ask(*metric) == ofOne) << threads << (usesPoints ? ", points" : "");
      }
    }
  });
}

TEST_P(EachMetricTest, PrintsItsDevice)
{
  ForEachMetricAndDemons([&](const auto & metric, const char * name) {
    SCOPED_TRACE(name);
    this->SetGoodInput(*metric);
    std::ostringstream text;
    metric->Print(text);
    EXPECT_NE(text.str().find(GetParam()), std::string::npos) << text.str();
    EXPECT_NE(text.str().find("TrustsTimeStamps"), std::string::npos) << text.str();
    EXPECT_NE(text.str().find(metric->GetNameOfClass()), std::string::npos) << text.str();
  });
}

/** An image whose gradient nobody needs is made without it: a change of the gradient's source makes it anew. */
TEST_P(EachMetricTest, FollowsDemonsGradientSource)
{
  using SourceType = itk::ObjectToObjectMetricBaseTemplateEnums::GradientSource;
  constexpr auto ofFixed = SourceType::GRADIENT_SOURCE_FIXED, ofMoving = SourceType::GRADIENT_SOURCE_MOVING;
  const auto     setGood = [this](DemonsType & metric, const std::pair<bool, SourceType> & how) {
    this->SetGoodInput(metric);
    metric.SetUseFixedImageGradientFilter(how.first);
    metric.SetUseMovingImageGradientFilter(how.first);
    metric.SetGradientSource(how.second);
  };
  const auto metric = DemonsType::New();
  for (const auto & how : std::vector<std::pair<bool, SourceType>>{ { false, ofFixed },
                                                                    { false, ofMoving },
                                                                    { false, ofFixed },
                                                                    { true, ofMoving },
                                                                    { true, ofFixed },
                                                                    { false, ofMoving },
                                                                    { true, ofMoving },
                                                                    { false, ofMoving } })
  {
    SCOPED_TRACE((how.first ? "by a filter " : "by differences ") +
                 std::string(how.second == ofFixed ? "fixed" : "moving"));
    const auto fresh = DemonsType::New();
    setGood(*metric, how);
    setGood(*fresh, how);
    const Bits bits = this->Ask(*metric);
    EXPECT_TRUE(bits == this->Ask(*fresh));
    typename DemonsType::MeasureType    value = 0;
    typename DemonsType::DerivativeType derivative;
    metric->GetValueAndDerivative(value, derivative);
    EXPECT_GT(derivative.two_norm(), 0.0);
  }
}

TEST_P(EachMetricTest, RefusesBadInputAndGoesOn)
{
  gpureg::ReleaseIdleMemory(GetParam());
  const auto before = gpureg::GetMemoryInUse(GetParam());
  ForEachMetricAndDemons([&](const auto & metric, const char * name) {
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

/** Every metric throws the same error, on every device. */
TEST_P(EachMetricTest, SaysWhatIsBadAndGoesOn)
{
  ForEachMetricAndDemons([&](const auto & pointer, const char * name) {
    SCOPED_TRACE(name);
    auto & metric = *pointer;
    using MetricType = std::remove_reference_t<decltype(metric)>;
    this->SetGoodInput(metric);
    const auto initialize = [&] { metric.Initialize(); };
    const auto evaluate = [&] {
      typename MetricType::MeasureType    value;
      typename MetricType::DerivativeType derivative;
      metric.Initialize();
      metric.GetValueAndDerivative(value, derivative);
    };
    double good = 0;
    try
    {
      metric.GetValue();
      ADD_FAILURE() << "a value before Initialize()";
    }
    catch (const itk::GPUBadInputError & error)
    {
      EXPECT_NE(std::string(error.GetDescription()).find("Initialize() has not been called"), std::string::npos);
    }
    metric.Initialize();
    good = metric.GetValue();

    metric.SetFixedImage(nullptr);
    this->template ExpectComplaint<itk::ExceptionObject>(metric, good, initialize, { "FixedImage is not present" });
    metric.SetMovingImage(ImageType::New());
    this->template ExpectComplaint<itk::GPUBadInputError>(metric, good, initialize, { "moving image is empty" });
    metric.SetFixedTransform(nullptr);
    this->template ExpectComplaint<itk::ExceptionObject>(metric, good, initialize, { "FixedTransform is not present" });
    for (const float bad : { std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::infinity() })
    {
      const char * const word = bad != bad ? "NaN" : "infinite";
      metric.SetFixedImage(this->MakeImageOf(bad));
      this->template ExpectComplaint<itk::GPUBadInputError>(metric, good, initialize, { "fixed image", "1 of", word });
      metric.SetMovingImage(this->MakeImageOf(bad));
      this->template ExpectComplaint<itk::GPUBadInputError>(metric, good, initialize, { "moving image", "1 of", word });
    }
    metric.SetMovingImage(this->MakeImageOf(std::numeric_limits<float>::quiet_NaN()));
    EXPECT_THROW(metric.Initialize(), itk::GPUBadInputError);
    this->template ExpectComplaint<itk::GPUBadInputError>(metric,
                                                          good,
                                                          [&] { metric.GetValue(); },
                                                          { "Initialize()", "failed" });

    metric.SetFixedImageMask(MakeMask(-2, -1));
    this->ExpectNothingSampled(metric, good, evaluate, BinsFixed<MetricType>, "fixed image");
    metric.SetMovingImageMask(MakeMask(-2, -1));
    this->ExpectNothingSampled(metric, good, evaluate, BinsMoving<MetricType>, "moving image");
    metric.SetFixedImageMask(MakeMask(0, 8));
    metric.SetMovingImageMask(MakeMask(25, 37));
    this->ExpectNoOverlap(metric, good, evaluate, { "mask", "overlap" });

    if (std::is_same<MetricType, DemonsType>::value)
    {
      metric.SetMovingTransform(MakeFieldTransform(MakeGrid(), 1e5));
    }
    else
    {
      const auto far = TransformType::New();
      far->Translate(TransformType::OutputVectorType(1000.0));
      metric.SetMovingTransform(far);
    }
    this->ExpectNoOverlap(metric,
                          good,
                          evaluate,
                          { "outside moving image buffer", "overlap", "Initialize the transform" });

    std::vector<std::string> words = GetDeviceNames();
    try
    {
      metric.SetDevice(itk::GPUDevice::FromName("cuda:77"));
      ADD_FAILURE() << "an unknown device was taken";
    }
    catch (const itk::GPUBadInputError & error)
    {
      for (const std::string & word : words)
      {
        EXPECT_NE(std::string(error.GetDescription()).find(word), std::string::npos) << error.GetDescription();
      }
    }

    // An image for which there was not enough memory at first.
    Grid<3> large = MakeGrid();
    large.size.Fill(60);
    metric.SetMovingImage(MakeImagePair<ImageType>(large, large, 4).second);
    gpureg::SetMemoryLimit(GetParam(), 1000);
    try
    {
      evaluate();
      ADD_FAILURE() << "memory was enough";
    }
    catch (const itk::GPUOutOfMemoryError & error)
    {
      EXPECT_NE(std::string(error.GetDescription()).find("out of memory on " + GetParam()), std::string::npos);
    }
    gpureg::SetMemoryLimit(GetParam(), 0);
    this->SetGoodInput(metric);
    metric.Initialize();
    EXPECT_EQ(metric.GetValue(), good);

    // The field's grid is not the virtual domain.
    Grid<3> other = MakeGrid();
    other.size.Fill(20);
    metric.SetMovingTransform(MakeFieldTransform(other, 0.5));
    this->template ExpectComplaint<itk::ExceptionObject>(metric, good, initialize, { "isplacement" });

    metric.SetVirtualSampledPointSet(MetricType::VirtualPointSetType::New());
    metric.UseSampledPointSetOn();
    metric.UseVirtualSampledPointSetOn();
    this->template ExpectComplaint<itk::GPUBadInputError>(metric, good, evaluate, { "point" });
    if (std::is_same<MetricType, DemonsType>::value)
    {
      // Points outside of the virtual domain have no parameters in a field.
      return;
    }
    const auto outside = MetricType::VirtualPointSetType::New();
    outside->SetPoint(0, typename MetricType::VirtualPointType(-5000.0));
    metric.SetVirtualSampledPointSet(outside);
    metric.UseSampledPointSetOn();
    metric.UseVirtualSampledPointSetOn();
    if (RefusesNoOverlap<MetricType>)
    {
      this->template ExpectComplaint<itk::GPUBadInputError>(metric,
                                                            good,
                                                            evaluate,
                                                            { "Nothing of the fixed image", "sampled point set" });
    }
    else
    {
      this->ExpectNoOverlap(metric, good, evaluate, {});
    }
  });
}

/** ITK's classes find no valid points if the domain is empty along x or y; if it is empty along z alone, or along all axes, they throw,
 *  since they cannot divide it among threads. */
TEST_P(EachMetricTest, HasNoValidPointsInAnEmptyVirtualDomain)
{
  constexpr itk::SizeValueType sizes[][3] = { { 0, 0, 0 }, { 0, 34, 21 }, { 37, 0, 21 }, { 37, 34, 0 } };
  const auto                   spline = SplineTransformType::New();
  spline->SetTransformDomainOrigin(m_Fixed->GetOrigin());
  spline->SetTransformDomainPhysicalDimensions(ImageType::SpacingType(60.0));
  const TransformBaseType * const transforms[] = { m_Transform, spline };
  ForEachMetric<ImageType>([&](const auto & pointer, const char * name) {
    auto & metric = *pointer;
    using MetricType = std::decay_t<decltype(metric)>;
    constexpr auto largest = itk::NumericTraits<typename MetricType::MeasureType>::max();
    this->SetGoodInput(metric);
    metric.Initialize();
    const double good = metric.GetValue();
    for (const auto & size : sizes)
    {
      for (const TransformBaseType * const transform : transforms)
      {
        SCOPED_TRACE(std::string(name) + " of " + std::to_string(size[0]) + " x " + std::to_string(size[1]) + " x " +
                     std::to_string(size[2]) + " by " + transform->GetNameOfClass());
        itk::Size<3> domain;
        std::copy_n(size, 3, domain.begin());
        metric.SetVirtualDomain(m_Fixed->GetSpacing(), m_Fixed->GetOrigin(), m_Fixed->GetDirection(), domain);
        metric.SetMovingTransform(const_cast<TransformBaseType *>(transform));
        metric.Initialize();
        typename MetricType::MeasureType    value = 0;
        typename MetricType::DerivativeType derivative(transform->GetNumberOfParameters());
        derivative.Fill(7);
        if (RefusesNoOverlap<MetricType>)
        {
          EXPECT_THROW(metric.GetValue(), itk::GPUNoOverlapError);
          EXPECT_THROW(metric.GetValueAndDerivative(value, derivative), itk::GPUNoOverlapError);
        }
        else
        {
          EXPECT_EQ(metric.GetValue(), largest);
          metric.GetValueAndDerivative(value, derivative);
          EXPECT_EQ(value, largest);
          EXPECT_EQ(derivative.inf_norm(), 0);
        }
        EXPECT_EQ(metric.GetNumberOfValidPoints(), 0u);
        if (transform == m_Transform)
        {
          EXPECT_EQ(metric.GetValues({ transform->GetParameters() }).front(), largest);
        }
      }
    }
    metric.SetVirtualDomainFromImage(m_Fixed);
    this->SetGoodInput(metric);
    metric.Initialize();
    EXPECT_EQ(metric.GetValue(), good) << name;
  });
}

/** Metrics whose formula divides by the range or the variance of an image. */
TEST_P(EachMetricTest, RefusesConstantImages)
{
  const auto check = [&](auto & metric, const char * name, bool ofFixed, bool ofMoving) {
    SCOPED_TRACE(name);
    this->SetGoodInput(metric);
    metric.Initialize();
    const double good = metric.GetValue();
    const auto   initialize = [&] { metric.Initialize(); };
    if (ofFixed)
    {
      metric.SetFixedImage(MakeConstantImage());
      this->ExpectComplaint<itk::GPUBadInputError>(metric, good, initialize, { "fixed image is constant", "7" });
    }
    if (ofMoving)
    {
      metric.SetMovingImage(MakeConstantImage());
      this->ExpectComplaint<itk::GPUBadInputError>(metric, good, initialize, { "moving image is constant", "7" });
    }
  };
  check(*MattesType::New(), "NMI", true, true);
  check(*CorrelationRatioType::New(), "correlation ratio", true, true);
  check(*PartialVolumeType::New(), "partial volume", true, true);
  check(*JointHistogramType::New(), "joint histogram", true, true);
}

/** Mattes' metric has at least five bins, as in ITK; a joint histogram of ITK's own class may have as many as memory holds. */
TEST_P(EachMetricTest, RefusesTooFewBinsAndTooMany)
{
  ForEachMetric<ImageType>([&](const auto & pointer, const char * name) {
    SCOPED_TRACE(name);
    auto & metric = *pointer;
    this->SetGoodInput(metric);
    if (SetBins(metric, 20, 0) == 0)
    {
      return;
    }
    metric.Initialize();
    const double good = metric.GetValue();
    using MetricType = std::remove_reference_t<decltype(metric)>;
    for (const unsigned int bins : { 0u, 1u, 70000u })
    {
      if (bins < 5 ? std::is_same<MetricType, MattesType>::value : std::is_same<MetricType, JointHistogramType>::value)
      {
        continue;
      }
      const auto set = SetBins(metric, bins, 0);
      try
      {
        metric.Initialize();
        metric.GetValue();
        ADD_FAILURE() << "taken: bins " << bins;
      }
      catch (const itk::GPUBadInputError & error)
      {
        const std::string message = error.GetDescription();
        EXPECT_NE(message.find("bins"), std::string::npos) << message;
        EXPECT_NE(message.find(std::to_string(set)), std::string::npos) << message;
      }
      SetBins(metric, 20, 0);
      metric.Initialize();
      EXPECT_EQ(metric.GetValue(), good) << "after bins " << bins;
    }
  });
}

/** Pixels are corrected in place, without a time stamp, between two calls of Initialize(). */
TEST_P(EachMetricTest, SeesThatANaNWasReplaced)
{
  ForEachMetricAndDemons([&](const auto & metric, const char * name) {
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
