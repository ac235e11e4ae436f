// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_TeamRegistration_h
#define gpureg_TeamRegistration_h

#include "GPURegistrationExport.h"
#include "gpureg/registration/diffeomorphic/DiffeomorphicRegistration.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace gpureg
{

/** Registers images on several devices of one computer together.
 *  - Greedily a level is cut along z. Each device computes the deformation in a slab of planes, and takes a halo of planes from its
 *    neighbours after each iteration. A halo has as many planes as an iteration reads beyond a slab, in steps of 16: 16 with default
 *    settings. A level whose slabs would have fewer than two halos of planes each is computed by every device as a whole. Each device
 *    has both images, and the fields of its slab. Sums over all voxels, such as joint histograms, are those of all slabs.
 *  - By SyN two devices move one of the images each: they exchange the images in the middle in each iteration. Each device has both
 *    images, and the fields of its side; the first one has all fields in the end. Of four devices, or more, half of them move one image
 *    each, and cut its fields into slabs: a device computes the planes of its slab, and takes as many of its neighbours' planes as the
 *    displacements are long.
 *
 *  The deformation is that of one device. On devices of one kind it has the bits of one device greedily by the correlation over
 *  neighborhoods, and by SyN on two; otherwise sums are rounded differently, as docs/large-volumes.md says. Devices of CUDA copy from each
 *  other's memory, others through the host. Each device after the first has a thread of its own during Register(). Every device calls the
 *  given ParallelFor, at the same time as others.
 *
 *  Use one object from one thread at a time; progress and levelDone may not call it. Every function throws gpureg::Error, and the object
 *  can be used again after an error. */
class GPURegistration_EXPORT TeamRegistration
{
public:
  /** Takes an idle engine of each of several devices, or makes one; the destructor keeps them for others, unless a function has failed. A
   *  device may be named more than once, as tests do: then it is to have room for all of its parts together.
   *  \throws BadInputError if there are none; Error if there is no such device; the message lists the devices. */
  explicit TeamRegistration(const std::vector<std::string> & deviceNames);
  ~TeamRegistration();
  TeamRegistration(const TeamRegistration &) = delete;
  TeamRegistration &
  operator=(const TeamRegistration &) = delete;

  /** Returns the number of devices. */
  std::size_t
  CountDevices() const;

  /** How many devices register together. */
  struct Usable
  {
    std::size_t devices;
    /** Says why not all of them do; empty if they do. */
    std::string reason;
  };

  /** Returns how many of some devices register a problem together. Needs no device, and no images.
   *  \param problem its dimension and its number of pairs count
   *  \param devices one or more */
  static Usable
  CountUsable(const DiffeomorphicProblem & problem, const DiffeomorphicSettings & settings, std::size_t devices);

  /** Registers two images, and further pairs.
   *  \param problems the same problem for each device, in the constructor's order, with images on that device.
   *  \param settings of the greedy scheme with discrete Gaussians, or of SyN: with more than two devices by the correlation over
   *  neighborhoods and the same Gaussians, of one pair. They do not change meanwhile.
   *  \param parallelFor the threads to use; is called from several threads at once.
   *  \param progress called as by DiffeomorphicRegistration, from the caller's thread.
   *  \param levelDone called in the same way.
   *  \throws what DiffeomorphicRegistration does, and UnsupportedError if CountUsable() returns fewer devices. */
  DiffeomorphicResult
  Register(const std::vector<DiffeomorphicProblem> &                  problems,
           const DiffeomorphicSettings &                              settings,
           const ParallelFor &                                        parallelFor,
           const std::function<void(const DiffeomorphicProgress &)> & progress = {},
           const std::function<void(const DiffeomorphicProgress &)> & levelDone = {});

  /** Plans what a registration would hold on each device: see DiffeomorphicRegistration::GetPlan(). */
  std::vector<MemoryPlan>
  GetPlans(const std::vector<DiffeomorphicProblem> & problems, const DiffeomorphicSettings & settings) const;

  /** Makes sure that each device has room for its part, or for its parts together if it is named more than once, with the images of each,
   *  before these are uploaded: see DiffeomorphicRegistration::MakeRoom(). */
  void
  MakeRoom(const std::vector<DiffeomorphicProblem> & problems, const DiffeomorphicSettings & settings);

  /** Passes the deformation of the last registration, or another field of it, to take, as DiffeomorphicRegistration::TakeDisplacements()
   *  does. */
  void
  TakeDisplacements(const std::function<void(std::int64_t first, std::int64_t count, const float * in)> & take,
                    const ParallelFor &                                                                   parallelFor,
                    DeformationField field = DeformationField::Forward);

  /** Returns the field that TakeDisplacements() passes, on the first device: see DiffeomorphicRegistration::GetField(). Where slabs are put
   *  together, that device frees before what it registered by, and holds the field and its slab: more than was planned only if the slabs
   *  are many. */
  std::shared_ptr<const DeviceField>
  GetField(const ParallelFor & parallelFor, DeformationField field = DeformationField::Forward);

  /** Passes the inverse of the last registration's deformation to take, as DiffeomorphicRegistration::TakeInverse() does. */
  InverseErrors
  TakeInverse(const std::function<void(std::int64_t first, std::int64_t count, const float * in)> & take,
              const ParallelFor &                                                                   parallelFor);

  /** Returns the inverse that TakeInverse() passes, on the first device, with its errors: see DiffeomorphicRegistration::GetInverse(). */
  InverseOnDevice
  GetInverse(const ParallelFor & parallelFor);

  /** Returns the number of voxels that TakeDisplacements() passes; 0 if there is no deformation. */
  std::int64_t
  CountVoxels() const;

  /** Returns the statistics of the last registration on a device. */
  EvaluationStatistics
  GetStatistics(std::size_t device) const;

private:
  class Implementation;
  std::unique_ptr<Implementation> m_Implementation;
};

} // namespace gpureg

#endif
