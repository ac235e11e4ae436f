// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_DeformationOutput_h
#define gpureg_DeformationOutput_h

#include "engine/field/InverseMeasure.h"
#include "engine/field/JacobianMeasure.h"
#include "engine/registration/diffeomorphic/LevelGrid.h"
#include "engine/registration/diffeomorphic/SchemeSteps.h"

#include "gpureg/registration/diffeomorphic/DiffeomorphicRegistration.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

namespace gpureg
{

/** Passes a scheme's deformation on, during a registration or behind it: to the host, as a field on the device, with its inverse, and what
 *  it does to volumes. All functions but the counts work inside an operation of the workspace's queue. */
class DeformationOutput
{
public:
  using Taker = std::function<void(std::int64_t first, std::int64_t count, const float * in)>;

  /** workspace must outlive this object. */
  explicit DeformationOutput(SchemeWorkspace & workspace);

  /** Begins a level of a scheme, which must outlive this object, or Clear() must forget it before. */
  void
  BeginLevel(SchemeSteps & scheme);

  /** Forgets the deformation. */
  void
  Clear()
  {
    m_Scheme = nullptr;
    m_Voxels = 0;
  }

  /** Returns the number of voxels of the current or the last registration's field; 0 if there is none. */
  std::int64_t
  CountVoxels() const
  {
    return m_Voxels;
  }

  /** Returns a field, which is valid until the scheme's next work. If one was given away before, it takes the place of what iterations
   *  need.
   *  \throws BadInputError if there is no deformation, or no such field */
  const Memory &
  MakeField(DeformationField field);

  /** Returns the inverse in the same way, and measures it. \throws BadInputError if there is no deformation */
  const Memory &
  MakeInverse(InverseErrors & errors);

  /** Returns a field as a DeviceField. After a registration this one takes over the workspace's first array, which holds nothing else that
   *  is needed then, and is made again when it is needed; during one it is a copy. The field must not lie in the workspace's second array.
   *  Of a deformation that is cut into slabs, all members of a team call this behind a registration, and the first one gets the whole
   *  field, the others null. The first one frees before what iterations need.
   *  \param isRegistering whether a registration goes on */
  std::shared_ptr<const DeviceField>
  GiveAway(const Memory & field, bool isRegistering);

  /** Passes the voxels of a field that are the device's own to take, in chunks. */
  void
  Pass(const Memory & field, const Taker & take);

  /** Lets the scheme unfold a deformation that folds, and writes down how the last one changes volumes. */
  void
  MeasureFolding(DiffeomorphicResult & result);

  std::size_t
  GetDeviceBytes() const
  {
    return m_Jacobian.GetDeviceBytes() + m_Inverse.GetDeviceBytes();
  }

private:
  void
  CheckIsRegistered() const;

  /** Frees what iterations need if a field was given away. */
  void
  MakeRoom();

  /** Returns a copy of all planes of a field that is cut on the first member of a team, and null on the others. */
  MemoryPointer
  Collect(const Memory & field);

  const LevelGrid &
  GetLevel() const
  {
    return m_Scheme->GetLevel();
  }

  /** Computes how the deformation changes volumes, from its Jacobian at each voxel. */
  VolumeChanges
  MeasureVolumes();

  SchemeWorkspace & m_Workspace;
  JacobianMeasure   m_Jacobian;
  InverseMeasure    m_Inverse;
  SchemeSteps *     m_Scheme = nullptr; // of the last level, if there is a deformation
  std::int64_t      m_Voxels = 0;
  // The number of voxels at which the last registration's deformation folds. It has no value while the deformation changes.
  std::optional<std::int64_t> m_FoldedVoxels;
};

} // namespace gpureg

#endif
