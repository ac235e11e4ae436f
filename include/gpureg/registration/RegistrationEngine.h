// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_RegistrationEngine_h
#define gpureg_RegistrationEngine_h

#include "GPURegistrationExport.h"
#include "gpureg/core/EvaluationStatistics.h"
#include "gpureg/runtime/EngineUser.h"

#include <cstddef>
#include <memory>
#include <string>

namespace gpureg
{

class RegistrationCore;

/** Is the base class of the engines of all registration methods. */
class GPURegistration_EXPORT RegistrationEngine : public Engine
{
public:
  ~RegistrationEngine() override;
  RegistrationEngine(const RegistrationEngine &) = delete;
  RegistrationEngine &
  operator=(const RegistrationEngine &) = delete;

  const std::string &
  GetDeviceName() const override;

  std::size_t
  GetHeldBytes() const override;

  /** Measures the times of the kernels that compute costs, iterations and displacements from now on; an operation then waits for the
   *  device. Off by default. */
  void
  SetTiming(bool on);

  /** Returns the statistics of the last registration, and of what was computed of its result. */
  EvaluationStatistics
  GetStatistics() const;

protected:
  explicit RegistrationEngine(std::unique_ptr<RegistrationCore> core);

  RegistrationCore &
  GetCore() const
  {
    return *m_Core;
  }

private:
  std::unique_ptr<RegistrationCore> m_Core;
};

} // namespace gpureg

#endif
