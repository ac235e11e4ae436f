// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_GlobalRegistration_h
#define gpureg_GlobalRegistration_h

#include "GPURegistrationExport.h"
#include "gpureg/runtime/EngineUser.h"
#include "gpureg/core/EvaluationStatistics.h"
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

/** What is registered. */
struct GlobalProblem
{
  /** 2 or 3. */
  int             dimension = 3;
  RegisteredImage fixed;
  RegisteredImage moving;
  /** From points of the fixed image's space to the moving one's: where the search begins. Without it, and where it leaves too little
   *  overlap, the images' centres of mass are laid on each other; where angles are searched, the search begins at both. What the degrees
   *  of freedom do not have is left out. */
  std::optional<IndexMap> initial;
};

/** How. */
struct GlobalSettings
{
  GlobalCost cost = GlobalCost::CorrelationRatio;
  /** 6: rotation and translation; 7: and one scale; 9: one along each axis of the fixed image; 12: and skews. Of two dimensions these
   *  are 3, 4, 5 and 6. */
  int degreesOfFreedom = 12;
  /** Radians, from and to, about each axis, around where the search begins: about z alone in two dimensions. An axis about which
   *  nothing is searched has 0 twice; where all have, the initial transform is refined. */
  std::array<std::array<double, 2>, 3> angles{ { { { -Pi, Pi } }, { { -Pi, Pi } }, { { -Pi, Pi } } } };
  /** mm: a voxel's edge at the finest level; 2, 4 and 8 times as much at the others. Images of longer voxels keep them. 0: that of the
   *  images' shortest voxels, or, of images of more than some 400 voxels along an axis, of so many that about 280 are left. */
  double finestEdge = 0;
  /** Of the fixed image's histogram at the two finest levels, and of the moving one's where the cost has one: at 4 mm half as many, at 8
   *  mm a quarter, but 32 at least, if there are as many. 0: 256 of a correlation ratio, else 64. */
  int             bins = 0;
  GlobalOptimizer optimizer = GlobalOptimizer::QuasiNewton;
  /** Of the fixed image, or of the moving one where that is smaller, the share that has to overlap. With less, a cost counts for less,
   *  down to what it is of images that have nothing to do with each other. */
  double leastOverlap = 0.25;
  /** Each range holds the values of one image that the cost tells apart. Without a range the engine leaves outliers out, see
   *  FindValueRange(). A range from -infinity to infinity keeps all values. */
  std::optional<ValueRange> fixedRange;
  std::optional<ValueRange> movingRange;

  static constexpr double Pi = 3.14159265358979323846;
};

/** Where a search is. */
struct GlobalProgress
{
  const char * stage = "";
  /** Of all stages. */
  double share = 0;
  /** The least of the stage before; not a number at the first one. */
  double cost = std::numeric_limits<double>::quiet_NaN();
};

/** What a stage came to. */
struct GlobalStageResult
{
  /** Such as "4 mm": the longest edge of either image's voxels there. */
  std::string name;
  /** The least of those that it looked at. */
  double cost = 0;
  /** Of values, together or one by one, and of values with their derivative. */
  std::int64_t values = 0;
  std::int64_t derivatives = 0;
  /** How often the device was waited for. */
  std::int64_t rounds = 0;
  double       milliseconds = 0;
};

struct GlobalResult
{
  /** From points of the fixed image's space to the moving one's: matrix·(x - centre) + centre + translation. */
  IndexMap pointMap;
  /** The same in its parts: matrix = rotation · axes · S · K · axesᵀ, with the scales S and the skews K = [1 k₀ k₁; 0 1 k₂; 0 0 1]. */
  std::array<double, 9> rotation{ 1, 0, 0, 0, 1, 0, 0, 0, 1 };
  std::array<double, 3> scales{ 1, 1, 1 };
  std::array<double, 3> skews{};
  /** The fixed image's centre of mass. */
  std::array<double, 3> centre{};
  /** At the finest level, … */
  double cost = 0;
  /** … where this share of the fixed image's voxels lie in the moving image. */
  double                         overlap = 0;
  std::vector<GlobalStageResult> stages;
  /** Each sentence, without a full stop, tells what may have gone wrong. */
  std::vector<std::string> warnings;
  double                   milliseconds = 0;
};

/** FLIRT's search for a rigid or affine map from one image to another, from any start (Jenkinson & Smith 2001; Jenkinson 2002; Li 2015,
 *  section 2.2), on one device. Between the images, which are there, and the result no voxel crosses the bus but those of 8 mm, for the
 *  centres of mass. Each level's arrays stay for the next registration of images of that size.
 *
 *  One object serves one thread at a time. Every function throws gpureg::Error, and the object can be used again. */
class GPURegistration_EXPORT GlobalRegistration : public Engine
{
public:
  /** \throws Error if there is no such device; the message lists those there are. */
  explicit GlobalRegistration(const std::string & deviceName);
  ~GlobalRegistration() override;
  GlobalRegistration(const GlobalRegistration &) = delete;
  GlobalRegistration &
  operator=(const GlobalRegistration &) = delete;

  const std::string &
  GetDeviceName() const override;

  std::size_t
  GetHeldBytes() const override;

  /** \param progress called from the caller's thread for each round; may throw to end the work, and may be empty.
   *  \throws BadInputError for settings out of range, images that are missing, constant, of one slice or not on the device, or an
   *  initial map that mirrors. */
  GlobalResult
  Register(const GlobalProblem &                               problem,
           const GlobalSettings &                              settings,
           const ParallelFor &                                 parallelFor,
           const std::function<void(const GlobalProgress &)> & progress = {});

  /** Whether the kernels of costs are timed from the next registration on, which then waits for each of them. Off at first. */
  void
  SetTiming(bool on);

  /** Of the last registration: its levels, and the evaluations of its cost. */
  EvaluationStatistics
  GetStatistics() const;

private:
  class Implementation;
  std::unique_ptr<Implementation> m_Implementation;
};

} // namespace gpureg

#endif
