// SPDX-License-Identifier: Apache-2.0
// Tests images in compressed files, parts of which are written on each thread, and which zlib reads as one.
#include "ImageFile.h"
#include "ProgramTest.h"
#include "Volume.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>

namespace
{

using namespace example;

/** Returns an image of waves. \param size of each axis: with 100, there are four parts. */
Volume::Pointer
MakeWaves(itk::SizeValueType size)
{
  const auto image = Volume::New();
  image->SetRegions(Volume::SizeType{ { size, size, size } });
  image->Allocate();
  const auto count = image->GetBufferedRegion().GetNumberOfPixels();
  for (itk::SizeValueType n = 0; n < count; ++n)
  {
    image->GetBufferPointer()[n] = static_cast<float>(std::floor(100 * std::sin(0.01 * static_cast<double>(n))));
  }
  return image;
}

TEST(ImageFile, CompressedItIsTheSameAndNothingElseIsLeft)
{
  for (const itk::SizeValueType size : { 1, 100 })
  {
    const Folder folder;
    const auto   image = MakeWaves(size);
    const auto   count = image->GetBufferedRegion().GetNumberOfPixels();
    WriteImageFile(image.GetPointer(), folder / "waves.nii.gz");
    const auto again = ReadImageFile<Volume>(folder / "waves.nii.gz", "an image");
    ASSERT_EQ(again->GetBufferedRegion(), image->GetBufferedRegion());
    EXPECT_TRUE(std::equal(image->GetBufferPointer(), image->GetBufferPointer() + count, again->GetBufferPointer()));
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder / ""), std::filesystem::directory_iterator()),
              1);
    if (count > 1)
    {
      EXPECT_LT(std::filesystem::file_size(folder / "waves.nii.gz"), 2 * count); // of 4 bytes a voxel
    }
  }
}

TEST(ImageFile, WhereItCannotBeWrittenItSaysSo)
{
  const Folder folder;
  const auto   image = MakeWaves(8);
  EXPECT_THROW(WriteImageFile(image.GetPointer(), folder / "none/waves.nii.gz"), std::exception);
  std::filesystem::create_directory(folder / "taken.nii.gz");
  EXPECT_THROW(WriteImageFile(image.GetPointer(), folder / "taken.nii.gz"), std::runtime_error);
  EXPECT_TRUE(std::filesystem::is_directory(folder / "taken.nii.gz"));
  EXPECT_THROW(GzipFile(folder / "there-is-none", folder / "waves.nii.gz"), std::runtime_error);
}

} // namespace
