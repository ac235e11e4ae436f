// SPDX-License-Identifier: Apache-2.0
// The tables of windowed interpolation kernels.
#ifndef gpureg_WindowedTables_h
#define gpureg_WindowedTables_h

#include "gpureg/resample/WindowedResampler.h"

#include <vector>

namespace gpureg
{

/** Returns the numbers that InterpolateWindowed() in src/kernels/resample/WindowedInterpolation.h reads for a request.
 *  \throws BadInputError, UnsupportedError: see WindowedResampler::Resample() */
std::vector<double>
MakeWindowedNumbers(const WindowedRequest & request);

} // namespace gpureg

#endif
