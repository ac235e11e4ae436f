// SPDX-License-Identifier: Apache-2.0
// Tests that the resampler answers bad input with ITK's message or ITK's image, and works again afterwards.
#include "ResampleCase.h"
#include "TestDevices.h"

#include "itkVectorImage.h"
#include "itkBSplineDeformableTransform.h"
#include "itkImageRegionConstIteratorWithIndex.h"

#include <functional>
#include <limits>

namespace gpuregtest
{
namespace
{

using ImageType = itk::Image<float, 3>;
using ReferenceType = itk::ResampleImageFilter<ImageType, ImageType>;
using FilterType = itk::GPUResampleImageFilter<ImageType, ImageType>;
using FieldTransformType = itk::DisplacementFieldTransform<double, 3>;

constexpr float NaN = std::numeric_limits<float>::quiet_NaN();
constexpr float Infinity = std::numeric_limits<float>::infinity();

/** A transform of an unknown class, which moves one point to NaN, and no other point. */
class HoleTransform : public itk::IdentityTransform<double, 3>
{
public:
  using Self = HoleTransform;
  using Superclass = itk::IdentityTransform<double, 3>;
  using Pointer = itk::SmartPointer<Self>;
  itkNewMacro(Self);

  OutputPointType
  TransformPoint(const InputPointType & point) const override
  {
    OutputPointType moved = point;
    moved[1] += point.EuclideanDistanceTo(hole) < 1e-4 ? std::numeric_limits<double>::quiet_NaN() : 0.0;
    return moved;
  }
  bool
  IsLinear() const override
  {
    return false;
  }
  TransformCategoryEnum
  GetTransformCategory() const override
  {
    return TransformCategoryEnum::UnknownTransformCategory;
  }

  InputPointType hole{};
};

struct Outcome
{
  /** The message, without the class and the object. */
  std::string        error;
  ImageType::Pointer image;
};

Outcome
Update(ReferenceType & filter)
{
  try
  {
    filter.Update();
    return { {}, filter.GetOutput() };
  }
  catch (const itk::ExceptionObject & error)
  {
    const std::string words = error.GetDescription();
    const auto        end = words.find("): ");
    return { end == std::string::npos ? words : words.substr(end + 3), nullptr };
  }
}

bool
AreAlike(float got, float wanted)
{
  return std::abs(got - wanted) <= 2e-3f || got == wanted || (got != got && wanted != wanted);
}

class ResampleBadInput : public DeviceTest
{
protected:
  ResampleBadInput()
    : m_Random(7)
    , m_Grid(MakeResampleGrid<3>("plain", m_Random))
    , m_Image(MakeRandomImage())
  {}

  ImageType::Pointer
  MakeRandomImage()
  {
    return MakeImage<ImageType>(m_Grid, [this](const auto &) { return Uniform(m_Random, 0, 100); });
  }

  void
  Connect(ReferenceType & filter) const
  {
    filter.SetInput(m_Image);
    filter.SetTransform(itk::IdentityTransform<double, 3>::New());
    filter.SetInterpolator(itk::LinearInterpolateImageFunction<ImageType, double>::New());
    filter.SetOutputParametersFromImage(m_Image);
    filter.SetDefaultPixelValue(-5);
  }

  static void
  ExpectSame(const Outcome & got, const Outcome & wanted)
  {
    ASSERT_EQ(got.error, wanted.error);
    if (!wanted.image)
    {
      return;
    }
    ASSERT_EQ(got.image->GetBufferedRegion(), wanted.image->GetBufferedRegion());
    int different = 0;
    for (itk::ImageRegionConstIteratorWithIndex<ImageType> it(wanted.image, wanted.image->GetBufferedRegion());
         !it.IsAtEnd();
         ++it)
    {
      different += !AreAlike(got.image->GetPixel(it.GetIndex()), it.Get());
    }
    EXPECT_EQ(different, 0);
  }

  /** Makes both filters, spoils them identically, and lets ours process good input afterwards. Returns the result for the spoilt input. */
  Outcome
  ExpectAsITK(const std::function<void(ReferenceType &)> & spoil) const
  {
    auto reference = ReferenceType::New();
    auto filter = FilterType::New();
    filter->SetDevice(this->GetDevice());
    for (ReferenceType * resample : { reference.GetPointer(), static_cast<ReferenceType *>(filter.GetPointer()) })
    {
      this->Connect(*resample);
      spoil(*resample);
    }
    const Outcome wanted = Update(*reference);
    Outcome       got = Update(*filter);
    ExpectSame(got, wanted);
    if (got.image)
    {
      got.image->DisconnectPipeline();
    }

    auto good = ReferenceType::New();
    this->Connect(*good);
    this->Connect(*filter);
    filter->UpdateOutputInformation();
    filter->GetOutput()->SetRequestedRegionToLargestPossibleRegion();
    ExpectSame(Update(*filter), Update(*good));
    EXPECT_GT(filter->GetEvaluationStatistics().launches, 0);
    return got;
  }

  /** Does the same with a transform, which moves each voxel, or none. */
  Outcome
  ExpectAsITK(const itk::Transform<double, 3, 3> & transform) const
  {
    return this->ExpectAsITK([&](ReferenceType & filter) { filter.SetTransform(&transform); });
  }

  static int
  CountOutside(const ImageType & image)
  {
    int outside = 0;
    for (itk::ImageRegionConstIteratorWithIndex<ImageType> it(&image, image.GetBufferedRegion()); !it.IsAtEnd(); ++it)
    {
      outside += it.Get() == -5;
    }
    return outside;
  }

  Random             m_Random;
  Grid<3>            m_Grid;
  ImageType::Pointer m_Image;
};

TEST_P(ResampleBadInput, NoInput)
{
  EXPECT_NE(ExpectAsITK([](ReferenceType & filter) { filter.SetInput(nullptr); }).error, "");
}

/** ITK 5.2 dereferences these null pointers. */
TEST_P(ResampleBadInput, NoTransformOrInterpolator)
{
  auto good = ReferenceType::New();
  this->Connect(*good);
  auto filter = FilterType::New();
  filter->SetDevice(this->GetDevice());
  for (const std::string interpolation : { "linear", "bspline3" })
  {
    this->Connect(*filter);
    filter->SetInterpolator(MakeInterpolator<ImageType>(interpolation));
    filter->SetTransform(static_cast<ReferenceType::TransformType *>(nullptr));
    EXPECT_NE(Update(*filter).error.find("transform"), std::string::npos);
    this->Connect(*filter);
    ExpectSame(Update(*filter), Update(*good));
  }
  filter->SetInterpolator(nullptr);
  EXPECT_NE(Update(*filter).error.find("interpolator"), std::string::npos);
  this->Connect(*filter);
  ExpectSame(Update(*filter), Update(*good));
}

TEST_P(ResampleBadInput, RegionsWithoutVoxels)
{
  ExpectAsITK([](ReferenceType & filter) { filter.SetSize(ImageType::SizeType{ { 0, 0, 0 } }); });
  ExpectAsITK([](ReferenceType & filter) { filter.SetSize(ImageType::SizeType{ { 4, 0, 3 } }); });
  ExpectAsITK([](ReferenceType & filter) {
    filter.UpdateOutputInformation();
    filter.GetOutput()->SetRequestedRegion(ImageType::RegionType({ { 1, 1, 1 } }, { { 3, 0, 2 } }));
  });
}

TEST_P(ResampleBadInput, RegionsBeyondTheOutput)
{
  EXPECT_NE(ExpectAsITK([](ReferenceType & filter) {
              filter.UpdateOutputInformation();
              filter.GetOutput()->SetRequestedRegion(ImageType::RegionType({ { -3, 1, 1 } }, { { 8, 2, 2 } }));
            }).error,
            "");
}

TEST_P(ResampleBadInput, AnOutputWithoutASpace)
{
  EXPECT_NE(ExpectAsITK([](ReferenceType & filter) {
              auto flat = filter.GetOutputDirection();
              flat[2][2] = 0;
              filter.SetOutputDirection(flat);
            }).error,
            "");
  EXPECT_NE(ExpectAsITK([](ReferenceType & filter) {
              auto spacing = filter.GetOutputSpacing();
              spacing[1] = 0;
              filter.SetOutputSpacing(spacing);
            }).error,
            "");
}

TEST_P(ResampleBadInput, AnEmptyCompositeMovesNothing)
{
  auto outer = itk::CompositeTransform<double, 3>::New();
  EXPECT_EQ(CountOutside(*ExpectAsITK(*outer).image), 0);
  outer->AddTransform(itk::CompositeTransform<double, 3>::New());
  EXPECT_EQ(CountOutside(*ExpectAsITK(*outer).image), 0);
}

TEST_P(ResampleBadInput, TransformsThatWereNotSetUp)
{
  EXPECT_NE(ExpectAsITK(*FieldTransformType::New()).error, "") << "no field";
  auto composite = itk::CompositeTransform<double, 3>::New();
  composite->AddTransform(MakeAffine<3>(m_Grid, m_Random));
  composite->AddTransform(FieldTransformType::New());
  EXPECT_NE(ExpectAsITK(*composite).error, "") << "no field";
  ExpectAsITK(*itk::BSplineTransform<double, 3, 3>::New());
  EXPECT_NE(ExpectAsITK(*itk::BSplineDeformableTransform<double, 3, 3>::New()).error, "") << "no coefficients";
}

TEST_P(ResampleBadInput, ASplineBesideTheImageMovesNothing)
{
  auto away = m_Grid;
  away.origin[1] += 1000.0;
  EXPECT_EQ(CountOutside(*ExpectAsITK(*MakeSpline<3, 3>(away, m_Random)).image), 0);
  EXPECT_EQ(CountOutside(*ExpectAsITK(*MakeSpline<3, 1>(away, m_Random)).image), 0);
}

TEST_P(ResampleBadInput, CoefficientsThatAreNoNumbersLeadOutside)
{
  for (const double bad : { std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity() })
  {
    const auto transform = MakeSpline<3, 3>(m_Grid, m_Random);
    auto       parameters = transform->GetParameters();
    parameters[70] = bad;
    transform->SetParameters(parameters);
    EXPECT_GT(CountOutside(*ExpectAsITK(*transform).image), 0);
  }
}

/** A vector has an influence only where it has a weight. */
TEST_P(ResampleBadInput, AVectorThatIsNoNumberLeadsItsOwnVoxelOutside)
{
  using FieldType = FieldTransformType::DisplacementFieldType;
  for (const double bad : { std::numeric_limits<double>::quiet_NaN(),
                            std::numeric_limits<double>::infinity(),
                            -std::numeric_limits<double>::infinity(),
                            1e300 })
  {
    // A grid on which no voxel's position is rounded.
    m_Grid = Grid<3>();
    m_Image = this->MakeRandomImage();
    const auto field = MakeImage<FieldType>(m_Grid, [](const auto &) { return itk::Vector<double, 3>(0.0); });
    itk::Vector<double, 3> nowhere(0.0);
    nowhere[1] = bad;
    field->SetPixel({ { 5, 6, 7 } }, nowhere);
    auto transform = FieldTransformType::New();
    transform->SetDisplacementField(field);
    EXPECT_EQ(CountOutside(*ExpectAsITK(*transform).image), 1) << bad;
    auto composite = itk::CompositeTransform<double, 3>::New();
    composite->AddTransform(transform);
    composite->AddTransform(transform);
    EXPECT_EQ(CountOutside(*ExpectAsITK(*composite).image), 1) << bad;
  }
}

/** Even if the transform is sampled, only that point is affected. */
TEST_P(ResampleBadInput, APointThatLeadsNowhereIsOneVoxel)
{
  // Origin and spacing for which rounding shows.
  m_Grid.origin.Fill(43210.1);
  m_Grid.spacing.Fill(0.0013);
  m_Grid.start.Fill(-7);
  m_Grid.direction = MakeRotation<3>(0.4);
  m_Image = this->MakeRandomImage();
  for (const int place : { 0, 5 })
  {
    auto transform = HoleTransform::New();
    // In the middle of the output, by which the scale of all vectors is chosen, and elsewhere.
    itk::Vector<double, 3> index;
    for (unsigned int d = 0; d < 3; ++d)
    {
      index[d] = static_cast<double>(m_Grid.size[d] / 2) - place;
    }
    transform->hole = m_Grid.GetPoint(index);
    // On the host, linear interpolation with a sampled transform is left to ITK's class.
    for (const std::string interpolation : { "linear", "bspline1" })
    {
      const Outcome outcome = this->ExpectAsITK([&](ReferenceType & filter) {
        filter.SetTransform(transform);
        filter.SetInterpolator(MakeInterpolator<ImageType>(interpolation));
      });
      EXPECT_EQ(CountOutside(*outcome.image), 1) << interpolation;
    }
  }
}

TEST_P(ResampleBadInput, VoxelsThatAreNoNumbersStayWhereTheyAre)
{
  m_Grid = Grid<3>();
  const auto affine = MakeAffine<3>(m_Grid, m_Random);
  for (const float bad : { NaN, Infinity, -Infinity })
  {
    m_Image = this->MakeRandomImage();
    m_Image->SetPixel({ { 8, 7, 9 } }, bad);
    for (const std::string interpolation : { "nearest", "linear", "bspline0" })
    {
      SCOPED_TRACE(interpolation);
      const auto spoil = [&](bool moves) {
        return [&, moves](ReferenceType & filter) {
          filter.SetInterpolator(MakeInterpolator<ImageType>(interpolation));
          if (moves)
          {
            filter.SetTransform(affine);
          }
        };
      };
      for (const bool moves : { false, true })
      {
        const auto got = ExpectAsITK(spoil(moves));
        int        bads = 0;
        for (itk::ImageRegionConstIteratorWithIndex<ImageType> it(got.image, got.image->GetBufferedRegion());
             !it.IsAtEnd();
             ++it)
        {
          // ITK clamps infinite values.
          bads += !(std::abs(it.Get()) < 1e30f);
        }
        EXPECT_TRUE(moves ? bads < 20 : bads == 1) << bads;
      }
    }
  }
}

/** As in ITK, the coefficients of all lines that contain a NaN are NaN, and so all voxels. */
TEST_P(ResampleBadInput, ASplineThroughNaNIsNaN)
{
  m_Image->SetPixel({ { 8, 7, 9 } }, NaN);
  const auto got =
    ExpectAsITK([](ReferenceType & filter) { filter.SetInterpolator(MakeInterpolator<ImageType>("bspline3")); });
  EXPECT_TRUE(std::isnan(got.image->GetPixel({ { 1, 1, 1 } })));
}

/** ITK's image contains only the default value then; an error says more. */
TEST_P(ResampleBadInput, ParametersThatAreNotNumbersAreReported)
{
  for (const double bad : { std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity() })
  {
    auto                   transform = itk::TranslationTransform<double, 3>::New();
    itk::Vector<double, 3> offset(0.0);
    offset[2] = bad;
    transform->SetOffset(offset);
    auto filter = FilterType::New();
    filter->SetDevice(this->GetDevice());
    this->Connect(*filter);
    filter->SetTransform(transform);
    EXPECT_NE(Update(*filter).error.find("not numbers"), std::string::npos);
    this->Connect(*filter);
    EXPECT_EQ(Update(*filter).error, "");
  }
}

TEST_P(ResampleBadInput, BadInputOfTheEngineIsReported)
{
  gpureg::ResampleInput input;
  input.size = { 2, 2, 2 };
  input.values = [](std::int64_t, std::int64_t count, void * out) {
    std::fill_n(static_cast<float *>(out), count, 1.0f);
  };
  gpureg::ResampleRequest request;
  request.size = { 2, 2, 2 };
  request.outside = { 0.0 };
  int taken = 0;
  request.output = [&taken](std::int64_t, std::int64_t count, const void *) { taken += static_cast<int>(count); };
  gpureg::Resampler resampler(GetParam());
  const auto        inOrder = [](std::int64_t count, const std::function<void(std::int64_t)> & body) {
    for (std::int64_t task = 0; task < count; ++task)
    {
      body(task);
    }
  };
  const auto expectError = [&](const std::string & words) {
    try
    {
      resampler.Resample(input, request, inOrder);
      ADD_FAILURE() << "not in the message: " << words;
    }
    catch (const gpureg::Error & error)
    {
      EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
    }
  };
  input.size[1] = 0;
  expectError("an input of 2 x 0 x 2 is empty");
  input.size[1] = 2;
  request.size = { 1, 65536, 65536 };
  expectError(
    "an output of 1 x 65536 x 65536 has more than 2147483647 elements in a slice, or more than 1073741824 rows");
  request.size = { 2, 2, 2 };
  gpureg::DisplacementGrid grid;
  grid.size = { 65536, 65536, 1 };
  request.transform.Append(grid);
  expectError("a transform's grid of 65536 x 65536 x 1 has more than");
  grid.size = { 2, 2, 2 };
  grid.vectors = [](std::int64_t, std::int64_t count, double * out) { std::fill_n(out, 3 * count, 0.0); };
  grid.kind = gpureg::GridKind::Field;
  request.transform = {};
  request.transform.Append(grid);
  grid.kind = gpureg::GridKind::OfOutput;
  request.transform.Append(grid);
  expectError("a vector for each voxel of the output is not the transform's first");
  grid.size[0] = 3;
  request.transform = {};
  request.transform.Append(grid);
  expectError("or of another size");
  request.transform = {};
  input.components = 2;
  request.interpolation = gpureg::Interpolation::BSpline;
  expectError("B-splines are of one component, and an input has 2");
  input.components = 1;
  request.interpolation = gpureg::Interpolation::Linear;
  resampler.Resample(input, request, inOrder);
  EXPECT_EQ(taken, 8);
}

TEST_P(ResampleBadInput, ADeviceThatIsNotThere)
{
  EXPECT_THROW(itk::GPUDevice::FromName(GetParam() + "99"), itk::ExceptionObject);
}

TEST_P(ResampleBadInput, ADefaultPixelOfMoreComponentsThanTheImageIsCut)
{
  const auto check = [&](auto component) {
    using ImageType = itk::VectorImage<decltype(component), 2>;
    auto image = ImageType::New();
    image->SetRegions(itk::Size<2>{ { 5, 4 } });
    image->SetNumberOfComponentsPerPixel(3);
    image->Allocate();
    typename ImageType::PixelType value(3);
    value.Fill(1);
    image->FillBuffer(value);
    typename ImageType::PixelType outside(6);
    for (unsigned int c = 0; c < 6; ++c)
    {
      outside[c] = static_cast<decltype(component)>(10 + c);
    }
    auto                   translation = itk::TranslationTransform<double, 2>::New();
    itk::Vector<double, 2> away;
    away.Fill(100);
    translation->SetOffset(away);
    auto filter = itk::GPUResampleImageFilter<ImageType, ImageType>::New();
    filter->SetDevice(this->GetDevice());
    filter->SetInput(image);
    filter->SetTransform(translation);
    filter->SetOutputParametersFromImage(image);
    filter->SetDefaultPixelValue(outside);
    filter->Update();
    for (unsigned int c = 0; c < 3; ++c)
    {
      EXPECT_EQ(filter->GetOutput()->GetPixel({ { 4, 3 } })[c], outside[c]);
    }
  };
  check(float{});
  check(short{});
}

INSTANTIATE_TEST_SUITE_P(Devices, ResampleBadInput, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace
} // namespace gpuregtest
