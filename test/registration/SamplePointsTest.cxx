// SPDX-License-Identifier: Apache-2.0
// Tests the points that GPUImageRegistrationMethodv4 draws: they are those of ITK's class, bit for bit and in the same order.
#include "itkGPUImageRegistrationMethodv4.h"

#include "TestImages.h"

#include "itkAffineTransform.h"
#include "itkEllipseSpatialObject.h"
#include "itkImageMaskSpatialObject.h"
#include "itkMeanSquaresImageToImageMetricv4.h"
#include "itkObjectToObjectMultiMetricv4.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <string>
#include <vector>

namespace gpuregtest
{
namespace
{
using Generator = itk::Statistics::MersenneTwisterRandomVariateGenerator;
using Strategy = itk::ImageRegistrationMethodv4Enums::MetricSamplingStrategy;

/** Draws points as a level does. */
template <typename TMethod>
class Sampler : public TMethod
{
public:
  using Self = Sampler;
  using Superclass = TMethod;
  using Pointer = itk::SmartPointer<Self>;
  itkFactorylessNewMacro(Self);

  void
  Draw()
  {
    this->m_CurrentLevel = 0;
    this->m_CurrentRandomSeed = this->m_RandomSeed;
    this->SetMetricSamplePoints();
  }

  int
  GetNextSeed() const
  {
    return this->m_CurrentRandomSeed;
  }
};

template <typename TPixel, typename TReal, unsigned int VDimension>
struct Case
{
  static constexpr unsigned int Dimension = VDimension;
  using ImageType = itk::Image<TPixel, VDimension>;
  using TransformType = itk::AffineTransform<TReal, VDimension>;
  using ITKsType = itk::ImageRegistrationMethodv4<ImageType, ImageType, TransformType>;
  using OursType = itk::GPUImageRegistrationMethodv4<ImageType, ImageType, TransformType>;
  using MetricType = itk::MeanSquaresImageToImageMetricv4<ImageType, ImageType, ImageType, TReal>;
  using MultiMetricType = typename ITKsType::MultiMetricType;
  using RealType = TReal;
};

/** Some points, and what drawing them has changed. */
struct Drawn
{
  /** The bytes of each metric's points. */
  std::vector<std::vector<char>> points;
  int                            nextSeed;
  /** How many seeds of the process were taken. */
  unsigned int takenSeeds;
};

struct Settings
{
  Strategy     strategy = Strategy::REGULAR;
  double       part = 0.25;
  int          seed = 17;
  unsigned int metrics = 1;
  unsigned int threads = 3;
};

template <typename TCase>
class SamplePoints : public ::testing::Test
{
protected:
  static constexpr unsigned int Dimension = TCase::Dimension;
  using MaskType = itk::SpatialObject<Dimension>;
  using MetricType = typename TCase::MetricType;

  /** An oblique grid whose voxels are not cubes, and are not counted from 0. */
  SamplePoints()
  {
    Grid<Dimension> grid;
    for (unsigned int d = 0; d < Dimension; ++d)
    {
      grid.size[d] = (Dimension == 2 ? 150 : 29) + 3 * d;
      grid.start[d] = 5 - 4 * static_cast<int>(d);
      grid.spacing[d] = 1.1 + 0.7 * d;
    }
    grid.direction = MakeRotation<Dimension>(0.4);
    grid.SetCentre(grid.GetCentre());
    m_Image = MakeImage<typename TCase::ImageType>(grid, [](const auto & p) { return p[0] + 0.3 * p[1]; });
    m_Centre = grid.GetCentre();
    m_Grid = grid;
  }

  template <typename TMethod>
  Drawn
  Draw(const Settings & settings) const
  {
    const auto                                method = Sampler<TMethod>::New();
    std::vector<typename MetricType::Pointer> metrics(settings.metrics);
    const auto                                multi = TCase::MultiMetricType::New();
    for (auto & metric : metrics)
    {
      metric = MetricType::New();
      metric->SetVirtualDomainFromImage(m_Image);
      metric->SetFixedImageMask(m_Mask);
      multi->AddMetric(metric);
    }
    if (settings.metrics == 1)
    {
      method->SetMetric(metrics[0]);
    }
    else
    {
      method->SetMetric(multi);
    }
    method->SetNumberOfLevels(1);
    method->SetMetricSamplingStrategy(settings.strategy);
    method->SetMetricSamplingPercentage(static_cast<typename TCase::RealType>(settings.part));
    method->MetricSamplingReinitializeSeed(settings.seed);
    method->SetNumberOfWorkUnits(settings.threads);
    const auto before = Generator::GetNextSeed();
    method->Draw();
    Drawn drawn{ {}, method->GetNextSeed(), Generator::GetNextSeed() - before };
    for (const auto & metric : metrics)
    {
      EXPECT_TRUE(metric->GetUseSampledPointSet());
      EXPECT_TRUE(metric->GetUseVirtualSampledPointSet());
      const auto * const points = metric->GetVirtualSampledPointSet()->GetPoints();
      drawn.points.emplace_back();
      if (points != nullptr)
      {
        const auto & container = points->CastToSTLConstContainer();
        const auto * bytes = reinterpret_cast<const char *>(container.data());
        drawn.points.back().assign(bytes, bytes + container.size() * sizeof(container.front()));
      }
    }
    return drawn;
  }

  /** Draws with both classes, and compares. \returns the number of bytes of the first metric's points */
  std::size_t
  Compare(const Settings & settings) const
  {
    const Drawn ours = Draw<typename TCase::OursType>(settings);
    const Drawn itks = Draw<typename TCase::ITKsType>(settings);
    EXPECT_EQ(ours.points.size(), itks.points.size());
    for (std::size_t n = 0; n < itks.points.size(); ++n)
    {
      EXPECT_EQ(ours.points[n].size(), itks.points[n].size()) << n;
      EXPECT_TRUE(ours.points[n] == itks.points[n]) << n;
    }
    EXPECT_EQ(ours.nextSeed, itks.nextSeed);
    EXPECT_EQ(ours.takenSeeds, itks.takenSeeds);
    return itks.points.at(0).size();
  }

  void
  CompareEach() const
  {
    for (const Strategy strategy : { Strategy::REGULAR, Strategy::RANDOM })
    {
      for (const double part : { 1.0, 0.3, 0.25, 0.01, 1e-4 })
      {
        for (const unsigned int threads : { 1u, 3u })
        {
          SCOPED_TRACE(testing::Message() << part << " on " << threads << " threads");
          Settings settings;
          settings.strategy = strategy;
          settings.part = part;
          settings.threads = threads;
          Compare(settings);
        }
      }
    }
  }

  void
  SetEllipse()
  {
    using EllipseType = itk::EllipseSpatialObject<Dimension>;
    const auto                      ellipse = EllipseType::New();
    typename EllipseType::ArrayType radius;
    radius.Fill(0.3 * m_Grid.GetExtent(0));
    ellipse->SetRadiusInObjectSpace(radius);
    ellipse->SetCenterInObjectSpace(m_Centre);
    ellipse->Update();
    m_Mask = ellipse;
  }

  /** \param least voxels are inside whose first coordinate is at least this far from the centre's */
  void
  SetImageMask(double least)
  {
    using ImageMaskType = itk::ImageMaskSpatialObject<Dimension>;
    const auto mask = ImageMaskType::New();
    mask->SetImage(MakeImage<typename ImageMaskType::ImageType>(m_Grid, [&](const auto & p) {
      return p[0] - m_Centre[0] >= least ? 1 : 0;
    }));
    mask->Update();
    m_Mask = mask;
  }

  Grid<Dimension>                    m_Grid;
  typename TCase::ImageType::Pointer m_Image;
  itk::Point<double, Dimension>      m_Centre;
  typename MaskType::ConstPointer    m_Mask;
};

using Cases = ::testing::Types<Case<double, double, 2>,
                               Case<double, double, 3>,
                               Case<float, double, 3>,
                               Case<float, float, 2>,
                               Case<float, float, 3>>;
TYPED_TEST_SUITE(SamplePoints, Cases, );

TYPED_TEST(SamplePoints, AreITKs)
{
  this->CompareEach();
  EXPECT_GT(this->Compare({}), 50000u / 12);
}

TYPED_TEST(SamplePoints, AreITKsInsideMasks)
{
  const std::size_t all = this->Compare({});
  this->SetEllipse();
  this->CompareEach();
  const std::size_t inside = this->Compare({});
  EXPECT_GT(inside, all / 100);
  EXPECT_LT(inside, all / 2);
  this->SetImageMask(0);
  this->CompareEach();
}

TYPED_TEST(SamplePoints, OfAMaskWithNothingInsideAreNone)
{
  this->SetImageMask(1e6);
  EXPECT_EQ(this->Compare({}), 0u);
}

TYPED_TEST(SamplePoints, OfEachSeedAreITKs)
{
  for (const int seed : { 0, 1, -1, 121212, std::numeric_limits<int>::max(), std::numeric_limits<int>::min() + 1 })
  {
    Settings settings;
    settings.seed = seed;
    this->Compare(settings);
    settings.strategy = Strategy::RANDOM;
    this->Compare(settings);
  }
}

TYPED_TEST(SamplePoints, OfSeveralMetricsAreITKs)
{
  for (const Strategy strategy : { Strategy::REGULAR, Strategy::RANDOM })
  {
    Settings settings;
    settings.strategy = strategy;
    settings.metrics = 3;
    this->Compare(settings);
    // Each metric has points of its own.
    const Drawn drawn = this->template Draw<typename TypeParam::OursType>(settings);
    EXPECT_NE(drawn.points[0], drawn.points[1]);
    EXPECT_NE(drawn.points[1], drawn.points[2]);
  }
}

/** ITK samples the first voxel alone if the part is less than a voxel. */
TYPED_TEST(SamplePoints, OfATinyPartAreITKs)
{
  Settings settings;
  settings.part = 1e-15;
  EXPECT_EQ(this->Compare(settings), sizeof(float) * TypeParam::Dimension);
}

/** Seeds from the clock differ; the number of points does not. */
TYPED_TEST(SamplePoints, OfTheClockAreOthersEachTime)
{
  const auto method = Sampler<typename TypeParam::OursType>::New();
  const auto metric = TypeParam::MetricType::New();
  metric->SetVirtualDomainFromImage(this->m_Image);
  method->SetMetric(metric);
  method->SetNumberOfLevels(1);
  method->SetMetricSamplingPercentage(0.25);
  method->MetricSamplingReinitializeSeed();
  for (const Strategy strategy : { Strategy::REGULAR, Strategy::RANDOM })
  {
    method->SetMetricSamplingStrategy(strategy);
    method->Draw();
    const auto first = metric->GetVirtualSampledPointSet()->GetPoints()->CastToSTLConstContainer();
    method->Draw();
    const auto second = metric->GetVirtualSampledPointSet()->GetPoints()->CastToSTLConstContainer();
    EXPECT_EQ(first.size(), second.size());
    EXPECT_NE(first.front(), second.front());
  }
}

TYPED_TEST(SamplePoints, OfBadSettingsAreITKsErrors)
{
  const auto ours = Sampler<typename TypeParam::OursType>::New();
  const auto itks = Sampler<typename TypeParam::ITKsType>::New();
  const auto message = [](const auto & call) {
    try
    {
      call();
    }
    catch (const itk::ExceptionObject & error)
    {
      const std::string text = error.GetDescription();
      return text.substr(text.find("): ") + 1);
    }
    return std::string("no error");
  };
  for (const double part : { 0.0, -0.1, 1.1 })
  {
    EXPECT_EQ(message([&] { ours->SetMetricSamplingPercentage(part); }),
              message([&] { itks->SetMetricSamplingPercentage(part); }));
    EXPECT_THROW(ours->SetMetricSamplingPercentage(part), itk::ExceptionObject);
  }
  const auto draw = [&](auto & method) {
    const auto metric = TypeParam::MetricType::New();
    metric->SetVirtualDomainFromImage(this->m_Image);
    method.SetMetric(metric);
    return message([&] { method.Draw(); });
  };
  EXPECT_EQ(draw(*ours), draw(*itks)); // of the strategy NONE
  EXPECT_NE(draw(*ours), "no error");
  const auto drawOfEmpty = [&](auto & method) {
    const auto metric = TypeParam::MultiMetricType::New();
    method.SetMetric(metric);
    return message([&] { method.Draw(); });
  };
  EXPECT_EQ(drawOfEmpty(*ours), drawOfEmpty(*itks));
  EXPECT_NE(drawOfEmpty(*ours), "no error");
}

/** A region of the virtual image counts, and not its whole buffer; and ITK refuses a region that is not in the buffer. */
TYPED_TEST(SamplePoints, OfARegionAreITKs)
{
  const auto draw = [&](auto & method) {
    const auto metric = TypeParam::MetricType::New();
    metric->SetVirtualDomainFromImage(this->m_Image);
    auto region = this->m_Image->GetBufferedRegion();
    for (unsigned int d = 0; d < TypeParam::Dimension; ++d)
    {
      region.SetIndex(d, region.GetIndex(d) + 2);
      region.SetSize(d, region.GetSize(d) - 5);
    }
    const_cast<typename TypeParam::ImageType *>(metric->GetVirtualImage())->SetRequestedRegion(region);
    method.SetMetric(metric);
    method.SetNumberOfLevels(1);
    method.SetMetricSamplingPercentage(0.25);
    method.MetricSamplingReinitializeSeed(3);
    method.SetMetricSamplingStrategy(Strategy::REGULAR);
    method.Draw();
    const auto points = metric->GetVirtualSampledPointSet()->GetPoints()->CastToSTLConstContainer();
    EXPECT_EQ(points.size(), (region.GetNumberOfPixels() - 1) / 4 + 1);
    region.SetIndex(0, region.GetIndex(0) + 10);
    const_cast<typename TypeParam::ImageType *>(metric->GetVirtualImage())->SetRequestedRegion(region);
    EXPECT_THROW(method.Draw(), itk::ExceptionObject);
    return points;
  };
  EXPECT_EQ(draw(*Sampler<typename TypeParam::OursType>::New()), draw(*Sampler<typename TypeParam::ITKsType>::New()));
}

TYPED_TEST(SamplePoints, NamesItsClass)
{
  const auto method = TypeParam::OursType::New();
  EXPECT_STREQ(method->GetNameOfClass(), "GPUImageRegistrationMethodv4");
  std::ostringstream text;
  method->Print(text);
  EXPECT_NE(text.str().find("GPUImageRegistrationMethodv4"), std::string::npos);
  EXPECT_NE(text.str().find("RandomSeed: "), std::string::npos);
}

} // namespace
} // namespace gpuregtest
