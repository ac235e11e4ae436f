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

/** As itk::GlobalAffineRegistrationMethod has them. */
struct GlobalSearchSettings
{
  itk::GPUDevice device;
  unsigned int   degreesOfFreedom = 12;
  std::string    cost = "CorrelationRatio";
  /** Where it begins; null: with the centres of mass on each other. */
  LinearTransform::ConstPointer start;
};

struct GlobalSearchResult
{
  /** From fixed to moving points. */
  LinearTransform::Pointer transform;
  double                   cost;
  double                   overlap;
  /** Of wall time: all, and each stage's. */
  double seconds;
  struct Stage
  {
    std::string name;
    double      seconds;
  };
  std::vector<Stage> stages;
};

/** Finds how two images lie to each other, wherever they are.
 * \param progress gets a line for every second
 * \throws itk::ExceptionObject if the settings are out of range, the images have no overlap, or the device fails */
GlobalSearchResult
SearchGlobally(const Volume *               fixed,
               const Volume *               moving,
               const GlobalSearchSettings & settings,
               std::ostream &               progress);

/** Cost, overlap and times. */
std::ostream &
operator<<(std::ostream & os, const GlobalSearchResult & result);

} // namespace example

#endif
