// SPDX-License-Identifier: Apache-2.0
#ifndef GlobalStage_h
#define GlobalStage_h

#include "Volume.h"

#include "itkGPUDevice.h"

#include <ostream>
#include <string>
#include <vector>

namespace example
{

/** Settings of itk::GlobalAffineRegistrationMethod. */
struct GlobalSearchSettings
{
  itk::GPUDevice device;
  unsigned int   degreesOfFreedom = 12;
  std::string    cost = "CorrelationRatio";
  /** The start; null: the centres of mass are aligned. */
  LinearTransform::ConstPointer start;
};

struct GlobalSearchResult
{
  /** From fixed to moving points. */
  LinearTransform::Pointer transform;
  double                   cost;
  double                   overlap;
  /** Wall time of the whole search, and of each stage. */
  double seconds;
  struct Stage
  {
    std::string name;
    double      seconds;
  };
  std::vector<Stage> stages;
};

/** Finds the linear transform between two images, wherever they are.
 *  \param progress gets a line for every second
 *  \throws itk::ExceptionObject if the settings are out of range, the images have no overlap, or the device fails */
GlobalSearchResult
SearchGlobally(const Volume *               fixed,
               const Volume *               moving,
               const GlobalSearchSettings & settings,
               std::ostream &               progress);

/** Prints cost, overlap and times. */
std::ostream &
operator<<(std::ostream & os, const GlobalSearchResult & result);

} // namespace example

#endif
