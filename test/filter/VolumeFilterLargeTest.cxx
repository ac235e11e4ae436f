// SPDX-License-Identifier: Apache-2.0
// Tests the volume filters on images of more than 4 GiB: the output equals that of ITK's filters for a part of the image.
#include "LargeImages.h"

#include "itkGPUMultiResolutionPyramidImageFilter.h"
#include "itkGPURecursiveGaussianImageFilter.h"

#include "itkImageRegionConstIteratorWithIndex.h"
#include "itkImageRegionIteratorWithIndex.h"

namespace gpuregtest
{
namespace
{

using ImageType = itk::Image<float, 3>;
using SizeType = ImageType::SizeType;
using IndexType = ImageType::IndexType;

/** Returns a part of such an image, at the same place in space. */
ImageType::Pointer
MakePart(const CountingImage<float> & image, const ImageType::RegionType & region)
{
  auto part = ImageType::New();
  part->SetRegions(region);
  part->Allocate();
  for (itk::ImageRegionIteratorWithIndex<ImageType> it(part, region); !it.IsAtEnd(); ++it)
  {
    it.Set(static_cast<float>(image.GetValue(it.GetIndex())));
  }
  return part;
}

class VolumeFilterLarge : public LargeImageTest
{
protected:
  static constexpr std::uint64_t Bytes = std::uint64_t{ 1104 } * 1000 * 1000 * sizeof(float);
  static_assert(Bytes > 4 * GiB, "");
  static constexpr SizeType Size{ { 1104, 1000, 1000 } };
};

TEST_P(VolumeFilterLarge, LinesAreSmoothedFromEndToEnd)
{
  const std::string whyNot = this->FindWhyNot(2 * Bytes, Bytes);
  if (!whyNot.empty())
  {
    GTEST_SKIP() << whyNot;
  }
  const CountingImage<float> image(Size);
  const auto                 configure = [](auto & filter) {
    filter.SetDirection(2);
    filter.SetSigma(3.0);
  };
  const auto filter = itk::GPURecursiveGaussianImageFilter<ImageType, ImageType>::New();
  filter->SetDevice(this->GetDevice());
  filter->SetInput(image.Get());
  configure(*filter);
  const std::string shortage = this->UpdateIfMemorySuffices(*filter, Bytes);
  if (!shortage.empty())
  {
    GTEST_SKIP() << shortage;
  }
  ASSERT_GT(filter->GetEvaluationStatistics().launches, 0) << "computed by the parent class";
  Report(filter->GetEvaluationStatistics());
  // Lines at the beginning and at the end.
  for (const IndexType & first : { IndexType{ { 0, 0, 0 } }, IndexType{ { 1100, 996, 0 } } })
  {
    const ImageType::RegionType lines(first, SizeType{ { 4, 4, 1000 } });
    const auto                  reference = itk::RecursiveGaussianImageFilter<ImageType, ImageType>::New();
    reference->SetInput(MakePart(image, lines));
    configure(*reference);
    reference->Update();
    for (itk::ImageRegionConstIteratorWithIndex<ImageType> it(reference->GetOutput(), lines); !it.IsAtEnd(); ++it)
    {
      ASSERT_NEAR(filter->GetOutput()->GetPixel(it.GetIndex()), it.Get(), 1e-3) << it.GetIndex();
    }
  }
}

TEST_P(VolumeFilterLarge, APyramidIsOfTheWholeImage)
{
  const std::string whyNot = this->FindWhyNot(Bytes, 2 * Bytes);
  if (!whyNot.empty())
  {
    GTEST_SKIP() << whyNot;
  }
  constexpr int              Factor = 4;
  const CountingImage<float> image(Size);
  const auto                 configure = [](auto & pyramid) {
    pyramid.SetNumberOfLevels(1);
    pyramid.SetStartingShrinkFactors(Factor);
  };
  const auto pyramid = itk::GPUMultiResolutionPyramidImageFilter<ImageType, ImageType>::New();
  pyramid->SetDevice(this->GetDevice());
  pyramid->SetInput(image.Get());
  configure(*pyramid);
  const std::string shortage = this->UpdateIfMemorySuffices(*pyramid, 2 * Bytes);
  if (!shortage.empty())
  {
    GTEST_SKIP() << shortage;
  }
  ASSERT_GT(pyramid->GetEvaluationStatistics().launches, 0) << "computed by the parent class";
  Report(pyramid->GetEvaluationStatistics());
  // Tests both corners. Where a part ends within the image, its voxels there have other neighbours, so only inner voxels are compared.
  constexpr int Side = 64;
  constexpr int Inner = Side / Factor / 2;
  for (const IndexType & first : { IndexType{ { 0, 0, 0 } }, IndexType{ { 1104 - Side, 1000 - Side, 1000 - Side } } })
  {
    const auto part = MakePart(image, { first, SizeType{ { Side, Side, Side } } });
    // The part's indices begin at 0, as those of the image it is compared with do.
    ImageType::PointType origin;
    part->TransformIndexToPhysicalPoint(first, origin);
    part->SetOrigin(origin);
    part->SetRegions(SizeType{ { Side, Side, Side } });
    const auto reference = itk::MultiResolutionPyramidImageFilter<ImageType, ImageType>::New();
    reference->SetInput(part);
    configure(*reference);
    reference->Update();
    const ImageType * const level = reference->GetOutput(0);
    ImageType::RegionType   kept(SizeType{ { Inner, Inner, Inner } });
    kept.SetIndex(first[0] == 0 ? IndexType{ { 0, 0, 0 } } : IndexType{ { Inner, Inner, Inner } });
    for (itk::ImageRegionConstIteratorWithIndex<ImageType> it(level, kept); !it.IsAtEnd(); ++it)
    {
      ImageType::PointType point;
      level->TransformIndexToPhysicalPoint(it.GetIndex(), point);
      IndexType index;
      ASSERT_TRUE(pyramid->GetOutput(0)->TransformPhysicalPointToIndex(point, index));
      ImageType::PointType there;
      pyramid->GetOutput(0)->TransformIndexToPhysicalPoint(index, there);
      ASSERT_LE(point.EuclideanDistanceTo(there), 1e-6) << "other voxels are sampled";
      ASSERT_NEAR(pyramid->GetOutput(0)->GetPixel(index), it.Get(), 1e-3) << index;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, VolumeFilterLarge, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace
} // namespace gpuregtest
