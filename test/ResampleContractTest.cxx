// SPDX-License-Identifier: Apache-2.0
// GPUResampleImageFilter in ITK's pipeline: regions, streams, events, caches, and input that is not good.
#include "ResampleCase.h"
#include "TestDevices.h"

#include "itkCommand.h"
#include "itkImageRegionConstIteratorWithIndex.h"
#include "itkNearestNeighborExtrapolateImageFunction.h"
#include "itkStreamingImageFilter.h"
#include "itkWindowedSincInterpolateImageFunction.h"

#include <limits>

namespace gpuregtest
{
namespace
{

using ImageType = itk::Image<float, 3>;
using ReferenceType = itk::ResampleImageFilter<ImageType, ImageType>;
using FilterType = itk::GPUResampleImageFilter<ImageType, ImageType>;

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

TEST_P(ResampleContract, StreamedInPiecesItIsTheSameToTheBit)
{
  const auto whole = MakeFilter();
  whole->Update();
  const auto filter = MakeFilter();
  auto       streaming = itk::StreamingImageFilter<ImageType, ImageType>::New();
  streaming->SetInput(filter->GetOutput());
  streaming->SetNumberOfStreamDivisions(5);
  streaming->Update();
  int different = 0;
  for (itk::ImageRegionConstIteratorWithIndex<ImageType> it(whole->GetOutput(),
                                                            whole->GetOutput()->GetBufferedRegion());
       !it.IsAtEnd();
       ++it)
  {
    different += streaming->GetOutput()->GetPixel(it.GetIndex()) != it.Get();
  }
  EXPECT_EQ(different, 0);
}

TEST_P(ResampleContract, ProgressIsToldAndAbortIsObeyed)
{
  const auto filter = MakeFilter();
  float      last = 0;
  int        events = 0;
  auto       progress = itk::CStyleCommand::New();
  struct Told
  {
    float * last;
    int *   events;
  } told{ &last, &events };
  progress->SetClientData(&told);
  progress->SetCallback([](itk::Object * caller, const itk::EventObject &, void * data) {
    auto * const client = static_cast<Told *>(data);
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
  // And can be used again.
  filter->RemoveObserver(abortTag);
  filter->AbortGenerateDataOff();
  filter->Modified();
  filter->Update();
  ExpectSame(*filter->GetOutput(), *MakeExpected(), filter->GetOutput()->GetBufferedRegion());
}

TEST_P(ResampleContract, AnInputThatHasNotChangedIsNotSentAgain)
{
  const auto inputBytes = static_cast<std::int64_t>(4 * m_Image->GetBufferedRegion().GetNumberOfPixels());
  const auto filter = MakeFilter();
  // Nothing is copied up to the host's own memory.
  const bool copies = this->GetDevice().GetName() != "host";
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

TEST_P(ResampleContract, TheEdgeIsExtrapolatedAsITKDoes)
{
  const auto reference = ReferenceType::New();
  Connect(*reference);
  const auto filter = MakeFilter();
  for (ReferenceType * resample : { reference.GetPointer(), static_cast<ReferenceType *>(filter.GetPointer()) })
  {
    resample->SetExtrapolator(itk::NearestNeighborExtrapolateImageFunction<ImageType, double>::New());
    resample->Update();
  }
  EXPECT_GT(filter->GetEvaluationStatistics().launches, 0);
  ExpectSame(*filter->GetOutput(), *reference->GetOutput(), reference->GetOutput()->GetBufferedRegion());
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

TEST_P(ResampleContract, AnOutputOfNoSizeIsToldAsITKDoes)
{
  const auto filter = MakeFilter();
  filter->SetReferenceImage(m_Image);
  filter->SetSize(ImageType::SizeType{ { 0, 0, 0 } });
  EXPECT_THROW(filter->Update(), itk::ExceptionObject);
  filter->SetOutputParametersFromImage(m_Image);
  filter->Update();
  ExpectSame(*filter->GetOutput(), *MakeExpected(), filter->GetOutput()->GetBufferedRegion());
}

TEST_P(ResampleContract, ATransformToTheEndOfTheWorldIsToldAndTheFilterGoesOn)
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
    int different = 0;
    for (itk::ImageRegionConstIteratorWithIndex<ImageType> it(first->GetOutput(),
                                                              first->GetOutput()->GetBufferedRegion());
         !it.IsAtEnd();
         ++it)
    {
      different += filter->GetOutput()->GetPixel(it.GetIndex()) != it.Get();
    }
    EXPECT_EQ(different, 0) << threads << " threads";
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, ResampleContract, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace
} // namespace gpuregtest
