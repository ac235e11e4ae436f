// SPDX-License-Identifier: Apache-2.0
#ifndef itkGPUPixelComponents_h
#define itkGPUPixelComponents_h

#include "itkImage.h"
#include "itkNumericTraits.h"
#include "itkVectorImage.h"

#include <cstddef>
#include <type_traits>

namespace itk
{
namespace GPURegistrationDetail
{

/** Whether an image, such as a VectorImage, keeps components and says how many there are to a pixel. */
template <typename TImage>
constexpr bool KeepsComponents = !std::is_same<typename TImage::InternalPixelType, typename TImage::PixelType>::value;

/** Whether an image's pixels are what lies in its buffer. An adaptor's are not: it makes them when it is asked. */
template <typename TImage>
constexpr bool KeepsPixels =
  std::is_base_of<Image<typename TImage::PixelType, TImage::ImageDimension>, TImage>::value ||
  std::is_base_of<VectorImage<typename TImage::InternalPixelType, TImage::ImageDimension>, TImage>::value;

/** How many components a pixel has: where it is the image's to say, 0. */
template <typename TImage>
constexpr std::size_t ComponentsOf = KeepsComponents<TImage>
                                       ? 0
                                       : sizeof(typename TImage::PixelType) /
                                           sizeof(typename NumericTraits<typename TImage::PixelType>::ValueType);

/** Whether ITK computes with such components in double, or less. */
template <typename TComponent>
constexpr bool IsComputedInDouble =
  std::is_arithmetic<TComponent>::value && !std::is_same<TComponent, long double>::value;

/** Whether two images' pixels lie in their buffers, have equally many components, and hold them themselves: those that
 * allocate keep them elsewhere. Where it is not so, as from grey to RGB, it is ITK's to say what becomes of them. */
template <typename TInputImage, typename TOutputImage>
constexpr bool                HaveSameComponents =
  KeepsPixels<TInputImage> && KeepsPixels<TOutputImage> && ComponentsOf<TInputImage> ==
  ComponentsOf<TOutputImage> && std::is_trivially_destructible<typename TInputImage::InternalPixelType>::value &&
                                std::is_trivially_destructible<typename TOutputImage::InternalPixelType>::value;

} // namespace GPURegistrationDetail
} // namespace itk

#endif
