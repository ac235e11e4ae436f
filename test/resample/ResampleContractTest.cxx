// SPDX-License-Identifier: Apache-2.0
// Tests GPUResampleImageFilter in ITK's pipeline: regions, streams, events, caches, and bad input.
#include "Listening.h"
#include "ImageComparison.h"
#include "ResampleCase.h"
#include "TestDevices.h"

#include "itkBSplineDeformableTransform.h"
#include "itkCommand.h"
#include "itkGaussianImageSource.h"
#include "itkImageFileReader.h"
#include "itkImageFileWriter.h"
#include "itkImageRegionConstIteratorWithIndex.h"
#include "itkMetaImageIO.h"
#include "itkNearestNeighborExtrapolateImageFunction.h"
#include "itkStreamingImageFilter.h"
#include "itkWindowedSincInterpolateImageFunction.h"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <random>
#include <thread>

namespace gpuregtest
{
namespace
{

using ImageType = itk::Image<float, 3>;
using ReferenceType = itk::ResampleImageFilter<ImageType, ImageType>;
using FilterType = itk::GPUResampleImageFilter<ImageType, ImageType>;

/** Extrapolates beyond the edge by a ramp. */
class RampExtrapolator : public itk::ExtrapolateImageFunction<ImageType, double>
{
public:
  using Self = RampExtrapolator;
  using Pointer = itk::SmartPointer<Self>;
  itkFactorylessNewMacro(Self);
  itkTypeMacro(RampExtrapolator, itk::ExtrapolateImageFunction);
  double
  EvaluateAtContinuousIndex(const ContinuousIndexType & index) const override
  {
    return 1000.0 + 3.1 * index[0] - 2.3 * index[1] + 0.7 * index[2];
  }
  double
  EvaluateAtIndex(const IndexType & index) const override
  {
    return EvaluateAtContinuousIndex(ContinuousIndexType(index));
  }
};

/** An extrapolator derived from ITK's that adds to its result. */
class RaisedExtrapolator : public itk::NearestNeighborExtrapolateImageFunction<ImageType, double>
{
public:
  using Self = RaisedExtrapolator;
  using Superclass = itk::NearestNeighborExtrapolateImageFunction<ImageType, double>;
  using Pointer = itk::SmartPointer<Self>;
  itkFactorylessNewMacro(Self);
  itkTypeMacro(RaisedExtrapolator, itk::NearestNeighborExtrapolateImageFunction);
  double
  EvaluateAtContinuousIndex(const ContinuousIndexType & index) const override
  {
    return 1000.0 + Superclass::EvaluateAtContinuousIndex(index);
  }
};

class ResampleContract : public DeviceTest
{
protected:
  ResampleContract()
    : m_Random(99)
    , m_Grid(MakeResampleGrid<3>("startIndex", m_Random))
    , m_Image(MakeImage<ImageType>(m_Grid, [this](const auto &) { return Uniform(m_Random, 0, 100); }))
    , m_Affine(MakeAffine<3>(m_Grid, m_Random))
  {}

  void
  Connect(ReferenceType & filter) const
  {
    filter.SetInput(m_Image);
    filter.SetTransform(m_Affine);
    filter.SetOutputParametersFromImage(m_Image);
    filter.SetDefaultPixelValue(-5);
  }

  FilterType::Pointer
  MakeFilter() const
  {
    auto filter = FilterType::New();
    filter->SetDevice(this->GetDevice());
    Connect(*filter);
    return filter;
  }

  ImageType::Pointer
  MakeExpected() const
  {
    auto filter = ReferenceType::New();
    Connect(*filter);
    filter->Update();
    return filter->GetOutput();
  }

  static void
  ExpectSame(const ImageType & image, const ImageType & expected, const ImageType::RegionType & region)
  {
    int different = 0;
    for (itk::ImageRegionConstIteratorWithIndex<ImageType> it(&expected, region); !it.IsAtEnd(); ++it)
    {
      different += !(std::abs(image.GetPixel(it.GetIndex()) - it.Get()) <= 2e-3f);
    }
    EXPECT_EQ(different, 0);
  }

  /** Expects both filters, with the same settings, to make the same grid and the same image. */
  static void
  ExpectSameOutput(FilterType & filter, ReferenceType & reference)
  {
    reference.UpdateLargestPossibleRegion();
    filter.UpdateLargestPossibleRegion();
    EXPECT_GT(filter.GetEvaluationStatistics().launches, 0);
    const ImageType & image = *filter.GetOutput();
    const ImageType & expected = *reference.GetOutput();
    ASSERT_EQ(image.GetBufferedRegion(), expected.GetBufferedRegion());
    EXPECT_EQ(image.GetLargestPossibleRegion(), expected.GetLargestPossibleRegion());
    EXPECT_EQ(image.GetSpacing(), expected.GetSpacing());
    EXPECT_EQ(image.GetOrigin(), expected.GetOrigin());
    EXPECT_EQ(image.GetDirection(), expected.GetDirection());
    ExpectSame(image, expected, expected.GetBufferedRegion());
  }

  /** Returns another grid over the same space, by its number. */
  Grid<3>
  MakeAnotherGrid(unsigned int number) const
  {
    Grid<3> grid;
    grid.size = { { 9 + 2 * number, 11 + number, 8 + 3 * number } };
    grid.start = { { -3, 5, static_cast<itk::IndexValueType>(number) } };
    grid.spacing.Fill(1.7 - 0.1 * number);
    grid.direction = MakeRotation<3>(0.3 + 0.2 * number);
    grid.SetCentre(m_Grid.GetCentre());
    return grid;
  }

  Random              m_Random;
  Grid<3>             m_Grid;
  ImageType::Pointer  m_Image;
  TransformPointer<3> m_Affine;
};

TEST_P(ResampleContract, ARequestedRegionAloneIsMade)
{
  const auto filter = MakeFilter();
  filter->UpdateOutputInformation();
  auto region = filter->GetOutput()->GetLargestPossibleRegion();
  auto index = region.GetIndex();
  auto size = region.GetSize();
  for (unsigned int d = 0; d < 3; ++d)
  {
    index[d] += 3;
    size[d] -= 5;
  }
  region.SetIndex(index);
  region.SetSize(size);
  filter->GetOutput()->SetRequestedRegion(region);
  filter->Update();
  EXPECT_EQ(filter->GetOutput()->GetBufferedRegion(), region);
  ExpectSame(*filter->GetOutput(), *MakeExpected(), region);
}

TEST_P(ResampleContract, StreamedInRegionsItIsTheSameToTheBit)
{
  const auto whole = MakeFilter();
  whole->Update();
  const auto filter = MakeFilter();
  auto       streaming = itk::StreamingImageFilter<ImageType, ImageType>::New();
  streaming->SetInput(filter->GetOutput());
  streaming->SetNumberOfStreamDivisions(5);
  streaming->Update();
  EXPECT_TRUE(HaveSameBits(*streaming->GetOutput(), *whole->GetOutput()));
}

TEST_P(ResampleContract, WrittenInRegionsTheFileHasTheSameBits)
{
  const auto whole = MakeFilter();
  whole->Update();
  const auto filter = MakeFilter();
  int        tiles = 0;
  const auto count = itk::CStyleCommand::New();
  count->SetClientData(&tiles);
  count->SetCallback([](itk::Object *, const itk::EventObject &, void * data) { ++*static_cast<int *>(data); });
  filter->AddObserver(itk::EndEvent(), count);

  const std::string file = ::testing::TempDir() + "GPUResampleImageFilter-" + GetTestName({ GetParam(), 0 }) + "-" +
                           std::to_string(std::random_device{}()) + ".mha";
  const auto writer = itk::ImageFileWriter<ImageType>::New();
  writer->SetInput(filter->GetOutput());
  writer->SetImageIO(itk::MetaImageIO::New());
  writer->SetFileName(file);
  writer->SetNumberOfStreamDivisions(5);
  writer->Update();
  EXPECT_EQ(tiles, 5);

  const auto reader = itk::ImageFileReader<ImageType>::New();
  reader->SetImageIO(itk::MetaImageIO::New());
  reader->SetFileName(file);
  reader->Update();
  EXPECT_EQ(std::remove(file.c_str()), 0);
  // A file does not store a start index.
  const auto image = reader->GetOutput();
  ASSERT_EQ(image->GetBufferedRegion().GetSize(), whole->GetOutput()->GetBufferedRegion().GetSize());
  image->SetRegions(whole->GetOutput()->GetBufferedRegion());
  EXPECT_TRUE(HaveSameBits(*image, *whole->GetOutput()));
}

TEST_P(ResampleContract, ProgressIsReportedAndAbortIsObeyed)
{
  const auto filter = MakeFilter();
  float      last = 0;
  int        events = 0;
  auto       progress = itk::CStyleCommand::New();
  struct Observed
  {
    float * last;
    int *   events;
  } observed{ &last, &events };
  progress->SetClientData(&observed);
  progress->SetCallback([](itk::Object * caller, const itk::EventObject &, void * data) {
    auto * const client = static_cast<Observed *>(data);
    *client->last = static_cast<itk::ProcessObject *>(caller)->GetProgress();
    ++*client->events;
  });
  const auto tag = filter->AddObserver(itk::ProgressEvent(), progress);
  filter->Update();
  EXPECT_GE(events, 1);
  EXPECT_EQ(last, 1.0f);

  filter->RemoveObserver(tag);
  auto abort = itk::CStyleCommand::New();
  abort->SetCallback([](itk::Object * caller, const itk::EventObject &, void *) {
    static_cast<itk::ProcessObject *>(caller)->AbortGenerateDataOn();
  });
  const auto abortTag = filter->AddObserver(itk::ProgressEvent(), abort);
  filter->Modified();
  EXPECT_THROW(filter->Update(), itk::ProcessAborted);
  // The filter can be used again.
  filter->RemoveObserver(abortTag);
  filter->AbortGenerateDataOff();
  filter->Modified();
  filter->Update();
  ExpectSame(*filter->GetOutput(), *MakeExpected(), filter->GetOutput()->GetBufferedRegion());
}

TEST_P(ResampleContract, AnUnchangedInputIsNotUploadedAgain)
{
  const auto inputBytes = static_cast<std::int64_t>(4 * m_Image->GetBufferedRegion().GetNumberOfPixels());
  const auto filter = MakeFilter();
  // Nothing is uploaded if the device is the host.
  const bool copies = !this->GetDevice().IsHost();
  filter->Update();
  EXPECT_EQ(filter->GetEvaluationStatistics().bytesUp >= inputBytes, copies);
  filter->SetTransform(MakeAffine<3>(m_Grid, m_Random));
  filter->Update();
  EXPECT_LT(filter->GetEvaluationStatistics().bytesUp, 1000);
  m_Image->SetPixel(m_Image->GetBufferedRegion().GetIndex(), 1e4f);
  m_Image->Modified();
  filter->SetTransform(itk::IdentityTransform<double, 3>::New());
  filter->Update();
  EXPECT_EQ(filter->GetEvaluationStatistics().bytesUp >= inputBytes, copies);
  EXPECT_EQ(filter->GetOutput()->GetPixel(m_Image->GetBufferedRegion().GetIndex()), 1e4f);
}

/** A container may get other memory without a new time stamp of the image. */
TEST_P(ResampleContract, AnInputWithOtherMemoryIsUploaded)
{
  const auto filter = MakeFilter();
  filter->Update();
  const std::vector<float> other(m_Image->GetBufferPointer(),
                                 m_Image->GetBufferPointer() + m_Image->GetBufferedRegion().GetNumberOfPixels());
  std::vector<float>       reversed(other.rbegin(), other.rend());
  m_Image->GetPixelContainer()->SetImportPointer(reversed.data(), reversed.size(), false);
  filter->Modified();
  filter->Update();
  ExpectSame(*filter->GetOutput(), *MakeExpected(), filter->GetOutput()->GetBufferedRegion());
}

/** From the host to another device and back, with and without timing. */
TEST_P(ResampleContract, AnotherDeviceDoesTheNextUpdate)
{
  const auto expected = MakeExpected();
  const auto filter = MakeFilter();
  for (const std::string & device : { std::string("host"), this->GetDevice().GetName(), std::string("host") })
  {
    SCOPED_TRACE(device);
    // ITK's filter hides its own GetMTime().
    const itk::Object & object = *filter;
    const auto          before = object.GetMTime();
    const bool          isAnother = filter->GetDevice().GetName() != device;
    filter->SetDevice(itk::GPUDevice::FromName(device));
    EXPECT_EQ(object.GetMTime() > before, isAnother);
    filter->Update();
    EXPECT_EQ(filter->GetEvaluationStatistics().bytesUp > 0, device != "host");
    ExpectSame(*filter->GetOutput(), *expected, expected->GetBufferedRegion());
  }
  filter->SetDevice(this->GetDevice());
  for (const std::string interpolation : { "linear", "bspline3" })
  {
    filter->SetInterpolator(MakeInterpolator<ImageType>(interpolation));
    filter->SetMeasuresKernelTime(false);
    filter->Update();
    EXPECT_EQ(filter->GetEvaluationStatistics().kernelMilliseconds, 0.0);
    const ImageType::Pointer untimed = filter->GetOutput();
    untimed->DisconnectPipeline();
    filter->SetMeasuresKernelTime(true);
    filter->Modified();
    filter->Update();
    EXPECT_GT(filter->GetEvaluationStatistics().kernelMilliseconds, 0.0);
    EXPECT_TRUE(HaveSameBits(*filter->GetOutput(), *untimed));
  }
}

/** Each thread has a filter, an image and a transform of its own, all with the same values. */
TEST_P(ResampleContract, PrintsItself)
{
  const auto         filter = MakeFilter();
  std::ostringstream text;
  filter->SetTrustsTimeStamps(false);
  filter->SetMaximumDeviceMemory(12345678);
  filter->Print(text);
  for (const std::string & line : { "Device: " + this->GetDevice().GetName(),
                                    std::string("TrustsTimeStamps: Off"),
                                    std::string("MaximumDeviceMemory: 12345678") })
  {
    EXPECT_NE(text.str().find(line), std::string::npos) << line << '\n' << text.str();
  }
}

TEST_P(ResampleContract, SeveralThreadsAtOnce)
{
  std::vector<FilterType::Pointer> filters;
  for (int n = 0; n < 4; ++n)
  {
    const auto image = ImageType::New();
    m_Grid.ApplyTo(*image);
    image->SetPixelContainer(m_Image->GetPixelContainer());
    Random     random(5);
    const auto filter = FilterType::New();
    filter->SetDevice(this->GetDevice());
    filter->SetInput(image);
    filter->SetTransform(MakeTransform<3>("bspline3", m_Grid, random));
    filter->SetInterpolator(MakeInterpolator<ImageType>("bspline3"));
    filter->SetOutputParametersFromImage(image);
    filter->SetNumberOfWorkUnits(1);
    filters.push_back(filter);
  }
  std::vector<std::thread> threads;
  for (FilterType * const filter : filters)
  {
    threads.emplace_back([filter] {
      for (int run = 0; run < 5; ++run)
      {
        filter->Modified();
        filter->Update();
      }
    });
  }
  for (std::thread & thread : threads)
  {
    thread.join();
  }
  for (const FilterType * const filter : filters)
  {
    ASSERT_GT(filter->GetEvaluationStatistics().launches, 0);
    EXPECT_TRUE(HaveSameBits(*filter->GetOutput(), *filters.front()->GetOutput()));
  }
  const auto reference = ReferenceType::New();
  Connect(*reference);
  reference->SetTransform(filters.front()->GetTransform());
  reference->SetInterpolator(MakeInterpolator<ImageType>("bspline3"));
  reference->SetDefaultPixelValue(0);
  reference->Update();
  ExpectSame(*filters.front()->GetOutput(), *reference->GetOutput(), reference->GetOutput()->GetBufferedRegion());
}

TEST_P(ResampleContract, TheEdgeIsExtrapolatedAsITKDoes)
{
  for (const std::string interpolation : { "nearest", "linear", "bspline3" })
  {
    SCOPED_TRACE(interpolation);
    const auto reference = ReferenceType::New();
    Connect(*reference);
    const auto filter = MakeFilter();
    for (ReferenceType * resample : { reference.GetPointer(), static_cast<ReferenceType *>(filter.GetPointer()) })
    {
      resample->SetInterpolator(MakeInterpolator<ImageType>(interpolation));
      resample->SetExtrapolator(itk::NearestNeighborExtrapolateImageFunction<ImageType, double>::New());
    }
    ExpectSameOutput(*filter, *reference);
  }
  // Some voxels are extrapolated.
  const auto    unextrapolated = MakeExpected();
  const float * values = unextrapolated->GetBufferPointer();
  EXPECT_GT(std::count(values, values + unextrapolated->GetBufferedRegion().GetNumberOfPixels(), -5.0f), 100);
}

/** A point far away is extrapolated from the edge on its side. */
TEST_P(ResampleContract, HoweverFarItIsTheEdgeIsExtrapolated)
{
  using FieldTransformType = itk::DisplacementFieldTransform<double, 3>;
  auto field = FieldTransformType::DisplacementFieldType::New();
  m_Grid.ApplyTo(*field);
  field->Allocate(true);
  const auto start = m_Grid.start;
  for (const double sign : { -1.0, 1.0 })
  {
    for (unsigned int d = 0; d < 3; ++d)
    {
      auto index = start;
      index[d] += sign > 0 ? 3 : 5;
      field->GetPixel(index)[d] = sign * 1e10;
    }
  }
  auto transform = FieldTransformType::New();
  transform->SetDisplacementField(field);
  m_Affine = transform.GetPointer();
  const auto reference = ReferenceType::New();
  Connect(*reference);
  const auto filter = MakeFilter();
  for (ReferenceType * resample : { reference.GetPointer(), static_cast<ReferenceType *>(filter.GetPointer()) })
  {
    resample->SetExtrapolator(itk::NearestNeighborExtrapolateImageFunction<ImageType, double>::New());
  }
  ExpectSameOutput(*filter, *reference);
  auto last = start;
  auto far = start;
  last[0] += static_cast<itk::IndexValueType>(m_Grid.size[0]) - 1;
  far[0] += 3;
  EXPECT_EQ(reference->GetOutput()->GetPixel(far), m_Image->GetPixel(last));
}

/** As ITK's filter does, since a program's interpolator would otherwise keep the input's memory alive. */
TEST_P(ResampleContract, TheInterpolatorAndTheExtrapolatorAreLeftWithoutTheInput)
{
  for (const std::string interpolation : { "nearest", "linear", "bspline3" })
  {
    const auto interpolator = MakeInterpolator<ImageType>(interpolation);
    const auto extrapolator = itk::NearestNeighborExtrapolateImageFunction<ImageType, double>::New();
    const auto filter = MakeFilter();
    filter->SetInterpolator(interpolator);
    filter->SetExtrapolator(extrapolator);
    for (int run = 0; run < 2; ++run)
    {
      filter->Modified();
      filter->Update();
      EXPECT_GT(filter->GetEvaluationStatistics().launches, 0);
      EXPECT_EQ(interpolator->GetInputImage(), nullptr) << interpolation;
      EXPECT_EQ(extrapolator->GetInputImage(), nullptr) << interpolation;
    }
  }
}

TEST_P(ResampleContract, AnotherExtrapolatorIsTheParentsAndThatIsSaidOnce)
{
  using ExtrapolatorType = itk::ExtrapolateImageFunction<ImageType, double>;
  const std::vector<ExtrapolatorType::Pointer> extrapolators{ RampExtrapolator::New().GetPointer(),
                                                              RaisedExtrapolator::New().GetPointer() };
  const auto                                   filter = MakeFilter();
  for (ExtrapolatorType * const extrapolator : extrapolators)
  {
    SCOPED_TRACE(extrapolator->GetNameOfClass());
    const auto reference = ReferenceType::New();
    Connect(*reference);
    reference->SetExtrapolator(extrapolator);
    reference->Update();
    EXPECT_GT(*std::max_element(reference->GetOutput()->GetBufferPointer(),
                                reference->GetOutput()->GetBufferPointer() +
                                  reference->GetOutput()->GetBufferedRegion().GetNumberOfPixels()),
              900.0f)
      << "nothing is extrapolated";
    const Listening listening;
    filter->SetExtrapolator(extrapolator);
    for (int run = 0; run < 2; ++run)
    {
      filter->Modified();
      filter->Update();
      EXPECT_EQ(filter->GetEvaluationStatistics().launches, 0);
      EXPECT_TRUE(HaveSameBits(*filter->GetOutput(), *reference->GetOutput()));
    }
    ASSERT_EQ(listening.window->said.size(), 1u);
    EXPECT_EQ(listening.window->Count("WARNING: GPUResampleImageFilter (") *
                listening.window->Count(std::string("The extrapolator ") + extrapolator->GetNameOfClass() +
                                        " is not known to a device. Computed by itk::ResampleImageFilter on the host."),
              1u)
      << listening.window->said.front();
  }
  // With ITK's extrapolator, or none, the device does the work again, without a message.
  const Listening listening;
  filter->SetExtrapolator(nullptr);
  filter->Update();
  EXPECT_GT(filter->GetEvaluationStatistics().launches, 0);
  ExpectSame(*filter->GetOutput(), *MakeExpected(), filter->GetOutput()->GetBufferedRegion());
  EXPECT_EQ(listening.window->said.size(), 0u);
}

/** On the host the parent class does this work anyway, with an extrapolator or without. */
TEST_P(ResampleContract, AnotherExtrapolatorIsReportedWithASampledTransformToo)
{
  m_Affine = MakeThinPlate<3>(m_Grid, m_Random);
  const auto filter = MakeFilter();
  filter->SetExtrapolator(RampExtrapolator::New());
  const auto reference = ReferenceType::New();
  Connect(*reference);
  reference->SetExtrapolator(RampExtrapolator::New());
  reference->Update();
  const Listening listening;
  filter->Update();
  EXPECT_EQ(listening.window->said.size(), 1u);
  EXPECT_TRUE(HaveSameBits(*filter->GetOutput(), *reference->GetOutput()));
}

TEST_P(ResampleContract, AnInterpolatorThatItDoesNotKnowIsTheParents)
{
  using SincType = itk::WindowedSincInterpolateImageFunction<ImageType, 3>;
  const auto reference = ReferenceType::New();
  Connect(*reference);
  const auto filter = MakeFilter();
  for (ReferenceType * resample : { reference.GetPointer(), static_cast<ReferenceType *>(filter.GetPointer()) })
  {
    resample->SetInterpolator(SincType::New());
    resample->Update();
  }
  EXPECT_EQ(filter->GetEvaluationStatistics().launches, 0);
  ExpectSame(*filter->GetOutput(), *reference->GetOutput(), reference->GetOutput()->GetBufferedRegion());
}

TEST_P(ResampleContract, TheUpperEndOfASplinesRegionIsWhereITKHasIt)
{
  // Eight cells of two voxels each: the last voxels lie exactly on the end of the valid region.
  const auto image = ImageType::New();
  image->SetRegions(itk::Size<3>{ { 17, 17, 17 } });
  image->Allocate();
  for (itk::ImageRegionIteratorWithIndex<ImageType> it(image, image->GetBufferedRegion()); !it.IsAtEnd(); ++it)
  {
    it.Set(static_cast<float>(10 * it.GetIndex()[0] + 3 * it.GetIndex()[1] + it.GetIndex()[2]));
  }
  using SplineType = itk::BSplineTransform<double, 3, 3>;
  using DeformableType = itk::BSplineDeformableTransform<double, 3, 3>;
  const auto                         spline = SplineType::New();
  SplineType::PhysicalDimensionsType dimensions;
  dimensions.Fill(16);
  SplineType::MeshSizeType mesh;
  mesh.Fill(8);
  spline->SetTransformDomainPhysicalDimensions(dimensions);
  spline->SetTransformDomainMeshSize(mesh);
  const auto deformable = DeformableType::New();
  deformable->SetGridRegion(spline->GetCoefficientImages()[0]->GetLargestPossibleRegion());
  deformable->SetGridSpacing(spline->GetCoefficientImages()[0]->GetSpacing());
  deformable->SetGridOrigin(spline->GetCoefficientImages()[0]->GetOrigin());
  SplineType::ParametersType parameters(spline->GetNumberOfParameters());
  parameters.Fill(-0.7);
  spline->SetParametersByValue(parameters);
  deformable->SetParametersByValue(parameters);
  const itk::Index<3> last{ { 16, 16, 16 } };
  // The end alone, so that a row begins on it, too.
  ImageType::RegionType end;
  end.SetIndex(0, 16);
  end.SetSize({ { 1, 17, 17 } });
  // Moved by -0.7 voxels along each axis, or not at all.
  const auto expectLast = [&](const itk::Transform<double, 3, 3> * transform, float expected) {
    const auto reference = ReferenceType::New();
    const auto filter = FilterType::New();
    filter->SetDevice(this->GetDevice());
    for (ReferenceType * resample : { reference.GetPointer(), static_cast<ReferenceType *>(filter.GetPointer()) })
    {
      resample->SetInput(image);
      resample->SetTransform(transform);
      resample->SetOutputParametersFromImage(image);
    }
    ExpectSameOutput(*filter, *reference);
    EXPECT_NEAR(reference->GetOutput()->GetPixel(last), expected, 1e-3);
    filter->Modified();
    filter->GetOutput()->SetRequestedRegion(end);
    filter->Update();
    ASSERT_EQ(filter->GetOutput()->GetBufferedRegion(), end);
    ExpectSame(*filter->GetOutput(), *reference->GetOutput(), end);
  };
  expectLast(spline, 14 * 16 - 0.7f * 14);
  expectLast(deformable, 14 * 16);
  // As parts of a chain, too.
  const auto turned = itk::CompositeTransform<double, 3>::New();
  turned->AddTransform(deformable);
  turned->AddTransform(itk::IdentityTransform<double, 3>::New());
  turned->AddTransform(deformable);
  expectLast(turned, 14 * 16);
}

TEST_P(ResampleContract, AReferenceImageSetsTheGrid)
{
  auto  grid = m_Grid;
  float spacing = 1.7f;
  grid.spacing.Fill(spacing);
  grid.size.Fill(9);
  const auto referenceImage = MakeImage<ImageType>(grid, [](const auto &) { return 0; });
  const auto reference = ReferenceType::New();
  Connect(*reference);
  const auto filter = MakeFilter();
  for (ReferenceType * resample : { reference.GetPointer(), static_cast<ReferenceType *>(filter.GetPointer()) })
  {
    resample->SetReferenceImage(referenceImage);
    resample->UseReferenceImageOn();
    resample->Update();
  }
  EXPECT_EQ(filter->GetOutput()->GetLargestPossibleRegion(), referenceImage->GetLargestPossibleRegion());
  ExpectSame(*filter->GetOutput(), *reference->GetOutput(), reference->GetOutput()->GetBufferedRegion());
}

TEST_P(ResampleContract, AGridWithoutVoxelsSetsTheGrid)
{
  const auto base = itk::ImageBase<3>::New();
  MakeAnotherGrid(0).ApplyTo(*base);
  for (const bool isReference : { true, false })
  {
    SCOPED_TRACE(isReference ? "as the reference image" : "as parameters");
    const auto reference = ReferenceType::New();
    Connect(*reference);
    const auto filter = MakeFilter();
    for (ReferenceType * resample : { reference.GetPointer(), static_cast<ReferenceType *>(filter.GetPointer()) })
    {
      if (isReference)
      {
        resample->SetReferenceImage(base);
        resample->UseReferenceImageOn();
      }
      else
      {
        resample->SetOutputParametersFromImage(base);
      }
    }
    ExpectSameOutput(*filter, *reference);
    EXPECT_EQ(filter->GetOutput()->GetLargestPossibleRegion(), base->GetLargestPossibleRegion());
    EXPECT_EQ(filter->GetOutput()->GetOrigin(), base->GetOrigin());
  }
}

TEST_P(ResampleContract, TheGridOfASourceThatHasNotRunSetsTheGridAndIsFollowed)
{
  using SourceType = itk::GaussianImageSource<ImageType>;
  const auto setGrid = [](SourceType & source, const Grid<3> & grid) {
    source.SetSize(grid.size);
    source.SetStartIndex(grid.start);
    source.SetSpacing(grid.spacing);
    source.SetOrigin(grid.origin);
    source.SetDirection(grid.direction);
    // ITK's filter requests no region of its reference image: the previous grid's region would remain, and cause an error if it is not
    // within the new one.
    source.UpdateOutputInformation();
    source.GetOutput()->SetRequestedRegionToLargestPossibleRegion();
  };
  for (const std::string interpolation : { "linear", "bspline3" })
  {
    const auto reference = ReferenceType::New();
    Connect(*reference);
    const auto filter = MakeFilter();
    const auto source = SourceType::New();
    const auto referenceSource = SourceType::New();
    filter->SetReferenceImage(source->GetOutput());
    reference->SetReferenceImage(referenceSource->GetOutput());
    for (ReferenceType * resample : { reference.GetPointer(), static_cast<ReferenceType *>(filter.GetPointer()) })
    {
      resample->SetInterpolator(MakeInterpolator<ImageType>(interpolation));
      resample->UseReferenceImageOn();
    }
    for (const unsigned int number : { 1, 4, 0 })
    {
      SCOPED_TRACE(interpolation + ", grid " + std::to_string(number));
      const auto grid = MakeAnotherGrid(number);
      setGrid(*source, grid);
      setGrid(*referenceSource, grid);
      // Either no voxels exist yet, or those of the previous grid.
      EXPECT_NE(source->GetOutput()->GetBufferedRegion(), source->GetOutput()->GetLargestPossibleRegion());
      ExpectSameOutput(*filter, *reference);
      EXPECT_EQ(filter->GetOutput()->GetBufferedRegion(), ImageType::RegionType(grid.start, grid.size));
      EXPECT_EQ(filter->GetOutput()->GetSpacing(), grid.spacing);
      EXPECT_EQ(filter->GetOutput()->GetOrigin(), grid.origin);
      EXPECT_EQ(filter->GetOutput()->GetDirection(), grid.direction);
    }
  }
}

TEST_P(ResampleContract, ASingularMatrixIsATransformLikeAnother)
{
  auto flat = itk::AffineTransform<double, 3>::New();
  auto matrix = flat->GetMatrix();
  matrix[2][2] = 0;
  flat->SetMatrix(matrix);
  itk::Vector<double, 3> move;
  move.Fill(0.0);
  move[2] = m_Grid.GetCentre()[2] + 0.2;
  flat->SetTranslation(move);
  m_Affine = flat.GetPointer();
  const auto filter = MakeFilter();
  filter->Update();
  ExpectSame(*filter->GetOutput(), *MakeExpected(), filter->GetOutput()->GetBufferedRegion());
}

TEST_P(ResampleContract, NaNInAFieldLeadsOutside)
{
  const auto             transform = MakeField<3>(m_Grid, m_Random);
  auto &                 fieldTransform = dynamic_cast<itk::DisplacementFieldTransform<double, 3> &>(*transform);
  const auto             field = fieldTransform.GetModifiableDisplacementField();
  itk::Vector<double, 3> nowhere;
  nowhere.Fill(std::numeric_limits<double>::quiet_NaN());
  auto index = field->GetBufferedRegion().GetIndex();
  for (unsigned int d = 0; d < 3; ++d)
  {
    index[d] += 3;
  }
  field->SetPixel(index, nowhere);
  m_Affine = transform;
  const auto filter = MakeFilter();
  filter->Update();
  const auto expected = MakeExpected();
  int        different = 0, outside = 0;
  for (itk::ImageRegionConstIteratorWithIndex<ImageType> it(expected, expected->GetBufferedRegion()); !it.IsAtEnd();
       ++it)
  {
    const float got = filter->GetOutput()->GetPixel(it.GetIndex());
    different += !(std::abs(got - it.Get()) <= 2e-3f);
    outside += got == -5;
  }
  EXPECT_EQ(different, 0);
  EXPECT_GT(outside, 0);
}

TEST_P(ResampleContract, AnOutputWithoutVoxelsIsReportedAsITKDoes)
{
  const auto filter = MakeFilter();
  filter->SetReferenceImage(m_Image);
  filter->SetSize(ImageType::SizeType{ { 0, 0, 0 } });
  EXPECT_THROW(filter->Update(), itk::ExceptionObject);
  filter->SetOutputParametersFromImage(m_Image);
  filter->Update();
  ExpectSame(*filter->GetOutput(), *MakeExpected(), filter->GetOutput()->GetBufferedRegion());
}

TEST_P(ResampleContract, ATooLargeTranslationIsReportedAndTheFilterStillWorks)
{
  auto                   far = itk::TranslationTransform<double, 3>::New();
  itk::Vector<double, 3> offset;
  offset.Fill(1e12);
  far->SetOffset(offset);
  const auto filter = MakeFilter();
  filter->SetTransform(far);
  try
  {
    filter->Update();
    FAIL() << "no exception";
  }
  catch (const itk::ExceptionObject & error)
  {
    EXPECT_NE(std::string(error.GetDescription()).find("2^30"), std::string::npos) << error;
  }
  filter->SetTransform(m_Affine);
  filter->Update();
  ExpectSame(*filter->GetOutput(), *MakeExpected(), filter->GetOutput()->GetBufferedRegion());
}

TEST_P(ResampleContract, TwoRunsAndAnyNumberOfThreadsGiveTheSameBits)
{
  m_Affine = MakeTransform<3>("bsplineOfAffineOfField", m_Grid, m_Random);
  const auto first = MakeFilter();
  first->Update();
  for (const unsigned int threads : { 1, 2, 7 })
  {
    const auto filter = MakeFilter();
    filter->SetNumberOfWorkUnits(threads);
    filter->Update();
    SCOPED_TRACE(std::to_string(threads) + " threads");
    EXPECT_TRUE(HaveSameBits(*filter->GetOutput(), *first->GetOutput()));
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, ResampleContract, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace
} // namespace gpuregtest
