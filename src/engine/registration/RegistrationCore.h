// SPDX-License-Identifier: Apache-2.0
// The base classes of what the engines of all registration methods consist of.
#ifndef gpureg_RegistrationCore_h
#define gpureg_RegistrationCore_h

#include "engine/filter/LevelImage.h"
#include "engine/registration/ImagePairs.h"
#include "engine/registration/MemoryPlanning.h"
#include "engine/runtime/Backend.h"
#include "engine/runtime/MakePasses.h"

#include "gpureg/core/EvaluationStatistics.h"

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace gpureg
{

/** Holds the device of an engine, and the copies of images whose values do not lie in their ranges. */
class RegistrationCore
{
public:
  explicit RegistrationCore(const std::string & deviceName)
    : m_Backend(gpureg::GetBackend(deviceName))
    , m_Queue(m_Backend->CreateQueue())
    , m_Lines(MakePasses<LinePasses>(*m_Queue))
    , m_Ranged(*m_Queue, this->GetName())
  {}
  virtual ~RegistrationCore() = default;
  RegistrationCore(const RegistrationCore &) = delete;
  RegistrationCore &
  operator=(const RegistrationCore &) = delete;

  const Backend &
  GetBackend() const
  {
    return *m_Backend;
  }

  const std::string &
  GetName() const
  {
    return m_Backend->GetDescription().name;
  }

  void
  SetTiming(bool on)
  {
    m_IsTimed = on;
  }

  /** Returns the statistics of the last registration, with the bytes that are held. */
  virtual EvaluationStatistics
  GetStatistics() const = 0;

protected:
  const std::shared_ptr<Backend>    m_Backend;
  const std::shared_ptr<Queue>      m_Queue;
  const std::unique_ptr<LinePasses> m_Lines;
  RangedPairs                       m_Ranged;
  bool                              m_IsTimed = false;
};

/** Checks and plans the registrations of one method, and frees what is kept of the last one where the memory is short. */
template <typename TProblem, typename TSettings>
class PlannedRegistration : public RegistrationCore
{
public:
  using RegistrationCore::RegistrationCore;

  MemoryPlan
  GetPlan(const TProblem & problem, const TSettings & settings) const
  {
    this->Check(problem, settings, &CheckDescription);
    return this->MakePlan(problem, settings, true);
  }

  void
  MakeRoom(const TProblem & problem, const TSettings & settings)
  {
    this->Check(problem, settings, &CheckDescription);
    this->FreeIfShort(ImagesAre::OnNoDevice, problem, settings);
  }

protected:
  using CheckEachImage = std::function<void(const RegisteredImage & image, const char * which)>;

  /** Checks the settings, and a problem of which checkImage checks each image. */
  virtual void
  Check(const TProblem & problem, const TSettings & settings, const CheckEachImage & checkImage) const = 0;

  /** Plans a registration of a problem that has been checked. \param hasChanges adds the changes with which it would hold less */
  virtual MemoryPlan
  MakePlan(const TProblem & problem, const TSettings & settings, bool hasChanges) const = 0;

  /** Frees the method's own arrays. */
  virtual void
  ReleaseArrays() = 0;

  /** Makes room for the copies of images, before any is made: see RangedPairs::CheckRoom. areCopied: whether the device copies some. */
  virtual void
  MakeRoomForCopies(const TProblem & its, const TSettings & ranged, bool areCopied)
  {
    if (areCopied)
    {
      this->FreeIfShort(ImagesAre::OnDevice, its, ranged);
    }
  }

  /** Checks a problem whose images are on the device. */
  void
  CheckOnDevice(const TProblem & problem, const TSettings & settings) const
  {
    this->Check(problem, settings, [this](const RegisteredImage & image, const char * which) {
      CheckImage(image, which, this->GetName());
    });
  }

  /** Frees what is kept of the last registration, if the memory does not hold the next one beside it. */
  void
  FreeIfShort(ImagesAre images, const TProblem & problem, const TSettings & settings)
  {
    FreeIfMemoryIsShort(
      *m_Backend,
      *m_Queue,
      this->GetName(),
      images,
      [&](bool hasChanges) { return this->MakePlan(problem, settings, hasChanges); },
      [this] { this->Release(); });
  }

  /** Frees the method's arrays and the copies of images. */
  void
  Release()
  {
    this->ReleaseArrays();
    m_Ranged.Release();
  }

  /** Returns a problem's pairs with images whose values lie in their ranges.
   *  \throws BadInputError if an image is constant, OutOfMemoryError if there is too little memory with the copies */
  std::vector<FurtherPair>
  LimitRanges(std::vector<FurtherPair>   pairs,
              const TProblem &           problem,
              const TSettings &          settings,
              std::vector<std::string> & warnings)
  {
    const auto checkRoom =
      RegardCopies(problem, settings, [this](const auto & its, const auto & ranged, bool areCopied) {
        this->MakeRoomForCopies(its, ranged, areCopied);
      });
    return m_Ranged.Make(std::move(pairs), checkRoom, warnings);
  }
};

} // namespace gpureg

#endif
