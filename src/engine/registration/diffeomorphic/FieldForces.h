// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_FieldForces_h
#define gpureg_FieldForces_h

#include "engine/field/FieldReducer.h"
#include "engine/field/StartTransform.h"
#include "engine/filter/LevelImage.h"
#include "engine/registration/diffeomorphic/LevelGrid.h"
#include "engine/runtime/MemoryLedger.h"

#include "gpureg/core/Geometry.h"
#include "gpureg/core/ParallelFor.h"
#include "gpureg/metric/Similarity.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace gpureg
{

class Backend;

/** The similarity of a level's images along a field, and its derivative by each displacement. */
class FieldForces
{
public:
  virtual ~FieldForces() = default;

  /** Sets the images.
   *  \param level the fixed image's grid, or the planes of it that are the field's
   *  \param member joins the devices of a level that is cut: all of them set images, and evaluate, together; null for a whole level
   *  \param initial maps points of the fixed image, and their displacements, to points of the moving one
   *  \param number each level has a number of its own */
  virtual void
  SetImages(const LevelGrid &    level,
            TeamMember *         member,
            const LevelImage &   fixed,
            const LevelImage &   moving,
            const DisplacedMap & initial,
            int                  number,
            const ParallelFor &  parallelFor) = 0;

  /** Enqueues an evaluation. field: float[3] a voxel, mm; scratch: an array of that size, which is overwritten; forces: gets derivatives
   *  that point to more similar images, float[3] a voxel, by mm; values: gets what ComputeCost() reads, at the slot, float: of the whole
   *  level, the same on each device. */
  virtual void
  Enqueue(FieldReducer & reducer,
          const Memory & field,
          Memory &       scratch,
          Memory &       forces,
          Memory &       values,
          std::int64_t   slot) = 0;

  /** Returns the cost that an evaluation's value stands for; nothing if it had no voxel. The derivatives are those of minus the cost, times
   *  one factor for all voxels. */
  virtual std::optional<double>
  ComputeCost(float value) const = 0;

  virtual std::size_t
  GetDeviceBytes() const = 0;

  /** Writes down the arrays that SetImages() reserves for images which ImageLevel::Plan() has described.
   *  \param name what their names begin with */
  virtual void
  Plan(const LevelGrid &   level,
       const LevelImage &  fixed,
       const LevelImage &  moving,
       const std::string & name,
       MemoryLedger &      ledger) = 0;
};

/** Makes the forces of a similarity, on a queue of a backend.
 *  \param similarity its settings, which CheckSettings() has checked
 *  \param noise see DiffeomorphicSettings::noise */
std::unique_ptr<FieldForces>
MakeFieldForces(const std::shared_ptr<Backend> & backend,
                const std::shared_ptr<Queue> &   queue,
                const SimilaritySettings &       similarity,
                double                           noise);

} // namespace gpureg

#endif
