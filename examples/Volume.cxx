// SPDX-License-Identifier: Apache-2.0
#include "Volume.h"

#include "ImageFile.h"

#include "itkIdentityTransform.h"
#include "itkResampleImageFilter.h"
#include "itkSmoothingRecursiveGaussianImageFilter.h"
#include "itkTransformFileReader.h"
#include "itkTransformFileWriter.h"

#include <stdexcept>

namespace example
{

Volume::Pointer
ReadVolume(const std::string & fileName)
{
  return ReadImageFile<Volume>(fileName, "an image");
}

void
WriteVolume(const Volume * volume, const std::string & fileName)
{
  WriteImageFile(volume, fileName);
}

VolumeGrid::Pointer
MakeCentredGrid(const VolumeGrid * image, double factor, const VolumeGrid::SizeType & size)
{
  const auto &                    region = image->GetLargestPossibleRegion();
  itk::ContinuousIndex<double, 3> firstVoxel;
  for (unsigned int d = 0; d < 3; ++d)
  {
    const double centre = static_cast<double>(region.GetIndex(d)) + 0.5 * static_cast<double>(region.GetSize(d) - 1);
    firstVoxel[d] = centre - 0.5 * factor * static_cast<double>(size[d] - 1);
  }
  const auto grid = VolumeGrid::New();
  grid->SetRegions(size);
  grid->SetSpacing(image->GetSpacing() * factor);
  grid->SetDirection(image->GetDirection());
  grid->SetOrigin(image->TransformContinuousIndexToPhysicalPoint<double, double>(firstVoxel));
  return grid;
}

VolumeGrid::Pointer
MakeCoarserGrid(const VolumeGrid * image, unsigned int factor)
{
  auto size = image->GetLargestPossibleRegion().GetSize();
  for (auto & voxels : size)
  {
    voxels = (voxels + factor - 1) / factor;
  }
  return MakeCentredGrid(image, factor, size);
}

Volume::Pointer
Resample(const Volume * moving, const VolumeGrid * grid, const Transform * transform)
{
  const auto resampler = itk::ResampleImageFilter<Volume, Volume>::New();
  resampler->SetInput(moving);
  resampler->SetTransform(transform);
  resampler->SetOutputParametersFromImage(grid);
  resampler->Update();
  return resampler->GetOutput();
}

void
WriteTransform(const Transform * transform, const std::string & fileName)
{
  const auto writer = itk::TransformFileWriterTemplate<double>::New();
  writer->SetFileName(fileName);
  writer->SetInput(transform);
  writer->Update();
}

Transform::Pointer
ReadTransform(const std::string & fileName)
{
  const auto reader = itk::TransformFileReaderTemplate<double>::New();
  reader->SetFileName(fileName);
  reader->Update();
  const auto & transforms = *reader->GetTransformList();
  auto * const transform = transforms.empty() ? nullptr : dynamic_cast<Transform *>(transforms.front().GetPointer());
  if (transform == nullptr)
  {
    throw std::runtime_error(fileName + " holds no transform of three-dimensional points.");
  }
  return transform;
}

Volume::ConstPointer
ShrinkVolume(const Volume * image, unsigned int factor)
{
  if (factor == 1)
  {
    return image;
  }
  const auto smoothing = itk::SmoothingRecursiveGaussianImageFilter<Volume, Volume>::New();
  smoothing->SetInput(image);
  const auto sigma = image->GetSpacing() * (0.5 * factor);
  smoothing->SetSigmaArray(itk::FixedArray<double, 3>(sigma.GetDataPointer()));
  smoothing->Update();
  return Resample(smoothing->GetOutput(), MakeCoarserGrid(image, factor), itk::IdentityTransform<double, 3>::New())
    .GetPointer();
}

} // namespace example
