// SPDX-License-Identifier: Apache-2.0
// Tests registration methods that keep ITK's code where the factories are registered: by this module's metrics and filters, which take the
// places of those that a program asks for, they end where they end by ITK's.
#include "itkCudaMattesNMI.h"
#include "itkGPUANTSNeighborhoodCorrelationImageToImageMetricv4.h"
#include "itkGPUImageRegistrationMethodv4.h"
#include "itkGPUMeanSquaresImageToImageMetricv4.h"
#include "itkGPURegistrationFactory.h"

#include "itkBSplineSmoothingOnUpdateDisplacementFieldTransformParametersAdaptor.h"
#include "itkBSplineSyNImageRegistrationMethod.h"
#include "itkGaussianSmoothingOnUpdateDisplacementFieldTransform.h"
#include "itkGaussianSmoothingOnUpdateDisplacementFieldTransformParametersAdaptor.h"
#include "itkImageRegionConstIteratorWithIndex.h"
#include "itkImageRegistrationMethodv4.h"
#include "itkShrinkImageFilter.h"
#include "itkTimeVaryingBSplineVelocityFieldImageRegistrationMethod.h"
#include "itkTimeVaryingBSplineVelocityFieldTransformParametersAdaptor.h"
#include "itkTimeVaryingVelocityFieldImageRegistrationMethodv4.h"
#include "itkTimeVaryingVelocityFieldTransformParametersAdaptor.h"

#include "ErrorOfRecord.h"
#include "Listening.h"
#include "OverriddenMetrics.h"
#include "RegistrationSetUp.h"
#include "TestDevices.h"
#include "TestImages.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <typeinfo>
#include <utility>
#include <vector>

namespace gpuregtest
{
namespace
{
using overridden::Kind;
using ImageType = itk::Image<float, 2>;
using MetricType = overridden::MetricOf<double, 2>;
using TransformType = itk::Transform<double, 2, 2>;
using VectorType = itk::Vector<double, 2>;
using GaussianTransformType = itk::GaussianSmoothingOnUpdateDisplacementFieldTransform<double, 2>;

using VelocityMethod = itk::TimeVaryingVelocityFieldImageRegistrationMethodv4<ImageType, ImageType>;
using BSplineVelocityMethod = itk::TimeVaryingBSplineVelocityFieldImageRegistrationMethod<ImageType, ImageType>;
using BSplineSyNMethod = itk::BSplineSyNImageRegistrationMethod<ImageType, ImageType>;
// Without the transform's type in its name, as most programs have it: this module's class takes its place.
using AnyTransformMethod = itk::ImageRegistrationMethodv4<ImageType, ImageType>;
using GaussianMethod = itk::ImageRegistrationMethodv4<ImageType, ImageType, GaussianTransformType>;

constexpr Kind Kinds[] = { Kind::NeighborhoodCorrelation, Kind::MeanSquares, Kind::Mattes };
// Shrink factors and sigmas.
const std::vector<std::pair<unsigned int, double>> Levels = { { 2, 1.0 }, { 1, 0.0 } };
constexpr unsigned int                             Iterations = 4; // of a level
constexpr unsigned int                             Moments = 4;    // of a velocity

/** Where a method ends. */
struct Ending
{
  std::string         method;
  bool                hasOurMetric = false;
  std::int64_t        launches = 0;
  std::vector<double> values;        // of the metric, one for each iteration
  std::vector<double> displacements; // of the voxels, there and, where the transform has an inverse, back
};

/** Returns the number of passes of the metric's last evaluation, 0 for ITK's metric. */
std::int64_t
CountLaunches(const MetricType & metric)
{
  const auto count = [](const auto * ours) { return ours ? ours->GetEvaluationStatistics().launches : 0; };
  return count(dynamic_cast<const itk::GPUANTSNeighborhoodCorrelationImageToImageMetricv4<ImageType, ImageType> *>(
           &metric)) +
         count(dynamic_cast<const itk::GPUMeanSquaresImageToImageMetricv4<ImageType, ImageType> *>(&metric)) +
         count(dynamic_cast<const itk::CudaMattesNMI<ImageType, ImageType> *>(&metric));
}

void
AppendDisplacements(const TransformType & transform, const ImageType & image, std::vector<double> & displacements)
{
  for (itk::ImageRegionConstIteratorWithIndex<ImageType> it(&image, image.GetBufferedRegion()); !it.IsAtEnd(); ++it)
  {
    const auto point = image.TransformIndexToPhysicalPoint<double>(it.GetIndex());
    const auto moved = transform.TransformPoint(point);
    displacements.insert(displacements.end(), { moved[0] - point[0], moved[1] - point[1] });
  }
}

/** Returns the longest distance of vectors, mm; infinity if their numbers differ. */
double
ComputeLargestDistance(const std::vector<double> & a, const std::vector<double> & b)
{
  double largest = a.size() == b.size() ? 0 : INFINITY;
  for (std::size_t n = 0; n + 1 < std::min(a.size(), b.size()); n += 2)
  {
    const double distance = std::hypot(a[n] - b[n], a[n + 1] - b[n + 1]);
    largest = distance <= largest ? largest : (std::isnan(distance) ? INFINITY : distance);
  }
  return largest;
}

/** Returns the largest difference of values, each as a share of its value; infinity if their numbers differ. */
double
ComputeLargestShare(const std::vector<double> & values, const std::vector<double> & itks)
{
  double largest = values.size() == itks.size() ? 0 : INFINITY;
  for (std::size_t n = 0; n < std::min(values.size(), itks.size()); ++n)
  {
    largest = std::max(largest, std::abs(values[n] - itks[n]) / std::abs(itks[n]));
  }
  return largest;
}

/** Makes a field without displacements on an image's grid, or a velocity with moments on it.
 *  \tparam TField itk::Image of vectors, of 2 or 3 dimensions. */
template <typename TField>
typename TField::Pointer
MakeStill(const ImageType & image)
{
  Grid<TField::ImageDimension> grid;
  grid.size.Fill(Moments);
  for (unsigned int d = 0; d < 2; ++d)
  {
    grid.size[d] = image.GetLargestPossibleRegion().GetSize()[d];
    grid.spacing[d] = image.GetSpacing()[d];
    grid.origin[d] = image.GetOrigin()[d];
  }
  const auto field = TField::New();
  grid.ApplyTo(*field);
  field->Allocate();
  field->FillBuffer(VectorType(0.0));
  return field;
}

/** Gives a method an adaptor of its transform for each level: makeAdaptor(geometry, level).
 *  \tparam TField the field whose geometry the adaptor takes. */
template <typename TField, typename TMethod, typename TMake>
void
SetAdaptors(TMethod & method, ImageType * fixed, const TMake & makeAdaptor)
{
  typename TMethod::TransformParametersAdaptorsContainerType adaptors;
  for (unsigned int level = 0; level < Levels.size(); ++level)
  {
    const auto shrink = itk::ShrinkImageFilter<ImageType, ImageType>::New();
    shrink->SetInput(fixed);
    shrink->SetShrinkFactors(Levels[level].first);
    shrink->Update();
    adaptors.push_back(makeAdaptor(*MakeStill<TField>(*shrink->GetOutput()), level).GetPointer());
  }
  method.SetTransformParametersAdaptorsPerLevel(adaptors);
}

template <typename TMethod>
void
SetIterations(TMethod & method)
{
  typename TMethod::NumberOfIterationsArrayType iterations(static_cast<unsigned int>(Levels.size()));
  iterations.Fill(Iterations);
  method.SetNumberOfIterationsPerLevel(iterations);
}

/** Gives an adaptor a level's geometry. */
template <typename TAdaptor, typename TField>
void
Require(TAdaptor & adaptor, const TField & field)
{
  adaptor.SetRequiredSize(field.GetLargestPossibleRegion().GetSize());
  adaptor.SetRequiredSpacing(field.GetSpacing());
  adaptor.SetRequiredOrigin(field.GetOrigin());
  adaptor.SetRequiredDirection(field.GetDirection());
}

/** Two images of one object, the moving one deformed and with other values. */
class Images
{
public:
  Images()
  {
    Grid<2> grid;
    grid.size[0] = 36;
    grid.size[1] = 31;
    grid.spacing[1] = 1.2;
    grid.origin[0] = -7.0;
    const auto           centre = grid.GetCentre();
    Random               random(11);
    const SmoothFunction texture(random, 9.0, 25.0);
    fixed = MakeImage<ImageType>(grid, [&](const auto & p) { return 100.0 + 60.0 * texture(p - centre); });
    moving = MakeImage<ImageType>(grid, [&](const auto & p) {
      auto q = p - centre;
      q[0] += 1.2 * std::sin(0.2 * q[1]) + 0.5;
      q[1] -= 1.0 * std::cos(0.17 * q[0]);
      return 95.0 + 55.0 * texture(q);
    });
  }

  ImageType::Pointer fixed;
  ImageType::Pointer moving;
};

/** Sets a method up with a transform that moves nothing, and returns that. */
VelocityMethod::OutputTransformType::Pointer
SetUp(VelocityMethod & method, const MetricType::Pointer & metric, const Images & images)
{
  using OutputType = VelocityMethod::OutputTransformType;
  using FieldType = OutputType::VelocityFieldType;
  const auto transform = OutputType::New();
  transform->SetGaussianSpatialSmoothingVarianceForTheTotalField(0.0);
  transform->SetGaussianSpatialSmoothingVarianceForTheUpdateField(3.0);
  transform->SetGaussianTemporalSmoothingVarianceForTheTotalField(0.0);
  transform->SetGaussianTemporalSmoothingVarianceForTheUpdateField(0.5);
  transform->SetVelocityField(MakeStill<FieldType>(*images.fixed));
  transform->SetLowerTimeBound(0.0);
  transform->SetUpperTimeBound(1.0);
  transform->IntegrateVelocityField();
  SetUpRegistration(method, images.fixed, images.moving, transform, metric, Levels);
  SetIterations(method);
  method.SetLearningRate(0.25);
  SetAdaptors<FieldType>(method, images.fixed, [](const FieldType & field, unsigned int) {
    const auto adaptor = itk::TimeVaryingVelocityFieldTransformParametersAdaptor<OutputType>::New();
    Require(*adaptor, field);
    return adaptor;
  });
  return transform;
}

BSplineVelocityMethod::OutputTransformType::Pointer
SetUp(BSplineVelocityMethod & method, const MetricType::Pointer & metric, const Images & images)
{
  using OutputType = BSplineVelocityMethod::OutputTransformType;
  using FieldType = OutputType::TimeVaryingVelocityFieldControlPointLatticeType;
  using AdaptorType = itk::TimeVaryingBSplineVelocityFieldTransformParametersAdaptor<OutputType>;
  const auto transform = OutputType::New();
  transform->SetSplineOrder(3);
  transform->SetLowerTimeBound(0.0);
  transform->SetUpperTimeBound(1.0);
  const auto makeAdaptor = [&](const FieldType & field, unsigned int level) {
    const auto adaptor = AdaptorType::New();
    adaptor->SetSplineOrder(3);
    adaptor->SetRequiredTransformDomainOrigin(field.GetOrigin());
    adaptor->SetRequiredTransformDomainSpacing(field.GetSpacing());
    adaptor->SetRequiredTransformDomainSize(field.GetLargestPossibleRegion().GetSize());
    adaptor->SetRequiredTransformDomainDirection(field.GetDirection());
    AdaptorType::MeshSizeType mesh;
    mesh.Fill(3U << level);
    mesh[2] = 3;
    adaptor->SetRequiredTransformDomainMeshSize(mesh);
    return adaptor;
  };
  const auto still = MakeStill<FieldType>(*images.fixed);
  const auto first = makeAdaptor(*still, 0);
  const auto lattice = FieldType::New();
  lattice->SetOrigin(first->GetRequiredControlPointLatticeOrigin());
  lattice->SetSpacing(first->GetRequiredControlPointLatticeSpacing());
  lattice->SetDirection(first->GetRequiredControlPointLatticeDirection());
  lattice->SetRegions(first->GetRequiredControlPointLatticeSize());
  lattice->Allocate();
  lattice->FillBuffer(VectorType(0.0));
  transform->SetTimeVaryingVelocityFieldControlPointLattice(lattice);
  transform->SetVelocityFieldOrigin(still->GetOrigin());
  transform->SetVelocityFieldDirection(still->GetDirection());
  transform->SetVelocityFieldSpacing(still->GetSpacing());
  transform->SetVelocityFieldSize(still->GetLargestPossibleRegion().GetSize());
  transform->IntegrateVelocityField();
  SetUpRegistration(method, images.fixed, images.moving, transform, metric, Levels);
  SetIterations(method);
  method.SetLearningRate(0.25);
  method.SetNumberOfTimePointSamples(Moments);
  SetAdaptors<FieldType>(method, images.fixed, makeAdaptor);
  return transform;
}

BSplineSyNMethod::OutputTransformType::Pointer
SetUp(BSplineSyNMethod & method, const MetricType::Pointer & metric, const Images & images)
{
  using OutputType = BSplineSyNMethod::OutputTransformType;
  using FieldType = OutputType::DisplacementFieldType;
  const auto transform = OutputType::New();
  transform->SetDisplacementField(MakeStill<FieldType>(*images.fixed));
  transform->SetInverseDisplacementField(MakeStill<FieldType>(*images.fixed));
  SetUpRegistration(method, images.fixed, images.moving, transform, metric, Levels);
  SetIterations(method);
  method.SetLearningRate(0.25);
  SetAdaptors<FieldType>(method, images.fixed, [&](const FieldType & field, unsigned int level) {
    const auto adaptor = itk::BSplineSmoothingOnUpdateDisplacementFieldTransformParametersAdaptor<OutputType>::New();
    Require(*adaptor, field);
    adaptor->SetTransform(transform);
    OutputType::ArrayType mesh;
    mesh.Fill(5U << level);
    adaptor->SetMeshSizeForTheUpdateField(mesh);
    mesh.Fill(0);
    adaptor->SetMeshSizeForTheTotalField(mesh);
    return adaptor;
  });
  return transform;
}

/** Sets up AnyTransformMethod or GaussianMethod. */
template <typename TMethod>
GaussianTransformType::Pointer
SetUp(TMethod & method, const MetricType::Pointer & metric, const Images & images)
{
  using FieldType = GaussianTransformType::DisplacementFieldType;
  const auto transform = GaussianTransformType::New();
  transform->SetGaussianSmoothingVarianceForTheUpdateField(1.0);
  transform->SetGaussianSmoothingVarianceForTheTotalField(1.5);
  transform->SetDisplacementField(MakeStill<FieldType>(*images.fixed));
  SetUpRegistration(method, images.fixed, images.moving, transform, metric, Levels);
  const auto optimizer = MakeGradientDescent(metric, Iterations, 0.5);
  optimizer->SetDoEstimateLearningRateOnce(false);
  optimizer->SetDoEstimateLearningRateAtEachIteration(true);
  method.SetOptimizer(optimizer);
  SetAdaptors<FieldType>(method, images.fixed, [](const FieldType & field, unsigned int) {
    const auto adaptor =
      itk::GaussianSmoothingOnUpdateDisplacementFieldTransformParametersAdaptor<GaussianTransformType>::New();
    Require(*adaptor, field);
    return adaptor;
  });
  return transform;
}

/** Registers by the objects that New() gives. */
template <typename TMethod>
Ending
Register(Kind kind)
{
  const Images images;
  const auto   metric = overridden::MakeMetricOf<double, 2>(kind);
  metric->SetUseFixedImageGradientFilter(false);
  metric->SetUseMovingImageGradientFilter(false);
  const auto method = TMethod::New();
  const auto transform = SetUp(*method, metric, images);
  Ending     ending;
  // SyN and velocities run their own loops; the others have an optimizer.
  const auto recordValue = [&](const itk::EventObject & event) {
    if (!itk::MultiResolutionIterationEvent().CheckEvent(&event))
    {
      ending.values.push_back(metric->GetCurrentValue());
    }
  };
  method->AddObserver(itk::IterationEvent(), recordValue);
  if (method->GetOptimizer() != nullptr)
  {
    method->GetModifiableOptimizer()->AddObserver(itk::IterationEvent(), recordValue);
  }
  method->Update();
  const auto & itsMethod = *method;
  const auto & itsMetric = *method->GetMetric();
  ending.method = typeid(itsMethod).name();
  ending.hasOurMetric = overridden::IsOurs(itsMetric);
  ending.launches = CountLaunches(*metric);
  if (kind == Kind::Mattes && ending.values.size() > Iterations)
  {
    // Where more threads take part than at the level before, ITK adds up the fixed image's histogram without clearing it, and the level's
    // first value is some percent off.
    ending.values.erase(ending.values.begin() + Iterations);
  }
  AppendDisplacements(*transform, *images.fixed, ending.displacements);
  if (const auto inverse = transform->GetInverseTransform())
  {
    AppendDisplacements(*inverse, *images.fixed, ending.displacements);
  }
  return ending;
}

/** How far from ITK's ends are: displacements, mm, and values of the metric, as a share of each. Largest of the host and PoCL, and
 *  of ITK by 1, 2, 3, 8 and 16 threads: added up in another order, ITK's sums are rounded otherwise. */
struct RecordOfEnding
{
  ErrorOfRecord distance;
  ErrorOfRecord ofValue;
};

class MethodsOfITKTest : public ::testing::TestWithParam<std::string>
{
protected:
  ~MethodsOfITKTest() override
  {
    itk::GPURegistrationFactory::UnRegisterAll();
    itk::GPUDevice::SetDefault(itk::GPUDevice::GetAvailable().front());
  }

  /** Compares a method's ends without and with the factories. \param kept whether ITK's class stays. \param leftToITK how often a
   *  resampler says that its interpolator is ITK's. */
  template <typename TMethod>
  static void
  ExpectITKsEnd(bool kept, const std::map<Kind, RecordOfEnding> & records, std::size_t leftToITK = 0)
  {
    for (const Kind kind : Kinds)
    {
      SCOPED_TRACE(overridden::GetName(kind));
      itk::GPURegistrationFactory::UnRegisterAll();
      const Ending itks = Register<TMethod>(kind);
      EXPECT_EQ(itks.method, typeid(TMethod).name());
      EXPECT_FALSE(itks.hasOurMetric);
      EXPECT_EQ(itks.launches, 0);
      EXPECT_EQ(itks.values.size(), Levels.size() * Iterations - (kind == Kind::Mattes ? 1 : 0));

      itk::GPUDevice::SetDefault(itk::GPUDevice::FromName(GetParam()));
      itk::GPURegistrationFactory::RegisterAll();
      const Listening listening;
      const Ending    ours = Register<TMethod>(kind);
      EXPECT_EQ(listening.window->Count("interpolator"), leftToITK);
      EXPECT_EQ(listening.window->said.size(), leftToITK);
      EXPECT_EQ(ours.method == itks.method, kept) << ours.method;
      EXPECT_TRUE(ours.hasOurMetric);
      EXPECT_GT(ours.launches, 0) << "the device computes nothing";
      // A result that does not move would be ITK's, too.
      const std::vector<double> still(itks.displacements.size(), 0.0);
      EXPECT_GT(ComputeLargestDistance(itks.displacements, still), 0.25);
      EXPECT_TRUE(IsWithinRecord(GetParam(),
                                 ComputeLargestDistance(ours.displacements, itks.displacements),
                                 records.at(kind).distance));
      EXPECT_TRUE(IsWithinRecord(GetParam(), ComputeLargestShare(ours.values, itks.values), records.at(kind).ofValue));
    }
  }
};
} // namespace

TEST_P(MethodsOfITKTest, TimeVaryingVelocityField)
{
  ExpectITKsEnd<VelocityMethod>(true,
                                { { Kind::NeighborhoodCorrelation, { 4.7e-7, 3.3e-7 } },
                                  { Kind::MeanSquares, { 3.0e-8, 6.2e-8 } },
                                  { Kind::Mattes, { 7.6e-8, 7.6e-9 } } });
}

/** The transform's adaptor resamples each component of the control points at each level by an interpolator that no device has. */
TEST_P(MethodsOfITKTest, TimeVaryingBSplineVelocityField)
{
  ExpectITKsEnd<BSplineVelocityMethod>(true,
                                       { { Kind::NeighborhoodCorrelation, { 1.1e-6, 2.4e-7 } },
                                         { Kind::MeanSquares, { 4.3e-8, 1.2e-7 } },
                                         { Kind::Mattes, { 2.1e-7, 6.9e-9 } } },
                                       4);
}

TEST_P(MethodsOfITKTest, BSplineSyN)
{
  ExpectITKsEnd<BSplineSyNMethod>(true,
                                  { { Kind::NeighborhoodCorrelation, { 3.2e-6, 4.3e-7 } },
                                    { Kind::MeanSquares, { 8.3e-7, 1.1e-7 } },
                                    { Kind::Mattes, { 6.8e-6, 2.1e-7 } } });
}

TEST_P(MethodsOfITKTest, GaussianSmoothingOnUpdate)
{
  ExpectITKsEnd<AnyTransformMethod>(false,
                                    { { Kind::NeighborhoodCorrelation, { 3.0e-7, 5.6e-8 } },
                                      { Kind::MeanSquares, { 1.2e-7, 6.6e-8 } },
                                      { Kind::Mattes, { 7.5e-7, 6.0e-8 } } });
}

TEST_P(MethodsOfITKTest, GaussianSmoothingOnUpdateByItsName)
{
  ExpectITKsEnd<GaussianMethod>(true,
                                { { Kind::NeighborhoodCorrelation, { 3.0e-7, 5.6e-8 } },
                                  { Kind::MeanSquares, { 1.2e-7, 6.6e-8 } },
                                  { Kind::Mattes, { 7.5e-7, 6.0e-8 } } });
}

INSTANTIATE_TEST_SUITE_P(Devices, MethodsOfITKTest, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace gpuregtest
