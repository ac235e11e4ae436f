// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_SlabRegistration_h
#define gpureg_SlabRegistration_h

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

/** Registers two images by the greedy scheme on several devices of one computer. A level is cut along z: each device computes the deformation in a
 *  slab of planes, and takes a halo of planes from its neighbours after each iteration. Each device has both images, and the fields of its
 *  slab. The deformation is that of one device, but for roundings of the cost.
 *
 *  - A halo has as many planes as an iteration reads beyond a slab, in steps of 16: 16 with default settings. A level whose slabs would have fewer
 *    than two halos of planes each is computed by every device as a whole.
 *  - Devices of CUDA copy halos from each other's memory; others through the host.
 *  - A device more has a thread of its own during Register(). Every device calls the given ParallelFor, at the same time as others.
 *
 *  Use one object from one thread at a time. Every function throws gpureg::Error, and the object can be used again after an error. */
class GPURegistration_EXPORT SlabRegistration
{
public:
  /** Makes an engine on each of several devices. A device may be named more than once.
   *  \throws BadInputError if there are none; Error if there is no such device; the message lists the devices. */
  explicit SlabRegistration(const std::vector<std::string> & deviceNames);
  ~SlabRegistration();
  SlabRegistration(const SlabRegistration &) = delete;
  SlabRegistration &
  operator=(const SlabRegistration &) = delete;

  /** Returns the number of devices. */
  std::size_t
  CountDevices() const;

  /** Registers two images.
   *  \param problems the same problem for each device, in the constructor's order, with images on that device.
   *  \param settings the greedy scheme's, with the correlation over neighborhoods, and discrete Gaussians. They do not change meanwhile.
   *  \param parallelFor the threads to use; is called from several threads at once.
   *  \param progress called as by DiffeomorphicRegistration, from the caller's thread.
   *  \param levelDone called in the same way.
   *  \throws what DiffeomorphicRegistration does, and UnsupportedError for settings, or images of two dimensions, that slabs are not for. */
  DiffeomorphicResult
  Register(const std::vector<DiffeomorphicProblem> &                  problems,
           const DiffeomorphicSettings &                              settings,
           const ParallelFor &                                        parallelFor,
           const std::function<void(const DiffeomorphicProgress &)> & progress = {},
           const std::function<void(const DiffeomorphicProgress &)> & levelDone = {});

  /** Plans what a registration would hold on each device: see DiffeomorphicRegistration::GetPlan(). */
  std::vector<MemoryPlan>
  GetPlans(const std::vector<DiffeomorphicProblem> & problems, const DiffeomorphicSettings & settings) const;

  /** Passes the deformation of the last registration to take, as DiffeomorphicRegistration::TakeDisplacements() does. */
  void
  TakeDisplacements(const std::function<void(std::int64_t first, std::int64_t count, const float * in)> & take,
                    const ParallelFor &                                                                   parallelFor);

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
