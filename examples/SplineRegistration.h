// SPDX-License-Identifier: Apache-2.0
#ifndef SplineRegistration_h
#define SplineRegistration_h

#include "Volume.h"

#include "itkBSplineTransform.h"
#include "itkGPUDevice.h"

namespace example
{

using SplineTransform = itk::BSplineTransform<double, 3, 3>;

struct SplineSettings
{
  /** Where the metric computes. */
  itk::GPUDevice device;
  /** Of a pyramid whose voxels and whose mesh are twice as fine from level to level. */
  unsigned int levels = 3;
  /** mm between control points at the finest level. */
  double spacing = 10.0;
  /** Line searches of each level. */
  unsigned int iterations = 30;
};

/** Free-form deformation by ITK's own classes, with nothing but the metric swapped: itk::ImageRegistrationMethodv4,
 * itk::BSplineTransformParametersAdaptor and conjugate gradients with line search, with itk::CudaMattesNMI, whose
 * derivative by the spline is gathered on the device. There is no penalty: the spacing alone keeps it smooth.
 * itk::FreeFormDeformationRegistrationMethod has one, and leaves nothing to the host.
 * \returns the spline, from fixed to moving points
 * \throws itk::ExceptionObject */
SplineTransform::Pointer
RegisterBySpline(const Volume * fixed, const Volume * moving, const SplineSettings & settings);

} // namespace example

#endif
