// SPDX-License-Identifier: Apache-2.0
#ifndef itkGPUPixelComponents_h
#define itkGPUPixelComponents_h

#include "itkNumericTraits.h"
#include "itkVariableLengthVector.h"

#include <cstddef>

namespace itk
{
namespace GPURegistrationDetail
{

/** How many components a pixel has; 0 if that is its image's to say. */
template <typename TPixel>
constexpr std::size_t ComponentsOf = sizeof(TPixel) / sizeof(typename NumericTraits<TPixel>::ValueType);
template <typename TValue>
constexpr std::size_t ComponentsOf<VariableLengthVector<TValue>> = 0;

/** Whether two images' pixels have equally many. Where they do not, as from grey to RGB, it is ITK's to say what
 * becomes of them. */
template <typename TInputImage, typename TOutputImage>
constexpr bool HaveSameComponents =
  ComponentsOf<typename TInputImage::PixelType> == ComponentsOf<typename TOutputImage::PixelType>;

} // namespace GPURegistrationDetail
} // namespace itk

#endif
