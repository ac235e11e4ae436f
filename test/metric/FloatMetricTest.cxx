// SPDX-License-Identifier: Apache-2.0
// Tests metrics that override ITK's with float as TInternalComputationValueType: transforms, values and derivatives of float, as programs
// make them that save memory. The reference is ITK's metric of double with the same transforms: ITK's metric of float adds up in float,
// from which ours is only as far away as that itself is from the one of double.
#include "itkGPURegistrationFactory.h"

#include "OverriddenMetrics.h"
#include "TestAnswer.h"
#include "TestDevices.h"
#include "TestImages.h"

#include "itkAffineTransform.h"
#include "itkBSplineInterpolateImageFunction.h"
#include "itkBSplineTransform.h"
#include "itkBSplineTransformInitializer.h"
#include "itkCompositeTransform.h"
#include "itkDisplacementFieldTransform.h"
#include "itkEuler2DTransform.h"
#include "itkEuler3DTransform.h"
#include "itkImageMaskSpatialObject.h"
#include "itkNearestNeighborInterpolateImageFunction.h"
#include "itkWindowedSincInterpolateImageFunction.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>
#include <type_traits>
#include <vector>

namespace gpuregtest
{

namespace
{
using namespace overridden;

template <unsigned int VDimension>
using ImageOf = itk::Image<float, VDimension>;

enum class Motion
{
  Affine,
  Euler,
  Composite,
  Field,
  FieldThenAffine, // in the order of applying; the field is optimised
  Spline
};

constexpr Motion AllMotions[] = { Motion::Affine, Motion::Euler,           Motion::Composite,
                                  Motion::Field,  Motion::FieldThenAffine, Motion::Spline };

enum class Interpolation
{
  Linear,
  Nearest,
  BSpline,
  Sinc // computed through ITK
};

struct FloatCase
{
  Kind          kind = Kind::Mattes;
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
      case Motion::Spline:
        return MakeSpline();
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

  static Pointer
  MakeSpline()
  {
    using SplineType = itk::BSplineTransform<TReal, VDimension, 3>;
    const auto image = ImageOf<VDimension>::New();
    MakeGrid<VDimension>().ApplyTo(*image);
    const auto                        spline = SplineType::New();
    typename SplineType::MeshSizeType mesh;
    mesh.Fill(2);
    const auto initializer = itk::BSplineTransformInitializer<SplineType, ImageOf<VDimension>>::New();
    initializer->SetTransform(spline);
    initializer->SetImage(image);
    initializer->SetTransformDomainMeshSize(mesh);
    initializer->InitializeTransform();
    Random random(11);
    auto   parameters = spline->GetParameters();
    for (auto & parameter : parameters)
    {
      parameter = static_cast<float>(DrawFloat(random, 1.2));
    }
    spline->SetParameters(parameters);
    return spline.GetPointer();
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

/** Sets a metric up and evaluates it. */
template <typename TReal, unsigned int VDimension>
Answer
Ask(MetricOf<TReal, VDimension> & metric, const FloatCase & c)
{
  using MetricType = MetricOf<TReal, VDimension>;
  const auto images = MakeImages<VDimension>(1);
  metric.SetFixedImage(images.first);
  metric.SetMovingImage(images.second);
  metric.SetMovingTransform(Transforms<TReal, VDimension>::Make(c.motion));
  metric.SetMovingInterpolator(MakeInterpolator<TReal, VDimension>(c.interpolation));
  metric.SetUseMovingImageGradientFilter(c.gradientFilter);
  using MattesType = itk::
    MattesMutualInformationImageToImageMetricv4<ImageOf<VDimension>, ImageOf<VDimension>, ImageOf<VDimension>, TReal>;
  if (auto * const mattes = dynamic_cast<MattesType *>(&metric))
  {
    // ITK's class of float rounds the positions of points, and so does ours: with more bins, a value falls into the next one.
    mattes->SetNumberOfHistogramBins(24);
  }
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

/** Evaluates ITK's own metric. */
template <typename TReal, unsigned int VDimension>
Answer
AskITK(const FloatCase & c)
{
  const auto metric = MakeMetricOf<TReal, VDimension>(c.kind);
  EXPECT_FALSE(IsOurs(*metric));
  return Ask<TReal, VDimension>(*metric, c);
}

/** Evaluates a program's metric of float on each device, with several numbers of threads. */
template <unsigned int VDimension>
std::vector<Answer>
AskOurs(const FloatCase & c)
{
  std::vector<Answer> answers;
  itk::GPURegistrationFactory::RegisterAll();
  for (const std::string & device : GetDeviceNames())
  {
    itk::GPUDevice::SetDefault(itk::GPUDevice::FromName(device));
    for (const unsigned int threads : { 1, 3 })
    {
      const auto metric = MakeMetricOf<float, VDimension>(c.kind);
      EXPECT_TRUE(IsOurs(*metric));
      metric->SetMaximumNumberOfWorkUnits(threads);
      answers.push_back(Ask<float, VDimension>(*metric, c));
    }
    EXPECT_EQ(answers.back().value, answers.end()[-2].value) << device;
    EXPECT_EQ(answers.back().derivative, answers.end()[-2].derivative) << device;
  }
  itk::GPURegistrationFactory::UnRegisterAll();
  itk::GPUDevice::SetDefault(itk::GPUDevice::GetAvailable().front());
  return answers;
}

/** Expects an answer to be as close to another as this: the difference of value and derivative, relative to them. */
void
ExpectNear(const Answer & ours, const Answer & itks, double ofValue, double ofDerivative)
{
  EXPECT_EQ(ours.validPoints, itks.validPoints);
  EXPECT_NEAR(ours.value, itks.value, ofValue * std::abs(itks.value));
  EXPECT_NEAR(ours.valueAlone, itks.valueAlone, ofValue * std::abs(itks.valueAlone));
  ASSERT_EQ(ours.derivative.size(), itks.derivative.size());
  EXPECT_LE(GetRelativeError(ours.derivative, itks.derivative), ofDerivative);
}

template <unsigned int VDimension>
void
CheckIn(const FloatCase & c)
{
  const Answer itks = AskITK<double, VDimension>(c);
  const Answer same = AskITK<float, VDimension>(c);
  EXPECT_GT(itks.validPoints, 3000u);
  for (const Answer & ours : AskOurs<VDimension>(c))
  {
    {
      // A joint histogram's density is stored in the internal type; a neighborhood correlation divides by sums that nearly cancel.
      SCOPED_TRACE("ITK's class of double");
      const bool isCorrelation = c.kind == Kind::NeighborhoodCorrelation;
      ExpectNear(ours,
                 itks,
                 c.kind == Kind::JointHistogram || isCorrelation ? 1e-5 : 1e-6,
                 isCorrelation ? 1e-4 : 1e-5);
    }
    {
      // As far as ITK's class of float is from that of double.
      SCOPED_TRACE("ITK's class of float");
      ExpectNear(ours, same, 5e-4, 0.1);
    }
  }
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

class FloatMetricTest : public ::testing::TestWithParam<Kind>
{};
} // namespace

TEST_P(FloatMetricTest, Motions)
{
  FloatCase c;
  c.kind = GetParam();
  for (const Motion motion : AllMotions)
  {
    const bool isField = motion == Motion::Field || motion == Motion::FieldThenAffine;
    // ITK's own class computes a correlation by a displacement field; demons are for fields; ITK takes long for splines.
    if (c.kind == Kind::Correlation ? isField : c.kind == Kind::Demons && !isField)
    {
      continue;
    }
    if (motion == Motion::Spline && c.kind != Kind::Mattes && c.kind != Kind::MeanSquares)
    {
      continue;
    }
    SCOPED_TRACE("motion " + std::to_string(static_cast<int>(motion)));
    c.motion = motion;
    Check(c);
  }
}

TEST_P(FloatMetricTest, MasksAndPoints)
{
  for (const Motion motion : { Motion::Composite, Motion::FieldThenAffine })
  {
    FloatCase c;
    c.kind = GetParam();
    c.motion = motion;
    if (c.kind != Kind::Mattes && (c.kind == Kind::Demons) != (motion == Motion::FieldThenAffine))
    {
      continue;
    }
    SCOPED_TRACE("motion " + std::to_string(static_cast<int>(motion)));
    c.masks = true;
    Check(c);
    // A neighborhood correlation compares neighbouring voxels.
    if (c.kind != Kind::NeighborhoodCorrelation)
    {
      c.masks = false;
      c.points = true;
      Check(c);
    }
  }
}

TEST(FloatMetric, Interpolations)
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

INSTANTIATE_TEST_SUITE_P(Kinds, FloatMetricTest, ::testing::ValuesIn(AllKinds), [](const auto & info) {
  return std::string(GetName(info.param));
});

} // namespace gpuregtest
