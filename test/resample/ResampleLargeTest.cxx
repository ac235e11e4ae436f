// SPDX-License-Identifier: Apache-2.0
// Tests GPUResampleImageFilter on images of more than 4 GiB: offsets of bytes, and of voxels, that exceed 32 bits.
#include "LargeImages.h"
#include "ResampleCase.h"

#include <cstdint>

namespace gpuregtest
{
namespace
{

class ResampleLarge : public LargeImageTest
{
protected:
  using OutputType = itk::Image<float, 3>;

  /** Samples a quarter of a voxel behind first, first + step, …
   *  \param bound of device memory. */
  template <typename TPixel>
  void
  ExpectCounts(const CountingImage<TPixel> & image,
               const itk::Index<3> &         first,
               const itk::Size<3> &          step,
               const itk::Size<3> &          size,
               std::uint64_t                 bound) const
  {
    auto filter = itk::GPUResampleImageFilter<itk::Image<TPixel, 3>, OutputType>::New();
    filter->SetDevice(this->GetDevice());
    filter->SetMaximumDeviceMemory(bound);
    filter->SetInput(image.Get());
    filter->SetSize(size);
    OutputType::PointType   origin;
    OutputType::SpacingType spacing;
    for (unsigned int d = 0; d < 3; ++d)
    {
      origin[d] = static_cast<double>(first[d]) + (d == 0 ? 0.25 : 0.0);
      spacing[d] = static_cast<double>(step[d]);
    }
    filter->SetOutputOrigin(origin);
    filter->SetOutputSpacing(spacing);
    filter->Update();
    ASSERT_GT(filter->GetEvaluationStatistics().launches, 0) << "computed by the parent class";
    Report(filter->GetEvaluationStatistics());
    if (bound > 0)
    {
      EXPECT_LE(filter->GetEvaluationStatistics().deviceBytes, static_cast<std::int64_t>(bound));
    }
    const OutputType * const output = filter->GetOutput();
    ASSERT_EQ(output->GetBufferedRegion().GetNumberOfPixels(), size[0] * size[1] * size[2]);
    for (itk::ImageRegionConstIteratorWithIndex<OutputType> it(output, output->GetBufferedRegion()); !it.IsAtEnd();
         ++it)
    {
      itk::Index<3> index;
      for (unsigned int d = 0; d < 3; ++d)
      {
        index[d] = first[d] + it.GetIndex()[d] * static_cast<itk::IndexValueType>(step[d]);
      }
      const double here = image.GetValue(index);
      ++index[0];
      ASSERT_NEAR(it.Get(), 0.75 * here + 0.25 * image.GetValue(index), 1e-4) << "voxel " << index << " less one";
    }
  }
};

TEST_P(ResampleLarge, AnInputOfMoreThanFourGibibytesWholeAndInSlabs)
{
  const itk::Size<3>      size{ { 1101, 1000, 1000 } };
  constexpr std::uint64_t Bytes = std::uint64_t{ 1101 } * 1000 * 1000 * sizeof(float);
  static_assert(Bytes > 4 * GiB, "");
  const std::string whyNot = this->FindWhyNot(Bytes, GetParam() == "host" ? 0 : Bytes);
  if (!whyNot.empty())
  {
    GTEST_SKIP() << whyNot;
  }
  const CountingImage<float> image(size);
  for (const std::uint64_t bound : { std::uint64_t{ 0 }, GiB })
  {
    SCOPED_TRACE(bound);
    // From the first voxel to the last.
    ExpectCounts(image, { { 0, 0, 0 } }, { { 157, 111, 111 } }, { { 8, 10, 10 } }, bound);
  }
}

TEST_P(ResampleLarge, AnInputOfMoreVoxelsThan32BitsCount)
{
  const itk::Size<3>      size{ { 1101, 2000, 2000 } };
  constexpr std::uint64_t Bytes = std::uint64_t{ 1101 } * 2000 * 2000;
  static_assert(Bytes > 4 * GiB, "");
  const std::string whyNot = this->FindWhyNot(Bytes, GetParam() == "host" ? 0 : Bytes);
  if (!whyNot.empty())
  {
    GTEST_SKIP() << whyNot;
  }
  // 35 GB on a device: both ends, in slabs.
  const CountingImage<unsigned char> image(size);
  ExpectCounts(image, { { 0, 0, 0 } }, { { 157, 1999, 1 } }, { { 8, 2, 3 } }, GiB);
  ExpectCounts(image, { { 0, 0, 1997 } }, { { 157, 1999, 1 } }, { { 8, 2, 3 } }, GiB);
}

TEST_P(ResampleLarge, AnOutputOfMoreThanFourGibibytes)
{
  // Half as many voxels suffice for doubles.
  using ImageType = itk::Image<double, 3>;
  const itk::Size<3>      size{ { 1101, 1000, 500 } };
  constexpr std::uint64_t Bytes = std::uint64_t{ 1101 } * 1000 * 500 * sizeof(double);
  static_assert(Bytes > 4 * GiB, "");
  const std::string whyNot = this->FindWhyNot(Bytes, GetParam() == "host" ? 0 : Bytes);
  if (!whyNot.empty())
  {
    GTEST_SKIP() << whyNot;
  }
  Random     random(20143);
  Grid<3>    grid;
  const auto image = MakeImage<ImageType>(grid, [&](const auto &) { return Uniform(random, 100, 200); });
  // The whole output is within the input.
  Grid<3> outputGrid;
  outputGrid.size = size;
  for (unsigned int d = 0; d < 3; ++d)
  {
    outputGrid.spacing[d] = 8.0 / static_cast<double>(size[d]);
  }
  outputGrid.SetCentre(grid.GetCentre());
  const auto transform = MakeRigidOrSimilar<3>(false, grid);
  auto       filter = itk::GPUResampleImageFilter<ImageType, ImageType>::New();
  filter->SetDevice(this->GetDevice());
  filter->SetInput(image);
  filter->SetTransform(transform);
  filter->SetSize(size);
  filter->SetOutputSpacing(outputGrid.spacing);
  filter->SetOutputOrigin(outputGrid.origin);
  filter->Update();
  ASSERT_GT(filter->GetEvaluationStatistics().launches, 0) << "computed by the parent class";
  Report(filter->GetEvaluationStatistics());

  const ImageType * const output = filter->GetOutput();
  const auto              interpolator = MakeInterpolator<ImageType>("linear");
  interpolator->SetInputImage(image);
  const itk::SizeValueType voxels = output->GetBufferedRegion().GetNumberOfPixels();
  // Both ends, offsets where 31 and 32 bits of bytes overflow, and random ones.
  std::vector<itk::SizeValueType> offsets{ 0, GiB / 4 - 1, GiB / 4, GiB / 2 - 1, GiB / 2, voxels - 1 };
  while (offsets.size() < 500)
  {
    offsets.push_back(static_cast<itk::SizeValueType>(Uniform(random, 0, static_cast<double>(voxels - 1))));
  }
  double squares = 0;
  for (const itk::SizeValueType offset : offsets)
  {
    const auto           index = output->ComputeIndex(static_cast<itk::OffsetValueType>(offset));
    ImageType::PointType point;
    output->TransformIndexToPhysicalPoint(index, point);
    const auto there = transform->TransformPoint(point);
    ASSERT_TRUE(interpolator->IsInsideBuffer(there));
    const double apart = output->GetBufferPointer()[offset] - interpolator->Evaluate(there);
    EXPECT_LE(std::abs(apart), 1e-4 * 100) << "voxel " << index;
    squares += apart * apart;
  }
  EXPECT_LE(std::sqrt(squares / static_cast<double>(offsets.size())), 1e-5 * 100);
}

INSTANTIATE_TEST_SUITE_P(Devices, ResampleLarge, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace
} // namespace gpuregtest
