// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_SchemeSteps_h
#define gpureg_SchemeSteps_h

#include "engine/field/FieldKernels.h"
#include "engine/field/FieldReducer.h"
#include "engine/filter/ImageLevel.h"
#include "engine/filter/LinePasses.h"
#include "engine/runtime/MemoryLedger.h"
#include "engine/runtime/Queue.h"

#include "gpureg/registration/diffeomorphic/DiffeomorphicRegistration.h"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace gpureg
{

class SharedRoom;
class TeamMember;
struct LevelGrid;

/** Says what a device is among those that register together. A pointer is null where no others share that work. */
struct TeamPlace
{
  /** Represents the device among those that cut the levels of a deformation, or of one side of SyN, into slabs. */
  TeamMember * slabs = nullptr;
  /** Represents it among the two that move the two images of SyN. */
  TeamMember * sides = nullptr;
  /** Regards all devices of the team, if several of its parts are on one device; and the device's number among them. */
  SharedRoom * room = nullptr;
  std::size_t  number = 0;
};

/** Holds what a scheme works with. A registration owns the workspace, and all its schemes share it. */
struct SchemeWorkspace
{
  std::shared_ptr<Backend> backend;
  std::shared_ptr<Queue>   queue;
  LinePasses &             lines;
  const std::string &      deviceName;
  FieldReducer             reducer;
  ImageLevel::Scratch      imageScratch;
  /** Arrays of any contents, which each use overwrites. The first one is as large as a field of the level; who uses the second one reserves
   *  it. */
  MemoryPointer first;
  MemoryPointer second;
  TeamPlace     team;

  /** Frees what shrinking an image takes. */
  void
  FreeImageScratch()
  {
    imageScratch = {};
  }
  /** Frees all arrays. */
  void
  Release()
  {
    this->FreeImageScratch();
    reducer.Release();
    first.reset();
    second.reset();
  }
  static void
  PlanNoImageScratch(MemoryLedger & ledger)
  {
    ledger.Free("scratch: shrunk image x");
    ledger.Free("scratch: shrunk image y");
  }

  std::size_t
  GetDeviceBytes() const
  {
    return reducer.GetDeviceBytes() + SizeOf(imageScratch[0]) + SizeOf(imageScratch[1]) + SizeOf(first) +
           SizeOf(second);
  }
};

/** Holds a deformation and its inverse, float[3] a voxel, mm, on a level's grid. */
struct InvertedDeformation
{
  const Memory & deformation;
  const Memory & inverse;
};

/** The steps of one scheme of diffeomorphic registration, inside an operation of the workspace's queue. */
class SchemeSteps
{
public:
  virtual ~SchemeSteps() = default;

  /** Forgets the fields. */
  virtual void
  Begin() = 0;

  /** Makes the images of a level, and resamples the previous level's fields on its grid; the first level's fields are zeros. */
  virtual void
  BeginLevel(const DiffeomorphicProblem & problem, const DiffeomorphicSettings & settings, int number) = 0;

  /** Enqueues an iteration, the level's number t. Returns whether another one may follow. */
  virtual bool
  Iterate(const DiffeomorphicSettings & settings, int t) = 0;

  /** Changes the last level's deformation where it folds. The last call was MakeField(DeformationField::Forward). Returns false, and does
   *  nothing, where the scheme has no such step or has taken as many as it may. */
  virtual bool
  Unfold()
  {
    return false;
  }

  /** Copies the other devices' fields here if this device needs them. Called after the last level. */
  virtual void
  CollectFields()
  {}

  /** Frees what iterations alone need, and the deformation that MakeInverse() has made. Called after the last level. */
  virtual void
  FreeForces() = 0;

  /** Says whether this device has the deformation, or its slab of it, after CollectFields(). */
  virtual bool
  HasDeformation() const
  {
    return true;
  }

  /** Waits for the device, and returns the costs of the level's first count iterations.
   *  \throws BadInputError if they say that there is nothing to register, or that the fields have grown beyond all numbers */
  virtual std::vector<double>
  DownloadCosts(int count) = 0;

  /** Returns the level, and the grid of its fields; its dimension is 0 before the first level. */
  virtual const LevelGrid &
  GetLevel() const = 0;

  /** Returns a field of the last level, float[3] a voxel, mm. It may lie in the workspace's first array.
   *  \throws BadInputError for a field that the scheme does not have */
  virtual const Memory &
  MakeField(DeformationField field) = 0;

  /** Makes the last level's deformation and its inverse, which is refined until it undoes the deformation to 1e-4 voxels at each voxel that
   *  does not fold. Neither lies in the workspace's second array, which is overwritten.
   *  \throws BadInputError if the scheme has no inverse */
  virtual InvertedDeformation
  MakeInverse() = 0;

  /** Returns the size of the scheme's own arrays. */
  virtual std::size_t
  GetDeviceBytes() const = 0;

  /** Writes down the arrays of a level, as BeginLevel() and Iterate() reserve them, behind those of the level before. The problem's images
   *  need be on no device.
   *  \return the grid of the level's fields */
  virtual kernels::FieldGrid
  PlanLevel(const DiffeomorphicProblem &  problem,
            const DiffeomorphicSettings & settings,
            int                           number,
            MemoryLedger &                ledger) = 0;
};

} // namespace gpureg

#endif
