// SPDX-License-Identifier: Apache-2.0
#ifndef DenseStage_h
#define DenseStage_h

#include "Volume.h"

#include "itkGPUDevice.h"

#include <ostream>

namespace example
{

/** Settings of itk::DiffeomorphicRegistrationMethod. */
struct DenseSettings
{
  itk::GPUDevice device;
  /** Both images are smoothed and have voxels that are longer by this factor. */
  unsigned int shrink = 1;
};

struct DenseResult
{
  /** From fixed to moving points: the deformation, followed by the linear transform from which it started. */
  Transform::Pointer transform;
  /** The smallest determinant of the deformation's Jacobian over the voxels: 0 or less where it folds. */
  double smallestDeterminant;
  /** Wall time. */
  double seconds;
};

/** Registers two images of any contrasts by itk::DiffeomorphicRegistrationMethod, starting with a linear transform.
 *  \param progress gets a line for every second: level, iteration
 *  \throws itk::ExceptionObject if the images have no overlap, or the device fails */
DenseResult
RegisterDensely(const Volume *          fixed,
                const Volume *          moving,
                const LinearTransform * initial,
                const DenseSettings &   settings,
                std::ostream &          progress);

/** Prints the smallest determinant and the time. */
std::ostream &
operator<<(std::ostream & os, const DenseResult & result);

} // namespace example

#endif
