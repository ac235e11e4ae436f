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
  /** The device on which the metric computes. */
  itk::GPUDevice device;
  /** Levels of a pyramid; each has voxels and mesh cells of half the length of the level before. */
  unsigned int levels = 3;
  /** Distance of control points at the finest level in mm. */
  double spacing = 10.0;
  /** Line searches of each level. */
  unsigned int iterations = 30;
};

/** Registers by free-form deformation with ITK's own classes, except for the metric: itk::ImageRegistrationMethodv4,
 *  itk::BSplineTransformParametersAdaptor and conjugate gradients with line search, with itk::CudaMattesNMI, whose derivative by the
 *  spline is computed on the device. There is no penalty: only the spacing keeps the deformation smooth.
 *  itk::FreeFormDeformationRegistrationMethod has one, and leaves nothing to the host.
 *  \returns the spline, from fixed to moving points
 *  \throws itk::ExceptionObject */
SplineTransform::Pointer
RegisterBySpline(const Volume * fixed, const Volume * moving, const SplineSettings & settings);

} // namespace example

#endif
