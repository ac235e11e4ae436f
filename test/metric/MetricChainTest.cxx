// SPDX-License-Identifier: Apache-2.0
// Tests metrics with composites of B-splines and displacement fields in any order: the values of every metric, and what they refuse. The
// motions of MetricCase.h compare derivatives with ITK's.
#include "EachMetric.h"
#include "Listening.h"
#include "TestDevices.h"
#include "TestImages.h"

#include "itkGPUError.h"

#include "itkAffineTransform.h"
#include "itkBSplineTransform.h"
#include "itkCompositeTransform.h"
#include "itkDisplacementFieldTransform.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <tuple>
#include <vector>

namespace gpuregtest
{
namespace
{
template <unsigned int VDimension>
class Images
{
public:
  using ImageType = TestImage<float, VDimension>;
  using TransformType = itk::Transform<double, VDimension, VDimension>;
  using CompositeType = itk::CompositeTransform<double, VDimension>;
  using AffineType = itk::AffineTransform<double, VDimension>;
  using SplineType = itk::BSplineTransform<double, VDimension, 3>;
  using FieldTransformType = itk::DisplacementFieldTransform<double, VDimension>;
  using FieldType = typename FieldTransformType::DisplacementFieldType;

  /** \param margin voxels of the moving image on each side of the fixed one.
   *  \param edge length of the fixed image in voxels: up to 32,768 samples are computed in fixed point. */
  explicit Images(int margin = -1, unsigned int edge = VDimension == 2 ? 70 : 27)
  {
    grid.size.Fill(edge);
    grid.size[0] += 4;
    grid.spacing[1] = 1.3;
    grid.start.Fill(2);
    grid.origin.Fill(-300);
    grid.direction = MakeRotation<VDimension>(0.2);
    Grid<VDimension> movingGrid = grid;
    for (auto & size : movingGrid.size)
    {
      size += 2 * margin;
    }
    movingGrid.direction = MakeRotation<VDimension>(0.1);
    movingGrid.SetCentre(grid.GetCentre());
    std::tie(fixed, moving) = MakeImagePair<ImageType>(grid, movingGrid, 7);
  }

  typename AffineType::Pointer
  MakeAffine(double amount) const
  {
    const auto affine = AffineType::New();
    affine->SetCenter(grid.GetCentre());
    affine->Rotate(0, 1, 0.3 * amount);
    affine->Scale(1 + 0.2 * amount);
    typename AffineType::OutputVectorType translation;
    translation.Fill(6 * amount);
    affine->Translate(translation);
    return affine;
  }

  typename SplineType::Pointer
  MakeSpline() const
  {
    const auto                                  spline = SplineType::New();
    typename SplineType::MeshSizeType           mesh;
    typename SplineType::PhysicalDimensionsType extent;
    mesh.Fill(5);
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      extent[d] = grid.GetExtent(d) + 3;
    }
    // Rounding would decide whether voxels exactly on the domain's edge are inside.
    spline->SetTransformDomainOrigin(grid.GetPoint(itk::Vector<double, VDimension>(-0.7)));
    spline->SetTransformDomainDirection(grid.direction);
    spline->SetTransformDomainPhysicalDimensions(extent);
    spline->SetTransformDomainMeshSize(mesh);
    auto   parameters = spline->GetParameters();
    Random random(3);
    for (auto & parameter : parameters)
    {
      parameter = Uniform(random, -2, 2);
    }
    spline->SetParameters(parameters);
    return spline;
  }

  /** Returns a field with a displacement at each voxel of a grid. */
  template <typename TDisplacement>
  static typename FieldTransformType::Pointer
  MakeField(const Grid<VDimension> & of, const TDisplacement & displacement)
  {
    const auto field = FieldType::New();
    of.ApplyTo(*field);
    field->Allocate();
    for (itk::ImageRegionIteratorWithIndex<FieldType> it(field, field->GetBufferedRegion()); !it.IsAtEnd(); ++it)
    {
      typename FieldType::PointType point;
      field->TransformIndexToPhysicalPoint(it.GetIndex(), point);
      it.Set(displacement(point));
    }
    const auto transform = FieldTransformType::New();
    transform->SetDisplacementField(field);
    return transform;
  }

  /** Returns a smooth field, on a coarser grid around all images. */
  typename FieldTransformType::Pointer
  MakeSmoothField(double spacing = 2) const
  {
    Grid<VDimension> around = grid;
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      around.start[d] = 0;
      around.size[d] = static_cast<itk::SizeValueType>(2 * grid.GetExtent(d) / spacing);
      around.spacing[d] = spacing;
    }
    // For other grids, ITK 5.2's Jacobian is not that of the field.
    around.direction.SetIdentity();
    around.SetCentre(grid.GetCentre());
    Random               random(5);
    const SmoothFunction wave(random, 20, 40);
    return MakeField(around, [&](const typename FieldType::PointType & point) {
      typename FieldType::PixelType u;
      for (unsigned int d = 0; d < VDimension; ++d)
      {
        u[d] = (d == 0 ? 1.5 : -1.0) * wave(point - grid.GetCentre());
      }
      return u;
    });
  }

  /** Returns a field that samples a transform at the voxels. */
  typename FieldTransformType::Pointer
  Sample(const TransformType & transform) const
  {
    return MakeField(grid, [&](const typename FieldType::PointType & point) {
      return transform.TransformPoint(point) - point;
    });
  }

  template <typename TMetric>
  void
  GiveTo(TMetric & metric, TransformType * transform) const
  {
    metric.SetFixedImage(fixed);
    metric.SetMovingImage(moving);
    metric.SetMovingTransform(transform);
    metric.Initialize();
  }

  Grid<VDimension>            grid;
  typename ImageType::Pointer fixed;
  typename ImageType::Pointer moving;
};

class MetricChainTest : public DeviceTest
{
protected:
  /** Expects every metric to give the same value with a composite as with a field that samples it. */
  template <unsigned int VDimension>
  void
  CheckValues(const Images<VDimension> & images, typename Images<VDimension>::TransformType * composite) const
  {
    ForEachMetric<typename Images<VDimension>::ImageType>([&](const auto & metric, const std::string & name) {
      SCOPED_TRACE(name + " in " + std::to_string(VDimension) + "D");
      metric->SetDevice(this->GetDevice());
      images.GiveTo(*metric, images.Sample(*composite));
      const double wanted = metric->GetValue();
      const auto   points = metric->GetNumberOfValidPoints();
      EXPECT_GT(points, 3000u);
      images.GiveTo(*metric, composite);
      const Listening listening;
      EXPECT_NEAR(metric->GetValue(), wanted, 2e-6 * std::abs(wanted));
      EXPECT_EQ(metric->GetNumberOfValidPoints(), points);
      EXPECT_EQ(listening.window->Count("computes it through ITK"), 0u);
      EXPECT_GT(metric->GetEvaluationStatistics().launches, 0);
    });
  }

  template <unsigned int VDimension>
  void
  CheckOrders() const
  {
    const Images<VDimension> images;
    const auto               affine = images.MakeAffine(0.1);
    const auto               spline = images.MakeSpline();
    const auto               field = images.MakeSmoothField();
    using TransformType = typename Images<VDimension>::TransformType;
    // In the order of adding: the last transform is applied first.
    const std::vector<std::vector<TransformType *>> orders{
      { spline }, { field, spline, affine }, { affine, spline, field }, { affine, field, affine, spline }
    };
    for (std::size_t n = 0; n < orders.size(); ++n)
    {
      SCOPED_TRACE("order " + std::to_string(n));
      const auto composite = Images<VDimension>::CompositeType::New();
      for (TransformType * transform : orders[n])
      {
        composite->AddTransform(transform);
      }
      // A field that is optimized must be on the virtual grid.
      for (std::size_t part = 0; part < orders[n].size(); ++part)
      {
        composite->SetNthTransformToOptimize(part, orders[n][part] != field.GetPointer());
      }
      CheckValues<VDimension>(images, composite);
    }
  }

  /** Expects the fixed pre-transforms to be uploaded, and their displacements computed, only once: until they or the samples change, or
   *  another transform was evaluated in between. */
  void
  CheckPreTransformField(const Images<3> & images) const
  {
    const auto field = images.MakeSmoothField();
    const auto affine = images.MakeAffine(0.1);
    const auto composite = Images<3>::CompositeType::New();
    composite->AddTransform(affine);
    composite->AddTransform(field);
    composite->SetNthTransformToOptimize(0, true);
    composite->SetNthTransformToOptimize(1, false);
    using MetricType = itk::GPUMeanSquaresImageToImageMetricv4<Images<3>::ImageType, Images<3>::ImageType>;
    const auto make = [&] {
      auto metric = MetricType::New();
      metric->SetDevice(this->GetDevice());
      images.GiveTo(*metric, composite);
      return metric;
    };
    const auto evaluate = [](const MetricType & metric) {
      double                     value;
      MetricType::DerivativeType derivative;
      metric.GetValueAndDerivative(value, derivative);
      return std::make_pair(value, derivative);
    };
    const auto metric = make();
    evaluate(*metric);
    const auto first = metric->GetEvaluationStatistics();
    affine->Rotate(0, 2, 0.02);
    const auto moved = evaluate(*metric);
    EXPECT_EQ(moved, evaluate(*make()));
    if (first.bytesUp > 0) // the host copies nothing
    {
      EXPECT_GT(first.bytesUp, 100000);
      EXPECT_LT(metric->GetEvaluationStatistics().bytesUp, 10000);
    }
    EXPECT_EQ(metric->GetEvaluationStatistics().launches, first.launches - 1);

    auto & vectors = *field->GetModifiableDisplacementField();
    for (std::size_t n = 0; n < vectors.GetBufferedRegion().GetNumberOfPixels(); ++n)
    {
      vectors.GetBufferPointer()[n] *= 0.5;
    }
    vectors.Modified();
    const auto changed = evaluate(*metric);
    EXPECT_GT(std::abs(changed.first - moved.first), 1e-3 * std::abs(moved.first));
    EXPECT_EQ(changed, evaluate(*make()));

    const auto other = images.Sample(*affine);
    metric->SetMovingTransform(other);
    evaluate(*metric);
    metric->SetMovingTransform(composite);
    EXPECT_EQ(changed, evaluate(*metric));

    const auto pointsFrom = [&](itk::OffsetValueType first) {
      const auto points = MetricType::FixedSampledPointSetType::New();
      for (itk::OffsetValueType n = 0; n < 2000; ++n)
      {
        typename Images<3>::ImageType::PointType point;
        images.fixed->TransformIndexToPhysicalPoint(images.fixed->ComputeIndex(first + 7 * n), point);
        points->SetPoint(static_cast<itk::IdentifierType>(n), point);
      }
      return points;
    };
    const auto fresh = make();
    metric->SetUseSampledPointSet(true);
    fresh->SetUseSampledPointSet(true);
    metric->SetFixedSampledPointSet(pointsFrom(0));
    metric->Initialize();
    evaluate(*metric);
    metric->SetFixedSampledPointSet(pointsFrom(3000));
    fresh->SetFixedSampledPointSet(pointsFrom(3000));
    metric->Initialize();
    fresh->Initialize();
    EXPECT_EQ(evaluate(*metric), evaluate(*fresh));
  }
};
} // namespace

TEST_P(MetricChainTest, ValuesInAnyOrder2D)
{
  CheckOrders<2>();
}

TEST_P(MetricChainTest, ValuesInAnyOrder3D)
{
  CheckOrders<3>();
}

/** Compares derivatives with differences of the values, except for the two metrics whose derivative, as ITK's, is not that of the value. */
TEST_P(MetricChainTest, DerivativeOfAnAffineTransformBeforeAField)
{
  // No sample leaves the moving image: this would change the differences, but not the derivative.
  const Images<3> images(9);
  ForEachMetric<Images<3>::ImageType>([&](const auto & metric, const std::string & name) {
    SCOPED_TRACE(name);
    if (name == "joint histogram" || name == "neighborhood correlation")
    {
      return;
    }
    const auto affine = images.MakeAffine(0.1);
    const auto composite = Images<3>::CompositeType::New();
    composite->AddTransform(images.MakeSmoothField());
    composite->AddTransform(affine);
    composite->SetOnlyMostRecentTransformToOptimizeOn();
    metric->SetDevice(this->GetDevice());
    metric->SetUseMovingImageGradientFilter(false);
    images.GiveTo(*metric, composite);
    typename std::decay_t<decltype(*metric)>::MeasureType    value;
    typename std::decay_t<decltype(*metric)>::DerivativeType derivative;
    metric->GetValueAndDerivative(value, derivative);
    EXPECT_GT(metric->GetEvaluationStatistics().launches, 0);
    ASSERT_EQ(derivative.GetSize(), affine->GetNumberOfParameters());
    const auto parameters = affine->GetParameters();
    double     squares = 0;
    double     error = 0;
    // Translations only: a matrix' elements would need other steps.
    for (unsigned int p = 9; p < 12; ++p)
    {
      const double step = 0.02;
      const auto   valueAt = [&](double by) {
        auto moved = parameters;
        moved[p] += by;
        affine->SetParameters(moved);
        return metric->GetValue();
      };
      const double difference = (valueAt(step) - valueAt(-step)) / (2 * step);
      affine->SetParameters(parameters);
      squares += difference * difference;
      error += (difference + derivative[p]) * (difference + derivative[p]);
    }
    // As in ITK, neither the gradient nor the field's derivative is exactly that of the interpolation.
    EXPECT_LE(std::sqrt(error), 0.12 * std::sqrt(squares));
  });
}

/** ITK has no spatial derivative of a B-spline, and reports this itself. */
TEST_P(MetricChainTest, DerivativeBeforeABSplineIsNotThereInItkEither)
{
  const Images<2> images;
  const auto      composite = Images<2>::CompositeType::New();
  composite->AddTransform(images.MakeSpline());
  composite->AddTransform(images.MakeAffine(0.1));
  composite->SetOnlyMostRecentTransformToOptimizeOn();
  const auto metric = itk::GPUMeanSquaresImageToImageMetricv4<Images<2>::ImageType, Images<2>::ImageType>::New();
  metric->SetDevice(this->GetDevice());
  images.GiveTo(*metric, composite);
  EXPECT_NO_THROW(metric->GetValue());
  double                                          value;
  std::decay_t<decltype(*metric)>::DerivativeType derivative;
  EXPECT_THROW(metric->GetValueAndDerivative(value, derivative), itk::ExceptionObject);
  EXPECT_NO_THROW(metric->GetValue());
}

/** In fixed point with few samples, and in floats. */
TEST_P(MetricChainTest, AFieldThatLeadsStaysOnTheDevice)
{
  CheckPreTransformField(Images<3>());
  CheckPreTransformField(Images<3>(-1, 36));
}

/** A field of more vectors than are stored in fixed point moves the samples, and the positions of forces, in floats; here these are the
 *  centres of neighborhoods. */
TEST_P(MetricChainTest, SparseNeighborhoodsBehindALargeField)
{
  const Images<3> images;
  const auto      affine = images.MakeAffine(0.1);
  const auto      composite = Images<3>::CompositeType::New();
  composite->AddTransform(affine);
  composite->AddTransform(images.MakeSmoothField(0.5));
  composite->SetNthTransformToOptimize(0, true);
  composite->SetNthTransformToOptimize(1, false);
  using ImageType = Images<3>::ImageType;
  const auto evaluate = [&](auto metric) {
    using MetricType = std::decay_t<decltype(*metric)>;
    const auto points = MetricType::FixedSampledPointSetType::New();
    for (unsigned int n = 0; n < 200; ++n)
    {
      typename ImageType::PointType point;
      images.fixed->TransformIndexToPhysicalPoint(images.fixed->ComputeIndex(97 * n), point);
      points->SetPoint(n, point);
    }
    metric->SetFixedSampledPointSet(points);
    metric->SetUseSampledPointSet(true);
    images.GiveTo(*metric, composite);
    typename MetricType::MeasureType    value;
    typename MetricType::DerivativeType derivative;
    metric->GetValueAndDerivative(value, derivative);
    return std::make_pair(value, derivative);
  };
  const auto itks = evaluate(itk::ANTSNeighborhoodCorrelationImageToImageMetricv4<ImageType, ImageType>::New());
  const auto metric = itk::GPUANTSNeighborhoodCorrelationImageToImageMetricv4<ImageType, ImageType>::New();
  metric->SetDevice(this->GetDevice());
  const Listening listening;
  const auto      ours = evaluate(metric);
  EXPECT_EQ(listening.window->Count("WARNING"), 0u);
  EXPECT_NEAR(ours.first, itks.first, 1e-5 * std::abs(itks.first));
  ASSERT_EQ(ours.second.GetSize(), 12u);
  EXPECT_LE((ours.second - itks.second).two_norm(), 1e-4 * itks.second.two_norm());
}

/** A field that changes between evaluations in a way that ITK would notice. */
TEST_P(MetricChainTest, AFieldThatIsChangedIsUploadedAgain)
{
  const Images<2> images;
  const auto      field = images.MakeSmoothField();
  const auto      composite = Images<2>::CompositeType::New();
  composite->AddTransform(field);
  composite->AddTransform(images.MakeAffine(0.1));
  composite->SetOnlyMostRecentTransformToOptimizeOn();
  const auto metric = itk::GPUMeanSquaresImageToImageMetricv4<Images<2>::ImageType, Images<2>::ImageType>::New();
  metric->SetDevice(this->GetDevice());
  images.GiveTo(*metric, composite);
  const auto evaluate = [&] {
    double                                          value;
    std::decay_t<decltype(*metric)>::DerivativeType derivative;
    metric->GetValueAndDerivative(value, derivative);
    return std::make_pair(value, derivative);
  };
  const auto before = evaluate();
  auto &     vectors = *field->GetModifiableDisplacementField();
  for (std::size_t n = 0; n < vectors.GetBufferedRegion().GetNumberOfPixels(); ++n)
  {
    vectors.GetBufferPointer()[n] *= 0.5;
  }
  vectors.Modified();
  const auto after = evaluate();
  EXPECT_GT(std::abs(after.first - before.first), 1e-3 * std::abs(before.first));
  const auto other = itk::GPUMeanSquaresImageToImageMetricv4<Images<2>::ImageType, Images<2>::ImageType>::New();
  other->SetDevice(this->GetDevice());
  images.GiveTo(*other, composite);
  EXPECT_EQ(other->GetValue(), after.first);
  double                                         value;
  std::decay_t<decltype(*other)>::DerivativeType derivative;
  other->GetValueAndDerivative(value, derivative);
  EXPECT_EQ(derivative, after.second);
}

INSTANTIATE_TEST_SUITE_P(Devices, MetricChainTest, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace gpuregtest
