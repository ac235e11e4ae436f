// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_SampledForces_h
#define gpureg_SampledForces_h

#include "engine/metric/MetricCore.h"
#include "engine/registration/LevelSimilarity.h"
#include "engine/registration/diffeomorphic/FieldForces.h"

#include <array>
#include <memory>

namespace gpureg
{

/** Computes the forces of each similarity of free-form deformations except the correlation over neighborhoods, whose forces
 *  LocalCorrelationForces computes. Each voxel of the fixed image is a sample, which the field displaces; of a level that is cut, each
 *  voxel of the device's own planes, and the forces of other planes are copied from their devices. */
class SampledForces : public FieldForces
{
public:
  SampledForces(const std::shared_ptr<Backend> & backend,
                const std::shared_ptr<Queue> &   queue,
                const SimilaritySettings &       similarity);

  void
  SetImages(const LevelGrid &    level,
            TeamMember *         member,
            const LevelImage &   fixed,
            const LevelImage &   moving,
            const DisplacedMap & initial,
            int                  number,
            const ParallelFor &  parallelFor) override;

  void
  Enqueue(FieldReducer & reducer,
          const Memory & field,
          Memory &       scratch,
          Memory &       forces,
          Memory &       values,
          std::int64_t   slot) override;

  std::optional<double>
  ComputeCost(float value) const override;

  std::size_t
  GetDeviceBytes() const override;

  void
  Plan(const LevelGrid &   level,
       const LevelImage &  fixed,
       const LevelImage &  moving,
       const std::string & name,
       MemoryLedger &      ledger) override;

private:
  /** Takes as samples the voxels of a level's own planes. */
  void
  SetPlanes(const LevelGrid & level);

  LevelGrid                        m_Level;
  TeamMember *                     m_Member = nullptr; // see SetImages()
  MetricCore                       m_Core;
  std::unique_ptr<LevelSimilarity> m_Similarity;
  SampleMapping                    m_Mapping;
  std::array<double, 9> m_ByDisplacement{}; // derivative by the displacement of the sample's point, or of its index
};

} // namespace gpureg

#endif
