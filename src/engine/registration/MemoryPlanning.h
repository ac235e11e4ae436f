// SPDX-License-Identifier: Apache-2.0
// The plans of all registration methods share these functions.
#ifndef gpureg_MemoryPlanning_h
#define gpureg_MemoryPlanning_h

#include "engine/runtime/MemoryLedger.h"

#include "gpureg/image/RegisteredImage.h"
#include "gpureg/registration/MemoryPlan.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>

namespace gpureg
{

class Backend;
class Queue;

/** Returns bytes in words, such as "1.50 GiB". */
std::string
NameBytes(std::size_t bytes);

/** Returns GetAvailableMemory() of a backend's device. queue: any of the device's. */
std::size_t
GetAvailableMemoryOf(Backend & backend, Queue & queue);

/** Where the images of a plan are. */
enum class ImagesAre
{
  OnDevice,
  OnNoDevice
};

/** Frees what an engine keeps of its last registration, if the memory does not hold the next one's arrays beside it: a plan is that of an
 *  engine without arrays. Throws if the memory is still short then.
 *  \param images whether the memory in use has the images already
 *  \param makePlan returns a plan without, or, if its argument is true, with changes
 *  \param release frees the engine's arrays
 *  \throws OutOfMemoryError as CheckFits() does */
template <typename TMakePlan, typename TRelease>
void
FreeIfMemoryIsShort(Backend &           backend,
                    Queue &             queue,
                    const std::string & deviceName,
                    ImagesAre           images,
                    const TMakePlan &   makePlan,
                    const TRelease &    release)
{
  const MemoryPlan  plan = makePlan(false);
  const std::size_t there = images == ImagesAre::OnDevice ? plan.images : 0;
  if (plan.bytes - there <= GetAvailableMemoryOf(backend, queue))
  {
    return;
  }
  release();
  const std::size_t available = there + GetAvailableMemoryOf(backend, queue);
  if (plan.bytes > available)
  {
    CheckFits(makePlan(true), deviceName, available);
  }
}

/** Returns a plan without levels: the most that a ledger has seen, and what was held then. */
MemoryPlan
MakePlan(const MemoryLedger & ledger);

/** Returns whether an image of this range is planned to be copied: no value lies beyond infinity. */
bool
IsCopied(const std::optional<ValueRange> & range);

/** Writes down an image and its mask, and the copy whose values lie in a range that is given.
 *  \param name such as "fixed"
 *  \return the bytes of image and mask */
std::size_t
PlanRegisteredImage(const RegisteredImage &           image,
                    const std::optional<ValueRange> & range,
                    const std::string &               name,
                    MemoryLedger &                    ledger);

/** Describes images that would take the places of others, and keeps them. */
class PlannedImages
{
public:
  /** Returns an image, with its mask, of half as many voxels along each axis of 16 voxels or more. */
  RegisteredImage
  Halve(const RegisteredImage & image);

  /** Returns an image of integers of 16 bits, if its own numbers are longer, with its mask. */
  RegisteredImage
  Shorten(const RegisteredImage & image);

private:
  const DeviceImage *
  Keep(const DeviceImage & image, NumberType type, std::int64_t count);

  std::deque<PlannedImage> m_Images;
};

/** Adds a change to a plan, if fewer bytes are held with it. what: as in PlannedChange */
void
AddChangeIfLess(MemoryPlan & plan, const std::string & what, std::size_t bytes);

/** Calls consider(what, changed, change) for changes of images by which every method holds less. changed: the problem with a changed fixed
 *  and a changed moving image; change(image) returns any other image of the problem, changed. Both are there for the call alone. */
template <typename TProblem, typename TConsider>
void
ForEachChangeOfImages(const TProblem & problem, const TConsider & consider)
{
  const auto call = [&](const char * what, RegisteredImage (PlannedImages::*member)(const RegisteredImage &)) {
    PlannedImages images;
    const auto    change = [&](const RegisteredImage & image) { return (images.*member)(image); };
    TProblem      changed = problem;
    changed.fixed = change(problem.fixed);
    changed.moving = change(problem.moving);
    consider(what, changed, change);
  };
  call("images of integers of 16 bits", &PlannedImages::Shorten);
  call("images of half as many voxels along each axis", &PlannedImages::Halve);
}

} // namespace gpureg

#endif
