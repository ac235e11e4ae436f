// SPDX-License-Identifier: Apache-2.0
// Tests GPUResampleImageFilter with all kinds of transforms: which are uploaded as they are, which are sampled, and when they are uploaded
// or sampled again.
#include "BentTransform.h"
#include "Listening.h"
#include "RandomTransform.h"
#include "ImageComparison.h"
#include "ResampleCase.h"
#include "TestDevices.h"

#include <algorithm>
#include <atomic>

namespace gpuregtest
{
namespace
{

using ImageType = itk::Image<float, 3>;
using ReferenceType = itk::ResampleImageFilter<ImageType, ImageType>;
using FilterType = itk::GPUResampleImageFilter<ImageType, ImageType>;
using FieldType = itk::DisplacementFieldTransform<double, 3>::DisplacementFieldType;

/** A transform that the engine does not know, which counts the points for which it is called. */
class CountedThinPlate : public itk::ThinPlateSplineKernelTransform<double, 3>
{
public:
  using Self = CountedThinPlate;
  using Superclass = itk::ThinPlateSplineKernelTransform<double, 3>;
  using Pointer = itk::SmartPointer<Self>;
  itkFactorylessNewMacro(Self);
  itkTypeMacro(CountedThinPlate, itk::ThinPlateSplineKernelTransform);

  OutputPointType
  TransformPoint(const InputPointType & point) const override
  {
    ++points;
    return Superclass::TransformPoint(point);
  }

  mutable std::atomic<std::int64_t> points{ 0 };
};

class ResampleTransform : public DeviceTest
{
protected:
  ResampleTransform()
    : m_Random(2014)
    , m_Grid(MakeResampleGrid<3>("plain", m_Random))
    , m_Image(MakeImage<ImageType>(m_Grid, [this](const auto &) { return Uniform(m_Random, 0, 100); }))
    , m_Filter(FilterType::New())
  {
    m_Filter->SetDevice(this->GetDevice());
    m_Filter->SetInput(m_Image);
    m_Filter->SetOutputParametersFromImage(m_Image);
  }

  std::int64_t
  CountVoxels() const
  {
    return static_cast<std::int64_t>(m_Image->GetBufferedRegion().GetNumberOfPixels());
  }

  /** Returns a field whose displacement differs from voxel to voxel. */
  FieldType::Pointer
  MakeWaves(double phase) const
  {
    auto field = FieldType::New();
    m_Grid.ApplyTo(*field);
    field->Allocate();
    for (itk::ImageRegionIteratorWithIndex<FieldType> it(field, field->GetBufferedRegion()); !it.IsAtEnd(); ++it)
    {
      FieldType::PixelType vector;
      for (unsigned int d = 0; d < 3; ++d)
      {
        vector[d] = 0.03 * GetReach(m_Grid) * std::sin(phase + 0.4 * static_cast<double>(it.GetIndex()[(d + 1) % 3]));
      }
      it.Set(vector);
    }
    return field;
  }

  /** Returns the output of ITK's own filter for our filter's input. */
  ImageType::Pointer
  MakeExpected() const
  {
    const auto reference = ReferenceType::New();
    reference->SetInput(m_Image);
    reference->SetTransform(m_Filter->GetTransform());
    reference->SetInterpolator(m_Filter->GetInterpolator());
    reference->SetSize(m_Filter->GetSize());
    reference->SetOutputStartIndex(m_Filter->GetOutputStartIndex());
    reference->SetOutputOrigin(m_Filter->GetOutputOrigin());
    reference->SetOutputSpacing(m_Filter->GetOutputSpacing());
    reference->SetOutputDirection(m_Filter->GetOutputDirection());
    reference->Update();
    return reference->GetOutput();
  }

  /** Expects the filter to give ITK's output, with a new input or the same one. */
  void
  ExpectAsITK(bool isInputNew = false)
  {
    if (isInputNew)
    {
      m_Image->Modified();
    }
    m_Filter->Update();
    EXPECT_GT(m_Filter->GetEvaluationStatistics().launches, 0) << "ITK's own class did the work";
    const auto        made = MakeExpected();
    const ImageType & expected = *made;
    const ImageType & image = *m_Filter->GetOutput();
    EXPECT_EQ(CountFurtherApart(image, expected, 2e-3), 0u);
    const auto   count = static_cast<std::ptrdiff_t>(CountComponents(expected));
    const auto * values = GetComponents(expected);
    EXPECT_LT(std::count(values, values + count, 0.0f), count - count / 4) << "nearly nothing is resampled";
  }

  Random              m_Random;
  Grid<3>             m_Grid;
  ImageType::Pointer  m_Image;
  FilterType::Pointer m_Filter;
};

TEST_P(ResampleTransform, EveryFieldTransformOfITKsGoesUpAsItsField)
{
  using TransformType = itk::DisplacementFieldTransform<double, 3>;
  const std::vector<TransformType::Pointer> transforms{
    TransformType::New(),
    itk::GaussianSmoothingOnUpdateDisplacementFieldTransform<double, 3>::New().GetPointer(),
    itk::BSplineSmoothingOnUpdateDisplacementFieldTransform<double, 3>::New().GetPointer(),
    itk::ConstantVelocityFieldTransform<double, 3>::New().GetPointer(),
    itk::GaussianExponentialDiffeomorphicTransform<double, 3>::New().GetPointer(),
    itk::BSplineExponentialDiffeomorphicTransform<double, 3>::New().GetPointer(),
    itk::VelocityFieldTransform<double, 3>::New().GetPointer(),
    itk::TimeVaryingVelocityFieldTransform<double, 3>::New().GetPointer(),
    itk::GaussianSmoothingOnUpdateTimeVaryingVelocityFieldTransform<double, 3>::New().GetPointer(),
    itk::TimeVaryingBSplineVelocityFieldTransform<double, 3>::New().GetPointer()
  };
  double phase = 0;
  for (const auto & transform : transforms)
  {
    SCOPED_TRACE(transform->GetNameOfClass());
    gpureg::TransformChain chain;
    EXPECT_FALSE((itk::GPUTransformChain::Append<double, 3>(*transform, chain))) << "it has no field yet";
    for (int n = 0; n < 2; ++n)
    {
      const auto field = MakeWaves(++phase);
      transform->SetDisplacementField(field);
      // Transforms of velocity fields leave this to the program that sets a field.
      transform->GetModifiableInterpolator()->SetInputImage(field);
      EXPECT_TRUE((itk::GPUTransformChain::Append<double, 3>(*transform, chain))) << "it would be sampled";
      m_Filter->SetTransform(transform);
      ExpectAsITK();
    }
  }
}

/** ITK takes the position from one field and the vector from the other. */
TEST_P(ResampleTransform, AFieldWhoseInterpolatorHasAnotherOneIsAsITKHasIt)
{
  const auto transform = itk::VelocityFieldTransform<double, 3>::New();
  const auto coarse = FieldType::New();
  coarse->SetRegions(m_Grid.size);
  auto spacing = m_Grid.spacing;
  spacing *= 2.0;
  coarse->SetSpacing(spacing);
  coarse->SetOrigin(m_Image->GetOrigin());
  coarse->SetDirection(m_Image->GetDirection());
  coarse->Allocate();
  coarse->FillBuffer(itk::Vector<double, 3>(0.0));
  transform->SetDisplacementField(coarse);
  transform->GetModifiableInterpolator()->SetInputImage(MakeWaves(0.5));
  m_Filter->SetInterpolator(MakeInterpolator<ImageType>("bspline3"));
  m_Filter->SetTransform(transform);
  ExpectAsITK();
  const auto waves = MakeWaves(1.5);
  transform->GetModifiableInterpolator()->SetInputImage(waves);
  ExpectAsITK(true);
  waves->FillBuffer(itk::Vector<double, 3>(0.01 * GetReach(m_Grid)));
  ExpectAsITK(true);
}

/** ITK dereferences a null pointer there. */
TEST_P(ResampleTransform, AFieldThatTheInterpolatorWasNotGivenMovesPointsAllTheSame)
{
  const auto usual = itk::DisplacementFieldTransform<double, 3>::New();
  usual->SetDisplacementField(MakeWaves(0.5));
  m_Filter->SetTransform(usual);
  ExpectAsITK();
  const ImageType::Pointer expected = m_Filter->GetOutput();
  expected->DisconnectPipeline();
  const auto transform = itk::VelocityFieldTransform<double, 3>::New();
  transform->SetDisplacementField(MakeWaves(0.5));
  ASSERT_EQ(transform->GetInterpolator()->GetInputImage(), nullptr);
  m_Filter->SetTransform(transform);
  m_Filter->Update();
  EXPECT_TRUE(HaveSameBits(*m_Filter->GetOutput(), *expected));
}

TEST_P(ResampleTransform, AVelocityFieldIsWhatItWasIntegratedTo)
{
  const auto transform = itk::ConstantVelocityFieldTransform<double, 3>::New();
  transform->SetConstantVelocityField(MakeWaves(0.5));
  transform->IntegrateVelocityField();
  m_Filter->SetTransform(transform);
  ExpectAsITK();
  transform->SetConstantVelocityField(MakeWaves(1.5));
  transform->IntegrateVelocityField();
  ExpectAsITK();
}

/** CompositeTransform::SetParameters writes into a field's buffer, without modifying field, transform or itself. */
TEST_P(ResampleTransform, AFieldThatACompositeSetsIsUploadedAgain)
{
  const auto makeField = [this](double phase) {
    const auto field = itk::DisplacementFieldTransform<double, 3>::New();
    field->SetDisplacementField(this->MakeWaves(phase));
    return field;
  };
  const auto affine = itk::AffineTransform<double, 3>::New();
  affine->SetCenter(m_Grid.GetCentre());
  affine->Rotate(0, 1, 0.05);
  const std::vector<itk::Transform<double, 3, 3>::Pointer> others{ affine.GetPointer(),
                                                                   makeField(1.0).GetPointer(),
                                                                   MakeThinPlate<3>(m_Grid, m_Random).GetPointer() };
  for (itk::Transform<double, 3, 3> * const other : others)
  {
    SCOPED_TRACE(other->GetNameOfClass());
    const auto composite = itk::CompositeTransform<double, 3>::New();
    composite->AddTransform(other);
    composite->AddTransform(makeField(0.0));
    m_Filter->SetTransform(composite);
    m_Filter->SetInterpolator(MakeInterpolator<ImageType>("bspline1"));
    ExpectAsITK();
    auto parameters = composite->GetParameters();
    for (unsigned int i = 0; i < composite->GetBackTransform()->GetNumberOfParameters(); ++i)
    {
      parameters[i] *= -1.0;
    }
    composite->SetParameters(parameters);
    m_Filter->Modified();
    ExpectAsITK();
  }
  // A transform that it does not set is not uploaded again.
  const auto composite = itk::CompositeTransform<double, 3>::New();
  composite->AddTransform(affine);
  composite->AddTransform(makeField(0.0));
  composite->SetOnlyMostRecentTransformToOptimizeOn();
  m_Filter->SetTransform(composite);
  ExpectAsITK();
  m_Filter->Modified();
  ExpectAsITK();
  EXPECT_LT(m_Filter->GetEvaluationStatistics().bytesUp, CountVoxels());
}

/** A thin plate spline, which is sampled, set in the filter and used once. */
class SampledTransform : public ResampleTransform
{
protected:
  SampledTransform()
  {
    for (unsigned int n = 0; n < 6; ++n)
    {
      auto point = m_Grid.GetCentre();
      for (unsigned int d = 0; d < 3; ++d)
      {
        point[d] += Uniform(m_Random, -0.4, 0.4) * GetReach(m_Grid);
      }
      m_Sources->SetPoint(n, point);
    }
    m_Transform->SetSourceLandmarks(m_Sources);
    SetTargets(0.05);
    // On the host, other interpolators leave it to ITK's class.
    m_Filter->SetInterpolator(MakeInterpolator<ImageType>("bspline3"));
    m_Filter->SetTransform(m_Transform);
    EXPECT_GE(CountPoints(), CountVoxels());
    ExpectAsITK();
  }

  void
  SetTargets(double reach)
  {
    const auto targets = PointSetType::New();
    for (unsigned int n = 0; n < 6; ++n)
    {
      auto target = m_Sources->GetPoint(n);
      for (unsigned int d = 0; d < 3; ++d)
      {
        target[d] += Uniform(m_Random, -reach, reach) * GetReach(m_Grid);
      }
      targets->SetPoint(n, target);
    }
    m_Transform->SetTargetLandmarks(targets);
    m_Transform->ComputeWMatrix();
  }

  /** Returns the number of points for which an update calls the transform, without ITK's own calls. */
  std::int64_t
  CountPoints(bool isInputNew = false)
  {
    if (isInputNew)
    {
      m_Image->Modified();
    }
    const std::int64_t before = m_Transform->points;
    m_Filter->Update();
    return m_Transform->points - before;
  }

  /** The middle and the corners, at which the filter tests that the transform has not changed. */
  static constexpr std::int64_t ToSeeThatItStays = 9;

  using PointSetType = CountedThinPlate::PointSetType;
  const CountedThinPlate::Pointer m_Transform = CountedThinPlate::New();
  const PointSetType::Pointer     m_Sources = PointSetType::New();
};

TEST_P(SampledTransform, IsKeptUntilItsLandmarksChange)
{
  EXPECT_EQ(CountPoints(true), ToSeeThatItStays);
  ExpectAsITK();
  {
    SCOPED_TRACE("other landmarks");
    SetTargets(0.05);
    EXPECT_GE(CountPoints(), CountVoxels());
    ExpectAsITK();
  }
  {
    SCOPED_TRACE("landmarks that are moved where they are: neither has a new time stamp");
    auto target = m_Transform->GetTargetLandmarks()->GetPoint(2);
    target[1] += 0.04 * GetReach(m_Grid);
    const auto before = m_Transform->GetMTime();
    m_Transform->GetTargetLandmarks()->GetPoints()->SetElement(2, target);
    m_Transform->ComputeWMatrix();
    EXPECT_EQ(m_Transform->GetMTime(), before);
    EXPECT_GE(CountPoints(true), CountVoxels());
    ExpectAsITK();
  }
}

TEST_P(SampledTransform, IsKeptInAComposite)
{
  const auto composite = itk::CompositeTransform<double, 3>::New();
  composite->AddTransform(MakeAffine<3>(m_Grid, m_Random));
  composite->AddTransform(m_Transform);
  m_Filter->SetTransform(composite);
  EXPECT_GE(CountPoints(), CountVoxels());
  ExpectAsITK();
  EXPECT_EQ(CountPoints(true), ToSeeThatItStays);
  SetTargets(0.05);
  composite->Modified();
  EXPECT_GE(CountPoints(), CountVoxels());
  ExpectAsITK();
  m_Filter->SetTransform(m_Transform);
  ExpectAsITK();
}

/** A spline besides it, of which one control point changes, and only its image is modified. */
TEST_P(SampledTransform, IsSampledAgainWithASplineThatChanges)
{
  const auto spline = MakeSpline<3, 3>(m_Grid, m_Random);
  const auto composite = itk::CompositeTransform<double, 3>::New();
  composite->AddTransform(m_Transform);
  composite->AddTransform(spline);
  m_Filter->SetTransform(composite);
  ExpectAsITK();
  EXPECT_EQ(CountPoints(true), ToSeeThatItStays);
  const auto coefficients = dynamic_cast<itk::BSplineTransform<double, 3, 3> &>(*spline).GetCoefficientImages()[1];
  auto       middle = coefficients->GetBufferedRegion().GetIndex();
  for (unsigned int d = 0; d < 3; ++d)
  {
    middle[d] += static_cast<itk::IndexValueType>(coefficients->GetBufferedRegion().GetSize(d) / 2);
  }
  coefficients->SetPixel(middle, coefficients->GetPixel(middle) + 0.1 * GetReach(m_Grid));
  coefficients->Modified();
  EXPECT_GE(CountPoints(true), CountVoxels());
  ExpectAsITK();
  m_Filter->SetTransform(m_Transform);
  ExpectAsITK();
}

TEST_P(SampledTransform, IsSampledAgainForAnotherGrid)
{
  {
    SCOPED_TRACE("another input: what is kept is in its voxels");
    const auto image = ImageType::New();
    image->Graft(m_Image);
    m_Image = image;
    m_Filter->SetInput(image);
    EXPECT_EQ(CountPoints(), ToSeeThatItStays);
    ExpectAsITK();
    image->SetSpacing(1.1 * image->GetSpacing());
    EXPECT_GE(CountPoints(), CountVoxels());
    ExpectAsITK();
  }
  {
    SCOPED_TRACE("within a bound");
    m_Filter->SetMaximumDeviceMemory(20 * static_cast<std::size_t>(CountVoxels()));
    ExpectAsITK();
    m_Filter->SetMaximumDeviceMemory(0);
    ExpectAsITK();
  }
  {
    SCOPED_TRACE("another grid of as many voxels");
    auto origin = m_Image->GetOrigin();
    origin[0] += 0.7 * m_Grid.spacing[0];
    m_Filter->SetOutputOrigin(origin);
    EXPECT_GE(CountPoints(), CountVoxels());
    ExpectAsITK();
  }
}

/** A class of a program's own may depend on anything. */
TEST_P(ResampleTransform, OneOfAClassThatIsNotKnownIsSampledEachTime)
{
  using WaveType = WaveTransform<3>;
  const auto             wave = WaveType::New();
  itk::Vector<double, 3> amplitude(0.03 * GetReach(m_Grid));
  wave->SetWave(m_Grid.GetCentre(), amplitude, 0.7 * GetReach(m_Grid));
  const auto composite = itk::CompositeTransform<double, 3>::New();
  composite->AddTransform(MakeThinPlate<3>(m_Grid, m_Random));
  composite->AddTransform(wave);
  m_Filter->SetInterpolator(MakeInterpolator<ImageType>("bspline3"));
  for (itk::Transform<double, 3, 3> * const transform :
       { static_cast<itk::Transform<double, 3, 3> *>(wave), static_cast<itk::Transform<double, 3, 3> *>(composite) })
  {
    gpureg::Key key;
    EXPECT_FALSE((itk::GPUTransformChain::AddComponentsToKey<double, 3>(key, *transform)));
    m_Filter->SetTransform(transform);
    ExpectAsITK();
    // No time stamp reports it.
    amplitude *= -1.0;
    wave->SetWave(m_Grid.GetCentre(), amplitude, 0.7 * GetReach(m_Grid));
    ExpectAsITK(true);
  }
}

TEST_P(ResampleTransform, OneThatIsNotLinearThoughItsParentClassIsGoesPointByPoint)
{
  const auto bent = BentTransform<3>::New();
  bent->SetCenter(m_Grid.GetCentre());
  bent->Rotate(0, 1, 0.1);
  const auto spline = MakeSpline<3, 3>(m_Grid, m_Random);
  const auto deformable = itk::BSplineDeformableTransform<double, 3, 3>::New();
  deformable->SetFixedParameters(spline->GetFixedParameters());
  deformable->SetParametersByValue(spline->GetParameters());
  deformable->SetBulkTransform(bent);
  m_Filter->SetInterpolator(MakeInterpolator<ImageType>("bspline1"));
  for (itk::Transform<double, 3, 3> * const transform :
       { static_cast<itk::Transform<double, 3, 3> *>(bent), static_cast<itk::Transform<double, 3, 3> *>(deformable) })
  {
    SCOPED_TRACE(transform->GetNameOfClass());
    m_Filter->SetTransform(transform);
    ExpectAsITK();
  }
  // A composite of it claims to be linear: ITK's filter then interpolates between both ends of a row.
  m_Filter->SetInterpolator(MakeInterpolator<ImageType>("linear"));
  m_Filter->SetTransform(bent);
  const auto expected = MakeExpected();
  const auto composite = itk::CompositeTransform<double, 3>::New();
  composite->AddTransform(bent);
  m_Filter->SetTransform(composite);
  m_Filter->Update();
  for (std::int64_t i = 0; i < this->CountVoxels(); ++i)
  {
    ASSERT_NEAR(m_Filter->GetOutput()->GetBufferPointer()[i], expected->GetBufferPointer()[i], 2e-3f) << i;
  }
}

TEST_P(ResampleTransform, OnTheHostWhatIsAllTheTransformsWorkIsITKsAndNothingIsSaid)
{
  m_Filter->SetTransform(MakeThinPlate<3>(m_Grid, m_Random));
  const Listening listening;
  for (const std::string interpolation : { "bspline3", "nearest", "linear" })
  {
    SCOPED_TRACE(interpolation);
    m_Filter->SetInterpolator(MakeInterpolator<ImageType>(interpolation));
    m_Filter->Update();
    const bool isITKs = this->GetDevice().IsHost() && interpolation != "bspline3";
    EXPECT_EQ(m_Filter->GetEvaluationStatistics().launches == 0, isITKs);
    if (isITKs)
    {
      EXPECT_TRUE(HaveSameBits(*m_Filter->GetOutput(), *MakeExpected()));
    }
  }
  EXPECT_EQ(listening.window->said.size(), 0u);
}

/** Any chain is one launch; in Shamonin 2014 each part has a launch and a field. */
TEST_P(ResampleTransform, AChainIsOneLaunch)
{
  for (const char * name : { "affine", "bspline3", "field", "affineOfBSpline", "bsplineOfAffineOfField", "nested" })
  {
    SCOPED_TRACE(name);
    m_Filter->SetTransform(MakeTransform<3>(name, m_Grid, m_Random));
    m_Filter->Update();
    EXPECT_EQ(m_Filter->GetEvaluationStatistics().launches, 1);
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, SampledTransform, ::testing::ValuesIn(GetDeviceNames()), GetTestName);
INSTANTIATE_TEST_SUITE_P(Devices, ResampleTransform, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace
} // namespace gpuregtest
