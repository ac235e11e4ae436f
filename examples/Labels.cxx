// SPDX-License-Identifier: Apache-2.0
#include "Labels.h"

#include "ImageFile.h"

#include "itkNearestNeighborInterpolateImageFunction.h"
#include "itkResampleImageFilter.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

namespace example
{

Labels::Pointer
ReadLabels(const std::string & fileName)
{
  // Read as doubles first: ITK would truncate numbers that do not fit, and so change labels.
  using Numbers = itk::Image<double, 3>;
  const auto numbers = ReadImageFile<Numbers>(fileName, "labels");
  const auto labels = Labels::New();
  labels->CopyInformation(numbers);
  labels->SetRegions(numbers->GetBufferedRegion());
  labels->Allocate();
  const double * const first = numbers->GetBufferPointer();
  const auto           convert = [&](double number) {
    using Limits = std::numeric_limits<short>;
    if (!(number >= Limits::min() && number <= Limits::max() && number == std::floor(number)))
    {
      std::ostringstream text;
      text << fileName << " has a voxel of " << number << ". Labels are whole numbers from " << Limits::min() << " to "
           << Limits::max() << '.';
      throw std::runtime_error(text.str());
    }
    return static_cast<short>(number);
  };
  std::transform(first, first + numbers->GetBufferedRegion().GetNumberOfPixels(), labels->GetBufferPointer(), convert);
  return labels;
}

void
WriteLabels(const Labels * labels, const std::string & fileName)
{
  WriteImageFile(labels, fileName);
}

Labels::Pointer
ResampleLabels(const Labels * moving, const VolumeGrid * grid, const Transform * transform)
{
  const auto resampler = itk::ResampleImageFilter<Labels, Labels>::New();
  resampler->SetInput(moving);
  resampler->SetInterpolator(itk::NearestNeighborInterpolateImageFunction<Labels>::New());
  resampler->SetTransform(transform);
  resampler->SetOutputParametersFromImage(grid);
  resampler->Update();
  return resampler->GetOutput();
}

} // namespace example
