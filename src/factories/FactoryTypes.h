// SPDX-License-Identifier: Apache-2.0
// The image types for which the factories stand in.
#ifndef FactoryTypes_h
#define FactoryTypes_h

#include "itkGPURegistrationFactory.h"

#include "itkImage.h"

namespace gpuregfactories
{

/** Adds a filter's overrides to a factory. */
using AddOverrides = void (*)(itk::GPURegistrationFactory &);

void
AddBSplineDecompositionImageFilter(itk::GPURegistrationFactory & factory);
void
AddMultiResolutionPyramidImageFilter(itk::GPURegistrationFactory & factory);
void
AddRecursiveGaussianImageFilter(itk::GPURegistrationFactory & factory);
void
AddRecursiveMultiResolutionPyramidImageFilter(itk::GPURegistrationFactory & factory);
void
AddResampleImageFilter(itk::GPURegistrationFactory & factory);
void
AddShrinkImageFilter(itk::GPURegistrationFactory & factory);
void
AddSmoothingRecursiveGaussianImageFilter(itk::GPURegistrationFactory & factory);

/** Calls visit with a value of each scalar pixel type but long double, which is ITK's own. */
template <typename TVisitor>
void
ForEachScalar(const TVisitor & visit)
{
  visit(static_cast<unsigned char>(0));
  visit(static_cast<signed char>(0));
  visit(static_cast<char>(0));
  visit(static_cast<unsigned short>(0));
  visit(static_cast<short>(0));
  visit(static_cast<unsigned int>(0));
  visit(static_cast<int>(0));
  visit(static_cast<unsigned long>(0));
  visit(static_cast<long>(0));
  visit(static_cast<unsigned long long>(0));
  visit(static_cast<long long>(0));
  visit(0.0f);
  visit(0.0);
}

/** Calls visit with the dimensions, as types. */
template <typename TVisitor>
void
ForEachDimension(const TVisitor & visit)
{
  visit(std::integral_constant<unsigned int, 2>{});
  visit(std::integral_constant<unsigned int, 3>{});
}

/** A type as a value. */
template <typename T>
struct TypeOf
{
  using Type = T;
};

/** Calls visit with the image types, input and output, that are smoothed, shrunk and made pyramids of. Not those of 64
 * bits, whose digits the engine does not keep. */
template <typename TVisitor>
void
ForEachFilteredImage(const TVisitor & visit)
{
  ForEachDimension([&](auto dimension) {
    constexpr unsigned int D = decltype(dimension)::value;
    using FloatType = TypeOf<itk::Image<float, D>>;
    using DoubleType = TypeOf<itk::Image<double, D>>;
    visit(FloatType{}, FloatType{});
    visit(DoubleType{}, DoubleType{});
    const auto visitIntegers = [&](auto pixel) {
      using IntegerType = TypeOf<itk::Image<decltype(pixel), D>>;
      visit(IntegerType{}, IntegerType{});
      visit(IntegerType{}, FloatType{});
    };
    visitIntegers(static_cast<unsigned char>(0));
    visitIntegers(static_cast<short>(0));
    visitIntegers(static_cast<unsigned short>(0));
    visitIntegers(static_cast<int>(0));
    visitIntegers(static_cast<unsigned int>(0));
  });
}

} // namespace gpuregfactories

#endif
