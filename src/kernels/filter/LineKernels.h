// SPDX-License-Identifier: Apache-2.0
// Recursive filtering of lines (LineRecursion.h) by work-items and work-groups. A work-item filters one line of any length, forwards and
// then backwards, in place. Forwards, it stores only the filter's state at the start of each block of samples; backwards, it recomputes the
// causal output of a block in registers. So each sample is read twice and written once, and the causal output keeps double precision in an
// eighth of the memory.
// Shared by CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_LineKernels_h
#define gpureg_kernels_LineKernels_h

GPUREG_NAMESPACE_BEGIN

/** Returns the index of a state that a work-item stores for a block; the states of neighbouring work-items are adjacent. */
GPUREG_FUNCTION i64
GetStateIndex(const RecursionArguments * a, int kind, int block, int state, i64 item)
{
  return ((i64)block * CountStoredStates(kind) + state) * a->lineCount + item;
}

GPUREG_REAL_FUNCTION void
StoreStateAndRunForwards(int                        kind,
                         const RecursionArguments * a,
                         int                        block,
                         i64                        item,
                         const real *               x,
                         double *                   state,
                         GPUREG_GLOBAL double *     kept)
{
  for (int s = 0; s < CountStoredStates(kind); ++s)
  {
    kept[GetStateIndex(a, kind, block, s, item)] = state[s];
  }
  const int count = a->length - block * RecursionBlock;
  for (int k = 0; k < RecursionBlock; ++k)
  {
    if (k < count)
    {
      StepCausal(kind, a, (double)x[k], state);
    }
  }
}

GPUREG_REAL_FUNCTION void
RunBackwards(int                          kind,
             const RecursionArguments *   a,
             int                          block,
             i64                          item,
             real *                       x,
             double *                     back,
             GPUREG_GLOBAL const double * kept)
{
  double state[RecursionStates], y[RecursionBlock];
  for (int s = 0; s < RecursionStates; ++s)
  {
    state[s] = s < CountStoredStates(kind) ? kept[GetStateIndex(a, kind, block, s, item)] : 0.0;
  }
  const int count = a->length - block * RecursionBlock;
  for (int k = 0; k < RecursionBlock; ++k)
  {
    y[k] = StepCausal(kind, a, (double)x[k], state);
  }
  for (int k = RecursionBlock - 1; k >= 0; --k)
  {
    if (k < count)
    {
      x[k] = (real)StepAnticausal(kind, a, (double)x[k], y[k], back);
    }
  }
}

#ifdef __cplusplus
/** The kinds for which kernels are compiled. */
struct RecursionVariants
{
  static constexpr int constants = 1;
  static constexpr int values[][1] = { { RecursionOfGaussian }, { RecursionOfSpline } };
  /** False: on a processor, too, each variant has a kernel of its own. */
  static constexpr bool areLookedUp = false;
};
#endif

/** Filters one line per work-item. Neighbouring work-items read adjacent samples unless the line lies along the fastest axis. */
GPUREG_REAL_FUNCTION void
RecurseLine(int kind, const RecursionArguments * a, i64 item, GPUREG_GLOBAL real * volume, GPUREG_GLOBAL double * kept)
{
  GPUREG_GLOBAL real * line = volume + GetLineOffset(a, a->firstLine + item);
  const int            blocks = CountBlocks(a->length);
  real                 x[RecursionBlock];
  double               state[RecursionStates], back[RecursionStates];
  StartCausal(kind, a, line, state);
  for (int block = 0; block < blocks; ++block)
  {
    for (int k = 0; k < RecursionBlock; ++k)
    {
      const int i = block * RecursionBlock + k;
      x[k] = i < a->length ? line[i * a->inner] : (real)0;
    }
    StoreStateAndRunForwards(kind, a, block, item, x, state, kept);
  }
  StartAnticausal(kind, a, (double)line[(a->length - 1) * a->inner], state, back);
  for (int block = blocks - 1; block >= 0; --block)
  {
    for (int k = 0; k < RecursionBlock; ++k)
    {
      const int i = block * RecursionBlock + k;
      x[k] = i < a->length ? line[i * a->inner] : (real)0;
    }
    RunBackwards(kind, a, block, item, x, back, kept);
    for (int k = 0; k < RecursionBlock; ++k)
    {
      const int i = block * RecursionBlock + k;
      if (i < a->length)
      {
        line[i * a->inner] = x[k];
      }
    }
  }
}

/** Filters a line with each lane: see RecurseLine. */
GPUREG_REAL_GROUP_FUNCTION void
RecurseLines(int kind, const RecursionArguments * a, GPUREG_GLOBAL real * volume, GPUREG_GLOBAL double * kept)
{
  const i64 item = (i64)GroupIndex() * LaneCount() + LaneIndex();
  if (item < a->lineCount)
  {
    RecurseLine(kind, a, item, volume, kept);
  }
}

GPUREG_REAL_GROUP_KERNEL(RecurseLines, RecursionVariants, 128, 0, "recursive filtering");

enum
{
  /** One more than a block, so that the lines of different lanes start in different banks of local memory. */
  RecursionTileWidth = RecursionBlock + 1
};

/** Copies one block of each of the group's lines between the volume and local memory; neighbouring lanes copy adjacent samples. */
GPUREG_REAL_GROUP_FUNCTION void
MoveTile(const RecursionArguments * a,
         i64                        firstItem,
         int                        block,
         int                        isStore,
         GPUREG_GLOBAL real *       volume,
         GPUREG_LOCAL real *        tile)
{
  const int k = LaneIndex() % RecursionBlock;
  const int i = block * RecursionBlock + k;
  for (int lane = LaneIndex() / RecursionBlock; lane < LaneCount(); lane += LaneCount() / RecursionBlock)
  {
    if (firstItem + lane < a->lineCount && i < a->length)
    {
      GPUREG_GLOBAL real * there = volume + (GetLineOffset(a, a->firstLine + firstItem + lane) + i * a->inner);
      if (isStore)
      {
        *there = tile[lane * RecursionTileWidth + k];
      }
      else
      {
        tile[lane * RecursionTileWidth + k] = *there;
      }
    }
  }
}

/** Filters as RecurseLine does, along the fastest axis: a group's lines pass through local memory block by block, so that neighbouring
 *  lanes read adjacent samples. tile: real [lanes][RecursionTileWidth]. */
GPUREG_REAL_GROUP_FUNCTION void
RecurseTile(int                        kind,
            const RecursionArguments * a,
            GPUREG_GLOBAL real *       volume,
            GPUREG_GLOBAL double *     kept,
            GPUREG_LOCAL real *        tile)
{
  const i64           firstItem = (i64)GroupIndex() * LaneCount();
  const i64           item = firstItem + LaneIndex();
  const int           hasLine = item < a->lineCount;
  const int           blocks = CountBlocks(a->length);
  GPUREG_LOCAL real * own = tile + LaneIndex() * RecursionTileWidth;
  real                x[RecursionBlock];
  double              state[RecursionStates], back[RecursionStates];
  if (hasLine)
  {
    GPUREG_GLOBAL real * line = volume + GetLineOffset(a, a->firstLine + item);
    StartCausal(kind, a, line, state);
  }
  for (int block = 0; block < blocks; ++block)
  {
    MoveTile(a, firstItem, block, 0, volume, tile);
    LocalBarrier();
    if (hasLine)
    {
      for (int k = 0; k < RecursionBlock; ++k)
      {
        x[k] = own[k];
      }
      StoreStateAndRunForwards(kind, a, block, item, x, state, kept);
    }
    LocalBarrier();
  }
  if (hasLine)
  {
    const real last = own[a->length - 1 - (blocks - 1) * RecursionBlock];
    StartAnticausal(kind, a, (double)last, state, back);
  }
  LocalBarrier();
  for (int block = blocks - 1; block >= 0; --block)
  {
    MoveTile(a, firstItem, block, 0, volume, tile);
    LocalBarrier();
    if (hasLine)
    {
      for (int k = 0; k < RecursionBlock; ++k)
      {
        x[k] = own[k];
      }
      RunBackwards(kind, a, block, item, x, back, kept);
      for (int k = 0; k < RecursionBlock; ++k)
      {
        own[k] = x[k];
      }
    }
    LocalBarrier();
    MoveTile(a, firstItem, block, 1, volume, tile);
    LocalBarrier();
  }
}

GPUREG_REAL_GROUP_KERNEL(RecurseTile, RecursionVariants, 128, 32 * RecursionTileWidth, "recursive filtering");

GPUREG_NAMESPACE_END

#endif
