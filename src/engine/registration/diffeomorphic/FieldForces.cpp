// SPDX-License-Identifier: Apache-2.0
#include "engine/registration/diffeomorphic/FieldForces.h"

#include "engine/registration/diffeomorphic/LocalCorrelationForces.h"
#include "engine/registration/diffeomorphic/SampledForces.h"

namespace gpureg
{

std::unique_ptr<FieldForces>
MakeFieldForces(const std::shared_ptr<Backend> & backend,
                const std::shared_ptr<Queue> &   queue,
                const SimilaritySettings &       similarity,
                double                           noise)
{
  if (Describe(similarity.kind).HasNeighborhoods())
  {
    return std::make_unique<LocalCorrelationForces>(*queue, similarity.radius, noise);
  }
  return std::make_unique<SampledForces>(backend, queue, similarity);
}

} // namespace gpureg
