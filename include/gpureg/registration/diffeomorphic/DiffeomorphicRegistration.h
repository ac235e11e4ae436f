// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_DiffeomorphicRegistration_h
#define gpureg_DiffeomorphicRegistration_h

#include "GPURegistrationExport.h"
#include "gpureg/core/Geometry.h"
#include "gpureg/core/ParallelFor.h"
#include "gpureg/field/FieldInverter.h"
#include "gpureg/image/RegisteredImage.h"
#include "gpureg/metric/Similarity.h"
#include "gpureg/metric/neighborhood/FlatNeighborhoods.h"
#include "gpureg/registration/DeformationProgress.h"
#include "gpureg/registration/FurtherPair.h"
#include "gpureg/registration/MemoryPlan.h"
#include "gpureg/registration/RegistrationEngine.h"
#include "gpureg/registration/diffeomorphic/DiffeomorphicChoices.h"
#include "gpureg/transform/DeviceField.h"
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

struct TeamPlace;

/** Holds a field to the middle and its inverse, which a registration by SyN has left. */
struct MiddleState
{
  /** Give the size of the fields' grid, and the map from its indices to points in mm. */
  Size     size{};
  IndexMap indexToPoint;
  /** Write displacements, float[3] a voxel, in mm; the third is 0 in two dimensions. */
  Filler toMiddle;
  Filler fromMiddle;
};

/** Describes the images to register. */
struct DiffeomorphicProblem
{
  /** 2 or 3. */
  int             dimension = 3;
  RegisteredImage fixed;
  RegisteredImage moving;
  /** Further pairs, which the one deformation aligns too. */
  std::vector<FurtherPair> further;
  /** Maps points of the fixed image's space to those of the moving image's, after the deformation. Any chain but one of an output's voxels;
   *  outside of a grid its displacements are 0, as in ITK. */
  TransformChain initial;
  /** Maps points of the grid of the deformation, which is the fixed image's, to points of the fixed image. The greedy scheme has none. */
  TransformChain fixedInitial;
  /** The fields with which SyN's first level begins; null: fields of zeros. They are resampled on the level's grid, 0 outside of their own
   *  grid. Give both or none; no other scheme takes them. */
  std::optional<MiddleState> fixedState;
  std::optional<MiddleState> movingState;
};

/** Names the displacements that a registration computes. */
enum class DeformationField
{
  /** The displacements of the fixed image's points to the moving image's, before DiffeomorphicProblem::initial; and their inverse, which
   *  the greedy scheme does not have. SyN's inverse is the composition of the halves' inverses, as in ITK, which are iterated until their
   *  errors are small. */
  Forward,
  Inverse,
  /** The halves of both, and their inverses: SyN's alone. */
  FixedToMiddle,
  MiddleToFixed,
  MovingToMiddle,
  MiddleToMoving
};

/** Holds the settings of SyN, besides those of all schemes, in the words of itk::SyNImageRegistrationMethod. */
struct SyNSettings
{
  /** Number of voxels along each axis that a voxel of a level's grid stands for, one a level. Empty: twice as many from level to level, 1
   *  at the finest one, along the axis of the shortest voxels, and as many along the others as come closest to that length. */
  std::vector<Size> shrinkFactors;
  /** Standard deviations by which a level's images are smoothed; they are not shrunk. One a level; empty: the number of finer levels, in
   *  voxels. */
  std::vector<double> smoothingSigmas;
  /** False: the given standard deviations are in each image's voxels. */
  bool sigmasAreInMillimetres = false;
  /** True to move both images by the mean of both updates. */
  bool averagesGradients = false;
  /** Index of the fixed image's first voxel. ITK looks for the upper border, which it holds in place, at index size - first - 1. */
  Size firstIndex{ 0, 0, 0 };
};

/** Holds the settings of a registration. */
struct DiffeomorphicSettings
{
  DiffeomorphicScheme scheme = DiffeomorphicScheme::Greedy;
  /** Number of iterations at each level, the coarsest first. The finest level has the fixed image's voxels, and voxels are twice as long
   *  from level to level. */
  std::vector<int> iterations{ 100, 100, 100, 50 };
  /** Compares the images: one that serves fields (SimilarityDescription::isForFields). A radius is in voxels of a level. Demons take the
   *  gradient of the fixed image where both images move to the middle, as ITK's metric does, and greedily that of the moving image; their
   *  forces are 0 where values differ by less than 0.001, and if all values do, an error is thrown. The result of every other similarity
   *  does not depend on the magnitude of the values, unless `flat` refers to values as they are. */
  SimilaritySettings similarity{ SimilarityKind::NeighborhoodCorrelation, 32, 2 };
  /** The neighborhoods that are flat, of a correlation over neighborhoods by SyN or by a velocity. A rule for values as they are, such as
   *  ITK's, refers to scaled values where it would leave nothing else. */
  FlatNeighborhoods flat{};
  /** Standard deviation of the noise, of values scaled from 0 to 1, 0.001 at least. By a correlation over neighborhoods the greedy scheme
   *  adds its square to both variances of a neighborhood, so that structure below it counts little. It has no effect elsewhere. */
  double noise = 0.01;
  /** The first pair's share of the updates, relative to the weights of further pairs: as in itk::ObjectToObjectMultiMetricv4 each
   *  similarity's derivative is divided by its magnitude over all voxels, multiplied by its weight, and added to the others. 0: the pair
   *  changes nothing. Levels that follow go by a new one. */
  double weight = 1;
  /** Standard deviations of the Gaussians, in a level's voxels, that smooth each update, and the whole field, or the velocity, after it. 0:
   *  none. */
  double updateSigma = GetUsualSigmas(DiffeomorphicScheme::Greedy).update;
  double fieldSigma = GetUsualSigmas(DiffeomorphicScheme::Greedy).field;
  /** How these Gaussians are computed; both continue the field beyond the grid's edge. Recursive ones are for the greedy scheme and the
   *  velocity, on devices with double precision; SyN's are discrete, as ITK's are. */
  DiffeomorphicSmoothing smoothing = DiffeomorphicSmoothing::Discrete;
  /** Length of the longest vector of each update, in a level's voxels; of a velocity, at most. */
  double step = 1;
  /** How long a step is: of the longest vector, or by Adam, whose steps are of that length at most. Adam is for the greedy scheme, and
   *  takes 24 bytes a voxel more. */
  DiffeomorphicOptimizer optimizer = DiffeomorphicOptimizer::LongestVector;
  /** Factors of the derivative's components, along physical axes: 0 for an axis that nothing is to move along. By Adam 0 or 1. */
  std::array<double, 3> weights{ 1, 1, 1 };
  /** A level ends when the change of its costs over the last convergenceWindow ones is less than the threshold: see
   *  itk::Function::WindowConvergenceMonitoringFunction. Window 0: the level does all its iterations, and no iteration waits for a cost. */
  double convergenceThreshold = 1e-6;
  int    convergenceWindow = 0;
  /** Holds the settings that SyN alone has. SyN gives the settings above ITK's meaning: updateSigma and fieldSigma are the square roots of
   *  ITK's variances, and step is the length by which each update moves either image. ITK's defaults are an updateSigma of √3, a fieldSigma
   *  of √½, a step of 0.25 and a convergenceWindow of 10; most programs set a fieldSigma of 0 and a step of 0.1 or 0.2. */
  SyNSettings syn;
  /** Ranges of values, as GlobalSettings::fixedRange and movingRange. */
  std::optional<ValueRange> fixedRange;
  std::optional<ValueRange> movingRange;
};

using DiffeomorphicProgress = DeformationProgress;

/** Holds the inverse of a deformation on a device, and says how well it undoes the deformation. */
struct InverseOnDevice
{
  std::shared_ptr<const DeviceField> field;
  InverseErrors                      errors;
};

/** Describes the result of one level. */
struct DiffeomorphicLevelResult
{
  /** Cost before each step: greedily the similarity's value times its sign, of a correlation over neighborhoods minus the mean of the
   *  signed squared correlation, and of several pairs the mean by weights; by SyN and by a velocity ITK's value of the metric, the mean of
   *  those of both directions, and of several pairs that of the first one, as ITK has it. */
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

/** Registers two images by a displacement for each voxel, on one device: each iteration smooths the gradient of a similarity, scales it to
 *  a step, and composes the field with it. The composition of small invertible steps is invertible, so that the field does not fold unless
 *  the smoothing is too weak for its steps.
 *  - Greedily: u(x) ← v(x) + u(x + v(x)), and the field is smoothed (Yushkevich 2016).
 *  - SyN, as itk::SyNImageRegistrationMethod computes it, with an inverse (Avants 2008).
 *  - By a stationary velocity: v(x) ← v(x) + d(x), and v is smoothed. The deformation is exp(v), and its inverse exp(-v), by scaling and
 *    squaring (Arsigny 2006; Vercauteren 2008); the similarity and its derivatives are those of both images in the middle, as in SyN. At
 *    the end v is smoothed where exp(v) folds, 20 times at most.
 *
 *  The images are on the device already, and no voxel is transferred until the result. An iteration transfers some numbers at most: SyN's
 *  whether its inversions have ended, mutual information's ranges of values, and the costs of the level where there is a convergence
 *  window. The arrays stay on the device for the next registration of images of the same size.
 *
 *  Use one object from one thread at a time. Every function throws gpureg::Error, and the object can be used again after an error. */
class GPURegistration_EXPORT DiffeomorphicRegistration : public RegistrationEngine
{
public:
  /** Makes an engine on one device.
   *  \throws Error if there is no such device; the message lists the devices. */
  explicit DiffeomorphicRegistration(const std::string & deviceName);
  ~DiffeomorphicRegistration() override;

  /** Registers two images, or several pairs by one deformation.
   *  \param problem the images, with masks, and the initial transform.
   *  \param settings the settings. progress and levelDone may change them: iterations that follow go by the new ones, and levels that
   *  follow exist if there are settings for them. A level that has begun takes no more iterations than it began with.
   *  \param parallelFor the threads to use.
   *  \param progress called from the caller's thread before each iteration, when the device may not have finished the iterations of the
   *  last 40 ms, or the last two iterations; may throw to end the work, and may be empty.
   *  \param levelDone called in the same way after the last iteration of each level, with the number of its iterations.
   *  \throws BadInputError for settings out of range, images that are missing, constant or not on the device, or an initial transform
   *  that maps the whole fixed image out of the moving image; UnsupportedError for what a scheme does not have; OutOfMemoryError, before
   *  anything is allocated, if the device has no room for what GetPlan() says. */
  DiffeomorphicResult
  Register(const DiffeomorphicProblem &                               problem,
           const DiffeomorphicSettings &                              settings,
           const ParallelFor &                                        parallelFor,
           const std::function<void(const DiffeomorphicProgress &)> & progress = {},
           const std::function<void(const DiffeomorphicProgress &)> & levelDone = {});

  /** Plans what a registration would hold on the device, level by level. The problem's images need be on no device: see PlannedImage.
   *  An image that has outliers, of which a registration makes a copy, is counted as one without, unless its range is given.
   *  \throws Error as Register() does for settings. */
  MemoryPlan
  GetPlan(const DiffeomorphicProblem & problem, const DiffeomorphicSettings & settings) const;

  /** Makes sure that the device has room for a registration, before its images are uploaded: forgets the last registration, and frees what
   *  is kept of it if the memory is short.
   *  \param problem its images are on no device yet: see PlannedImage.
   *  \throws OutOfMemoryError as Register() does, and Error as GetPlan(). */
  void
  MakeRoom(const DiffeomorphicProblem & problem, const DiffeomorphicSettings & settings);

  /** Passes the deformation of the last registration to take, at each voxel of the last level's grid, which is the fixed image's unless the
   *  settings shrink it: float[3], in mm, in chunks, from several threads at once. Called by progress or levelDone, it passes that of the
   *  current level.
   *  \throws BadInputError if there is none, or the scheme has no such field. */
  void
  TakeDisplacements(const std::function<void(std::int64_t first, std::int64_t count, const float * in)> & take,
                    const ParallelFor &                                                                   parallelFor,
                    DeformationField field = DeformationField::Forward);

  /** Passes the inverse of the last registration's deformation to take, as TakeDisplacements() does, refined until it undoes the
   *  deformation to 1e-4 voxels at each voxel that does not fold. Returns how well it does so, which is measured on the device.
   *  \throws BadInputError if there is none, or the scheme has no inverse. */
  InverseErrors
  TakeInverse(const std::function<void(std::int64_t first, std::int64_t count, const float * in)> & take,
              const ParallelFor &                                                                   parallelFor);

  /** Returns the field that TakeDisplacements() passes, on the device, where it stays as it is when the registration is used again or
   *  destroyed. It is copied there once at most, and nothing but its largest component is transferred. The first field behind a
   *  registration takes over an array of the registration's, and the next one the place of what the images were compared by; both are made
   *  again when they are needed. A further field, or one while levels go on, takes 12 bytes a voxel more.
   *  \throws BadInputError as TakeDisplacements() does, OutOfMemoryError if the device has no room for it: then TakeDisplacements() has
   *  none either before another kept field is freed. */
  std::shared_ptr<const DeviceField>
  GetField(const ParallelFor & parallelFor, DeformationField field = DeformationField::Forward);

  /** Returns the inverse that TakeInverse() passes in the same way, with its errors. Asked for before GetField(), both hold together no
   *  more than was planned. */
  InverseOnDevice
  GetInverse(const ParallelFor & parallelFor);

  /** Returns the number of voxels of the fields that TakeDisplacements() passes; 0 if there is none. */
  std::int64_t
  CountVoxels() const;

private:
  friend class TeamRegistration;

  /** Says what this engine is among those of a team. */
  void
  SetPlace(const TeamPlace & place);

  class Implementation;
  Implementation &
  GetImplementation() const;
};

} // namespace gpureg

#endif
