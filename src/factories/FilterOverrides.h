// SPDX-License-Identifier: Apache-2.0
// Lists the types that the factory overrides. The overrides for one type of pixel are compiled in one file, since ITK's filters are
// made of each other: Floats2D.cxx and so on.
#ifndef FilterOverrides_h
#define FilterOverrides_h

#include "itkGPURegistrationFactory.h"

namespace gpuregfactories
{

/** The overrides of images of a pixel type, to the same type and, of integers, to float. */
template <typename TPixel, unsigned int VDimension>
struct FilterOverrides
{
  /** To the same type alone. */
  static void
  AddResample(itk::GPURegistrationFactory & factory);
  static void
  AddRecursiveGaussian(itk::GPURegistrationFactory & factory);
  static void
  AddSmoothingRecursiveGaussian(itk::GPURegistrationFactory & factory);
  static void
  AddShrink(itk::GPURegistrationFactory & factory);
  static void
  AddMultiResolutionPyramid(itk::GPURegistrationFactory & factory);
  static void
  AddRecursiveMultiResolutionPyramid(itk::GPURegistrationFactory & factory);
  /** To double, and of float to float. */
  static void
  AddBSplineDecomposition(itk::GPURegistrationFactory & factory);
};

/** Overrides the remaining types of ResampleImageFilter: scalars of 8 and 64 bits, which the other filters leave to ITK, outputs of
 *  another type, vectors and colours, and those with transforms of float. */
template <unsigned int VDimension>
struct OtherResampleOverrides
{
  static void
  Add(itk::GPURegistrationFactory & factory);
};

/** Calls visit with a FilterOverrides of each pixel type and dimension. Not of 64-bit integers, whose digits the engine
 *  does not keep. See GPURegistration_FEW_OVERRIDES, too. */
template <typename TVisitor>
void
ForEachFilterOverrides(const TVisitor & visit)
{
  visit(FilterOverrides<float, 3>{});
  visit(FilterOverrides<double, 3>{});
#ifndef GPUREG_FEW_OVERRIDES
  visit(FilterOverrides<float, 2>{});
  visit(FilterOverrides<double, 2>{});
  visit(FilterOverrides<unsigned char, 2>{});
  visit(FilterOverrides<short, 2>{});
  visit(FilterOverrides<unsigned short, 2>{});
  visit(FilterOverrides<int, 2>{});
  visit(FilterOverrides<unsigned int, 2>{});
  visit(FilterOverrides<unsigned char, 3>{});
  visit(FilterOverrides<short, 3>{});
  visit(FilterOverrides<unsigned short, 3>{});
  visit(FilterOverrides<int, 3>{});
  visit(FilterOverrides<unsigned int, 3>{});
#endif
}

} // namespace gpuregfactories

#endif
