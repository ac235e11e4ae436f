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

/** True if an image, such as a VectorImage, stores components, and says how many a pixel has. */
template <typename TImage>
constexpr bool StoresComponents = !std::is_same<typename TImage::InternalPixelType, typename TImage::PixelType>::value;

/** True if an image's buffer holds its pixels. An image adaptor computes them when they are read. */
template <typename TImage>
constexpr bool StoresPixels =
  std::is_base_of<Image<typename TImage::PixelType, TImage::ImageDimension>, TImage>::value ||
  std::is_base_of<VectorImage<typename TImage::InternalPixelType, TImage::ImageDimension>, TImage>::value;

/** Number of components of a pixel; 0 if the image says it at run time. */
template <typename TImage>
constexpr std::size_t ComponentsOf = StoresComponents<TImage>
                                       ? 0
                                       : sizeof(typename TImage::PixelType) /
                                           sizeof(typename NumericTraits<typename TImage::PixelType>::ValueType);

/** True if ITK computes with such components in double precision or less. */
template <typename TComponent>
constexpr bool IsComputedInDouble =
  std::is_arithmetic<TComponent>::value && !std::is_same<TComponent, long double>::value;

/** True if both images' buffers hold their pixels, with the same number of components, and without memory that the pixels allocate
 * elsewhere. Otherwise, such as from grey to RGB, ITK's class has to decide how pixels are converted. */
template <typename TInputImage, typename TOutputImage>
constexpr bool                 HaveSameComponents =
  StoresPixels<TInputImage> && StoresPixels<TOutputImage> && ComponentsOf<TInputImage> ==
  ComponentsOf<TOutputImage> && std::is_trivially_destructible<typename TInputImage::InternalPixelType>::value &&
                                std::is_trivially_destructible<typename TOutputImage::InternalPixelType>::value;

} // namespace GPURegistrationDetail
} // namespace itk

#endif
