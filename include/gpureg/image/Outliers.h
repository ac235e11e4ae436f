// SPDX-License-Identifier: Apache-2.0
// Finds an image's outliers as registrations do, for plans: an image that has some is registered by a copy without them.
#ifndef gpureg_Outliers_h
#define gpureg_Outliers_h

#include "GPURegistrationExport.h"
#include "gpureg/image/RegisteredImage.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace gpureg
{

/** Returns the places of those of an image's values by which its outliers are found. count: of all its values */
GPURegistration_EXPORT
std::vector<std::int64_t>
ListPickedPlaces(std::int64_t count);

/** Returns the range of an image's values without outliers, or nothing if it has none. A plan of a registration whose settings have this
 *  range counts the copy.
 *  \param sample the values at ListPickedPlaces(), as floats, or as doubles if the image has doubles
 *  \param all the smallest and the largest of all values, likewise */
GPURegistration_EXPORT
std::optional<ValueRange>
FindRangeWithoutOutliers(const std::vector<double> & sample, const ValueRange & all);

} // namespace gpureg

#endif
