// SPDX-License-Identifier: Apache-2.0
// The chain of transforms that a registration begins with.
#ifndef gpureg_InitialChain_h
#define gpureg_InitialChain_h

#include "gpureg/transform/TransformChain.h"

#include <cstddef>
#include <cstdint>

namespace gpureg
{

/** Checks that a chain maps any point.
 *  \throws UnsupportedError if it has displacements of an output's voxels alone */
void
CheckMapsPoints(const TransformChain & chain);

/** Gives the vectors of a chain a source that is identified by a registration's number, so that they are uploaded once for all of
 *  its levels, and read again by the next registration. */
void
MarkAsOneSource(TransformChain & chain, std::uintptr_t registration);

/** Returns the number of vectors of all grids of a chain. */
std::size_t
CountVectors(const TransformChain & chain);

} // namespace gpureg

#endif
