// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_FieldScheme_h
#define gpureg_FieldScheme_h

#include "engine/field/FieldSmoother.h"
#include "engine/registration/diffeomorphic/LevelGrid.h"
#include "engine/registration/diffeomorphic/SchemeSteps.h"

#include <cstddef>

namespace gpureg
{

/** Holds what every scheme has: the grid of a level, the Gaussians, and how an update gets its length. */
class FieldScheme : public SchemeSteps
{
public:
  void
  Begin() override
  {
    m_Level = {};
  }

  const kernels::FieldGrid &
  GetGrid() const override
  {
    return m_Level.grid;
  }

protected:
  /** workspace must outlive it. */
  explicit FieldScheme(SchemeWorkspace & workspace);

  /** Makes level the current one, reserves what its updates need, and returns the level before. */
  LevelGrid
  SetLevel(const LevelGrid & level);

  /** Sets the Gaussians of updates and of the field on the current level. */
  void
  SetSmoothing(const DiffeomorphicSettings & settings, FieldBorder border = FieldBorder::Smoothed);

  /** Enqueues the smoothing of forces into an update, as FieldSmoother::Smooth() takes the arrays, and writes the factor that brings its
   *  longest vector to a length to m_Factors.
   *  \param length in voxels; negative for forces that point the other way
   *  \param slot kernels::FactorOfOuter or kernels::FactorOfInner */
  void
  MakeUpdate(const Memory & forces, Memory & first, Memory & second, Memory & update, double length, int slot);

  /** Returns the size of this class's own arrays. */
  std::size_t
  GetUpdateBytes() const;

  SchemeWorkspace & m_Workspace;
  FieldSmoother     m_UpdateSmoother;
  FieldSmoother     m_FieldSmoother;
  LevelGrid         m_Level;   // of dimension 0 before the first level
  MemoryPointer     m_Factors; // float: see kernels::ComposeFields

private:
  MemoryPointer m_Longest; // float: the length of the longest vector
};

} // namespace gpureg

#endif
