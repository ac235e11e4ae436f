// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_GlobalRegistration_h
#define gpureg_GlobalRegistration_h

#include "GPURegistrationExport.h"
#include "gpureg/registration/FurtherPair.h"
#include "gpureg/registration/MemoryPlan.h"
#include "gpureg/registration/RegistrationEngine.h"
#include "gpureg/core/Geometry.h"
#include "gpureg/registration/global/GlobalChoices.h"
#include "gpureg/core/ParallelFor.h"
#include "gpureg/image/RegisteredImage.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gpureg
{

/** Describes the images to register. */
struct GlobalProblem
{
  /** 2 or 3. */
  int             dimension = 3;
  RegisteredImage fixed;
  RegisteredImage moving;
  /** Maps points of the fixed image's space to those of the moving image's; the search begins there. Without an initial map, or if it
   *  leaves too little overlap, the search begins with the images' centres of mass on each other; if angles are searched, it begins at
   *  both. A part of the map that the degrees of freedom lack, such as skews, is ignored. */
  std::optional<IndexMap> initial;
  /** Further pairs, which the one map aligns too: see GlobalSettings::cost. */
  std::vector<FurtherPair> further;
};

/** Holds the settings of a search. */
struct GlobalSettings
{
  /** Names the cost of the first pair. With several pairs the search minimises the weighted mean of their costs; the first pair's weight is
   *  1. Each cost is then a likelihood in nats a voxel (Roche 2000), 0 for unrelated images: minus the mutual information; half the
   *  logarithm of 1 - r², of 1 minus the mean r² of neighborhoods, of the correlation ratio, and of mean squares relative to those of
   *  unrelated images; the logarithm of absolute differences relative to those of unrelated images. itk::ObjectToObjectMultiMetricv4
   *  divides each derivative by its length instead, and so follows no function's derivative. If a further pair has 0 bins, the search
   *  takes the usual number. Without an initial map the search begins with the first pair's centres of mass on each other. */
  GlobalCost cost = GlobalCost::CorrelationRatio;
  /** 3: translation; 6: and rotation; 7: and one scale; 9: and one scale along each axis of the fixed image; 12: and skews. In two
   *  dimensions these numbers stand for 2, 3, 4, 5 and 6 degrees of freedom. A translation has no angles to search. */
  int degreesOfFreedom = 12;
  /** Ranges of rotation angles in radians, from and to, about each axis, relative to where the search begins; in two dimensions about z
   *  alone. Both are 0 for an axis about which nothing is searched; if all are 0, the search refines the initial transform. */
  std::array<std::array<double, 2>, 3> angles{ { { { -Pi, Pi } }, { { -Pi, Pi } }, { { -Pi, Pi } } } };
  /** Voxel edge in mm at the finest level; 2, 4 and 8 times as long at the other levels. Images with longer voxels keep them. 0: the
   *  shortest voxel edge of the images; if an image has more than some 400 voxels along an axis, the multiple of that edge that leaves
   *  about 280. */
  double finestEdge = 0;
  /** Number of bins of the fixed image's histogram at the two finest levels, and of the moving image's if the cost has one; half as
   *  many at 4 mm, a quarter at 8 mm, but at least 32, unless fewer are set. 0: 256 for a correlation ratio, else 64. */
  int bins = 0;
  /** Radius of a neighborhood, in voxels of each level, for a cost that has neighborhoods. */
  int             radius = 4;
  GlobalOptimizer optimizer = GlobalOptimizer::QuasiNewton;
  /** Share of the fixed image, or of the moving image if it is smaller, that should overlap. With less overlap a cost counts for less,
   *  down to the cost of unrelated images. */
  double leastOverlap = 0.25;
  /** Ranges of values that the cost distinguishes in each image. Without a range the engine excludes outliers, see ComputeValueRange(). A
   *  range from -infinity to infinity contains all values. */
  std::optional<ValueRange> fixedRange;
  std::optional<ValueRange> movingRange;

  static constexpr double Pi = 3.14159265358979323846;
};

/** Describes the state of a running search. */
struct GlobalProgress
{
  const char * stage = "";
  /** Share of all stages that is done, 0 to 1. */
  double share = 0;
  /** Least cost of the stage before; not a number in the first stage. */
  double cost = std::numeric_limits<double>::quiet_NaN();
};

/** Describes the result of a stage. */
struct GlobalStageResult
{
  /** Longest voxel edge of both images at this stage, such as "4 mm". */
  std::string name;
  /** Least cost that the stage evaluated. */
  double cost = 0;
  /** Numbers of evaluations of values, in batches or one by one, and of values with their derivative. */
  std::int64_t values = 0;
  std::int64_t derivatives = 0;
  /** Number of batches: how often the search waited for the device. */
  std::int64_t batches = 0;
  double       milliseconds = 0;
};

struct GlobalResult
{
  /** Maps points of the fixed image's space to those of the moving image's: matrix·(x - centre) + centre + translation. */
  IndexMap pointMap;
  /** Factors of the map's matrix: matrix = rotation · axes · S · K · axesᵀ, with the scales S and the skews K = [1 k₀ k₁; 0 1 k₂; 0 0
   *  1]. */
  std::array<double, 9> rotation{ 1, 0, 0, 0, 1, 0, 0, 0, 1 };
  std::array<double, 3> scales{ 1, 1, 1 };
  std::array<double, 3> skews{};
  /** The fixed image's centre of mass. */
  std::array<double, 3> centre{};
  /** Cost of the result at the finest level. */
  double cost = 0;
  /** Share of the first fixed image's voxels that the result maps into the first moving image, at the finest level. */
  double                         overlap = 0;
  std::vector<GlobalStageResult> stages;
  /** Warnings: each is a sentence, without a full stop, on something that may have gone wrong. */
  std::vector<std::string> warnings;
  double                   milliseconds = 0;
};

/** Searches for the rigid or affine map from one image to another, from any start, as FLIRT does (Jenkinson & Smith 2001; Jenkinson
 *  2002; Li 2015, section 2.2), on one device. The images are on the device already; until the result only the voxels of the 8 mm level
 *  are downloaded, for the centres of mass. The arrays of each level stay on the device for the next registration of images of the same
 *  size.
 *
 *  Use one object from one thread at a time. Every function throws gpureg::Error, and the object can be used again after an error. */
class GPURegistration_EXPORT GlobalRegistration : public RegistrationEngine
{
public:
  /** Makes an engine on one device.
   *  \throws Error if there is no such device; the message lists the devices. */
  explicit GlobalRegistration(const std::string & deviceName);
  ~GlobalRegistration() override;

  /** Registers two images, or several pairs of them.
   *  \param problem the images, with masks, and the initial map.
   *  \param settings the settings.
   *  \param parallelFor the threads to use.
   *  \param progress called from the caller's thread for each batch; may throw to end the work, and may be empty.
   *  \throws BadInputError for settings out of range, images that are missing, constant, of one slice, not on the device, or that do not
   *  overlap, or an initial map that mirrors; the message names a further pair; OutOfMemoryError, before
   *  anything is allocated, if the device has no room for what GetPlan() says. */
  GlobalResult
  Register(const GlobalProblem &                               problem,
           const GlobalSettings &                              settings,
           const ParallelFor &                                 parallelFor,
           const std::function<void(const GlobalProgress &)> & progress = {});

  /** Plans what a registration would hold on the device, but for the sums of the poses that it evaluates at once, whose number depends on
   *  what it finds: at most 128 MiB a level on a GPU, and little on the host. The levels are those of its images, which it makes from the
   *  finest to the coarsest and keeps; the last one counts the searches, too. The problem's
   *  images need be on no device: see PlannedImage. An image that has outliers, of which a registration makes a copy, is counted as one
   *  without, unless its range is given.
   *  \throws Error as Register() does for settings. */
  MemoryPlan
  GetPlan(const GlobalProblem & problem, const GlobalSettings & settings) const;

  /** Makes sure that the device has room for a registration, before its images are uploaded: forgets the last registration, and frees what
   *  is kept of it if the memory is short.
   *  \param problem its images are on no device yet: see PlannedImage.
   *  \throws OutOfMemoryError as Register() does, and Error as GetPlan(). */
  void
  MakeRoom(const GlobalProblem & problem, const GlobalSettings & settings);

private:
  class Implementation;
  Implementation &
  GetImplementation() const;
};

} // namespace gpureg

#endif
