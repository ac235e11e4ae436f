// SPDX-License-Identifier: Apache-2.0
// Checks of what is to be resampled, and the arguments of kernels that resample it.
#ifndef gpureg_ResampleProblem_h
#define gpureg_ResampleProblem_h

#include "gpureg/resample/Resampler.h"

#include "engine/resample/ResamplePasses.h"
#include "engine/resample/ResamplePlan.h"
#include "engine/transform/MergedChain.h"

#include <cstdint>
#include <string>

namespace gpureg
{

/** \throws BadInputError if input or request are empty, do not fit each other, or the input's image is not on the device;
 *  UnsupportedError if kernels cannot count their voxels */
void
CheckResampling(const ResampleInput & input, const ResampleRequest & request, const std::string & deviceName);

/** Returns the kernels' arguments without those of slabs and rows. \param merged the chain from the output's indices to the input's */
kernels::ResampleArguments
MakeResampleArguments(const ResampleInput & input, const ResampleRequest & request, const MergedChain & merged);

/** Returns how many rows the output has. */
inline std::int64_t
CountRows(const ResampleRequest & request)
{
  return static_cast<std::int64_t>(request.size[1]) * request.size[2];
}

/** Returns the planes of the input that rows of the output may read if they are displaced by at most reach voxels. */
PlaneRange
FindPlanesOfInput(const ResampleRequest & request,
                  const MergedChain &     merged,
                  const SlabCut &         cut,
                  const RowRange &        rows,
                  double                  reach);

/** Returns the slabs that contain all planes which rows of the output may read. \param reach bounds the
 *  displacements along the axis of the cut, in voxels, before they are rounded */
PlaneRange
FindSlabs(const ResampleRequest & request,
          const MergedChain &     merged,
          const SlabCut &         cut,
          const RowRange &        rows,
          double                  reach);

} // namespace gpureg

#endif
