// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_FreeFormRegistration_h
#define gpureg_FreeFormRegistration_h

#include "GPURegistrationExport.h"
#include "gpureg/penalty/ControlPenalty.h"
#include "gpureg/runtime/EngineUser.h"
#include "gpureg/core/EvaluationStatistics.h"
#include "gpureg/registration/free_form/FreeFormChoices.h"
#include "gpureg/core/Geometry.h"
#include "gpureg/core/ParallelFor.h"
#include "gpureg/image/RegisteredImage.h"
#include "gpureg/transform/TransformChain.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gpureg
{

/** What is registered. */
struct FreeFormProblem
{
  /** 2 or 3. */
  int             dimension = 3;
  RegisteredImage fixed;
  RegisteredImage moving;
  /** From points of the fixed image's space to the moving one's, applied behind the deformation. Its grids' vectors are sent once. */
  TransformChain initial;
};

/** How. */
struct FreeFormSettings
{
  SimilarityKind similarity = SimilarityKind::NormalizedMutualInformation;
  /** Of a pyramid whose voxels are twice as long from level to level; 1 to 5. 0: 4, or as many as leave the coarsest one
   *  FreeFormResult::leastVoxels inside of masks, 256 at least. */
  int levels = 0;
  /** mm, between control points at the finest level, along each axis of the fixed image; twice as much at each coarser one. 0: five
   *  of the image's voxels along that axis, five of the shortest at least: what Modat 2010 has, 5 mm of a head of 1 mm; of images of
   *  more than some 400 voxels along an axis as many more as leave about 280 of them. With fewer voxels between them control points
   *  follow noise. */
  std::array<double, 3> spacing{ 0, 0, 0 };
  /** Of the joint histogram. */
  int bins = 64;
  /** Of a neighborhood, voxels of a level along each axis. */
  int radius = 4;
  /** α in C = (1 - Σ α)·similarity + Σ α·P (Modat 2010, equation 1), where P is each of the penalties: see PenaltyKind.
   *  Bending is that of displacements in a level's voxels, by steps of its control grid: one weight serves all levels. */
  double            bendingWeight = 0.01;
  double            linearWeight = 0;
  double            jacobianWeight = 0;
  FreeFormOptimizer optimizer = FreeFormOptimizer::Adam;
  /** Steps of a level, or lines, at most. */
  int iterations = 100;
  /** The first step of a level in its voxels, the shortest edge. Adam's fall to 0 along half a cosine; of a conjugate gradient no
   *  trial's is longer. */
  double firstStep = 0.5;
  /** Voxels of a level's fixed image that an iteration looks at, at most: a subsample, placed anew for each by random numbers from the
   *  seed, the same on every device; 0: all of them. Not for a neighborhood correlation, which has no neighborhoods then, nor for a
   *  conjugate gradient, whose trials are of one function. On the host so many can do; a GPU is not kept busy by them. */
  std::int64_t  samples = 0;
  std::uint64_t seed = 1;
  /** A level ends when the mean cost of the last iterations, as many as the window has, is below that of as many before by no more
   *  than this share of it. 0: it does not end before its last iteration, and no cost comes down before. */
  double convergenceThreshold = 0;
  int    convergenceWindow = 10;
  /** These ranges mean the same as GlobalSettings::fixedRange and movingRange. */
  std::optional<ValueRange> fixedRange;
  std::optional<ValueRange> movingRange;
};

/** Where a registration is. */
struct FreeFormProgress
{
  int level = 0; // the coarsest is 0
  int levels = 1;
  int iteration = 0;
  /** Of all iterations. */
  double share = 0;
  /** Downloads the cost before the last iteration, of a conjugate gradient that of the last trial: the device is waited for. Not a number
   *  at a level's begin. To be called while the progress is told, not later. */
  std::function<double()> findCost;
};

/** What one level came to. */
struct FreeFormLevelResult
{
  /** Cost before each step, or line. */
  std::vector<double> costs;
  /** That an iteration looks at, at most: of the fixed image inside of both masks, or drawn ones. */
  std::int64_t voxels = 0;
  double       milliseconds = 0;
};

struct FreeFormResult
{
  /** The B-spline's control points along each axis, of order 3, … */
  Size size{};
  /** … from whose indices this leads to points: the first one is a spacing before the domain, whose corner is that of the fixed
   *  image's first voxel. */
  IndexMap gridToPoint;
  /** mm, x fastest. */
  std::vector<std::array<double, 3>> points;
  /** Of the Jacobian of x + u(x), over the control points. Below 0, something has folded. */
  double smallestDeterminant = 1;
  /** The coarsest first. */
  std::vector<FreeFormLevelResult> levels;
  /** Where an iteration looks at fewer voxels, what is found may be noise: of mutual information one for four cells of the joint
   *  histogram, 1024 of 64 by 64 bins, of the correlation ratio 16 a bin, of the others none. */
  std::int64_t leastVoxels = 0;
  /** Each sentence, without a full stop, tells what else may have gone wrong. */
  std::vector<std::string> warnings;
  double                   milliseconds = 0;
};

/** Free-form deformation (Rueckert 1999; Modat 2010) of two images on one device: a pyramid, a similarity and penalties, exact
 *  refinement of the control grid from level to level. Between the images, which are there, and the result no voxel crosses the
 *  bus; inside of a level nothing does but costs, where they decide on the next step, the numbers of a line, and at the beginning of
 *  stochastic descent gradients at a few places; of samples that are drawn, tables of weights go up, some kB. Each level's arrays stay
 *  for the next registration of images of that size.
 *
 *  One object serves one thread at a time. Every function throws gpureg::Error, and the object can be used again. */
class GPURegistration_EXPORT FreeFormRegistration : public Engine
{
public:
  /** \throws Error if there is no such device; the message lists those there are. */
  explicit FreeFormRegistration(const std::string & deviceName);
  ~FreeFormRegistration() override;
  FreeFormRegistration(const FreeFormRegistration &) = delete;
  FreeFormRegistration &
  operator=(const FreeFormRegistration &) = delete;

  const std::string &
  GetDeviceName() const override;

  std::size_t
  GetHeldBytes() const override;

  /** \param progress called from the caller's thread before each iteration, while the device may still have those of the last 40 ms to
   *  do, or two; may throw to end the work, and may be empty.
   *  \throws BadInputError for settings out of range, images that are missing, constant or not on the device, or an initial transform
   *  that leads all of the fixed image out of the moving one; UnsupportedError for one that has a vector for each voxel of an output. */
  FreeFormResult
  Register(const FreeFormProblem &                               problem,
           const FreeFormSettings &                              settings,
           const ParallelFor &                                   parallelFor,
           const std::function<void(const FreeFormProgress &)> & progress = {});

  /** Hands out the deformation of the last registration at each voxel of the fixed image: float[3], mm, in chunks, from several
   *  threads at once. */
  void
  TakeDisplacements(const std::function<void(std::int64_t first, std::int64_t count, const float * in)> & take,
                    const ParallelFor &                                                                   parallelFor);

  /** Measures the kernel time of TakeDisplacements from now on, and waits for the device to do so. */
  void
  SetTiming(bool on);

  /** Of the last registration, or of TakeDisplacements behind it. */
  EvaluationStatistics
  GetStatistics() const;

private:
  class Implementation;
  std::unique_ptr<Implementation> m_Implementation;
};

} // namespace gpureg

#endif
