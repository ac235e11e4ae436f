// SPDX-License-Identifier: Apache-2.0
// Tests CudaMattesNMI with float as TInternalComputationValueType: transforms, derivatives and optimizers of float. The reference is ITK's
// Mattes metric of double with the same transforms: ITK's metric of float adds up in float, which causes errors of 1e-3 in its derivative,
// and of 1e-2 in that of a displacement field.
#include "RegistrationSetUp.h"
#include "TestAnswer.h"
#include "TestDevices.h"
#include "TestImages.h"
#include "TestMetrics.h"

#include "itkAffineTransform.h"
#include "itkBSplineInterpolateImageFunction.h"
#include "itkCompositeTransform.h"
#include "itkDisplacementFieldTransform.h"
#include "itkEuler2DTransform.h"
#include "itkEuler3DTransform.h"
#include "itkImageMaskSpatialObject.h"
#include "itkImageRegistrationMethodv4.h"
#include "itkNearestNeighborInterpolateImageFunction.h"
#include "itkWindowedSincInterpolateImageFunction.h"

#include <cmath>
#include <type_traits>

// Instantiates every member, also those that no test below calls.
template class itk::CudaMattesNMI<itk::Image<float, 2>, itk::Image<float, 2>, itk::Image<float, 2>, float>;
template class itk::CudaMattesNMI<itk::Image<float, 3>, itk::Image<float, 3>, itk::Image<float, 3>, float>;

namespace gpuregtest
{

namespace
{
template <unsigned int VDimension>
using ImageOf = TestImage<float, VDimension>;

/** ITK's metric with the internal type TReal. */
template <typename TReal, unsigned int VDimension>
using MattesOf = itk::
  MattesMutualInformationImageToImageMetricv4<ImageOf<VDimension>, ImageOf<VDimension>, ImageOf<VDimension>, TReal>;

template <unsigned int VDimension>
using FloatMetric = itk::CudaMattesNMI<ImageOf<VDimension>, ImageOf<VDimension>, ImageOf<VDimension>, float>;

enum class Motion
{
  Affine,
  Euler,
  Composite,
  Field,
  FieldThenAffine
};

enum class Interpolation
{
  Linear,
  Nearest,
  BSpline,
  Sinc // computed through ITK
};

struct FloatCase
{
  Motion        motion = Motion::Affine;
  Interpolation interpolation = Interpolation::Linear;
  bool          gradientFilter = true;
  bool          masks = false;
  bool          points = false;
};

template <unsigned int VDimension>
Grid<VDimension>
MakeGrid()
{
  Grid<VDimension> grid;
  grid.size.Fill(VDimension == 3 ? 26 : 110);
  grid.size[1] += 3;
  grid.spacing[1] = 1.2;
  grid.origin.Fill(-10.0);
  return grid;
}

template <unsigned int VDimension>
std::pair<typename ImageOf<VDimension>::Pointer, typename ImageOf<VDimension>::Pointer>
MakeImages(std::uint64_t seed)
{
  return MakeImagePair<ImageOf<VDimension>>(MakeGrid<VDimension>(), MakeGrid<VDimension>(), seed);
}

/** Returns a random number that float holds exactly, so that transforms of either type are equal. */
double
DrawFloat(Random & random, double amount)
{
  return static_cast<float>(Uniform(random, -amount, amount));
}

/** Makes equal transforms of either type from the same random numbers. */
template <typename TReal, unsigned int VDimension>
class Transforms
{
public:
  using TransformType = itk::Transform<TReal, VDimension, VDimension>;

  static typename TransformType::Pointer
  Make(Motion motion)
  {
    switch (motion)
    {
      case Motion::Euler:
        return MakeEuler();
      case Motion::Field:
        return MakeField();
      case Motion::Composite:
        return Compose(MakeAffine(), MakeEuler());
      case Motion::FieldThenAffine:
        return Compose(MakeAffine(), MakeField());
      default:
        return MakeAffine();
    }
  }

private:
  using Pointer = typename TransformType::Pointer;

  /** Returns a composite that applies `second` first, and optimizes it. */
  static Pointer
  Compose(const Pointer & first, const Pointer & second)
  {
    const auto composite = itk::CompositeTransform<TReal, VDimension>::New();
    composite->AddTransform(first);
    composite->AddTransform(second);
    composite->SetOnlyMostRecentTransformToOptimizeOn();
    return composite.GetPointer();
  }

  template <typename TTransform>
  static Pointer
  Move(TTransform & transform, double turn, double shift)
  {
    Random                              random(5);
    typename TTransform::InputPointType centre;
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      centre[d] = static_cast<float>(MakeGrid<VDimension>().GetCentre()[d] + 0.37);
    }
    transform.SetCenter(centre);
    auto       parameters = transform.GetParameters();
    const auto turns = parameters.size() - VDimension;
    for (unsigned int p = 0; p < parameters.size(); ++p)
    {
      parameters[p] = static_cast<float>(parameters[p] + DrawFloat(random, p < turns ? turn : shift));
    }
    transform.SetParameters(parameters);
    return &transform;
  }

  static Pointer
  MakeAffine()
  {
    const auto affine = itk::AffineTransform<TReal, VDimension>::New();
    return Move(*affine, 0.05, 1.5);
  }

  static Pointer
  MakeEuler()
  {
    using EulerType = std::conditional_t<VDimension == 2, itk::Euler2DTransform<TReal>, itk::Euler3DTransform<TReal>>;
    const auto euler = EulerType::New();
    return Move(*euler, 0.07, 1.5);
  }

  static Pointer
  MakeField()
  {
    using FieldTransformType = itk::DisplacementFieldTransform<TReal, VDimension>;
    using FieldType = typename FieldTransformType::DisplacementFieldType;
    const auto field = FieldType::New();
    MakeGrid<VDimension>().ApplyTo(*field);
    field->Allocate();
    for (itk::ImageRegionIteratorWithIndex<FieldType> it(field, field->GetBufferedRegion()); !it.IsAtEnd(); ++it)
    {
      typename FieldType::PixelType vector;
      for (unsigned int d = 0; d < VDimension; ++d)
      {
        vector[d] = static_cast<float>((1.31 - 0.2 * d) * std::sin(0.15 * it.GetIndex()[(d + 1) % VDimension] + d));
      }
      it.Set(vector);
    }
    const auto transform = FieldTransformType::New();
    transform->SetDisplacementField(field);
    return transform.GetPointer();
  }
};

template <typename TReal, unsigned int VDimension>
typename itk::InterpolateImageFunction<ImageOf<VDimension>, TReal>::Pointer
MakeInterpolator(Interpolation interpolation)
{
  using ImageType = ImageOf<VDimension>;
  switch (interpolation)
  {
    case Interpolation::Nearest:
      return itk::NearestNeighborInterpolateImageFunction<ImageType, TReal>::New().GetPointer();
    case Interpolation::BSpline:
      return itk::BSplineInterpolateImageFunction<ImageType, TReal, double>::New().GetPointer();
    case Interpolation::Sinc:
      return itk::WindowedSincInterpolateImageFunction<ImageType,
                                                       3,
                                                       itk::Function::HammingWindowFunction<3>,
                                                       itk::ZeroFluxNeumannBoundaryCondition<ImageType, ImageType>,
                                                       TReal>::New()
        .GetPointer();
    default:
      return itk::LinearInterpolateImageFunction<ImageType, TReal>::New().GetPointer();
  }
}

/** Returns a mask of a ball in the middle. */
template <unsigned int VDimension>
typename itk::ImageMaskSpatialObject<VDimension>::Pointer
MakeMask(double radius)
{
  using MaskType = itk::ImageMaskSpatialObject<VDimension>;
  const auto grid = MakeGrid<VDimension>();
  const auto mask = MaskType::New();
  mask->SetImage(MakeImage<typename MaskType::ImageType>(grid, [&](const auto & p) {
    return (p - grid.GetCentre()).GetNorm() < radius * grid.GetExtent(0) ? 1 : 0;
  }));
  mask->Update();
  return mask;
}

/** Returns a point in every third voxel. No voxel has two points: for a displacement field, ITK would weigh both by the bins of the last
 *  one (ContractTest tests our result). */
template <typename TPointSet, unsigned int VDimension>
typename TPointSet::Pointer
MakePoints()
{
  const auto grid = MakeGrid<VDimension>();
  const auto voxels = ImageOf<VDimension>::New();
  grid.ApplyTo(*voxels);
  const auto points = TPointSet::New();
  Random     random(8);
  for (std::size_t n = 0; 3 * n < voxels->GetLargestPossibleRegion().GetNumberOfPixels(); ++n)
  {
    const auto                      voxel = voxels->ComputeIndex(static_cast<itk::OffsetValueType>(3 * n));
    itk::Vector<double, VDimension> index;
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      index[d] = static_cast<double>(voxel[d]) + Uniform(random, -0.4, 0.4);
    }
    typename TPointSet::PointType point;
    point.CastFrom(grid.GetPoint(index));
    points->SetPoint(n, point);
  }
  return points;
}

template <typename TReal, unsigned int VDimension>
Answer
AskFor(MattesOf<TReal, VDimension> & metric, const FloatCase & c)
{
  using MetricType = MattesOf<TReal, VDimension>;
  const auto images = MakeImages<VDimension>(1);
  metric.SetFixedImage(images.first);
  metric.SetMovingImage(images.second);
  metric.SetMovingTransform(Transforms<TReal, VDimension>::Make(c.motion));
  metric.SetMovingInterpolator(MakeInterpolator<TReal, VDimension>(c.interpolation));
  metric.SetUseMovingImageGradientFilter(c.gradientFilter);
  metric.SetNumberOfHistogramBins(24);
  if (c.masks)
  {
    metric.SetFixedImageMask(MakeMask<VDimension>(0.45));
    metric.SetMovingImageMask(MakeMask<VDimension>(0.4));
  }
  if (c.points)
  {
    metric.SetVirtualSampledPointSet(MakePoints<typename MetricType::VirtualPointSetType, VDimension>());
    metric.UseSampledPointSetOn();
    metric.UseVirtualSampledPointSetOn();
  }
  return InitializeAndAsk(metric);
}

class FloatMetricTest : public DeviceTest
{
protected:
  template <unsigned int VDimension>
  typename FloatMetric<VDimension>::Pointer
  MakeOurs() const
  {
    const auto metric = FloatMetric<VDimension>::New();
    metric->SetDevice(GetDevice());
    metric->NormalizedOff();
    return metric;
  }

  template <unsigned int VDimension>
  void
  CheckIn(const FloatCase & c)
  {
    const Answer ours = AskFor<float, VDimension>(*MakeOurs<VDimension>(), c);
    const Answer itks = AskFor<double, VDimension>(*MattesOf<double, VDimension>::New(), c);
    const Answer same = AskFor<float, VDimension>(*MattesOf<float, VDimension>::New(), c);
    EXPECT_GT(itks.validPoints, 3000u);
    EXPECT_EQ(ours.validPoints, itks.validPoints);
    EXPECT_NEAR(ours.value, itks.value, 1e-5 * std::abs(itks.value));
    EXPECT_NEAR(ours.valueAlone, ours.value, 1e-6 * std::abs(ours.value));
    ASSERT_EQ(ours.derivative.size(), itks.derivative.size());
    EXPECT_LE(GetRelativeError(ours.derivative, itks.derivative), 1e-5);

    EXPECT_EQ(ours.validPoints, same.validPoints);
    EXPECT_NEAR(ours.value, same.value, 1e-5 * std::abs(same.value));
    ASSERT_EQ(ours.derivative.size(), same.derivative.size());
    EXPECT_LE(GetRelativeError(ours.derivative, same.derivative), 1e-2);
  }

  void
  Check(const FloatCase & c)
  {
    {
      SCOPED_TRACE("2D");
      CheckIn<2>(c);
    }
    {
      SCOPED_TRACE("3D");
      CheckIn<3>(c);
    }
  }
};
} // namespace

TEST_P(FloatMetricTest, Motions)
{
  for (const Motion motion :
       { Motion::Affine, Motion::Euler, Motion::Composite, Motion::Field, Motion::FieldThenAffine })
  {
    SCOPED_TRACE(static_cast<int>(motion));
    FloatCase c;
    c.motion = motion;
    Check(c);
    c.masks = true;
    Check(c);
    c.masks = false;
    c.points = true;
    Check(c);
  }
}

TEST_P(FloatMetricTest, Interpolations)
{
  for (const Interpolation interpolation :
       { Interpolation::Linear, Interpolation::Nearest, Interpolation::BSpline, Interpolation::Sinc })
  {
    for (const bool gradientFilter : { true, false })
    {
      SCOPED_TRACE(static_cast<int>(interpolation));
      FloatCase c;
      c.interpolation = interpolation;
      c.gradientFilter = gradientFilter;
      Check(c);
    }
  }
}

/** ImageRegistrationMethodv4 with a transform of float casts its metric to the class of that scalar. */
TEST_P(FloatMetricTest, ImageRegistrationMethod)
{
  using ImageType = ImageOf<3>;
  using TransformType = itk::Euler3DTransform<float>;
  using MetricType = MattesOf<float, 3>;
  using RegistrationType = itk::ImageRegistrationMethodv4<ImageType, ImageType, TransformType>;
  const Grid<3> grid = MakeGrid<3>();
  const auto    images = MakeImages<3>(13);

  const auto registerWith = [&](MetricType::Pointer metric) {
    const auto                    transform = TransformType::New();
    TransformType::InputPointType centre;
    centre.CastFrom(grid.GetCentre());
    transform->SetCenter(centre);
    transform->SetRotation(0.05f, -0.04f, 0.06f);
    TransformType::OutputVectorType offset;
    offset[0] = 1.5f;
    offset[1] = -1.2f;
    offset[2] = 0.8f;
    transform->SetTranslation(offset);
    metric->SetNumberOfHistogramBins(20);
    const auto registration = RegistrationType::New();
    SetUpRegistration(*registration, images.first, images.second, transform, metric, { { 1, 0.0 } });
    registration->SetOptimizer(MakeGradientDescent(metric, 25, 0.3));
    registration->Update();
    return transform;
  };
  const auto ours = registerWith(MakeOurs<3>().GetPointer());
  const auto itks = registerWith(MetricType::New());
  const auto normalized = MakeOurs<3>();
  normalized->NormalizedOn();
  const auto nmi = registerWith(normalized.GetPointer());
  // The distance in mm to which the corner is moved. The images are aligned from the start: the true transform is the identity.
  TransformType::InputPointType corner;
  corner.CastFrom(grid.origin);
  EXPECT_LT(ours->TransformPoint(corner).EuclideanDistanceTo(itks->TransformPoint(corner)), 0.01);
  EXPECT_LT(itks->TransformPoint(corner).EuclideanDistanceTo(corner), 0.3);
  EXPECT_LT(ours->TransformPoint(corner).EuclideanDistanceTo(corner), 0.3);
  EXPECT_LT(nmi->TransformPoint(corner).EuclideanDistanceTo(corner), 0.3);
}

INSTANTIATE_TEST_SUITE_P(Devices, FloatMetricTest, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace gpuregtest
