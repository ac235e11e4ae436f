// SPDX-License-Identifier: Apache-2.0
#ifndef itkGPUOutputMemory_h
#define itkGPUOutputMemory_h

#include "gpureg/runtime/LargePages.h"

namespace itk
{
namespace GPURegistrationDetail
{

/** Prepares the pixels of an image that was just allocated for writing: see gpureg::PrepareForWriting(). */
template <typename TImage>
void
PrepareForWriting(TImage & image, const gpureg::ParallelFor & parallelFor)
{
  using PixelContainer = typename TImage::PixelContainer;
  PixelContainer &  pixels = *image.GetPixelContainer();
  const std::size_t bytes = pixels.Size() * sizeof(typename PixelContainer::Element);
  gpureg::PrepareForWriting(pixels.GetBufferPointer(), bytes, parallelFor);
}

} // namespace GPURegistrationDetail
} // namespace itk

#endif
