// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_GlobalChecks_h
#define gpureg_GlobalChecks_h

#include "engine/registration/global/GlobalPose.h"

#include "gpureg/registration/global/GlobalRegistration.h"

namespace gpureg
{

/** Returns the kind of a map of so many degrees of freedom.
 *  \throws BadInputError unless there are 3, 6, 7, 9 or 12. */
PoseKind
GetPoseKind(int degreesOfFreedom);

/** Checks the settings of a search.
 *  \throws BadInputError for what is out of range. */
void
CheckSettings(const GlobalProblem & problem, const GlobalSettings & settings);

/** Checks that there is something to turn.
 *  \param which names the image.
 *  \throws BadInputError if an image has one voxel along an axis. */
void
CheckHasSlices(const RegisteredImage & image, int dimension, const char * which);

} // namespace gpureg

#endif
