// SPDX-License-Identifier: Apache-2.0
// ITK's classes that most tests use, compiled once for all tests (TestInstances.cxx), since they take much of a compiler's time.
#ifndef TestInstances_h
#define TestInstances_h

#include "itkAffineTransform.h"
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
#include "itkTranslationTransform.h"
#include "itkWindowConvergenceMonitoringFunction.h"

// Lists the classes of a dimension; a template cannot list explicit instantiations.
#define GPUREG_TEST_INSTANCES(instance, D)                                                         \
  instance itk::ImageBase<D>;                                                                      \
  instance itk::Image<float, D>;                                                                   \
  instance itk::Image<double, D>;                                                                  \
  instance itk::Transform<double, D, D>;                                                           \
  instance itk::MatrixOffsetTransformBase<double, D, D>;                                           \
  instance itk::AffineTransform<double, D>;                                                        \
  instance itk::TranslationTransform<double, D>;                                                   \
  instance itk::MultiTransform<double, D, D>;                                                      \
  instance itk::CompositeTransform<double, D>;                                                     \
  instance itk::DisplacementFieldTransform<double, D>;                                             \
  instance itk::BSplineBaseTransform<double, D, 3>;                                                \
  instance itk::BSplineTransform<double, D, 3>;                                                    \
  instance itk::ImageSource<itk::Image<float, D>>;                                                 \
  instance itk::ImageSource<itk::Image<double, D>>;                                                \
  instance itk::ImageToImageFilter<itk::Image<float, D>, itk::Image<float, D>>;                    \
  instance itk::ImageToImageFilter<itk::Image<float, D>, itk::Image<double, D>>;                   \
  instance itk::ImageToImageFilter<itk::Image<double, D>, itk::Image<double, D>>;                  \
  instance itk::RecursiveSeparableImageFilter<itk::Image<float, D>, itk::Image<float, D>>;         \
  instance itk::RecursiveGaussianImageFilter<itk::Image<float, D>, itk::Image<float, D>>;          \
  instance itk::SmoothingRecursiveGaussianImageFilter<itk::Image<float, D>, itk::Image<float, D>>; \
  instance itk::GradientRecursiveGaussianImageFilter<itk::Image<float, D>>;                        \
  instance itk::GradientRecursiveGaussianImageFilter<itk::Image<double, D>>;                       \
  instance itk::ShrinkImageFilter<itk::Image<float, D>, itk::Image<float, D>>;                     \
  instance itk::ResampleImageFilter<itk::Image<float, D>, itk::Image<float, D>>;                   \
  instance itk::BSplineDecompositionImageFilter<itk::Image<float, D>, itk::Image<double, D>>;      \
  instance itk::InterpolateImageFunction<itk::Image<float, D>, double>;                            \
  instance itk::BSplineInterpolateImageFunction<itk::Image<float, D>, double, double>;             \
  instance itk::SpatialObject<D>;                                                                  \
  instance itk::ImageMaskSpatialObject<D>

#ifdef GPUREG_TEST_INSTANTIATES
// ITK's optimizers and SyN use it.
template class itk::Function::WindowConvergenceMonitoringFunction<double>;
GPUREG_TEST_INSTANCES(template class, 2);
GPUREG_TEST_INSTANCES(template class, 3);
#else
extern template class itk::Function::WindowConvergenceMonitoringFunction<double>;
GPUREG_TEST_INSTANCES(extern template class, 2);
GPUREG_TEST_INSTANCES(extern template class, 3);
#endif

#undef GPUREG_TEST_INSTANCES

#endif
