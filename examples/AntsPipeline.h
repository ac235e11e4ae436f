// SPDX-License-Identifier: Apache-2.0
// The registration that antsRegistration makes by default of two heads, with ITK's classes.
#ifndef AntsPipeline_h
#define AntsPipeline_h

#include "Volume.h"

#include "itkVector.h"

#include <cstdint>
#include <string>
#include <vector>

namespace example
{

/** A level of a stage: -f, -s (in voxels) and -c of antsRegistration. */
struct AntsLevel
{
  unsigned int shrink;
  double       sigma;
  unsigned int iterations;
};

/** The settings of -t Rigid[0.1] -t Affine[0.1] -m MI[fixed,moving,1,32,Regular,0.25], and -t SyN[0.1,3,0] -m CC[fixed,moving,1,4]. */
struct AntsSettings
{
  std::vector<AntsLevel> linearLevels{ { 8, 3, 1000 }, { 4, 2, 500 }, { 2, 1, 250 }, { 1, 0, 100 } };
  std::vector<AntsLevel> synLevels{ { 8, 3, 100 }, { 4, 2, 70 }, { 2, 1, 50 }, { 1, 0, 20 } };
  double                 step = 0.1;
  unsigned int           bins = 32;
  double                 sampledPart = 0.25;
  unsigned int           radius = 4;
  double                 updateVariance = 3;
  double                 totalVariance = 0;
  double                 convergenceThreshold = 1e-6;
  unsigned int           convergenceWindow = 10;
  int                    seed = 1;
};

struct AntsStage
{
  std::string name;
  double      seconds;
  /** The metric's value at the stage's end. */
  double value;
  /** True if New() gave ITK's own metric, not an override. */
  bool isByITK;
};

struct AntsResult
{
  std::vector<AntsStage> stages;
  /** Where the fixed image's voxels are mapped to, in their order. */
  std::vector<itk::Point<double, 3>> points;
};

/** Registers two images, with classes that New() gives.
 *  \tparam TReal the internal type, and that of the images, as antsRegistration chooses it: double, or float by --float 1. */
template <typename TReal>
AntsResult
RegisterAsAnts(const Volume * fixed, const Volume * moving, const AntsSettings & settings);

extern template AntsResult
RegisterAsAnts<float>(const Volume *, const Volume *, const AntsSettings &);
extern template AntsResult
RegisterAsAnts<double>(const Volume *, const Volume *, const AntsSettings &);

/** Measures how far apart two registrations map the fixed image's voxels, in mm. */
struct AntsDifference
{
  double mean;
  double maximum;
};

AntsDifference
Compare(const AntsResult & one, const AntsResult & other);

} // namespace example

#endif
