// SPDX-License-Identifier: Apache-2.0
#ifndef Stages_h
#define Stages_h

#include "DeformationError.h"
#include "DenseStage.h"
#include "FreeFormStage.h"
#include "Labels.h"
#include "Registration.h"

#include <ostream>
#include <string>
#include <vector>

namespace example
{

/** A stage, and its transform from fixed to moving points. */
struct Stage
{
  std::string             name;
  Transform::ConstPointer transform;
};

/** Returns the start of a registration ("before"), its linear stages, and the stages that deform.
 *  \param freeForm, dense null for none */
std::vector<Stage>
ListStages(const RegistrationResult & linear, const FreeFormResult * freeForm, const DenseResult * dense = nullptr);

/** Prints the distance of each stage from the truth in the head, at points twice as far apart as the voxels.
 *  \returns each stage's error
 *  \throws std::runtime_error if there is no head in the fixed image */
std::vector<ErrorStatistics>
PrintErrors(const std::vector<Stage> & stages, const Transform * truth, const Volume * fixed, std::ostream & os);

/** Prints how well each stage maps the moving image's labels onto the fixed image's, and how well the truth does: labels are resampled
 *  by nearest neighbour, so its Dice coefficient is not 1.
 *  \param truth null if it is unknown
 *  \returns each stage's mean
 *  \throws std::runtime_error if there are no labels */
std::vector<double>
PrintDice(const std::vector<Stage> & stages,
          const Transform *          truth,
          const Labels *             fixedLabels,
          const Labels *             movingLabels,
          std::ostream &             os);

} // namespace example

#endif
