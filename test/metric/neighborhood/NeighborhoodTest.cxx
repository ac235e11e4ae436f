// SPDX-License-Identifier: Apache-2.0
// Tests of the neighborhood correlation besides the comparison with ITK: any number of threads, any number of slabs, and unusual input.
#include "Listening.h"
#include "TestAnswer.h"
#include "TestDevices.h"
#include "TestImages.h"
#include "TestMetrics.h"
#include "TestThreads.h"

#include "itkDisplacementFieldTransform.h"
#include "itkEuler3DTransform.h"
#include "itkGPUError.h"
#include "itkTranslationTransform.h"

#include "gpureg/metric/neighborhood/NeighborhoodCorrelationMetric.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <sstream>
#include <vector>

namespace gpuregtest
{

namespace
{
using ImageType = TestImage<float, 3>;
using MetricType = itk::GPUANTSNeighborhoodCorrelationImageToImageMetricv4<ImageType, ImageType>;
using ItkMetricType = itk::ANTSNeighborhoodCorrelationImageToImageMetricv4<ImageType, ImageType>;
using TransformType = itk::Transform<double, 3, 3>;

Grid<3>
MakeGrid()
{
  Grid<3> grid;
  grid.size[0] = 35;
  grid.size[1] = 29;
  grid.size[2] = 23;
  grid.spacing[2] = 1.4;
  return grid;
}

TransformType::Pointer
MakeRigid()
{
  const auto rigid = itk::Euler3DTransform<double>::New();
  rigid->SetCenter(MakeGrid().GetCentre());
  rigid->SetRotation(0.05, -0.03, 0.04);
  itk::Vector<double, 3> shift;
  shift.Fill(0.73);
  rigid->SetTranslation(shift);
  return rigid.GetPointer();
}

TransformType::Pointer
MakeField()
{
  using FieldTransformType = itk::DisplacementFieldTransform<double, 3>;
  const auto field = FieldTransformType::DisplacementFieldType::New();
  MakeGrid().ApplyTo(*field);
  field->Allocate();
  for (std::size_t n = 0; n < field->GetBufferedRegion().GetNumberOfPixels(); ++n)
  {
    for (unsigned int d = 0; d < 3; ++d)
    {
      field->GetBufferPointer()[n][d] = 1.5 * std::sin(0.001 * static_cast<double>(n) + d);
    }
  }
  const auto transform = FieldTransformType::New();
  transform->SetDisplacementField(field);
  return transform.GetPointer();
}

/** Returns points by their voxels; each lies beside its voxel's centre. */
MetricType::VirtualPointSetType::Pointer
MakePoints(const std::vector<itk::Index<3>> & voxels)
{
  const auto points = MetricType::VirtualPointSetType::New();
  for (std::size_t n = 0; n < voxels.size(); ++n)
  {
    itk::Vector<double, 3> index;
    for (unsigned int d = 0; d < 3; ++d)
    {
      index[d] = static_cast<double>(voxels[n][d]) + 0.2;
    }
    MetricType::VirtualPointSetType::PointType point;
    point.CastFrom(MakeGrid().GetPoint(index));
    points->SetPoint(n, point);
  }
  return points;
}

MetricType::VirtualPointSetType::Pointer
MakeManyPoints()
{
  std::vector<itk::Index<3>> voxels;
  for (int n = 0; n < 2000; ++n)
  {
    voxels.push_back({ { n * 7 % 35, n * 11 % 29, n * 13 % 23 } });
  }
  return MakePoints(voxels);
}

template <typename TMetric = MetricType>
typename TMetric::Pointer
MakeMetric(TransformType & transform, unsigned int radius = 2)
{
  const auto                   images = MakeImagePair<ImageType>(MakeGrid(), MakeGrid(), 3);
  const auto                   metric = TMetric::New();
  typename TMetric::RadiusType size;
  size.Fill(radius);
  metric->SetRadius(size);
  metric->SetFixedImage(images.first);
  metric->SetMovingImage(images.second);
  metric->SetMovingTransform(&transform);
  return metric;
}

template <typename TMetric>
void
SetPoints(TMetric & metric, MetricType::VirtualPointSetType * points)
{
  metric.SetVirtualSampledPointSet(points);
  metric.UseSampledPointSetOn();
  metric.UseVirtualSampledPointSetOn();
}

class NeighborhoodTest : public DeviceTest
{
protected:
  MetricType::Pointer
  MakeOurs(TransformType & transform, unsigned int radius = 2) const
  {
    const auto metric = MakeMetric(transform, radius);
    metric->SetDevice(this->GetDevice());
    return metric;
  }

  static void
  ExpectSame(const Answer & ours, const Answer & itks)
  {
    EXPECT_EQ(ours.validPoints, itks.validPoints);
    EXPECT_NEAR(ours.value, itks.value, 1e-5 * std::abs(itks.value));
    ASSERT_EQ(ours.derivative.size(), itks.derivative.size());
    EXPECT_LE(GetRelativeError(ours.derivative, itks.derivative), 1e-4);
  }
};

/** Returns a filler of displacements of about a voxel. */
template <typename TComponent>
gpureg::Filler
MakeDisplacements()
{
  return [](std::int64_t first, std::int64_t count, void * out) {
    for (std::int64_t i = 0; i < 3 * count; ++i)
    {
      static_cast<TComponent *>(out)[i] =
        static_cast<TComponent>(static_cast<float>(std::sin(0.01 * static_cast<double>(3 * first + i))));
    }
  };
}

void
OnOneThread(std::int64_t count, const std::function<void(std::int64_t)> & work)
{
  for (std::int64_t n = 0; n < count; ++n)
  {
    work(n);
  }
}

constexpr gpureg::Size EngineSize{ 17, 13, 41 };

/** Sets volumes without ITK: fixed and moving values are functions of the voxel. */
void
GiveVolumes(gpureg::NeighborhoodCorrelationMetric & engine)
{
  const auto valuesOf = [](double frequency) {
    return [frequency](std::int64_t first, std::int64_t count, void * out) {
      for (std::int64_t n = 0; n < count; ++n)
      {
        static_cast<double *>(out)[n] = std::sin(frequency * static_cast<double>(first + n));
      }
    };
  };
  gpureg::FixedSamples fixed;
  fixed.precision = gpureg::Precision::Double;
  fixed.virtualSize = EngineSize;
  fixed.values = valuesOf(0.011);
  gpureg::MovingImage moving;
  moving.precision = gpureg::Precision::Double;
  moving.size = EngineSize;
  moving.values = valuesOf(0.013);
  moving.inverseSpacing = { 1, 1, 1 };
  moving.differenceStep = { 0.5, 0, 0, 0, 0.5, 0, 0, 0, 0.5 };
  engine.SetFixedSamples(fixed, OnOneThread);
  engine.SetMovingImage(moving, OnOneThread);
}

gpureg::SampleMapping
MakeMapping()
{
  gpureg::SampleMapping mapping;
  mapping.toMoving.matrix = { 1, 0, 0, 0, 1, 0, 0, 0, 1 };
  mapping.toMoving.offset = { 0.3, -0.7, 1.2 };
  mapping.displacementToIndex = { 0.9, 0.1, 0, -0.1, 0.9, 0, 0, 0, 0.7 };
  return mapping;
}

gpureg::NeighborhoodTerms
MakeTerms()
{
  gpureg::NeighborhoodTerms terms;
  terms.radius = { 2, 1, 3 };
  terms.flat = gpureg::GetFlatNeighborhoodsOfITK<double, double, double>();
  return terms;
}

/** Evaluates an engine. \param change changes the mapping. */
template <typename TChange>
gpureg::NeighborhoodResult
AskEngine(const std::string &  device,
          std::size_t          slabBytes,
          gpureg::Forces       forces,
          std::vector<float> & kept,
          const TChange &      change)
{
  gpureg::NeighborhoodCorrelationMetric engine(device);
  GiveVolumes(engine);
  engine.SetSlabBytes(slabBytes);
  gpureg::SampleMapping mapping = MakeMapping();
  change(mapping);
  const gpureg::NeighborhoodResult result = engine.Evaluate(mapping, MakeTerms(), forces, OnOneThread);
  if (forces == gpureg::Forces::OfEachSample)
  {
    kept.resize(3 * EngineSize[0] * EngineSize[1] * EngineSize[2]);
    engine.TakeForces([&kept](std::int64_t  first,
                              std::int64_t  count,
                              const float * forces) { std::copy_n(forces, 3 * count, kept.data() + 3 * first); },
                      OnOneThread);
  }
  return result;
}

gpureg::NeighborhoodResult
AskEngine(const std::string & device, std::size_t slabBytes, gpureg::Forces forces, std::vector<float> & kept)
{
  return AskEngine(device, slabBytes, forces, kept, [](const gpureg::SampleMapping &) {});
}
} // namespace

TEST_P(NeighborhoodTest, AnyNumberOfThreads)
{
  const PlatformThreads platformThreads;
  for (const auto & transform : { MakeRigid(), MakeField() })
  {
    for (const bool isSparse : { false, true })
    {
      Answer first;
      for (const unsigned int threads : { 1u, 2u, 7u })
      {
        const auto metric = MakeOurs(*transform);
        if (isSparse)
        {
          SetPoints(*metric, MakeManyPoints());
        }
        PlatformThreads::Set(*metric, threads);
        const Answer answer = InitializeAndAsk(*metric);
        first = threads == 1 ? answer : first;
        EXPECT_GT(answer.validPoints, 1000u);
        EXPECT_EQ(answer.validPoints, first.validPoints);
        EXPECT_EQ(answer.value, first.value);
        EXPECT_EQ(answer.valueAlone, first.value);
        EXPECT_EQ(answer.derivative, first.derivative);
        const Answer again = Evaluate(*metric);
        EXPECT_EQ(again.value, first.value);
        EXPECT_EQ(again.derivative, first.derivative);
      }
    }
  }
}

TEST_P(NeighborhoodTest, SlabsGiveWhatOneGives)
{
  std::vector<float>               forces[2], none;
  const gpureg::NeighborhoodResult whole[] = {
    AskEngine(GetParam(), 1 << 30, gpureg::Forces::Summed, none),
    AskEngine(GetParam(), 1 << 30, gpureg::Forces::OfEachSample, forces[0])
  };
  for (const std::size_t slabBytes : { std::size_t{ 1 }, std::size_t{ 17 * 13 * 56 * 15 } })
  {
    const gpureg::NeighborhoodResult summed = AskEngine(GetParam(), slabBytes, gpureg::Forces::Summed, none);
    EXPECT_GT(summed.count, 6000.0);
    EXPECT_EQ(summed.count, whole[0].count);
    EXPECT_NEAR(summed.correlations, whole[0].correlations, 1e-9 * whole[0].correlations);
    for (std::size_t s = 0; s < summed.forceSums.size(); ++s)
    {
      EXPECT_NEAR(summed.forceSums[s], whole[0].forceSums[s], 1e-6 * std::abs(whole[0].forceSums[s]));
    }
    const gpureg::NeighborhoodResult each = AskEngine(GetParam(), slabBytes, gpureg::Forces::OfEachSample, forces[1]);
    EXPECT_EQ(each.count, whole[1].count);
    ASSERT_EQ(forces[0].size(), forces[1].size());
    EXPECT_LE(GetRelativeError(std::vector<double>(forces[1].begin(), forces[1].end()),
                               std::vector<double>(forces[0].begin(), forces[0].end())),
              1e-6);
  }
}

/** The candidates of one slab are evaluated together; those of several slabs one after the other. */
TEST_P(NeighborhoodTest, BatchesOfSeveralSlabs)
{
  std::vector<gpureg::SampleMapping> mappings;
  for (int n = 0; n < 5; ++n)
  {
    mappings.push_back(MakeMapping());
    mappings.back().toMoving.offset[2] += 0.7 * n;
  }
  gpureg::CandidateMaps candidates;
  candidates.count = static_cast<std::int64_t>(mappings.size());
  candidates.make = [&mappings](std::int64_t first, std::int64_t number, gpureg::IndexMap * maps) {
    for (std::int64_t n = 0; n < number; ++n)
    {
      maps[n] = mappings[static_cast<std::size_t>(first + n)].toMoving;
    }
  };
  gpureg::NeighborhoodCorrelationMetric engine(GetParam());
  GiveVolumes(engine);
  for (const std::size_t slabBytes : { std::size_t{ 1 }, std::size_t{ 17 * 13 * 56 * 15 }, std::size_t{ 1 } << 30 })
  {
    SCOPED_TRACE(slabBytes);
    engine.SetSlabBytes(slabBytes);
    const auto results = engine.EvaluateBatch(candidates, MakeTerms(), OnOneThread);
    ASSERT_EQ(results.size(), mappings.size());
    for (std::size_t n = 0; n < mappings.size(); ++n)
    {
      SCOPED_TRACE(n);
      const auto one = engine.Evaluate(mappings[n], MakeTerms(), gpureg::Forces::None, OnOneThread);
      EXPECT_GT(one.count, 5000.0);
      EXPECT_EQ(results[n].count, one.count);
      EXPECT_NEAR(results[n].correlations, one.correlations, 1e-9 * one.correlations);
    }
  }
}

/** Displacements are uploaded in float if a field is too large for fixed point, or if it has no more digits. */
TEST_P(NeighborhoodTest, DisplacementsInFloatGiveTheSame)
{
  std::vector<float>               forces[2];
  const gpureg::NeighborhoodResult inFloat =
    AskEngine(GetParam(), 1 << 30, gpureg::Forces::OfEachSample, forces[0], [](gpureg::SampleMapping & mapping) {
      mapping.displacement = MakeDisplacements<float>();
    });
  const gpureg::NeighborhoodResult inFixedPoint =
    AskEngine(GetParam(), 1 << 30, gpureg::Forces::OfEachSample, forces[1], [](gpureg::SampleMapping & mapping) {
      mapping.displacement = MakeDisplacements<float>();
      mapping.displacementInDoubles = MakeDisplacements<double>();
    });
  EXPECT_GT(inFloat.count, 6000.0);
  EXPECT_EQ(inFloat.count, inFixedPoint.count);
  EXPECT_NE(forces[0], forces[1]);
  EXPECT_NEAR(inFloat.correlations, inFixedPoint.correlations, 1e-6 * inFixedPoint.correlations);
  EXPECT_LE(GetRelativeError(std::vector<double>(forces[0].begin(), forces[0].end()),
                             std::vector<double>(forces[1].begin(), forces[1].end())),
            1e-5);
}

/** Without neighbours every neighborhood is flat; a radius larger than the grid is as good as one of the grid's size. */
TEST_P(NeighborhoodTest, RadiiOutOfTheOrdinary)
{
  using DoubleImageType = TestImage<double, 3>;
  using OursType = itk::GPUANTSNeighborhoodCorrelationImageToImageMetricv4<DoubleImageType, DoubleImageType>;
  const auto images = MakeImagePair<DoubleImageType>(MakeGrid(), MakeGrid(), 3);
  const auto ask = [&](auto & metric, itk::SizeValueType radius) {
    itk::Size<3> size;
    size.Fill(radius);
    metric.SetRadius(size);
    metric.SetFixedImage(images.first);
    metric.SetMovingImage(images.second);
    metric.SetMovingTransform(MakeRigid());
    return InitializeAndAsk(metric);
  };
  const auto ours = OursType::New();
  ours->SetDevice(this->GetDevice());
  const auto   itks = itk::ANTSNeighborhoodCorrelationImageToImageMetricv4<DoubleImageType, DoubleImageType>::New();
  const Answer none = ask(*ours, 0);
  const Answer itksNone = ask(*itks, 0);
  EXPECT_EQ(none.validPoints, itksNone.validPoints);
  EXPECT_EQ(none.value, -1.0);
  EXPECT_EQ(itksNone.value, -1.0);
  EXPECT_EQ(GetNorm(none.derivative), 0.0);
  EXPECT_EQ(GetNorm(itksNone.derivative), 0.0);

  const Answer all = ask(*ours, 35);
  EXPECT_GT(all.validPoints, 10000u);
  for (const itk::SizeValueType radius :
       { itk::SizeValueType{ 1000000000 }, std::numeric_limits<itk::SizeValueType>::max() })
  {
    const Answer larger = ask(*ours, radius);
    EXPECT_EQ(larger.value, all.value);
    EXPECT_EQ(larger.derivative, all.derivative);
  }
}

/** Running sums of any length, in tiles and in walks, equal the host's. ITK would take minutes. */
TEST_P(NeighborhoodTest, LongRadii)
{
  for (const unsigned int radius : { 6u, 9u, 12u, 16u, 17u })
  {
    SCOPED_TRACE(radius);
    const auto ours = MakeOurs(*MakeRigid(), radius);
    const auto hosts = MakeOurs(*MakeRigid(), radius);
    hosts->SetDevice(itk::GPUDevice::FromName("host"));
    ExpectSame(InitializeAndAsk(*ours), InitializeAndAsk(*hosts));
  }
}

TEST_P(NeighborhoodTest, FlatImagesCorrelate)
{
  const auto metric = MakeOurs(*MakeRigid());
  const auto flat = MakeImage<ImageType>(MakeGrid(), [](const auto &) { return 7.0; });
  metric->SetMovingImage(flat);
  const Answer answer = InitializeAndAsk(*metric);
  EXPECT_GT(answer.validPoints, 10000u);
  EXPECT_EQ(answer.value, -1.0);
  EXPECT_EQ(GetNorm(answer.derivative), 0.0);
}

/** A bright block beside a flat background leaves no rounding error behind: the numbers are ITK's, to the last flat voxel. */
TEST_P(NeighborhoodTest, FlatStaysFlatBesideWhatIsBright)
{
  const auto centre = MakeGrid().GetCentre();
  const auto block = [&](double width) {
    return MakeImage<ImageType>(MakeGrid(), [&](const auto & p) {
      const auto   away = p - centre;
      const double inside = std::max({ std::abs(away[0]), std::abs(away[1]), std::abs(away[2]) });
      return inside < width ? 12345.678 + 0.37 * away[0] * away[1] + away[2] : 0.0;
    });
  };
  const auto ours = MakeOurs(*MakeRigid());
  const auto itks = MakeMetric<ItkMetricType>(*MakeRigid());
  for (ItkMetricType * const metric : { static_cast<ItkMetricType *>(ours.GetPointer()), itks.GetPointer() })
  {
    metric->SetFixedImage(block(7.3));
    metric->SetMovingImage(block(6.2));
  }
  ExpectSame(InitializeAndAsk(*ours), InitializeAndAsk(*itks));
}

/** Values far from 0 lose no digits. */
TEST_P(NeighborhoodTest, AConstantIsNoMatter)
{
  using DoubleImageType = TestImage<double, 3>;
  using OursType = itk::GPUANTSNeighborhoodCorrelationImageToImageMetricv4<DoubleImageType, DoubleImageType>;
  const auto images = MakeImagePair<DoubleImageType>(MakeGrid(), MakeGrid(), 3);
  const auto ask = [&] {
    const auto metric = OursType::New();
    metric->SetDevice(this->GetDevice());
    metric->SetFixedImage(images.first);
    metric->SetMovingImage(images.second);
    metric->SetMovingTransform(MakeField());
    return InitializeAndAsk(*metric);
  };
  const Answer before = ask();
  for (DoubleImageType * const image : { images.first.GetPointer(), images.second.GetPointer() })
  {
    std::for_each(image->GetBufferPointer(),
                  image->GetBufferPointer() + image->GetBufferedRegion().GetNumberOfPixels(),
                  [](double & value) { value += 1e4; });
    image->Modified();
  }
  const Answer after = ask();
  EXPECT_NEAR(after.value, before.value, 1e-7);
  EXPECT_LE(GetRelativeError(after.derivative, before.derivative), 1e-4);
}

/** Points that share a voxel are counted for each, and add up in that voxel's place in a field's derivative. */
TEST_P(NeighborhoodTest, PointsInOneVoxelAddUp)
{
  const itk::Index<3> voxel{ { 17, 14, 11 } };
  const auto          once = MakeOurs(*MakeField());
  SetPoints(*once, MakePoints({ voxel }));
  const auto thrice = MakeOurs(*MakeField());
  SetPoints(*thrice, MakePoints({ voxel, voxel, voxel }));
  const Answer one = InitializeAndAsk(*once);
  const Answer three = InitializeAndAsk(*thrice);
  EXPECT_EQ(one.validPoints, 1u);
  EXPECT_EQ(three.validPoints, 3u);
  EXPECT_NEAR(three.value, one.value, 1e-12);
  ASSERT_GT(GetNorm(one.derivative), 0.0);
  std::vector<double> timesThree(one.derivative);
  std::for_each(timesThree.begin(), timesThree.end(), [](double & value) { value *= 3; });
  EXPECT_LE(GetRelativeError(three.derivative, timesThree), 1e-12);
}

TEST_P(NeighborhoodTest, PointsOutsideOfTheDomainAreLeftToITK)
{
  const auto points = MakePoints({ { { 17, 14, 11 } }, { { 9, 9, 9 } }, { { 36, 14, 11 } } });
  Listening  listening;
  const auto ours = MakeOurs(*MakeRigid());
  const auto itks = MakeMetric<ItkMetricType>(*MakeRigid());
  SetPoints(*ours, points);
  SetPoints(*itks, points);
  ExpectSame(InitializeAndAsk(*ours), InitializeAndAsk(*itks));
  EXPECT_EQ(listening.window->Count("outside of the virtual domain"), 1u);
  EXPECT_EQ(ours->GetEvaluationStatistics().launches, 0);
}

/** Points that are replaced after Initialize(), are ITK's as soon as one is outside, and the device's again behind that. */
TEST_P(NeighborhoodTest, PointsThatGoOutsideAreLeftToITK)
{
  const auto inside = MakePoints({ { { 17, 14, 11 } }, { { 9, 9, 9 } } });
  Listening  listening;
  const auto ours = MakeOurs(*MakeRigid());
  const auto itks = MakeMetric<ItkMetricType>(*MakeRigid());
  SetPoints(*ours, inside);
  SetPoints(*itks, inside);
  const Answer before = InitializeAndAsk(*ours);
  InitializeAndAsk(*itks);
  for (const itk::Index<3> & outside :
       { itk::Index<3>{ { 36, 14, 11 } }, { { -1, 3, 4 } }, { { 5, 6, -2 } }, { { 5, 6, 900 } } })
  {
    const auto points = MakePoints({ { { 17, 14, 11 } }, outside });
    SetPoints(*ours, points);
    SetPoints(*itks, points);
    ExpectSame(Evaluate(*ours), Evaluate(*itks));
    SetPoints(*ours, inside);
    const Answer again = Evaluate(*ours);
    EXPECT_EQ(again.validPoints, before.validPoints);
    EXPECT_EQ(again.value, before.value);
  }
  EXPECT_EQ(listening.window->Count("outside of the virtual domain"), 1u);
}

TEST_P(NeighborhoodTest, WithoutOverlapGivesWhatITKGives)
{
  Listening              listening;
  const auto             away = itk::TranslationTransform<double, 3>::New();
  itk::Vector<double, 3> shift;
  shift.Fill(1000.0);
  away->Translate(shift);
  const Answer answer = InitializeAndAsk(*MakeOurs(*away));
  EXPECT_EQ(answer.validPoints, 0u);
  EXPECT_EQ(answer.value, std::numeric_limits<double>::max());
  EXPECT_EQ(GetNorm(answer.derivative), 0.0);
  EXPECT_GT(listening.window->said.size(), 0u);
}

TEST_P(NeighborhoodTest, RefusesWhatIsNotFinite)
{
  const auto metric = MakeOurs(*MakeRigid());
  const auto image = MakeImage<ImageType>(MakeGrid(), [](const auto & p) { return p[0]; });
  image->SetPixel({ { 3, 2, 1 } }, std::numeric_limits<float>::quiet_NaN());
  metric->SetMovingImage(image);
  EXPECT_THROW(metric->Initialize(), itk::GPUBadInputError);
  metric->SetMovingImage(MakeImage<ImageType>(MakeGrid(), [](const auto & p) { return p[0] * p[0]; }));
  EXPECT_NO_THROW(InitializeAndAsk(*metric));
}

TEST_P(NeighborhoodTest, PrintsItsRadiusAndDevice)
{
  std::ostringstream text;
  MakeOurs(*MakeRigid(), 3)->Print(text);
  EXPECT_NE(text.str().find("radius: [3, 3, 3]"), std::string::npos) << text.str();
  EXPECT_NE(text.str().find(GetParam()), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Devices, NeighborhoodTest, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace gpuregtest
