// SPDX-License-Identifier: Apache-2.0
#ifndef Registration_h
#define Registration_h

#include "TimedMetric.h"
#include "Volume.h"

#include "itkGPUDevice.h"

#include <ostream>
#include <string>
#include <vector>

namespace example
{

enum class Model
{
  Rigid,
  Affine
};

/** What says how well the images match. */
enum class Measure
{
  /** itk::CudaMattesNMI, … */
  NormalizedMutualInformation,
  /** … and the same with NormalizedOff(). */
  MutualInformation,
  /** ITK's own Mattes metric in its place, to compare with. */
  ITKMattes,
  MeanSquares,
  Correlation,
  MeanAbsoluteDifferences
};

/** How its best is looked for. */
enum class Search
{
  /** Along its gradient, on three levels of a pyramid. */
  Gradient,
  /** By the downhill simplex on the images as they are: Ansorge 2008. */
  Simplex
};

struct RegistrationSettings
{
  /** Rigid alone, or rigid and then affine. */
  Model model = Model::Affine;
  /** Where the metric computes. */
  itk::GPUDevice device;
  Measure        measure = Measure::NormalizedMutualInformation;
  Search         search = Search::Gradient;
  /** See TrustsTimeStampsOn() of this module's metrics. */
  bool trustsTimeStamps = true;
};

/** Names the metric and the device. */
std::string
Describe(const RegistrationSettings & settings);

/** What one stage, rigid or affine, ended with, and took; seconds of wall time, the metric's among them. */
struct StageReport
{
  std::string              name;
  LinearTransform::Pointer transform;
  double                   seconds;
  MetricTimes              metric;
};

struct RegistrationResult
{
  /** From the fixed to the moving image's points, in mm: where the stages began and where they ended. */
  LinearTransform::Pointer start;
  LinearTransform::Pointer transform;
  std::vector<StageReport> stages;
};

/** Registers two images of the same head by an itk::ImageRegistrationMethodv4, starting with the images' centres on each
 * other, or with a transform from elsewhere, which an affine registration refines without a rigid one before. They are of one contrast or of two, which only mutual information can compare. Each level ends with the best
 * parameters that its optimizer saw.
 * \param progress gets a line for every tenth of a second: level, iteration, value
 * \param start null for none
 * \throws itk::ExceptionObject if they have no overlap, if the device fails, or if a start is not rigid where all is to be */
RegistrationResult
Register(const Volume *               fixed,
         const Volume *               moving,
         const RegistrationSettings & settings,
         std::ostream &               progress,
         const LinearTransform *      start = nullptr);

/** A table of the stages' times. */
void
PrintTimes(const std::vector<StageReport> & stages, std::ostream & os);

} // namespace example

#endif
