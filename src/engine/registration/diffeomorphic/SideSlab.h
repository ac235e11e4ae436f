// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_SideSlab_h
#define gpureg_SideSlab_h

#include "engine/field/FieldPart.h"
#include "engine/registration/diffeomorphic/LevelGrid.h"
#include "engine/registration/diffeomorphic/SchemeSteps.h"

#include <cstddef>
#include <cstdint>

namespace gpureg
{

/** A field of a side of SyN, with a bound of how far its vectors lead along z. The bound is kept on levels that are cut: see SideSlab. */
struct SideField
{
  MemoryPointer vectors;      // float[3] a voxel, mm, of all planes of a level
  double        reach = 0;    // planes
  double        measured = 0; // planes: the reach when it was last measured
};

/** The planes that a device computes of a side's fields in SyN: all of them, or a slab, where several devices move the side together.
 *
 *  Compositions and inversions read a field where another field leads. So each device has arrays of all planes, computes its own planes,
 *  and gets its neighbours' planes as far as its vectors lead before each such reading. How far that is follows from a measured reach and
 *  the lengths of the steps since. */
class SideSlab
{
public:
  /** workspace must outlive this object. */
  explicit SideSlab(SchemeWorkspace & workspace)
    : m_Workspace(workspace)
  {}

  /** Forgets the level, and frees the arrays. */
  void
  Release()
  {
    m_Level = {};
    m_Cut = {};
    m_Update.reset();
    m_Largest.reset();
  }

  /** Begins a level. cut: the planes that the device holds of what it computes from the images, with its own among them */
  void
  BeginLevel(const LevelGrid & whole, const Slab & cut);

  bool
  IsCut() const
  {
    return !m_Level.slab.IsWhole();
  }

  /** Returns the level as a device has it that computes all planes. Its dimension is 0 before the first level. */
  LevelGrid
  GetWhole() const;

  /** Returns the grid of all planes, whose items are the device's own voxels. */
  const kernels::FieldGrid &
  GetGrid() const
  {
    return m_Level.grid;
  }

  /** Returns the number of the level's voxels, the first own one, and the number of own ones. */
  std::int64_t
  CountAll() const
  {
    return kernels::CountFieldVoxels(&m_Level.grid);
  }
  std::int64_t
  GetFirst() const
  {
    return GetVoxels(m_Level, m_Level.slab.own).first;
  }
  std::int64_t
  CountOwn() const
  {
    return GetVoxels(m_Level, m_Level.slab.own).count;
  }

  /** Returns a side's field from the first voxel on that is held, or that is the device's own. */
  FieldPart
  GetHeld(const SideField & field) const
  {
    return { *field.vectors, GetVoxels(m_Level, m_Cut.held).first };
  }
  FieldPart
  GetOwn(const SideField & field) const
  {
    return { *field.vectors, this->GetFirst() };
  }

  /** Returns the planes beside the own ones that are held. */
  double
  GetHalo() const;

  /** Returns the planes that a vector of a length reaches at most. \param length in voxels: see kernels::ComputeLengthInVoxels() */
  double
  ToPlanes(double length) const;

  /** Measures how far a field leads if its bound has grown by some planes since the last measurement. Waits for the other devices of this
   *  side. */
  void
  LimitReach(SideField & field);

  /** Copies neighbours' planes of a field, so that a place so many planes from an own one can be read. Waits for the other devices of this
   *  side. */
  void
  Surround(SideField & field, double reach);

  /** Returns an update of all planes that can be read at a distance from the own ones: update itself unless the level is cut.
   *  \param update of the planes that are held */
  const Memory &
  SurroundUpdate(const Memory & update, double reach);

  /** Copies the own planes of an array of the held ones to a field, or the held planes of a field to an array. */
  void
  StoreOwn(const Memory & held, SideField & field);
  void
  LoadHeld(const SideField & field, Memory & held);

  /** Adds the other devices' planes to a field, until it has all. Those whose field stays as it is call Give() at the same time. */
  void
  Collect(SideField & field);

  /** Lets other devices copy this one's planes of a field. */
  void
  Give(SideField & field);

  /** Returns an array that holds a field of the level and is not used between iterations, or null. */
  Memory *
  GetSpare() const
  {
    return SizeOf(m_Update) >= CountBytes(m_Level.grid) ? m_Update.get() : nullptr;
  }

  std::size_t
  GetDeviceBytes() const
  {
    return SizeOf(m_Update) + SizeOf(m_Largest);
  }

private:
  /** Measures how far the own planes, and those of the other devices, lead. */
  double
  Measure(const SideField & field);

  /** Copies voxels of a field. */
  void
  CopyVoxels(Memory & to, std::int64_t first, const Memory & from, std::int64_t firstFrom, std::int64_t count);

  void
  GetPlanes(Memory & field, double around);

  SchemeWorkspace & m_Workspace;
  LevelGrid         m_Level; // of all planes, of which the device's own are known
  Slab              m_Cut;
  MemoryPointer     m_Update;  // float[3] a voxel of the level
  MemoryPointer     m_Largest; // float: the largest component of a field
};

} // namespace gpureg

#endif
