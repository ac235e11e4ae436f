// SPDX-License-Identifier: Apache-2.0
// Cuts a level along z, for several devices.
#ifndef gpureg_Slab_h
#define gpureg_Slab_h

#include "engine/core/Range.h"

#include "gpureg/registration/diffeomorphic/DiffeomorphicRegistration.h"

#include <cstdint>

namespace gpureg
{

/** The planes of a level that a device holds: its own, and beside them a halo of its neighbours' planes. Planes are numbered from the
 *  level's first one. */
struct Slab
{
  Range        held;
  Range        own;
  std::int64_t planes = 0; // of the level

  bool
  IsWhole() const
  {
    return own.count == planes;
  }

  /** Returns the device's own planes, numbered from the first one that it holds. */
  Range
  GetOwnOfHeld() const
  {
    return { own.first - held.first, own.count };
  }
};

/** Returns the planes beside its own that a device needs for an iteration, a multiple of PlanesOfBlocks: as far as its own planes depend on
 *  others by a correlation of neighborhoods and its derivative, and both Gaussians. In the greedy scheme also by a step; SyN's fields are
 *  read from arrays of all planes.
 *  \param radius the largest one of all neighborhoods: see FindLargestRadius() */
int
CountHaloPlanes(const DiffeomorphicSettings & settings, int radius);

/** Returns the slab of a device that holds all planes. */
inline Slab
MakeWholeSlab(std::int64_t planes)
{
  return { { 0, planes }, { 0, planes }, planes };
}

/** Cuts so many planes into slabs, of which each begins at a multiple of PlanesOfBlocks, and returns that of a member. Returns all
 *  planes if a slab would have fewer than two halos of its own.
 *  \param members the number of slabs \param member from 0 on */
Slab
CutSlab(int planes, int halo, int members, int member);

} // namespace gpureg

#endif
