// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_FreeFormRegistration_h
#define gpureg_FreeFormRegistration_h

#include "GPURegistrationExport.h"
#include "gpureg/penalty/ControlPenalty.h"
#include "gpureg/registration/MemoryPlan.h"
#include "gpureg/registration/RegistrationEngine.h"
#include "gpureg/registration/DeformationProgress.h"
#include "gpureg/registration/FurtherPair.h"
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

/** Describes the images to register. */
struct FreeFormProblem
{
  /** 2 or 3. */
  int             dimension = 3;
  RegisteredImage fixed;
  RegisteredImage moving;
  /** Maps points of the fixed image's space to those of the moving image's, after the deformation. The vectors of its grids are
   *  uploaded once. */
  TransformChain initial;
  /** Further pairs, which the one deformation aligns, too, on grids of any kind. The similarity of the cost is then the mean of all pairs'
   *  costs in nats a voxel, by their weights, of which the first pair's is 1: see GlobalSettings::cost. */
  std::vector<FurtherPair> further;
};

/** Holds the settings of a registration. */
struct FreeFormSettings
{
  SimilarityKind similarity = SimilarityKind::NormalizedMutualInformation;
  /** Number of pyramid levels, 1 to 5; voxels are twice as long from level to level. 0: 4, or as many as leave the coarsest level
   *  FreeFormResult::leastVoxels voxels inside the masks, 256 at least. */
  int levels = 0;
  /** Distances in mm between control points at the finest level, along each axis of the fixed image; they double at each coarser level.
   *  0: five times the shortest voxel edge, or five voxels along an axis with longer voxels, as in Modat 2010: 5 mm for a head with
   *  voxels of 1 mm. If the image has more than some 400 voxels along an axis, larger by the whole number that leaves about 280 voxels.
   *  Control points with fewer voxels between them would follow noise. */
  std::array<double, 3> spacing{ 0, 0, 0 };
  /** Number of bins of the joint histogram along each axis, or of the fixed values for a correlation ratio. */
  int bins = 64;
  /** Radius of a neighborhood along each axis, in a level's voxels. */
  int radius = 4;
  /** Weights α in C = (1 - Σ α)·similarity + Σ α·P (Modat 2010, equation 1), where P is each of the penalties: see PenaltyKind. The
   *  bending energy measures displacements in a level's voxels, and derivatives in steps of its control grid, so that one weight serves
   *  all levels. */
  double            bendingWeight = 0.01;
  double            linearWeight = 0;
  double            jacobianWeight = 0;
  FreeFormOptimizer optimizer = FreeFormOptimizer::Adam;
  /** Largest number of steps, or of line searches, at each level. */
  int iterations = 100;
  /** Length of the first step at each level, in the shortest edge of the level's voxels. Adam's steps fall to 0 along half a cosine;
   *  trial steps of conjugate gradients are never longer. */
  double firstStep = 0.5;
  /** Number of voxels of a level's fixed image that an iteration uses at most: a regular subsample, placed again for each iteration by
   *  random numbers from the seed, the same on every device. 0: all voxels. Neighborhood correlation, whose subsample would have no
   *  neighborhoods, conjugate gradients, whose trials must compare values of one function, and several pairs need 0; else there is
   *  an error. A subsample saves time on the host; it is too small to keep a GPU busy. */
  std::int64_t  samples = 0;
  std::uint64_t seed = 1;
  /** A level ends when the mean cost of the last iterations, as many as the window has, is below that of as many iterations before by
   *  no more than this share. 0: a level ends with its last iteration, and no cost is downloaded before. */
  double convergenceThreshold = 0;
  int    convergenceWindow = 10;
  /** Ranges of values, as GlobalSettings::fixedRange and movingRange. */
  std::optional<ValueRange> fixedRange;
  std::optional<ValueRange> movingRange;
};

using FreeFormProgress = DeformationProgress;

/** Describes the result of one level. */
struct FreeFormLevelResult
{
  /** Cost before each step, or line search. */
  std::vector<double> costs;
  /** Number of voxels that an iteration uses at most: voxels of the fixed image inside both masks, or drawn samples. */
  std::int64_t voxels = 0;
  double       milliseconds = 0;
};

struct FreeFormResult
{
  /** Numbers of control points of the cubic B-spline along each axis. */
  Size size{};
  /** Maps indices of control points to points. The first control point lies one spacing before the domain, whose corner is that of the
   *  fixed image's first voxel. */
  IndexMap gridToPoint;
  /** Displacements of the control points in mm, x fastest. */
  std::vector<std::array<double, 3>> points;
  /** Least Jacobian determinant of x + u(x) over the control points. Below 0 the deformation folds. */
  double smallestDeterminant = 1;
  /** Results of the levels, the coarsest first. */
  std::vector<FreeFormLevelResult> levels;
  /** With fewer voxels per iteration, the result may be noise. For mutual information this is one voxel for four entries of the joint
   *  histogram (1024 for 64 × 64 bins), for the correlation ratio 16 voxels per bin, for other similarities 0. */
  std::int64_t leastVoxels = 0;
  /** Warnings: each is a sentence, without a full stop, on something else that may have gone wrong. */
  std::vector<std::string> warnings;
  double                   milliseconds = 0;
};

/** Registers two images by a free-form deformation (Rueckert 1999; Modat 2010) on one device: with a pyramid, a similarity and
 *  penalties, and exact refinement of the control grid from level to level. The images are on the device already, and no voxel is
 *  transferred until the result. Inside a level only these are transferred: costs, if the next step depends on them; the numbers of a
 *  line search; at the beginning of a stochastic descent, gradients at a few positions; for drawn samples, tables of weights of some
 *  kB. The arrays of each level stay on the device for the next registration of images of the same size.
 *
 *  Use one object from one thread at a time. Every function throws gpureg::Error, and the object can be used again after an error. */
class GPURegistration_EXPORT FreeFormRegistration : public RegistrationEngine
{
public:
  /** Makes an engine on one device.
   *  \throws Error if there is no such device; the message lists the devices. */
  explicit FreeFormRegistration(const std::string & deviceName);
  ~FreeFormRegistration() override;

  /** Registers two images, or several pairs of them.
   *  \param problem the images, with masks, and the initial transform.
   *  \param settings the settings.
   *  \param parallelFor the threads to use.
   *  \param progress called from the caller's thread before each iteration, when the device may not have finished the iterations of the
   *  last 40 ms, or the last two iterations; may throw to end the work, and may be empty.
   *  \throws BadInputError for settings out of range, images that are missing, constant or not on the device, or an initial transform
   *  that maps the whole fixed image out of the moving image; the message names a further pair; UnsupportedError for an initial
   *  transform that has a vector for each voxel of an output; OutOfMemoryError, before anything is allocated, if the device has no room
   *  for what GetPlan() says. */
  FreeFormResult
  Register(const FreeFormProblem &                               problem,
           const FreeFormSettings &                              settings,
           const ParallelFor &                                   parallelFor,
           const std::function<void(const FreeFormProgress &)> & progress = {});

  /** Plans what a registration would hold on the device, level by level. The problem's images need be on no device: see PlannedImage. An
   *  image that has outliers, of which a registration makes a copy, is counted as one without, unless its range is given; and masks are
   *  taken to leave as many voxels as the levels need.
   *  \throws Error as Register() does for settings. */
  MemoryPlan
  GetPlan(const FreeFormProblem & problem, const FreeFormSettings & settings) const;

  /** Makes sure that the device has room for a registration, before its images are uploaded: forgets the last registration, and frees what
   *  is kept of it if the memory is short.
   *  \param problem its images are on no device yet: see PlannedImage.
   *  \throws OutOfMemoryError as Register() does, and Error as GetPlan(). */
  void
  MakeRoom(const FreeFormProblem & problem, const FreeFormSettings & settings);

  /** Passes the deformation of the last registration to take, at each voxel of the fixed image: float[3], in mm, in chunks, from
   *  several threads at once. */
  void
  TakeDisplacements(const std::function<void(std::int64_t first, std::int64_t count, const float * in)> & take,
                    const ParallelFor &                                                                   parallelFor);

private:
  class Implementation;
  Implementation &
  GetImplementation() const;
};

} // namespace gpureg

#endif
