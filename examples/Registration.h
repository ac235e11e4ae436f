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

/** The measures of the images' similarity. */
enum class Measure
{
  /** itk::CudaMattesNMI. */
  NormalizedMutualInformation,
  /** itk::CudaMattesNMI with NormalizedOff(). */
  MutualInformation,
  /** ITK's own Mattes metric, for comparison. */
  ITKMattes,
  MeanSquares,
  Correlation,
  MeanAbsoluteDifferences
};

/** The optimizers. */
enum class Search
{
  /** Along the gradient, on three levels of a pyramid. */
  Gradient,
  /** The downhill simplex on the images without smoothing: Ansorge 2008. */
  Simplex
};

struct RegistrationSettings
{
  /** Rigid only, or rigid and then affine. */
  Model model = Model::Affine;
  /** The device on which the metric computes. */
  itk::GPUDevice device;
  Measure        measure = Measure::NormalizedMutualInformation;
  Search         search = Search::Gradient;
  /** See TrustsTimeStampsOn() of this module's metrics. */
  bool trustsTimeStamps = true;
};

/** Returns the names of the metric and the device. */
std::string
Describe(const RegistrationSettings & settings);

/** The result of one stage, rigid or affine, and its wall time in seconds, with the metric's part. */
struct StageReport
{
  std::string              name;
  LinearTransform::Pointer transform;
  double                   seconds;
  MetricTimes              metric;
};

struct RegistrationResult
{
  /** From the fixed to the moving image's points, in mm: before and after the stages. */
  LinearTransform::Pointer start;
  LinearTransform::Pointer transform;
  std::vector<StageReport> stages;
};

/** Registers two images of the same head by an itk::ImageRegistrationMethodv4. It starts with aligned centres of the images, or with a
 *  given transform, which an affine registration refines without a rigid stage. The images have one contrast or two, which only mutual
 *  information can compare. Each level ends with the best parameters that its optimizer evaluated.
 *  \param progress gets a line for every tenth of a second: level, iteration, value
 *  \param start null for none
 *  \throws itk::ExceptionObject if the images have no overlap, if the device fails, or if the start of a rigid registration is not rigid
 *  to within 1e-4 */
RegistrationResult
Register(const Volume *               fixed,
         const Volume *               moving,
         const RegistrationSettings & settings,
         std::ostream &               progress,
         const LinearTransform *      start = nullptr);

/** Prints a table of the stages' times. */
void
PrintTimes(const std::vector<StageReport> & stages, std::ostream & os);

} // namespace example

#endif
