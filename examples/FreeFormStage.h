// SPDX-License-Identifier: Apache-2.0
#ifndef FreeFormStage_h
#define FreeFormStage_h

#include "Volume.h"

#include "itkBSplineTransform.h"
#include "itkGPUDevice.h"

#include <ostream>
#include <vector>

namespace example
{

using FreeFormDeformation = itk::BSplineTransform<double, 3, 3>;

/** As itk::FreeFormDeformationRegistrationMethod has them. */
struct FreeFormSettings
{
  itk::GPUDevice device;
  /** mm between control points at the finest level; 0: what the method has itself. */
  double spacing = 0.0;
  /** 0: as many as the method finds of use. */
  unsigned int levels = 0;
  /** Of each level. */
  unsigned int iterations = 100;
  /** Both images are smoothed and have voxels so many times as long. */
  unsigned int shrink = 1;
};

struct FreeFormResult
{
  /** From fixed to moving points: the deformation, and behind it the linear transform that it began with. */
  Transform::Pointer transform;
  /** The deformation alone. */
  FreeFormDeformation::ConstPointer deformation;
  /** Before the first and before the last step of each level, the coarsest first. */
  struct LevelCosts
  {
    double first;
    double last;
  };
  std::vector<LevelCosts> costs;
  /** Of the Jacobian of the deformation, over its control points: 0 or less where it folds. */
  double smallestDeterminant;
  /** Of wall time. */
  double seconds;
};

/** Registers two images by itk::FreeFormDeformationRegistrationMethod, beginning with a linear transform.
 * \param progress gets a line for every second: level, iteration
 * \throws itk::ExceptionObject if the settings are out of range, the images have no overlap, or the device fails */
FreeFormResult
RegisterFreeForm(const Volume *           fixed,
                 const Volume *           moving,
                 const LinearTransform *  initial,
                 const FreeFormSettings & settings,
                 std::ostream &           progress);

/** Costs by level, smallest determinant, and time. */
std::ostream &
operator<<(std::ostream & os, const FreeFormResult & result);

} // namespace example

#endif
