// SPDX-License-Identifier: Apache-2.0
// The division of samples into chunks, each of which a group of lanes processes.
#ifndef gpureg_SamplePartition_h
#define gpureg_SamplePartition_h

#include "engine/metric/samples/SampleProblem.h"

#include <cstddef>

namespace gpureg
{

/** Describes what a metric requires of its samples. */
struct SampleNeeds
{
  /** The least number of samples in a chunk that justifies sums of its own, and the largest number that the sums can hold. */
  int leastOfChunk;
  int mostOfChunk;
  /** The range that the moving image's values are scaled to. */
  double scaledRange;
};

/** Converts the map of a grid of one slice to the map of the grid reshaped into slabs of the given number of rows. 0 rows: the grid is not
 *  reshaped. */
void
ReshapeMap(int rows, kernels::SampleMaps & maps);

/** Cuts the samples of a problem into chunks. Reshapes a grid of one slice into slabs, so that lanes can walk along them. */
void
CutIntoChunks(SampleProblem & problem, const SampleGrain & grain, const SampleNeeds & needs);

/** Converts the sums over a slice that was reshaped into slabs to the slice's own rows. */
void
UndoReshapeOfSums(const kernels::SampleArguments & a, const Size & virtualSize, ForceResult & result);

/** Returns the number of floats to which chunks sum their forces, if each chunk has parts sets of sums. */
std::size_t
CountPartials(const kernels::SampleArguments & arguments, int parts);

} // namespace gpureg

#endif
