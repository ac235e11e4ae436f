// SPDX-License-Identifier: Apache-2.0
// Compares CudaPartialVolumeMutualInformationImageToImageMetricv4 with its definition in double precision, with ITK's interpolators and
// transforms; and its derivative with central differences of its value.
#include "BentTransform.h"
#include "MetricProblem.h"
#include "TestDevices.h"
#include "TestSplines.h"
#include "TestThreads.h"

#include "itkCudaPartialVolumeMutualInformationImageToImageMetricv4.h"
#include "itkGPUError.h"
#include "itkTranslationTransform.h"

#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

namespace gpuregtest
{

namespace
{
template <typename TPixel, unsigned int VDimension>
struct VolumeProblem : MetricProblem<TPixel, VDimension>
{
  using ImageType = typename MetricProblem<TPixel, VDimension>::ImageType;
  using MetricType = itk::CudaPartialVolumeMutualInformationImageToImageMetricv4<ImageType, ImageType>;

  using MetricProblem<TPixel, VDimension>::MetricProblem;

  typename MetricType::Pointer
  MakeMetric(const itk::GPUDevice & device) const
  {
    const auto metric = MetricType::New();
    metric->SetDevice(device);
    this->GiveTo(*metric);
    metric->SetNumberOfHistogramBins(bins);
    metric->SetNormalized(normalized);
    return metric;
  }

  unsigned int bins = 32;
  bool         normalized = true;
};

/** The metric's definition. */
template <typename TPixel, unsigned int VDimension>
class VolumeDefinition
{
public:
  using ProblemType = VolumeProblem<TPixel, VDimension>;
  using ImageType = typename ProblemType::ImageType;
  using PointType = typename ProblemType::PointType;
  using Range = std::pair<double, double>;

  explicit VolumeDefinition(const ProblemType & problem)
    : m_Problem(problem)
    , m_Fixed(itk::LinearInterpolateImageFunction<ImageType, double>::New())
    , m_FixedRange(ComputeRange(*problem.fixed, problem.fixedMask))
    , m_MovingRange(ComputeRange(*problem.moving, problem.movingMask))
  {
    m_Fixed->SetInputImage(problem.fixed);
    problem.ForEachPoint([this](const PointType & point) { this->Add(point); });
  }

  Answer
  Evaluate() const
  {
    const unsigned int  bins = m_Problem.bins;
    const auto          count = static_cast<double>(m_Samples.size());
    std::vector<double> joint(bins * bins), ofFixed(bins), ofMoving(bins);
    for (const Sample & s : m_Samples)
    {
      for (const Corner & corner : s.corners)
      {
        joint[s.bin * bins + corner.bin] += corner.weight / count;
        ofFixed[s.bin] += corner.weight / count;
        ofMoving[corner.bin] += corner.weight / count;
      }
    }
    const auto entropy = [](const std::vector<double> & density) {
      double sum = 0;
      for (const double p : density)
      {
        sum -= p > 0 ? p * std::log(p) : 0.0;
      }
      return sum;
    };
    const double marginal = entropy(ofFixed) + entropy(ofMoving);
    const double both = entropy(joint);
    const double nmi = marginal / both;
    Answer       answer;
    answer.validPoints = m_Samples.size();
    answer.value = m_Problem.normalized ? -nmi : both - marginal;
    const bool isLocal = m_Problem.transform->GetTransformCategory() ==
                         ProblemType::TransformType::TransformCategoryEnum::DisplacementField;
    answer.derivative.assign(m_Problem.transform->GetNumberOfParameters(), 0.0);
    for (const Sample & s : m_Samples)
    {
      typename ProblemType::TransformType::JacobianType jacobian;
      m_Problem.transform->ComputeJacobianWithRespectToParameters(s.point, jacobian);
      // The derivative by the sample's physical position: a Jacobian has thousands of columns, so it is multiplied only once.
      std::array<double, VDimension> force{};
      for (const Corner & corner : s.corners)
      {
        const double p = joint[s.bin * bins + corner.bin];
        const double q = ofMoving[corner.bin];
        // The weight may have a slope where it is 0 itself, as at a voxel's own position: no sample is counted there.
        const double entry = !(p > 0)               ? 0.0
                             : m_Problem.normalized ? (nmi * std::log(p) - std::log(q)) / both
                                                    : std::log(p / q);
        for (unsigned int d = 0; d < VDimension; ++d)
        {
          force[d] += corner.slope[d] * entry / count;
        }
      }
      double * const derivative = answer.derivative.data() + (isLocal ? s.voxel * VDimension : 0);
      for (unsigned int d = 0; d < VDimension; ++d)
      {
        const double * const row = jacobian[d];
        for (unsigned int parameter = 0; parameter < jacobian.cols(); ++parameter)
        {
          derivative[parameter] += row[parameter] * force[d];
        }
      }
    }
    return answer;
  }

private:
  struct Corner
  {
    unsigned int                   bin;
    double                         weight;
    std::array<double, VDimension> slope; // by the sample's physical position
  };

  struct Sample
  {
    PointType           point;
    std::size_t         voxel;
    unsigned int        bin;
    std::vector<Corner> corners;
  };

  template <typename TMaskPointer>
  static Range
  ComputeRange(const ImageType & image, const TMaskPointer & mask)
  {
    Range range{ std::numeric_limits<double>::max(), std::numeric_limits<double>::lowest() };
    for (itk::ImageRegionConstIteratorWithIndex<ImageType> it(&image, image.GetBufferedRegion()); !it.IsAtEnd(); ++it)
    {
      PointType point;
      image.TransformIndexToPhysicalPoint(it.GetIndex(), point);
      if (!mask || mask->IsInsideInWorldSpace(point))
      {
        range.first = std::min<double>(range.first, it.Get());
        range.second = std::max<double>(range.second, it.Get());
      }
    }
    return range;
  }

  unsigned int
  ComputeBin(double value, const Range & range) const
  {
    const double place = m_Problem.bins * (value - range.first) / (range.second - range.first);
    return static_cast<unsigned int>(std::min(std::max(std::floor(place), 0.0), m_Problem.bins - 1.0));
  }

  /** Returns the weight of one voxel in linear interpolation, and its slope, at a position that is moved to the edge. */
  Corner
  WeighVoxel(const PointType & moved, const typename ImageType::IndexType & voxel) const
  {
    const auto &                   image = *m_Problem.moving;
    const auto                     region = image.GetBufferedRegion();
    const auto                     position = image.template TransformPhysicalPointToContinuousIndex<double>(moved);
    std::array<double, VDimension> factors, slopes;
    Corner                         corner;
    corner.weight = 1;
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      const auto   begin = static_cast<double>(region.GetIndex(d));
      const double end = begin + static_cast<double>(region.GetSize(d)) - 1;
      const double inside = std::min(std::max(position[d], begin), end);
      const double from = inside - static_cast<double>(voxel[d]);
      factors[d] = std::max(0.0, 1.0 - std::abs(from));
      slopes[d] = inside != position[d] ? 0.0 : from >= 0 ? -1.0 : 1.0;
      corner.weight *= factors[d];
    }
    for (unsigned int r = 0; r < VDimension; ++r)
    {
      // The derivative of an index by a physical position, which is the same everywhere.
      PointType behind = moved;
      behind[r] += 1.0;
      const auto there = image.template TransformPhysicalPointToContinuousIndex<double>(behind);
      corner.slope[r] = 0;
      for (unsigned int d = 0; d < VDimension; ++d)
      {
        double slope = slopes[d] * (there[d] - position[d]);
        for (unsigned int other = 0; other < VDimension; ++other)
        {
          slope *= other != d ? factors[other] : 1.0;
        }
        corner.slope[r] += slope;
      }
    }
    corner.bin = ComputeBin(image.GetPixel(voxel), m_MovingRange);
    return corner;
  }

  void
  Add(const PointType & point)
  {
    const PointType moved = m_Problem.transform->TransformPoint(point);
    if (!m_Fixed->IsInsideBuffer(point) || !m_Problem.IsInsideMoving(moved) || !m_Problem.IsInsideMasks(point, moved))
    {
      return;
    }
    Sample sample;
    sample.point = point;
    sample.voxel = m_Problem.fixed->ComputeOffset(m_Problem.fixed->TransformPhysicalPointToIndex(point));
    sample.bin = ComputeBin(static_cast<TPixel>(m_Fixed->Evaluate(point)), m_FixedRange);
    const auto & image = *m_Problem.moving;
    const auto   position = image.template TransformPhysicalPointToContinuousIndex<double>(moved);
    for (unsigned int c = 0; c < 1u << VDimension; ++c)
    {
      typename ImageType::IndexType voxel;
      for (unsigned int d = 0; d < VDimension; ++d)
      {
        voxel[d] = static_cast<itk::IndexValueType>(std::floor(position[d])) + ((c >> d) & 1u);
      }
      if (!image.GetBufferedRegion().IsInside(voxel))
      {
        continue;
      }
      sample.corners.push_back(WeighVoxel(moved, voxel));
    }
    m_Samples.push_back(sample);
  }

  const ProblemType &                                                      m_Problem;
  typename itk::LinearInterpolateImageFunction<ImageType, double>::Pointer m_Fixed;
  Range                                                                    m_FixedRange;
  Range                                                                    m_MovingRange;
  std::vector<Sample>                                                      m_Samples;
};

class PartialVolumeTest : public DeviceTest
{
protected:
  template <typename TPixel, unsigned int VDimension>
  void
  ExpectTheDefinition(const VolumeProblem<TPixel, VDimension> & problem) const
  {
    const auto   metric = problem.MakeMetric(this->GetDevice());
    const Answer answer = InitializeAndAsk(*metric);
    const Answer expected = VolumeDefinition<TPixel, VDimension>(problem).Evaluate();
    EXPECT_EQ(answer.validPoints, expected.validPoints);
    EXPECT_GT(answer.validPoints, 100u);
    EXPECT_NEAR(answer.value, expected.value, 1e-6);
    EXPECT_NEAR(answer.valueAlone, expected.value, 1e-6);
    ASSERT_EQ(answer.derivative.size(), expected.derivative.size());
    EXPECT_GT(GetNorm(expected.derivative), 0.0);
    EXPECT_LT(GetRelativeError(answer.derivative, expected.derivative), 1e-5);
  }

  /** Checks both dimensions, with floats and with doubles, normalized and not. */
  template <typename TChange>
  void
  ExpectTheDefinitionEverywhere(const TChange & change) const
  {
    ForEachImageType([&](auto pixel, auto dimension) {
      for (const bool normalized : { true, false })
      {
        SCOPED_TRACE(normalized ? "normalised" : "not normalised");
        VolumeProblem<decltype(pixel), dimension> problem(23 + dimension);
        problem.normalized = normalized;
        change(problem);
        this->ExpectTheDefinition(problem);
      }
    });
  }
};
} // namespace

TEST_P(PartialVolumeTest, IsItsDefinition)
{
  this->ExpectTheDefinitionEverywhere([](auto &) {});
}

TEST_P(PartialVolumeTest, OfAnyNumberOfBins)
{
  for (const unsigned int bins : { 2u, 7u, 128u, 256u })
  {
    SCOPED_TRACE(bins);
    this->ExpectTheDefinitionEverywhere([bins](auto & problem) { problem.bins = bins; });
  }
}

TEST_P(PartialVolumeTest, InMasks)
{
  this->ExpectTheDefinitionEverywhere([](auto & problem) { problem.fixedMask = MakeMask(*problem.fixed); });
  this->ExpectTheDefinitionEverywhere([](auto & problem) { problem.movingMask = MakeMask(*problem.moving); });
}

TEST_P(PartialVolumeTest, OfPoints)
{
  this->ExpectTheDefinitionEverywhere([](auto & problem) { AddRandomPoints(problem, 700, 5); });
}

TEST_P(PartialVolumeTest, OfADisplacementField)
{
  this->ExpectTheDefinitionEverywhere([](auto & problem) {
    problem.transform = MakeField<std::decay_t<decltype(problem)>::ImageType::ImageDimension>(*problem.fixed);
  });
}

/** A B-spline that is optimized, of each of ITK's two classes. */
TEST_P(PartialVolumeTest, OfABSpline)
{
  ForEachSplineClass([this](const auto & change) { this->ExpectTheDefinitionEverywhere(change); });
}

/** Each device applies fields and B-splines that are not optimized, and carries forces back through those that follow the optimized
 *  transform. */
TEST_P(PartialVolumeTest, AmongGridsThatAreNotOptimised)
{
  ForEachChainOfGrids([this](const auto & change) { this->ExpectTheDefinitionEverywhere(change); });
}

/** A transform of another class, which no device has, gives the same through ITK's own classes. */
TEST_P(PartialVolumeTest, ThroughITK)
{
  this->ExpectTheDefinitionEverywhere([](auto & problem) {
    constexpr unsigned int Dimension = std::decay_t<decltype(problem)>::ImageType::ImageDimension;
    const auto             bent = BentTransform<Dimension>::New();
    bent->SetFixedParameters(problem.transform->GetFixedParameters());
    bent->SetParameters(problem.transform->GetParameters());
    problem.transform = bent;
  });
}

/** The derivative is that of -value: no sample crosses a voxel's border in so small a step. */
TEST_P(PartialVolumeTest, DerivativeIsACentralDifference)
{
  for (const bool normalized : { true, false })
  {
    VolumeProblem<double, 3> problem(5);
    problem.normalized = normalized;
    const auto translation = itk::TranslationTransform<double, 3>::New();
    auto       parameters = translation->GetParameters();
    parameters[0] = 0.31;
    parameters[1] = -0.47;
    parameters[2] = 0.22;
    // The images' axes are the same, so that all samples have the same fraction between voxels.
    problem.moving->SetDirection(problem.fixed->GetDirection());
    problem.moving->SetSpacing(problem.fixed->GetSpacing());
    problem.moving->SetOrigin(problem.fixed->GetOrigin());
    translation->SetParameters(parameters);
    problem.transform = translation;
    const auto   metric = problem.MakeMetric(this->GetDevice());
    const Answer answer = InitializeAndAsk(*metric);
    for (unsigned int p = 0; p < 3; ++p)
    {
      const double step = 2e-3;
      const auto   valueAt = [&](double by) {
        auto there = parameters;
        there[p] += by;
        translation->SetParameters(there);
        return metric->GetValue();
      };
      const double difference = -(valueAt(step) - valueAt(-step)) / (2 * step);
      EXPECT_NEAR(answer.derivative[p], difference, 2e-3 * GetNorm(answer.derivative)) << p;
    }
  }
}

TEST_P(PartialVolumeTest, RepeatsItself)
{
  const PlatformThreads   platformThreads;
  VolumeProblem<float, 3> problem(9);
  const auto              evaluate = [&](unsigned int threads) {
    const auto metric = problem.MakeMetric(this->GetDevice());
    PlatformThreads::Set(*metric, threads);
    return InitializeAndAsk(*metric);
  };
  const Answer first = evaluate(1);
  for (const unsigned int threads : { 1u, 2u, 7u })
  {
    const Answer answer = evaluate(threads);
    EXPECT_EQ(answer.value, first.value);
    EXPECT_EQ(answer.derivative, first.derivative);
  }
}

TEST_P(PartialVolumeTest, BadInputIsNamed)
{
  VolumeProblem<float, 2> problem(3);
  const auto              metric = problem.MakeMetric(this->GetDevice());
  for (const unsigned int bins : { 0u, 1u, 257u })
  {
    metric->SetNumberOfHistogramBins(bins);
    EXPECT_THROW(metric->Initialize(), itk::GPUBadInputError) << bins;
  }
  metric->SetNumberOfHistogramBins(32);
  const auto constant = decltype(problem)::ImageType::New();
  constant->CopyInformation(problem.moving);
  constant->SetRegions(problem.moving->GetBufferedRegion());
  constant->Allocate();
  constant->FillBuffer(4.0f);
  metric->SetMovingImage(constant);
  EXPECT_THROW(metric->Initialize(), itk::GPUBadInputError);
  EXPECT_THROW(metric->GetValue(), itk::GPUBadInputError);
  metric->SetMovingImage(problem.moving);
  metric->Initialize();
  EXPECT_LT(metric->GetValue(), -1.0);
  metric->SetNumberOfHistogramBins(16);
  EXPECT_THROW(metric->GetValue(), itk::GPUBadInputError);
}

TEST_P(PartialVolumeTest, PrintsItself)
{
  const auto metric = VolumeProblem<float, 2>(3).MakeMetric(this->GetDevice());
  metric->SetNumberOfHistogramBins(48);
  metric->NormalizedOff();
  std::ostringstream text;
  metric->Print(text);
  EXPECT_NE(text.str().find("NumberOfHistogramBins: 48"), std::string::npos) << text.str();
  EXPECT_NE(text.str().find("Normalized: Off"), std::string::npos) << text.str();
}

INSTANTIATE_TEST_SUITE_P(Devices, PartialVolumeTest, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace gpuregtest
