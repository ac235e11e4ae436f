// SPDX-License-Identifier: Apache-2.0
// ITK's classes that most tests have, compiled once (TestInstances.cxx) for all the tests: their functions take much of a compiler's
// time.
#ifndef TestInstances_h
#define TestInstances_h

#include "itkBSplineBaseTransform.h"
#include "itkBSplineDecompositionImageFilter.h"
#include "itkBSplineInterpolateImageFunction.h"
#include "itkBSplineTransform.h"
#include "itkCompositeTransform.h"
#include "itkDisplacementFieldTransform.h"
#include "itkGradientRecursiveGaussianImageFilter.h"
#include "itkImage.h"
#include "itkImageMaskSpatialObject.h"
#include "itkImageSource.h"
#include "itkImageToImageFilter.h"
#include "itkMatrixOffsetTransformBase.h"
#include "itkMultiTransform.h"
#include "itkRecursiveGaussianImageFilter.h"
#include "itkRecursiveSeparableImageFilter.h"
#include "itkResampleImageFilter.h"
#include "itkShrinkImageFilter.h"
#include "itkSmoothingRecursiveGaussianImageFilter.h"
#include "itkSpatialObject.h"
#include "itkTransform.h"

#ifdef GPUREG_TEST_INSTANTIATES
#  define GPUREG_TEST_INSTANCE template class
#else
#  define GPUREG_TEST_INSTANCE extern template class
#endif

GPUREG_TEST_INSTANCE itk::ImageBase<2>;
GPUREG_TEST_INSTANCE itk::Image<float, 2>;
GPUREG_TEST_INSTANCE itk::Image<double, 2>;
GPUREG_TEST_INSTANCE itk::Transform<double, 2, 2>;
GPUREG_TEST_INSTANCE itk::MatrixOffsetTransformBase<double, 2, 2>;
GPUREG_TEST_INSTANCE itk::MultiTransform<double, 2, 2>;
GPUREG_TEST_INSTANCE itk::CompositeTransform<double, 2>;
GPUREG_TEST_INSTANCE itk::DisplacementFieldTransform<double, 2>;
GPUREG_TEST_INSTANCE itk::BSplineBaseTransform<double, 2, 3>;
GPUREG_TEST_INSTANCE itk::BSplineTransform<double, 2, 3>;
GPUREG_TEST_INSTANCE itk::ImageSource<itk::Image<float, 2>>;
GPUREG_TEST_INSTANCE itk::ImageSource<itk::Image<double, 2>>;
GPUREG_TEST_INSTANCE itk::ImageToImageFilter<itk::Image<float, 2>, itk::Image<float, 2>>;
GPUREG_TEST_INSTANCE itk::ImageToImageFilter<itk::Image<float, 2>, itk::Image<double, 2>>;
GPUREG_TEST_INSTANCE itk::ImageToImageFilter<itk::Image<double, 2>, itk::Image<double, 2>>;
GPUREG_TEST_INSTANCE itk::RecursiveSeparableImageFilter<itk::Image<float, 2>, itk::Image<float, 2>>;
GPUREG_TEST_INSTANCE itk::RecursiveGaussianImageFilter<itk::Image<float, 2>, itk::Image<float, 2>>;
GPUREG_TEST_INSTANCE itk::SmoothingRecursiveGaussianImageFilter<itk::Image<float, 2>, itk::Image<float, 2>>;
GPUREG_TEST_INSTANCE itk::GradientRecursiveGaussianImageFilter<itk::Image<float, 2>>;
GPUREG_TEST_INSTANCE itk::GradientRecursiveGaussianImageFilter<itk::Image<double, 2>>;
GPUREG_TEST_INSTANCE itk::ShrinkImageFilter<itk::Image<float, 2>, itk::Image<float, 2>>;
GPUREG_TEST_INSTANCE itk::ResampleImageFilter<itk::Image<float, 2>, itk::Image<float, 2>>;
GPUREG_TEST_INSTANCE itk::BSplineDecompositionImageFilter<itk::Image<float, 2>, itk::Image<double, 2>>;
GPUREG_TEST_INSTANCE itk::BSplineInterpolateImageFunction<itk::Image<float, 2>, double, double>;
GPUREG_TEST_INSTANCE itk::SpatialObject<2>;
GPUREG_TEST_INSTANCE itk::ImageMaskSpatialObject<2>;

GPUREG_TEST_INSTANCE itk::ImageBase<3>;
GPUREG_TEST_INSTANCE itk::Image<float, 3>;
GPUREG_TEST_INSTANCE itk::Image<double, 3>;
GPUREG_TEST_INSTANCE itk::Transform<double, 3, 3>;
GPUREG_TEST_INSTANCE itk::MatrixOffsetTransformBase<double, 3, 3>;
GPUREG_TEST_INSTANCE itk::MultiTransform<double, 3, 3>;
GPUREG_TEST_INSTANCE itk::CompositeTransform<double, 3>;
GPUREG_TEST_INSTANCE itk::DisplacementFieldTransform<double, 3>;
GPUREG_TEST_INSTANCE itk::BSplineBaseTransform<double, 3, 3>;
GPUREG_TEST_INSTANCE itk::BSplineTransform<double, 3, 3>;
GPUREG_TEST_INSTANCE itk::ImageSource<itk::Image<float, 3>>;
GPUREG_TEST_INSTANCE itk::ImageSource<itk::Image<double, 3>>;
GPUREG_TEST_INSTANCE itk::ImageToImageFilter<itk::Image<float, 3>, itk::Image<float, 3>>;
GPUREG_TEST_INSTANCE itk::ImageToImageFilter<itk::Image<float, 3>, itk::Image<double, 3>>;
GPUREG_TEST_INSTANCE itk::ImageToImageFilter<itk::Image<double, 3>, itk::Image<double, 3>>;
GPUREG_TEST_INSTANCE itk::RecursiveSeparableImageFilter<itk::Image<float, 3>, itk::Image<float, 3>>;
GPUREG_TEST_INSTANCE itk::RecursiveGaussianImageFilter<itk::Image<float, 3>, itk::Image<float, 3>>;
GPUREG_TEST_INSTANCE itk::SmoothingRecursiveGaussianImageFilter<itk::Image<float, 3>, itk::Image<float, 3>>;
GPUREG_TEST_INSTANCE itk::GradientRecursiveGaussianImageFilter<itk::Image<float, 3>>;
GPUREG_TEST_INSTANCE itk::GradientRecursiveGaussianImageFilter<itk::Image<double, 3>>;
GPUREG_TEST_INSTANCE itk::ShrinkImageFilter<itk::Image<float, 3>, itk::Image<float, 3>>;
GPUREG_TEST_INSTANCE itk::ResampleImageFilter<itk::Image<float, 3>, itk::Image<float, 3>>;
GPUREG_TEST_INSTANCE itk::BSplineDecompositionImageFilter<itk::Image<float, 3>, itk::Image<double, 3>>;
GPUREG_TEST_INSTANCE itk::BSplineInterpolateImageFunction<itk::Image<float, 3>, double, double>;
GPUREG_TEST_INSTANCE itk::SpatialObject<3>;
GPUREG_TEST_INSTANCE itk::ImageMaskSpatialObject<3>;

#undef GPUREG_TEST_INSTANCE

#endif
