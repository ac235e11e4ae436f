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
  double         spacing; // mm between control points at the finest level
  double         bending; // as itk::FreeFormDeformationRegistrationMethod's
  unsigned int   bins;
  unsigned int   evaluations; // of each level, at most
};

struct LBFGSResult
{
  itk::BSplineTransform<double, 3, 3>::Pointer spline;
  unsigned int                                 evaluations; // of all levels
};

/** What itk::FreeFormDeformationRegistrationMethod goes down along, normalised mutual information and bending energy of a B-spline that is
 * refined from level to level, by itk::LBFGSOptimizerv4: to compare how near as many evaluations come. Two things differ: forces go along
 * ITK's gradient, of the smoothed moving image, and ITK refines the B-spline by approximation.
 * \throws itk::ExceptionObject */
LBFGSResult
RegisterByLBFGS(const example::Volume * fixed, const example::Volume * moving, const LBFGSSettings & settings);

} // namespace bench

#endif
