// SPDX-License-Identifier: Apache-2.0
// Tests filters that override ITK's in a program that does not know them: they notice the same changes as ITK's, and work wherever ITK's
// work.
#include "itkGPURegistrationFactory.h"

#include "itkGPUResampleImageFilter.h"

#include "itkAffineTransform.h"
#include "itkBSplineInterpolateImageFunction.h"
#include "itkBSplineDecompositionImageFilter.h"
#include "itkCompositeTransform.h"
#include "itkImageRegionIteratorWithIndex.h"
#include "itkRecursiveMultiResolutionPyramidImageFilter.h"
#include "itkSmoothingRecursiveGaussianImageFilter.h"
#include "itkThinPlateSplineKernelTransform.h"
#include "itkVector.h"
#include "itkVectorImage.h"

#include "ImageComparison.h"
#include "Listening.h"
#include "RefilledInPlace.h"
#include "TestDevices.h"

#include "gpureg/runtime/Device.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

namespace gpuregtest
{
namespace
{
using ImageType = itk::Image<float, 3>;
using ResampleType = itk::ResampleImageFilter<ImageType, ImageType>;
using OursType = itk::GPUResampleImageFilter<ImageType, ImageType>;
using TransformType = itk::Transform<double, 3, 3>;

/** Fills an image in place without a new time stamp, as programs do that do not call Modified(). */
void
Refill(ImageType & image, float value)
{
  // Avoids GetBufferPointer() and similar functions, some of which modify the time stamp.
  for (itk::ImageRegionIteratorWithIndex<ImageType> it(&image, image.GetBufferedRegion()); !it.IsAtEnd(); ++it)
  {
    const auto index = it.GetIndex();
    it.Value() = value + 0.25f * static_cast<float>(index[0] % 3) + 0.5f * static_cast<float>(index[1] % 2);
  }
}

ImageType::Pointer
MakeImage(float value)
{
  const auto            image = ImageType::New();
  ImageType::RegionType region;
  region.SetSize({ { 40, 31, 20 } });
  region.SetIndex({ { 3, -2, 5 } });
  image->SetRegions(region);
  image->Allocate();
  const double spacing[] = { 1.0, 0.9, 1.5 };
  image->SetSpacing(spacing);
  Refill(*image, value);
  return image;
}

itk::AffineTransform<double, 3>::Pointer
MakeShift(double shift)
{
  const auto transform = itk::AffineTransform<double, 3>::New();
  transform->Rotate(0, 1, 0.1);
  itk::AffineTransform<double, 3>::OutputVectorType by;
  by.Fill(shift);
  transform->Translate(by);
  return transform;
}

/** Returns an object of ITK's resampler class, made by New(). */
ResampleType::Pointer
MakeResampler(ImageType & image, const TransformType & transform)
{
  const auto filter = ResampleType::New();
  filter->SetInput(&image);
  filter->SetTransform(&transform);
  filter->SetReferenceImage(&image);
  filter->UseReferenceImageOn();
  return filter;
}

/** Makes filters of ITK's own classes by New(). */
template <typename TMake>
auto
MakeITKs(const TMake & make)
{
  itk::GPURegistrationFactory::UnRegisterAll();
  auto filter = make();
  itk::GPURegistrationFactory::RegisterAll();
  return filter;
}

/** Expects an override that is updated because something else has changed to make the same output as ITK's own class. */
void
ExpectAsITK(ResampleType & filter, ImageType & image, const TransformType & transform)
{
  ASSERT_NE(dynamic_cast<const OursType *>(&filter), nullptr);
  const auto itks = MakeITKs([&] { return MakeResampler(image, transform); });
  ASSERT_EQ(dynamic_cast<const OursType *>(itks.GetPointer()), nullptr);
  itks->Update();
  filter.SetTransform(&transform);
  filter.Modified();
  filter.Update();
  EXPECT_EQ(CountFurtherApart(*itks->GetOutput(), *filter.GetOutput(), 1e-4), 0u);
}

gpureg::EvaluationStatistics
GetStatistics(const ResampleType & filter)
{
  return dynamic_cast<const OursType &>(filter).GetEvaluationStatistics();
}

class FilterOverride : public DeviceTest
{
protected:
  FilterOverride()
  {
    itk::GPUDevice::SetDefault(this->GetDevice());
    itk::GPURegistrationFactory::RegisterAll();
  }
  ~FilterOverride() override
  {
    gpureg::SetMemoryLimit(GetParam(), 0);
    itk::GPURegistrationFactory::UnRegisterAll();
    itk::GPUDevice::SetDefault(itk::GPUDevice::GetAvailable().front());
  }
};

TEST_P(FilterOverride, SeesAnInputThatIsRefilledInPlace)
{
  const auto image = MakeImage(1);
  const auto filter = MakeResampler(*image, *MakeShift(0));
  ExpectAsITK(*filter, *image, *MakeShift(0.1));
  Refill(*image, 7);
  ExpectAsITK(*filter, *image, *MakeShift(0.2));
  // Unchanged for so long that the device stores it.
  for (int n = 0; n < 4; ++n)
  {
    ExpectAsITK(*filter, *image, *MakeShift(0.3 * n));
  }
  if (!this->GetDevice().IsHost())
  {
    EXPECT_LT(GetStatistics(*filter).bytesUp, 1000) << "an image that is proved to be up to date is not uploaded again";
  }
  Refill(*image, -3);
  ExpectAsITK(*filter, *image, *MakeShift(0.2));
  ExpectAsITK(*filter, *image, *MakeShift(0.1));
  // Change a single voxel.
  image->GetPixelContainer()->GetImportPointer()[12345] = 100;
  ExpectAsITK(*filter, *image, *MakeShift(0.3));
}

/** Tests images of other pixel types and dimensions, with components in [0, 9). */
template <typename TImage>
void
ExpectRefilledInputIsSeen()
{
  constexpr unsigned int Dimension = TImage::ImageDimension;
  using FilterType = itk::ResampleImageFilter<TImage, TImage>;
  const auto                  image = TImage::New();
  typename TImage::RegionType region;
  region.SetSize(0, 33);
  region.SetSize(1, 21);
  if (Dimension > 2)
  {
    region.SetSize(Dimension - 1, 9);
  }
  image->SetRegions(region);
  image->SetNumberOfComponentsPerPixel(3); // for pixel types whose number of components is not fixed
  image->Allocate();
  const auto components = region.GetNumberOfPixels() * image->GetNumberOfComponentsPerPixel();
  using ComponentType = typename itk::NumericTraits<typename TImage::PixelType>::ValueType;
  auto * const values = reinterpret_cast<ComponentType *>(image->GetPixelContainer()->GetImportPointer());
  const auto   refill = [&](itk::SizeValueType step) {
    for (itk::SizeValueType n = 0; n < components; ++n)
    {
      values[n] = static_cast<ComponentType>(n * step % 9);
    }
  };
  const auto make = [&] {
    const auto filter = FilterType::New();
    filter->SetInput(image);
    filter->SetReferenceImage(image);
    filter->UseReferenceImageOn();
    return filter;
  };
  const auto filter = make();
  ASSERT_NE((dynamic_cast<const itk::GPUResampleImageFilter<TImage, TImage> *>(filter.GetPointer())), nullptr);
  for (const itk::SizeValueType step : { 1, 1, 1, 2, 2, 4 })
  {
    refill(step);
    const auto itks = MakeITKs(make);
    itks->Update();
    filter->Modified();
    filter->Update();
    const auto * const ours =
      reinterpret_cast<const ComponentType *>(filter->GetOutput()->GetPixelContainer()->GetImportPointer());
    const auto * const theirs =
      reinterpret_cast<const ComponentType *>(itks->GetOutput()->GetPixelContainer()->GetImportPointer());
    EXPECT_TRUE(std::equal(ours, ours + components, theirs)) << "step " << step;
  }
}

TEST_P(FilterOverride, SeesInputsOfOtherTypesThatAreRefilledInPlace)
{
  ExpectRefilledInputIsSeen<itk::Image<short, 2>>();
  ExpectRefilledInputIsSeen<itk::Image<itk::Vector<float, 3>, 3>>();
  ExpectRefilledInputIsSeen<itk::VectorImage<unsigned char, 2>>();
}

TEST_P(FilterOverride, SeesCoefficientsOfAnInputThatIsRefilledInPlace)
{
  const auto image = MakeImage(1);
  const auto make = [&] {
    const auto filter = MakeResampler(*image, *MakeShift(0));
    filter->SetInterpolator(itk::BSplineInterpolateImageFunction<ImageType, double>::New());
    return filter;
  };
  const auto filter = make();
  for (const double value : { 1.0, 1.0, 1.0, 1.0, 5.0, 5.0, 5.0, 2.0 })
  {
    Refill(*image, static_cast<float>(value));
    const auto itks = MakeITKs(make);
    itks->Update();
    filter->Modified();
    filter->Update();
    EXPECT_EQ(CountFurtherApart(*itks->GetOutput(), *filter->GetOutput(), 1e-4), 0u);
  }
}

/** Tests a transform alone, before an affine transform, and behind one. */
template <typename TTransform>
void
ExpectRefilledTransformIsSeen(ImageType & image, TTransform & transform)
{
  const auto compose = [](const TransformType & first, const TransformType & second) {
    const auto composite = itk::CompositeTransform<double, 3>::New();
    // The transform that was added last is applied first.
    composite->AddTransform(const_cast<TransformType *>(&second));
    composite->AddTransform(const_cast<TransformType *>(&first));
    return TransformType::ConstPointer(composite);
  };
  const auto affine = MakeShift(0.2);
  for (const TransformType::ConstPointer & whole :
       { TransformType::ConstPointer(&transform), compose(transform, *affine), compose(*affine, transform) })
  {
    const auto filter = MakeResampler(image, *whole);
    for (const double size : { 0.3, 0.3, 0.3, 0.3, -1.2, -1.2, -1.2, 0.7 })
    {
      RefillTransform(transform, size);
      ExpectAsITK(*filter, image, *whole);
    }
  }
}

TEST_P(FilterOverride, SeesAFieldThatIsRefilledInPlace)
{
  const auto image = MakeImage(1);
  ExpectRefilledTransformIsSeen(*image, *MakeFieldOver(*image));
}

TEST_P(FilterOverride, SeesASplinesCoefficientsThatAreRefilledInPlace)
{
  const auto image = MakeImage(1);
  ExpectRefilledTransformIsSeen(*image, *MakeSplineOver<3>(*image, 4));
}

TEST_P(FilterOverride, SeesLandmarksThatAreMovedInPlace)
{
  using SplineType = itk::ThinPlateSplineKernelTransform<double, 3>;
  const auto image = MakeImage(1);
  const auto transform = SplineType::New();
  const auto sources = SplineType::PointSetType::New();
  const auto targets = SplineType::PointSetType::New();
  for (unsigned int n = 0; n < 8; ++n)
  {
    SplineType::InputPointType point;
    point[0] = (n & 1) != 0 ? 40 : 4;
    point[1] = (n & 2) != 0 ? 25 : -1;
    point[2] = (n & 4) != 0 ? 35 : 8;
    sources->GetPoints()->InsertElement(n, point);
    targets->GetPoints()->InsertElement(n, point);
  }
  transform->SetSourceLandmarks(sources);
  transform->SetTargetLandmarks(targets);
  const auto filter = MakeResampler(*image, *transform);
  for (const double shift : { 0.5, 0.5, 0.5, -1.0, 2.0 })
  {
    targets->GetPoints()->ElementAt(3)[1] = 25 + shift;
    transform->ComputeWMatrix();
    ExpectAsITK(*filter, *image, *transform);
  }
}

TEST_P(FilterOverride, AClassThatIsNamedTrustsTimeStampsUnlessItIsSetOtherwise)
{
  const auto image = MakeImage(1);
  const auto filter = OursType::New();
  filter->SetInput(image);
  filter->SetReferenceImage(image);
  filter->UseReferenceImageOn();
  const auto isUpToDate = [&] {
    filter->SetTransform(MakeShift(0));
    filter->Modified();
    filter->Update();
    const auto itks = MakeITKs([&] { return MakeResampler(*image, *MakeShift(0)); });
    itks->Update();
    return CountFurtherApart(*itks->GetOutput(), *filter->GetOutput(), 1e-4) == 0;
  };
  EXPECT_TRUE(filter->GetTrustsTimeStamps());
  EXPECT_TRUE(isUpToDate());
  Refill(*image, 4);
  image->Modified();
  EXPECT_TRUE(isUpToDate()) << "the change was reported";
  filter->TrustsTimeStampsOff();
  for (const float value : { 5.0f, 5.0f, 5.0f, 6.0f })
  {
    Refill(*image, value);
    EXPECT_TRUE(isUpToDate());
  }
}

/** Without device memory an override lets its parent class do the work, and says so once; later it runs on the device again. */
template <typename TFilter>
void
ExpectWorksWithoutMemory(const std::string & device, const std::function<void(TFilter &)> & setUp = {})
{
  using OutputType = std::decay_t<decltype(*TFilter::New()->GetOutput())>;
  const auto make = [&setUp] {
    // Filters in place reuse their input's memory, so each needs an input of its own.
    const auto image = MakeImage(1);
    const auto filter = TFilter::New();
    filter->SetInput(image);
    if (setUp)
    {
      setUp(*filter);
    }
    return filter;
  };
  const auto itks = MakeITKs(make);
  itks->Update();
  const auto filter = make();
  ASSERT_STRNE(typeid(*filter).name(), typeid(*itks).name());
  const auto expectRight = [&] {
    const OutputType & output = *filter->GetOutput();
    EXPECT_EQ(CountFurtherApart(*itks->GetOutput(), output, 1e-4), 0u) << filter->GetNameOfClass();
  };
  Listening listening;
  gpureg::SetMemoryLimit(device, 1);
  for (int n = 0; n < 3; ++n)
  {
    filter->SetInput(MakeImage(1));
    filter->Update();
    expectRight();
  }
  EXPECT_EQ(listening.window->Count("memory"), 1u) << filter->GetNameOfClass();
  EXPECT_EQ(listening.window->said.size(), 1u);
  gpureg::SetMemoryLimit(device, 0);
  filter->SetInput(MakeImage(1));
  filter->Update();
  expectRight();
  EXPECT_EQ(listening.window->said.size(), 1u);
  EXPECT_EQ(gpureg::GetMemoryInUse(device), gpureg::GetIdleMemoryInUse(device));
}

TEST_P(FilterOverride, WorksWithoutDeviceMemory)
{
  ExpectWorksWithoutMemory<ResampleType>(GetParam(), [](ResampleType & filter) {
    filter.SetReferenceImage(filter.GetInput());
    filter.UseReferenceImageOn();
    filter.SetTransform(MakeShift(0.4));
  });
  ExpectWorksWithoutMemory<itk::RecursiveGaussianImageFilter<ImageType, ImageType>>(GetParam());
  ExpectWorksWithoutMemory<itk::SmoothingRecursiveGaussianImageFilter<ImageType, ImageType>>(GetParam());
  using SmoothingType = itk::SmoothingRecursiveGaussianImageFilter<ImageType, ImageType>;
  ExpectWorksWithoutMemory<SmoothingType>(GetParam(), [](SmoothingType & filter) { filter.InPlaceOn(); });
  ExpectWorksWithoutMemory<itk::MultiResolutionPyramidImageFilter<ImageType, ImageType>>(GetParam());
  ExpectWorksWithoutMemory<itk::RecursiveMultiResolutionPyramidImageFilter<ImageType, ImageType>>(GetParam());
  ExpectWorksWithoutMemory<itk::BSplineDecompositionImageFilter<ImageType, itk::Image<double, 3>>>(GetParam());
  // The override of ITK's ShrinkImageFilter copies on host threads, and takes no memory of a device.
}

/** The memory that the engines of a device hold between updates. */
struct Held
{
  std::size_t idle;
  std::size_t pinned;
};

Held
GetHeld(const std::string & device)
{
  return { gpureg::GetIdleMemoryInUse(device), gpureg::GetPinnedMemoryInUse(device) };
}

/** Keeps 500 filters, alternately resamplers and smoothing filters, and updates each twice: expects all outputs to equal ITK's, and the
 *  device to stay within its limits after each update. Returns the most memory held while the first filters were updated, and the most
 *  after that. */
std::pair<Held, Held>
KeepManyFilters(const std::string & device, int firstOnes)
{
  using SmoothingType = itk::SmoothingRecursiveGaussianImageFilter<ImageType, ImageType>;
  using FilterType = itk::ImageToImageFilter<ImageType, ImageType>;
  const Held bounds{ gpureg::GetIdleMemoryLimit(device), gpureg::GetPinnedMemoryLimit(device) };
  EXPECT_EQ(gpureg::GetIdleMemoryInUse(device), 0u) << "memory that filters held is freed with them";
  gpureg::ReleaseIdleMemory(device);
  const auto transform = MakeShift(0.4);
  const auto make = [&transform](int n) {
    const auto image = MakeImage(static_cast<float>(n));
    if (n % 2 == 0)
    {
      return FilterType::Pointer(MakeResampler(*image, *transform));
    }
    const auto smoothing = SmoothingType::New();
    smoothing->SetInput(image);
    return FilterType::Pointer(smoothing);
  };
  std::vector<FilterType::Pointer> filters;
  std::pair<Held, Held>            most{};
  for (int turn = 0; turn < 2; ++turn)
  {
    for (int n = 0; n < 500; ++n)
    {
      if (turn == 0)
      {
        filters.push_back(make(n));
      }
      filters[n]->Modified();
      filters[n]->Update();
      const Held held = GetHeld(device);
      Held &     mostNow = turn == 0 && n < firstOnes ? most.first : most.second;
      mostNow = { std::max(mostNow.idle, held.idle), std::max(mostNow.pinned, held.pinned) };
      EXPECT_LE(held.idle, bounds.idle);
      EXPECT_LE(held.pinned, bounds.pinned);
      EXPECT_EQ(gpureg::GetMemoryInUse(device), held.idle);
      if (testing::Test::HasFailure())
      {
        return most;
      }
    }
  }
  for (const int first : { 0, 1 })
  {
    const auto itks = MakeITKs([&] { return make(first); });
    itks->Update();
    for (int n = first; n < 500; n += 84)
    {
      // Where a shifted image is inside, it equals the first one plus a number.
      const ImageType::IndexType index{ { 20, 10, 12 } };
      EXPECT_NEAR(filters[n]->GetOutput()->GetPixel(index),
                  itks->GetOutput()->GetPixel(index) + n - first,
                  1e-4 * (1 + n));
    }
  }
  filters.clear();
  EXPECT_EQ(gpureg::GetMemoryInUse(device), 0u);
  return most;
}

TEST_P(FilterOverride, ManyLiveFiltersHoldWhatTheBoundsAllow)
{
  const Held before{ gpureg::GetIdleMemoryLimit(GetParam()), gpureg::GetPinnedMemoryLimit(GetParam()) };
  gpureg::SetIdleMemoryLimit(GetParam(), std::size_t{ 1 } << 20);
  gpureg::SetPinnedMemoryLimit(GetParam(), std::size_t{ 1 } << 20);
  KeepManyFilters(GetParam(), 0);
  gpureg::SetIdleMemoryLimit(GetParam(), before.idle);
  gpureg::SetPinnedMemoryLimit(GetParam(), before.pinned);
}

/** With a device's default limits, 500 filters hold no more than the first few. */
TEST_P(FilterOverride, ManyLiveFiltersHoldWhatAFewHold)
{
  EXPECT_EQ(gpureg::GetPinnedMemoryLimit(GetParam()), std::size_t{ 256 } << 20);
  const auto [ofFew, afterwards] = KeepManyFilters(GetParam(), 20);
  EXPECT_LE(afterwards.idle, ofFew.idle);
  EXPECT_LE(afterwards.pinned, ofFew.pinned);
  if (!this->GetDevice().IsHost())
  {
    EXPECT_GT(ofFew.idle, 0u) << "nothing was kept that could have been too much";
  }
}

TEST_P(FilterOverride, AClassThatIsNamedThrowsAnErrorOfItsKind)
{
  const auto image = MakeImage(1);
  const auto filter = OursType::New();
  filter->SetInput(image);
  filter->SetReferenceImage(image);
  filter->UseReferenceImageOn();
  gpureg::SetMemoryLimit(GetParam(), 1);
  EXPECT_THROW(filter->Update(), itk::GPUOutOfMemoryError);
  gpureg::SetMemoryLimit(GetParam(), 0);
  filter->Update();
  filter->SetTransform(nullptr);
  EXPECT_THROW(filter->Update(), itk::GPUBadInputError);
  EXPECT_THROW(itk::GPUDevice::FromName("cuda:99"), itk::GPUBadInputError);
}

INSTANTIATE_TEST_SUITE_P(Devices, FilterOverride, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace
} // namespace gpuregtest
