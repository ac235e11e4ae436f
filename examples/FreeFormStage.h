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

/** Settings of itk::FreeFormDeformationRegistrationMethod. */
struct FreeFormSettings
{
  itk::GPUDevice device;
  /** Distance of control points at the finest level in mm; 0: the method's default. */
  double spacing = 0.0;
  /** 0: as many as the method finds useful. */
  unsigned int levels = 0;
  /** For each level. */
  unsigned int iterations = 100;
  /** Both images are smoothed and have voxels that are longer by this factor. */
  unsigned int shrink = 1;
};

struct FreeFormResult
{
  /** From fixed to moving points: the deformation, followed by the linear transform from which it started. */
  Transform::Pointer transform;
  /** The deformation alone. */
  FreeFormDeformation::ConstPointer deformation;
  /** The costs before the first and before the last step of each level, the coarsest first. */
  struct LevelCosts
  {
    double first;
    double last;
  };
  std::vector<LevelCosts> costs;
  /** The smallest determinant of the deformation's Jacobian over its control points: 0 or less where it folds. */
  double smallestDeterminant;
  /** Wall time. */
  double seconds;
};

/** Registers two images by itk::FreeFormDeformationRegistrationMethod, starting with a linear transform.
 *  \param progress gets a line for every second: level, iteration
 *  \throws itk::ExceptionObject if the settings are out of range, the images have no overlap, or the device fails */
FreeFormResult
RegisterFreeForm(const Volume *           fixed,
                 const Volume *           moving,
                 const LinearTransform *  initial,
                 const FreeFormSettings & settings,
                 std::ostream &           progress);

/** Prints costs by level, smallest determinant, and time. */
std::ostream &
operator<<(std::ostream & os, const FreeFormResult & result);

} // namespace example

#endif
