// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_MiddleForces_h
#define gpureg_MiddleForces_h

#include "engine/filter/RecursiveFilter.h"
#include "engine/registration/diffeomorphic/ForceSum.h"
#include "engine/registration/diffeomorphic/MiddlePair.h"
#include "engine/registration/diffeomorphic/SchemeSteps.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace gpureg
{

/** Returns the role that a device evaluates of the two that move the sides: the first device moves the fixed image, and the second one the
 *  moving image. */
MiddleRole
GetRole(const TeamMember & member);

/** Returns what the images of a pair are at the level that begins. */
using MakeMiddleSources = std::function<MiddleSources(const WeighedPair & pair)>;

/** Returns pairs at a level, in their order. The first one is to be the registration's own, since it has the cost: FirstPair::IsKept.
 *  \param flat the neighborhoods that are flat, in all pairs */
std::vector<MiddleSources>
ListMiddleSources(const std::vector<WeighedPair> & pairs,
                  const FlatNeighborhoods &        flat,
                  const MakeMiddleSources &        make);

/** The similarities of all pairs of images in the middle of a level, and their derivatives by the points of either image, as
 *  itk::SyNImageRegistrationMethod computes them: from central differences of the resampled images. Each iteration has two evaluations,
 *  with exchanged roles. */
class MiddleForces
{
public:
  /** workspace must outlive this object. */
  explicit MiddleForces(SchemeWorkspace & workspace);

  /** Begins a level of a number. problem: has the initial transforms. */
  void
  BeginLevel(const DiffeomorphicProblem &       problem,
             const DiffeomorphicSettings &      settings,
             const std::vector<MiddleSources> & pairs,
             int                                number,
             const LevelGrid &                  level);

  /** Enqueues the resampling of all fixed, or moving, images in the middle, along a field from there and the initial transform. scratch: an
   *  array of the level's size, and not the field's, which is overwritten. */
  void
  ResampleFixed(const FieldPart & field, Memory & scratch);
  void
  ResampleMoving(const FieldPart & field, Memory & scratch);

  /** Takes the images in the middle that the device of the other side has resampled. Does nothing if this one moves both sides. */
  void
  ExchangeImages();

  /** Takes the values of the role at iteration t that the device of the other side has evaluated. Does nothing if this one moves both
   *  sides. */
  void
  ExchangeValues(int t);

  /** Checks that none of a level's first images in the middle is constant. Overwrites the workspace's first array. */
  void
  CheckImages();

  /** Checks that none of a level's first images in the middle is constant, and sets those of iteration t their ranges for similarities with
   *  bins, as ITK does. Overwrites the workspace's first array. */
  void
  SetRanges(int t);

  /** Enqueues the evaluations of iteration t.
   *  \param sign gets 1 if the derivative points to where the images are more similar, otherwise -1
   *  \return the derivative, or the sum of those of several pairs, float[3] a voxel, until the next evaluation. Other work may overwrite
   *  it. */
  Memory &
  Enqueue(MiddleRole role, int t, int & sign);

  /** Says whether there was a derivative on the level's grid. */
  bool
  HasScratch() const
  {
    return m_Scratch != nullptr;
  }

  /** Returns the array of the last derivative, which other work may overwrite. \throws std::logic_error if HasScratch() is false */
  Memory &
  GetScratch() const;

  /** Frees the images in the middle and all that is computed from them, after the last level. Makes HasScratch() false. */
  void
  Release();

  /** Writes down what Release() frees. */
  static void
  PlanRelease(MemoryLedger & ledger);

  /** Waits for the device, and returns the costs of the level's first count iterations: the mean of both evaluations of the first pair, as
   *  ITK has it.
   *  \throws BadInputError if they say that there is nothing to register, or that the fields have grown beyond all numbers */
  std::vector<double>
  DownloadCosts(int count) const;

  std::size_t
  GetDeviceBytes() const;

  /** Writes down the arrays that BeginLevel() and Enqueue() reserve. */
  void
  PlanLevel(const std::vector<MiddleSources> & pairs, int iterations, const LevelGrid & level, MemoryLedger & ledger);

private:
  /** Returns true if the images of iteration t are deformed. */
  bool
  IsDeformed(int t) const;

  /** Returns the place in m_Values of a pair's similarity at iteration t. */
  std::int64_t
  GetSlot(int t, MiddleRole role, std::size_t pair) const;

  SchemeWorkspace &                        m_Workspace;
  RecursiveFilter                          m_Filter;
  StartTransform                           m_FixedStart;
  StartTransform                           m_MovingStart;
  ForceSum                                 m_Sum;
  std::vector<std::unique_ptr<MiddlePair>> m_Pairs;
  std::int64_t                             m_Voxels = 0; // of a field
  bool                                     m_BeginsDeformed = false;
  Memory *                                 m_Scratch = nullptr; // see HasScratch()
  MemoryPointer                            m_OfAll;             // float[3] a voxel: the sum of several pairs
  MemoryPointer                            m_Values;            // float: see GetSlot()
};

} // namespace gpureg

#endif
