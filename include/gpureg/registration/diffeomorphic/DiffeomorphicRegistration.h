// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_DiffeomorphicRegistration_h
#define gpureg_DiffeomorphicRegistration_h

#include "GPURegistrationExport.h"
#include "gpureg/core/EvaluationStatistics.h"
#include "gpureg/core/Geometry.h"
#include "gpureg/core/ParallelFor.h"
#include "gpureg/image/RegisteredImage.h"
#include "gpureg/metric/Similarity.h"
#include "gpureg/registration/DeformationProgress.h"
#include "gpureg/runtime/EngineUser.h"
#include "gpureg/transform/TransformChain.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gpureg
{

/** Describes the images to register. */
struct DiffeomorphicProblem
{
  /** 2 or 3. */
  int             dimension = 3;
  RegisteredImage fixed;
  RegisteredImage moving;
  /** Maps points of the fixed image's space to those of the moving image's, after the deformation. A linear map. */
  TransformChain initial;
};

/** Holds the settings of a registration. */
struct DiffeomorphicSettings
{
  /** Number of iterations at each level, the coarsest first. The finest level has the fixed image's voxels, and voxels are twice as long
   *  from level to level. */
  std::vector<int> iterations{ 100, 100, 100, 50 };
  /** One that serves free-form deformations: SimilarityDescription::isForFreeForm. */
  SimilarityKind similarity = SimilarityKind::NeighborhoodCorrelation;
  /** Number of bins, of a similarity that has bins. */
  int bins = 32;
  /** Radius of a neighborhood along each axis, in a level's voxels, of a correlation over neighborhoods. */
  int radius = 2;
  /** Standard deviations of the Gaussians, in a level's voxels, that smooth each update, and the whole field after it. 0: none. */
  double updateSigma = 1.732;
  double fieldSigma = 0.6;
  /** Length of the longest vector of each update, in a level's voxels. */
  double step = 1;
  /** Ranges of values, as GlobalSettings::fixedRange and movingRange. */
  std::optional<ValueRange> fixedRange;
  std::optional<ValueRange> movingRange;
};

using DiffeomorphicProgress = DeformationProgress;

/** Describes the result of one level. */
struct DiffeomorphicLevelResult
{
  /** Cost before each step: the similarity's value times its sign; of a correlation over neighborhoods, minus the mean of the signed
   *  squared correlation. */
  std::vector<double> costs;
  /** Number of voxels of the level. */
  std::int64_t voxels = 0;
  double       milliseconds = 0;
};

struct DiffeomorphicResult
{
  /** Results of the levels, the coarsest first. */
  std::vector<DiffeomorphicLevelResult> levels;
  /** Least Jacobian determinant of x + u(x) over the fixed image's voxels, and the number of voxels at which it is 0 or less. */
  double       smallestDeterminant = 1;
  std::int64_t foldedVoxels = 0;
  /** Standard deviation of the logarithm of the determinants that are above 0. */
  double logDeterminantDeviation = 0;
  /** Warnings: each is a sentence, without a full stop, on something else that may have gone wrong. */
  std::vector<std::string> warnings;
  double                   milliseconds = 0;
};

/** Registers two images by a displacement for each voxel, on one device. Greedily: each iteration smooths the gradient of the
 *  similarity, scales it to a step, composes the field with it, u(x) ← v(x) + u(x + v(x)), and smooths the field (Avants 2008; Yushkevich
 *  2016). The composition of small invertible steps is invertible, so that the field does not fold unless the smoothing is too weak for its
 *  steps.
 *
 *  The images are on the device already, and no voxel is transferred until the result. Within a level nothing is transferred. The arrays
 *  stay on the device for the next registration of images of the same size.
 *
 *  Use one object from one thread at a time. Every function throws gpureg::Error, and the object can be used again after an error. */
class GPURegistration_EXPORT DiffeomorphicRegistration : public Engine
{
public:
  /** Makes an engine on one device.
   *  \throws Error if there is no such device; the message lists the devices. */
  explicit DiffeomorphicRegistration(const std::string & deviceName);
  ~DiffeomorphicRegistration() override;
  DiffeomorphicRegistration(const DiffeomorphicRegistration &) = delete;
  DiffeomorphicRegistration &
  operator=(const DiffeomorphicRegistration &) = delete;

  const std::string &
  GetDeviceName() const override;

  std::size_t
  GetHeldBytes() const override;

  /** Registers two images.
   *  \param problem the images, with masks, and the initial transform.
   *  \param settings the settings.
   *  \param parallelFor the threads to use.
   *  \param progress called from the caller's thread before each iteration, when the device may not have finished the iterations of the
   *  last 40 ms, or the last two iterations; may throw to end the work, and may be empty.
   *  \throws BadInputError for settings out of range, images that are missing, constant or not on the device, or an initial transform
   *  that maps the whole fixed image out of the moving image; UnsupportedError for an initial transform that is not linear. */
  DiffeomorphicResult
  Register(const DiffeomorphicProblem &                               problem,
           const DiffeomorphicSettings &                              settings,
           const ParallelFor &                                        parallelFor,
           const std::function<void(const DiffeomorphicProgress &)> & progress = {});

  /** Passes the deformation of the last registration to take, at each voxel of the fixed image: float[3], in mm, in chunks, from
   *  several threads at once. */
  void
  TakeDisplacements(const std::function<void(std::int64_t first, std::int64_t count, const float * in)> & take,
                    const ParallelFor &                                                                   parallelFor);

  /** Returns the statistics of the last registration. */
  EvaluationStatistics
  GetStatistics() const;

private:
  class Implementation;
  std::unique_ptr<Implementation> m_Implementation;
};

} // namespace gpureg

#endif
