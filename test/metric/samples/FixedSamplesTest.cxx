// SPDX-License-Identifier: Apache-2.0
// Tests the samples of a fixed image that has a mask, has pixels of double, or provides the gradient along which forces point: the device
// computes them, and metrics agree with ITK's. Masks have the image's own voxels or another grid's, are moved, or are no images at all;
// virtual domains are the fixed image's grid, or one shrunk by a factor of two, where samples lie half-way between a mask's voxels.
#include "TestAnswer.h"
#include "TestDevices.h"
#include "TestImages.h"
#include "TestMetrics.h"

#include "itkDisplacementFieldTransform.h"
#include "itkEllipseSpatialObject.h"
#include "itkEuler3DTransform.h"
#include "itkGPUDemonsImageToImageMetricv4.h"
#include "itkGPUError.h"
#include "itkGPUJointHistogramMutualInformationImageToImageMetricv4.h"
#include "itkImageMaskSpatialObject.h"
#include "itkTranslationTransform.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace gpuregtest
{
namespace
{
constexpr unsigned int Dimension = 3;
using GridType = Grid<Dimension>;
using PointType = itk::Point<double, Dimension>;
using MaskType = itk::ImageMaskSpatialObject<Dimension>;
using MaskPointer = itk::SpatialObject<Dimension>::Pointer;
using TransformType = itk::Transform<double, Dimension, Dimension>;
using FieldTransformType = itk::DisplacementFieldTransform<double, Dimension>;

/** A fixed transform that moves nothing, and counts the points for which it is called: sampling the fixed image on the host calls it for
 *  each point. */
class CountingTransform : public itk::TranslationTransform<double, Dimension>
{
public:
  using Self = CountingTransform;
  using Superclass = itk::TranslationTransform<double, Dimension>;
  using Pointer = itk::SmartPointer<Self>;
  itkSimpleNewMacro(Self);

  OutputPointType
  TransformPoint(const InputPointType & point) const override
  {
    ++m_Calls;
    return Superclass::TransformPoint(point);
  }

  /** Returns the number of calls since the last time. */
  std::size_t
  TakeCalls() const
  {
    return m_Calls.exchange(0);
  }

private:
  mutable std::atomic<std::size_t> m_Calls{ 0 };
};

/** Enough calls to recognize a linear map. */
constexpr std::size_t FewCalls = 100;

enum class MaskKind
{
  None,
  OwnGrid,
  OwnGridOfAnotherIndex, // the same voxels in space, with other indices
  OtherGrid,
  Moved,
  Ellipse
};

/** A metric's set-up. */
struct FixedCase
{
  std::string  name;
  GridType     grid;
  MaskKind     mask = MaskKind::OwnGrid;
  unsigned int shrinkFactor = 1;
};

/** Returns a grid of more than 32 768 samples, for which floats are used, also for a domain that is shrunk by two. */
GridType
MakeLargeGrid()
{
  GridType grid;
  grid.size = { { 68, 66, 64 } };
  return grid;
}

std::vector<FixedCase>
MakeCases()
{
  const GridType plain = MakeLargeGrid();
  GridType       oblique = plain;
  oblique.direction = MakeRotation<Dimension>(0.4);
  oblique.spacing[0] = 1.3;
  oblique.origin.Fill(-7.3);
  GridType started = oblique;
  started.start = { { 5, -8, 3 } };
  GridType slice = plain;
  slice.size = { { 230, 240, 1 } };
  slice.spacing[2] = 3;
  GridType small = oblique;
  small.size = { { 24, 26, 22 } };
  return {
    { "as it is", plain },
    { "oblique", oblique },
    { "beginning elsewhere", started },
    { "one slice", slice },
    { "few samples", small },
    { "of another index", started, MaskKind::OwnGridOfAnotherIndex },
    { "of another grid", oblique, MaskKind::OtherGrid },
    { "moved", oblique, MaskKind::Moved },
    { "an ellipse", started, MaskKind::Ellipse },
    { "shrunk", plain, MaskKind::OwnGrid, 2 },
    { "oblique and shrunk", started, MaskKind::OwnGrid, 2 },
    { "an ellipse, shrunk", oblique, MaskKind::Ellipse, 2 },
    { "few samples, shrunk", small, MaskKind::OwnGrid, 2 },
    { "without a mask", oblique, MaskKind::None },
  };
}

/** Returns a mask whose voxels have various values inside of a ball, none of them 0, and 0 outside. */
MaskPointer
MakeImageMask(const GridType & grid, const PointType & centre, double radius, const itk::Vector<double, 3> & offset)
{
  const auto image = MakeImage<MaskType::ImageType>(grid, [&](const PointType & p) {
    const double distance = (p - centre).GetNorm();
    return distance < radius ? 1 + static_cast<int>(distance) % 200 : 0;
  });
  const auto move = MaskType::TransformType::New();
  move->SetOffset(offset);
  const auto mask = MaskType::New();
  mask->SetImage(image);
  mask->SetObjectToParentTransform(move);
  mask->Update();
  return mask.GetPointer();
}

MaskPointer
MakeMask(const FixedCase & c)
{
  const PointType        centre = c.grid.GetCentre();
  const double           radius = 0.46 * c.grid.GetExtent(1);
  itk::Vector<double, 3> offset(0.0);
  GridType               grid = c.grid;
  switch (c.mask)
  {
    case MaskKind::None:
      return nullptr;
    case MaskKind::OwnGridOfAnotherIndex:
      for (unsigned int d = 0; d < Dimension; ++d)
      {
        grid.start[d] = 4 - static_cast<int>(d);
      }
      grid.SetCentre(centre);
      break;
    case MaskKind::OtherGrid:
      grid.spacing *= 0.9;
      grid.direction = MakeRotation<Dimension>(0.1);
      grid.SetCentre(centre);
      break;
    case MaskKind::Moved:
      offset[0] = 2.7;
      break;
    case MaskKind::Ellipse:
    {
      const auto ellipse = itk::EllipseSpatialObject<Dimension>::New();
      ellipse->SetRadiusInObjectSpace(radius);
      ellipse->SetCenterInObjectSpace(centre);
      ellipse->Update();
      return ellipse.GetPointer();
    }
    default:
      break;
  }
  return MakeImageMask(grid, centre, radius, offset);
}

/** The input of a case's metrics. */
template <typename TPixel>
class FixedSetUp
{
public:
  using ImageType = TestImage<TPixel, Dimension>;

  explicit FixedSetUp(const FixedCase & c)
    : m_Case(c)
    , m_Mask(MakeMask(c))
  {
    // No sample is mapped out of the moving image, where rounding might decide.
    GridType movingGrid = c.grid;
    for (unsigned int d = 0; d < Dimension; ++d)
    {
      movingGrid.size[d] += movingGrid.size[d] > 1 ? 24 : 0;
    }
    movingGrid.SetCentre(c.grid.GetCentre());
    std::tie(m_Fixed, m_Moving) = MakePair(c.grid, movingGrid);
    const auto transform = itk::Euler3DTransform<double>::New();
    transform->SetCenter(c.grid.GetCentre());
    transform->SetRotation(0.0, 0.0, this->IsSlice() ? 0.0 : 0.03);
    itk::Vector<double, 3> shift(0.0);
    shift[0] = 0.83;
    shift[1] = -1.27;
    transform->SetTranslation(c.grid.direction * shift);
    m_Transform = transform.GetPointer();
  }

  /** Uses a field as the transform, as demons need it. */
  void
  MoveByField()
  {
    GridType grid = m_Case.grid;
    if (m_Case.shrinkFactor > 1)
    {
      grid = this->MakeVirtualGrid();
    }
    using FieldType = FieldTransformType::DisplacementFieldType;
    const auto field = MakeImage<FieldType>(grid, [](const PointType & p) {
      FieldType::PixelType vector;
      vector[0] = 0.9 + 0.5 * std::sin(0.1 * p[1]);
      vector[1] = -0.7 + 0.4 * std::cos(0.12 * p[0]);
      vector[2] = 0.3 * std::sin(0.09 * p[0]);
      return vector;
    });
    const auto transform = FieldTransformType::New();
    transform->SetDisplacementField(field);
    m_Transform = transform.GetPointer();
  }

  template <typename TMetric>
  void
  GiveTo(TMetric & metric) const
  {
    metric.SetFixedImage(m_Fixed);
    metric.SetMovingImage(m_Moving);
    metric.SetFixedImageMask(m_Mask);
    metric.SetMovingTransform(m_Transform);
    metric.SetUseMovingImageGradientFilter(!this->IsSlice());
    metric.SetUseFixedImageGradientFilter(!this->IsSlice());
    if (m_Case.shrinkFactor > 1)
    {
      const GridType grid = this->MakeVirtualGrid();
      metric.SetVirtualDomain(grid.spacing,
                              grid.origin,
                              grid.direction,
                              itk::ImageRegion<Dimension>(grid.start, grid.size));
    }
  }

  ImageType &
  GetFixed()
  {
    return *m_Fixed;
  }

  std::size_t
  CountSamples() const
  {
    const auto size = m_Case.shrinkFactor > 1 ? this->MakeVirtualGrid().size : m_Case.grid.size;
    return itk::ImageRegion<Dimension>(size).GetNumberOfPixels();
  }

  bool
  IsSlice() const
  {
    return m_Case.grid.size[2] == 1;
  }

private:
  using PairType = std::pair<typename ImageType::Pointer, typename ImageType::Pointer>;

  /** Returns copies of images that were made for the same grid: computing the cosines of a pair takes longer than a metric does. */
  static PairType
  MakePair(const GridType & grid, const GridType & movingGrid)
  {
    static std::vector<std::pair<GridType, PairType>> made;
    const auto                                        isSame = [&grid](const auto & one) {
      const GridType & other = one.first;
      return other.size == grid.size && other.start == grid.start && other.spacing == grid.spacing &&
             other.origin == grid.origin && other.direction == grid.direction;
    };
    auto found = std::find_if(made.begin(), made.end(), isSame);
    if (found == made.end())
    {
      found = made.insert(made.end(), { grid, MakeImagePair<ImageType>(grid, movingGrid, 77) });
    }
    return { Copy(*found->second.first), Copy(*found->second.second) };
  }

  static typename ImageType::Pointer
  Copy(const ImageType & image)
  {
    const auto copy = ImageType::New();
    copy->CopyInformation(&image);
    copy->SetRegions(image.GetBufferedRegion());
    copy->Allocate();
    std::copy_n(image.GetBufferPointer(), image.GetBufferedRegion().GetNumberOfPixels(), copy->GetBufferPointer());
    return copy;
  }

  /** Returns the virtual domain's grid, as itk::ShrinkImageFilter computes it. */
  GridType
  MakeVirtualGrid() const
  {
    GridType grid = m_Case.grid;
    for (unsigned int d = 0; d < Dimension; ++d)
    {
      grid.size[d] /= m_Case.shrinkFactor;
      grid.spacing[d] *= m_Case.shrinkFactor;
      grid.start[d] = 0;
    }
    grid.SetCentre(m_Case.grid.GetCentre());
    return grid;
  }

  const FixedCase             m_Case;
  MaskPointer                 m_Mask;
  typename ImageType::Pointer m_Fixed;
  typename ImageType::Pointer m_Moving;
  TransformType::Pointer      m_Transform;
};

void
ExpectClose(const Answer & ours, const Answer & itks)
{
  EXPECT_GT(itks.validPoints, 500u);
  EXPECT_EQ(ours.validPoints, itks.validPoints);
  EXPECT_NEAR(ours.value, itks.value, 1e-5 * std::abs(itks.value));
  EXPECT_GT(GetNorm(itks.derivative), 0.0);
  EXPECT_LE(GetRelativeError(ours.derivative, itks.derivative), 1e-4);
}

class FixedSamplesTest : public DeviceTest
{
protected:
  template <typename TMetric>
  typename TMetric::Pointer
  MakeOurs() const
  {
    const auto metric = TMetric::New();
    metric->SetDevice(this->GetDevice());
    return metric;
  }

  /** Expects a metric, with the settings of set(), to agree with ITK's in all cases. */
  template <typename TOurs, typename TItks, typename TSet>
  void
  Compare(const TSet & set, bool isDemons = false)
  {
    using PixelType = typename TOurs::FixedImageType::PixelType;
    for (const FixedCase & c : MakeCases())
    {
      SCOPED_TRACE(c.name);
      FixedSetUp<PixelType> setUp(c);
      if (isDemons)
      {
        setUp.MoveByField();
      }
      const auto ours = this->MakeOurs<TOurs>();
      const auto itks = TItks::New();
      setUp.GiveTo(*ours);
      setUp.GiveTo(*itks);
      set(*ours);
      ours->Initialize();
      itks->Initialize();
      ExpectClose(Evaluate(*ours), Evaluate(*itks));
      EXPECT_GT(ours->GetEvaluationStatistics().launches, 0);
    }
  }
};

using Volume = TestImage<float, Dimension>;
using DoubleVolume = TestImage<double, Dimension>;
template <typename TImage>
using OurDemons = itk::GPUDemonsImageToImageMetricv4<TImage, TImage>;
template <typename TImage>
using ItkDemons = itk::DemonsImageToImageMetricv4<TImage, TImage>;
using OurJointHistogram = itk::GPUJointHistogramMutualInformationImageToImageMetricv4<Volume, Volume>;
using ItkJointHistogram = itk::JointHistogramMutualInformationImageToImageMetricv4<Volume, Volume>;

const auto TakeMutualInformation = [](auto & metric) { metric.NormalizedOff(); };
const auto TakeAsItIs = [](auto &) {};
} // namespace

/** Samples are stored as bins. */
TEST_P(FixedSamplesTest, MattesIsITKs)
{
  this->Compare<OurMetric<float, Dimension>, ItkMetric<float, Dimension>>(TakeMutualInformation);
}

TEST_P(FixedSamplesTest, MattesOfDoublesIsITKs)
{
  this->Compare<OurMetric<double, Dimension>, ItkMetric<double, Dimension>>(TakeMutualInformation);
}

TEST_P(FixedSamplesTest, MattesOfPlanesIsITKs)
{
  using PlaneType = TestImage<float, 2>;
  using PlaneMaskType = itk::ImageMaskSpatialObject<2>;
  Grid<2> grid;
  grid.size = { { 230, 190 } };
  grid.spacing[1] = 1.2;
  grid.direction = MakeRotation<2>(0.4);
  Grid<2> movingGrid = grid;
  movingGrid.size = { { 254, 214 } };
  movingGrid.SetCentre(grid.GetCentre());
  const auto images = MakeImagePair<PlaneType>(grid, movingGrid, 77);
  const auto mask = PlaneMaskType::New();
  mask->SetImage(MakeImage<PlaneMaskType::ImageType>(grid, [centre = grid.GetCentre()](const auto & p) {
    return (p - centre).GetNorm() < 90 ? 1 : 0;
  }));
  mask->Update();
  const auto transform = itk::TranslationTransform<double, 2>::New();
  auto       parameters = transform->GetParameters();
  parameters[0] = 0.83;
  parameters[1] = -1.27;
  transform->SetParameters(parameters);
  const auto ours = this->MakeOurs<OurMetric<float, 2>>();
  const auto itks = ItkMetric<float, 2>::New();
  for (auto * const metric : { static_cast<ItkMetric<float, 2> *>(ours.GetPointer()), itks.GetPointer() })
  {
    metric->SetFixedImage(images.first);
    metric->SetMovingImage(images.second);
    metric->SetFixedImageMask(mask);
    metric->SetMovingTransform(transform);
  }
  ours->NormalizedOff();
  ours->Initialize();
  itks->Initialize();
  ExpectClose(Evaluate(*ours), Evaluate(*itks));
}

/** Samples are stored as bins and places. */
TEST_P(FixedSamplesTest, JointHistogramIsITKs)
{
  this->Compare<OurJointHistogram, ItkJointHistogram>(TakeAsItIs);
}

/** Samples are stored as values, and gradients. */
TEST_P(FixedSamplesTest, DemonsAreITKs)
{
  this->Compare<OurDemons<Volume>, ItkDemons<Volume>>(TakeAsItIs, true);
}

TEST_P(FixedSamplesTest, DemonsOfDoublesAreITKs)
{
  this->Compare<OurDemons<DoubleVolume>, ItkDemons<DoubleVolume>>(TakeAsItIs, true);
}

namespace
{
/** Returns the number of points for which the fixed transform is called. */
template <typename TOurs>
std::size_t
CountCalls(TOurs & ours, const FixedSetUp<typename TOurs::FixedImageType::PixelType> & setUp)
{
  const auto transform = CountingTransform::New();
  setUp.GiveTo(ours);
  ours.SetFixedTransform(transform);
  transform->TakeCalls();
  ours.Initialize();
  return transform->TakeCalls();
}
} // namespace

/** The host decides which samples are inside, from the mask's voxels or by one call of the mask for each; the device computes all else. */
TEST_P(FixedSamplesTest, TheHostSamplesNoFixedImageThatHasAMask)
{
  if (!gpureg::HasDoubles(GetParam()))
  {
    GTEST_SKIP() << "this device has no doubles";
  }
  for (const FixedCase & c : MakeCases())
  {
    SCOPED_TRACE(c.name);
    const FixedSetUp<float> setUp(c);
    const bool              readsVoxels = c.mask == MaskKind::OwnGrid || c.mask == MaskKind::OwnGridOfAnotherIndex;
    const bool              isAsked = c.shrinkFactor > 1 || !(readsVoxels || c.mask == MaskKind::None);
    const auto              most = (isAsked ? setUp.CountSamples() : 0) + FewCalls;
    const auto              mattes = this->MakeOurs<OurMetric<float, Dimension>>();
    EXPECT_LE(CountCalls(*mattes, setUp), most);
    // If samples are not voxels, an interpolated value may be in a bin that no voxel has, and then bins and places are computed on the
    // host.
    const auto jointHistogram = this->MakeOurs<OurJointHistogram>();
    EXPECT_LE(CountCalls(*jointHistogram, setUp), c.shrinkFactor > 1 ? 2 * most : most);
  }
}

TEST_P(FixedSamplesTest, TheHostSamplesNoFixedImageOfDoublesThatIsTheVirtualDomain)
{
  if (!gpureg::HasDoubles(GetParam()))
  {
    GTEST_SKIP() << "this device has no doubles";
  }
  for (const MaskKind mask : { MaskKind::None, MaskKind::OwnGrid })
  {
    const FixedSetUp<double> setUp({ "", MakeCases()[1].grid, mask });
    const auto               mattes = this->MakeOurs<OurMetric<double, Dimension>>();
    EXPECT_LE(CountCalls(*mattes, setUp), FewCalls);
    FixedSetUp<double> byField({ "", MakeCases()[1].grid, mask });
    byField.MoveByField();
    const auto demons = this->MakeOurs<OurDemons<DoubleVolume>>();
    EXPECT_LE(CountCalls(*demons, byField), FewCalls);
  }
}

/** All values lie on edges of bins, on the side to which ITK rounds them. */
TEST_P(FixedSamplesTest, WholeNumbersInDoublesAreInITKsBins)
{
  FixedCase c{ "", MakeCases()[1].grid, MaskKind::None };
  c.grid.spacing.Fill(0.7);
  FixedSetUp<double> setUp(c);
  double * const     values = setUp.GetFixed().GetBufferPointer();
  const auto         count = static_cast<std::ptrdiff_t>(setUp.CountSamples());
  std::transform(values, values + count, values, [](double value) {
    return 10.0 * std::min(46.0, std::max(0.0, std::floor(value / 4.0)));
  });
  const auto ours = this->MakeOurs<OurMetric<double, Dimension>>();
  const auto itks = ItkMetric<double, Dimension>::New();
  setUp.GiveTo(*ours);
  setUp.GiveTo(*itks);
  for (auto * const metric : { static_cast<ItkMetric<double, Dimension> *>(ours.GetPointer()), itks.GetPointer() })
  {
    metric->SetNumberOfHistogramBins(50);
  }
  values[0] = 0.0;
  values[1] = 460.0;
  ours->NormalizedOff();
  ours->Initialize();
  itks->Initialize();
  ExpectClose(Evaluate(*ours), Evaluate(*itks));
}

/** Values outside of the mask have no influence, however far they are from those inside. */
TEST_P(FixedSamplesTest, ValuesFarOutsideBesideTheMask)
{
  for (const float outside : { 3e38f, -3e38f })
  {
    SCOPED_TRACE(outside);
    FixedSetUp<float> setUp({ "", MakeLargeGrid(), MaskKind::OwnGrid });
    const auto        ours = this->MakeOurs<OurMetric<float, Dimension>>();
    const auto        itks = ItkMetric<float, Dimension>::New();
    setUp.GetFixed().GetBufferPointer()[0] = outside;
    setUp.GiveTo(*ours);
    setUp.GiveTo(*itks);
    ours->NormalizedOff();
    ours->Initialize();
    itks->Initialize();
    ExpectClose(Evaluate(*ours), Evaluate(*itks));
  }
}

/** It leads nowhere, and must not count as the identity. */
TEST_P(FixedSamplesTest, AFixedTransformThatIsNotANumberLeavesNoSample)
{
  const FixedSetUp<float> setUp({ "", MakeLargeGrid(), MaskKind::None });
  const auto              transform = itk::TranslationTransform<double, Dimension>::New();
  auto                    parameters = transform->GetParameters();
  parameters.Fill(std::numeric_limits<double>::quiet_NaN());
  transform->SetParameters(parameters);
  const auto ours = this->MakeOurs<OurMetric<float, Dimension>>();
  setUp.GiveTo(*ours);
  ours->SetFixedTransform(transform);
  ours->Initialize();
  EXPECT_THROW(ours->GetValue(), itk::GPUNoOverlapError);
}

/** The device computes its own gradient; ITK's is there for programs that ask for it. */
TEST_P(FixedSamplesTest, ITKsFixedGradientIsMadeWhenItIsAskedFor)
{
  if (!gpureg::HasDoubles(GetParam()))
  {
    GTEST_SKIP() << "this device has no doubles";
  }
  FixedSetUp<float> setUp({ "", MakeCases()[1].grid, MaskKind::None });
  setUp.MoveByField();
  const auto ours = this->MakeOurs<OurDemons<Volume>>();
  const auto itks = ItkDemons<Volume>::New();
  setUp.GiveTo(*ours);
  setUp.GiveTo(*itks);
  ours->Initialize();
  itks->Initialize();
  const Answer answer = Evaluate(*ours);
  ExpectClose(answer, Evaluate(*itks));
  const auto & made = *ours->GetModifiableFixedImageGradientFilter()->GetOutput();
  EXPECT_EQ(made.GetBufferedRegion().GetNumberOfPixels(), 0u);
  const auto * const gradient = ours->GetFixedImageGradientImage();
  ASSERT_NE(gradient, nullptr);
  const auto & expected = *itks->GetFixedImageGradientImage();
  ASSERT_EQ(gradient->GetBufferedRegion(), expected.GetBufferedRegion());
  const Volume::IndexType index{ { 20, 31, 12 } };
  EXPECT_EQ(gradient->GetPixel(index), expected.GetPixel(index));
  // Nothing is uploaded again for that.
  EXPECT_EQ(Evaluate(*ours).derivative, answer.derivative);
  EXPECT_EQ(ours->GetModifiableFixedImageGradientImage(), gradient);
}

/** ITK computes a gradient by another filter, or at samples that are not voxels. */
TEST_P(FixedSamplesTest, OtherFixedGradientsAreITKs)
{
  for (const bool isShrunk : { false, true })
  {
    FixedSetUp<float> setUp({ "", MakeLargeGrid(), MaskKind::None, isShrunk ? 2u : 1u });
    setUp.MoveByField();
    const auto ours = this->MakeOurs<OurDemons<Volume>>();
    const auto itks = ItkDemons<Volume>::New();
    for (ItkDemons<Volume> * const metric : { static_cast<ItkDemons<Volume> *>(ours.GetPointer()), itks.GetPointer() })
    {
      setUp.GiveTo(*metric);
      if (!isShrunk)
      {
        using FilterType =
          itk::GradientRecursiveGaussianImageFilter<Volume, ItkDemons<Volume>::FixedImageGradientImageType>;
        const auto filter = FilterType::New();
        filter->SetSigma(2.5);
        metric->SetFixedImageGradientFilter(filter);
      }
      metric->Initialize();
    }
    ExpectClose(Evaluate(*ours), Evaluate(*itks));
  }
}

/** ITK computes the gradient at Initialize(), and reads the fixed values at each evaluation. */
TEST_P(FixedSamplesTest, AFixedGradientStaysThatOfInitialize)
{
  FixedSetUp<float> setUp({ "", MakeCases()[1].grid, MaskKind::None });
  setUp.MoveByField();
  const auto ours = this->MakeOurs<OurDemons<Volume>>();
  const auto itks = ItkDemons<Volume>::New();
  ours->TrustsTimeStampsOff();
  setUp.GiveTo(*ours);
  setUp.GiveTo(*itks);
  ours->Initialize();
  itks->Initialize();
  ExpectClose(Evaluate(*ours), Evaluate(*itks));
  float * const values = setUp.GetFixed().GetBufferPointer();
  const auto    count = static_cast<std::ptrdiff_t>(setUp.CountSamples());
  const auto    refill = [&](double factor, double offset) {
    std::transform(values, values + count, values, [=](float value) {
      return static_cast<float>(factor * static_cast<double>(value) + offset);
    });
    ExpectClose(Evaluate(*ours), Evaluate(*itks));
  };
  refill(1.05, -2);
  // Values of another range change the scale of gradients.
  refill(7, 20);
  refill(0.05, 50);
  ours->Initialize();
  itks->Initialize();
  ExpectClose(Evaluate(*ours), Evaluate(*itks));
}

namespace
{
/** Lets a mask have a single value, if the class supports it, as of ITK 5.4. */
template <typename TMask>
auto
TakeOnly(TMask & mask, unsigned char value, int) -> decltype(mask.SetUseMaskValue(true), true)
{
  mask.SetUseMaskValue(true);
  mask.SetMaskValue(value);
  return true;
}
template <typename TMask>
bool
TakeOnly(TMask &, unsigned char, long)
{
  return false;
}
} // namespace

TEST_P(FixedSamplesTest, MasksOfOneValue)
{
  const GridType grid = MakeLargeGrid();
  const auto     image =
    MakeImage<MaskType::ImageType>(grid, [&](const PointType & p) { return p[0] < 20 ? 0 : (p[1] < 25 ? 1 : 2); });
  const auto mask = MaskType::New();
  mask->SetImage(image);
  mask->Update();
  if (!TakeOnly(*mask, 2, 0))
  {
    GTEST_SKIP() << "this ITK has no such masks";
  }
  const FixedSetUp<float> setUp({ "", grid, MaskKind::None });
  const auto              ours = this->MakeOurs<OurMetric<float, Dimension>>();
  const auto              itks = ItkMetric<float, Dimension>::New();
  for (auto * const metric : { static_cast<ItkMetric<float, Dimension> *>(ours.GetPointer()), itks.GetPointer() })
  {
    setUp.GiveTo(*metric);
    metric->SetFixedImageMask(mask);
    metric->SetMovingImageMask(mask);
  }
  ours->NormalizedOff();
  ours->Initialize();
  itks->Initialize();
  ExpectClose(Evaluate(*ours), Evaluate(*itks));
}

INSTANTIATE_TEST_SUITE_P(Devices, FixedSamplesTest, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace gpuregtest
