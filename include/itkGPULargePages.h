// SPDX-License-Identifier: Apache-2.0
#ifndef itkGPULargePages_h
#define itkGPULargePages_h

#include "gpureg/HostMemory.h"

namespace itk
{
namespace GPURegistrationDetail
{

/** Asks for large pages for the pixels of an image that was just allocated: see gpureg::PreferLargePages. */
template <typename TImage>
void
PreferLargePages(TImage & image)
{
  using PixelContainer = typename TImage::PixelContainer;
  PixelContainer & pixels = *image.GetPixelContainer();
  gpureg::PreferLargePages(pixels.GetBufferPointer(), pixels.Size() * sizeof(typename PixelContainer::Element));
}

} // namespace GPURegistrationDetail
} // namespace itk

#endif
