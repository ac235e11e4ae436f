// SPDX-License-Identifier: Apache-2.0
#ifndef FreeFormByLBFGS_h
#define FreeFormByLBFGS_h

#include "Volume.h"

#include "itkBSplineTransform.h"
#include "itkGPUDevice.h"

namespace bench
{

struct LBFGSSettings
{
  itk::GPUDevice device;
  unsigned int   levels;
  double         spacing; // between control points at the finest level, mm
  double         bending; // as itk::FreeFormDeformationRegistrationMethod's weight
  unsigned int   bins;
  unsigned int   evaluations; // of each level, at most
};

struct LBFGSResult
{
  itk::BSplineTransform<double, 3, 3>::Pointer spline;
  unsigned int                                 evaluations; // of all levels
};

/** Minimizes the cost of itk::FreeFormDeformationRegistrationMethod, normalized mutual information and bending energy of a B-spline that
 *  is refined from level to level, by itk::LBFGSOptimizerv4: to compare the results of the same number of evaluations. Two things
 *  differ: forces point along ITK's gradient, of the smoothed moving image, and ITK refines the B-spline by approximation.
 *  \throws itk::ExceptionObject */
LBFGSResult
RegisterByLBFGS(const example::Volume * fixed, const example::Volume * moving, const LBFGSSettings & settings);

} // namespace bench

#endif
