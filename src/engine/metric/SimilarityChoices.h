// SPDX-License-Identifier: Apache-2.0
// Looks up and checks similarities by their descriptions.
#ifndef gpureg_SimilarityChoices_h
#define gpureg_SimilarityChoices_h

#include "gpureg/metric/Similarity.h"

#include <string>

namespace gpureg
{

/** A use of similarities: a member that is true for those that serve it; null for all similarities. */
using SimilarityUse = bool SimilarityDescription::*;

/** Returns the similarity of a name. \param what the setting's name in messages, such as "cost"
 *  \throws BadInputError if no similarity of this name serves the use; the message lists those that do */
SimilarityKind
FindSimilarity(const char * what, const std::string & name, SimilarityUse use);

/** Checks that a similarity serves a use. \throws BadInputError if it does not, or is not in the enumeration */
void
CheckServes(const char * what, SimilarityKind kind, SimilarityUse use);

/** Returns bins if the similarity may have so many. \throws BadInputError otherwise */
int
CheckedBins(SimilarityKind kind, int bins);

/** Checks the number of bins and the radius, if the similarity has them. \throws BadInputError for a setting out of range */
void
CheckSettings(const SimilaritySettings & settings);

} // namespace gpureg

#endif
