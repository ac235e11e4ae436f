// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_DeviceField_h
#define gpureg_DeviceField_h

#include "GPURegistrationExport.h"
#include "gpureg/core/Geometry.h"
#include "gpureg/core/Key.h"
#include "gpureg/core/ParallelFor.h"
#include "gpureg/transform/TransformChain.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace gpureg
{

class Backend;
class Memory;

/** Holds a field of displacements on a device: for each voxel of a grid a vector in mm. It does not change, and whoever needs it shares it.
 *  A registration makes it, and a chain of transforms takes it as the vectors of a grid: see MakeDisplacementGrid(). Where the chain is
 *  applied on the same device, the field does not leave the device.
 *
 *  The device's memory account counts it until the last owner has released it. Several threads may use one field at once. */
class GPURegistration_EXPORT DeviceField
{
public:
  /** Says what a field is, and where its voxels lie. */
  struct Description
  {
    /** 2 or 3. */
    int      dimension = 3;
    Size     size{};
    IndexMap indexToPoint;
    /** The largest absolute value of the vectors' components, mm; infinity if one of them is not finite. */
    double largest = 0;
  };

  /** Takes over memory.
   *  \param backend the backend of the device.
   *  \param memory the vectors, float[3] a voxel, mm, x fastest; no work on them is pending. The third component is 0 in two dimensions.
   *  \param description what the field is. */
  DeviceField(std::shared_ptr<Backend> backend, std::unique_ptr<Memory> memory, const Description & description);
  ~DeviceField();
  DeviceField(const DeviceField &) = delete;
  DeviceField &
  operator=(const DeviceField &) = delete;

  /** Uploads a field.
   *  \param deviceName the device.
   *  \param description what the field is; its largest component is computed.
   *  \param displacements writes the vectors, float[3] a voxel; see above.
   *  \param parallelFor the threads to use.
   *  \throws BadInputError if there is no such device, or the field has no voxels */
  static std::shared_ptr<const DeviceField>
  Load(const std::string & deviceName,
       Description         description,
       const Filler &      displacements,
       const ParallelFor & parallelFor);

  const Description &
  GetDescription() const;

  const std::string &
  GetDeviceName() const;

  /** Says whether the field is on a device. */
  bool
  IsOn(const Backend & backend) const;

  const Memory &
  GetMemory() const;

  /** Returns the address of the vectors: a pointer on the GPU, or on the host; null for OpenCL. */
  void *
  GetAddress() const;

  /** Returns how many bytes the device's memory account counts for the field. */
  std::size_t
  GetAccountBytes() const;

  /** Returns a key that no other source of vectors in this process has. */
  const Key &
  GetKey() const;

  /** Downloads the vectors of voxels first … first + count - 1, and passes them to take, in chunks, from several threads at once. The
   *  chunks are numbered from the field's first voxel on.
   *  \throws Error if the device reports a failure, and DeviceLostError in a forked process in which the device does not work */
  void
  Take(std::int64_t                                                                          first,
       std::int64_t                                                                          count,
       const std::function<void(std::int64_t first, std::int64_t count, const float * in)> & take,
       const ParallelFor &                                                                   parallelFor) const;

private:
  struct Content;
  std::unique_ptr<Content> m_Content;
};

/** Returns a field as the grid of a transform x + u(x), for TransformChain::Append().
 *  \throws BadInputError if the axes of the field's grid are not linearly independent */
GPURegistration_EXPORT
DisplacementGrid
MakeDisplacementGrid(std::shared_ptr<const DeviceField> field);

} // namespace gpureg

#endif
