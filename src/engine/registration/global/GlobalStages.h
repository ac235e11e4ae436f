// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_GlobalStages_h
#define gpureg_GlobalStages_h

#include "engine/core/Elapsed.h"
#include "engine/registration/global/GlobalLevel.h"

#include "gpureg/registration/global/GlobalRegistration.h"

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace gpureg
{

/** The images of a search at voxels that are 1, 2, 4 and 8 times as long as the finest ones: level 0 is the finest. Names are those of a
 *  head. */
using GlobalLevels = std::array<std::unique_ptr<GlobalLevel>, 4>;
enum GlobalLevelNumber
{
  At1mm,
  At2mm,
  At4mm,
  At8mm
};

/** Times the stages of a search, counts their evaluations, and reports progress. */
class GlobalStages
{
public:
  /** \param levels outlive it. */
  explicit GlobalStages(GlobalLevels & levels)
    : m_Levels(levels)
  {}

  /** Forgets the stages of the search before.
   *  \param count of stages, for the progress. \param unit mm, which levels count lengths in. \param report is called while stages run;
   *  empty for none. */
  void
  Restart(int count, double unit, std::function<void(const GlobalProgress &)> report);

  /** Begins a stage that is named. */
  void
  Begin(const std::string & name);

  /** Begins a stage at a level, which is named by the length of its voxels and what is done. */
  void
  Begin(GlobalLevelNumber level, const std::string & what = "");

  /** Ends the stage.
   *  \param cost the least one that was found. */
  void
  End(double cost);

  /** Reports how far the search is. */
  void
  Report() const;

  /** Reports nothing until Restart: what comes now is of no stage. */
  void
  StopReporting()
  {
    m_Report = {};
  }

  const std::vector<GlobalStageResult> &
  GetResults() const
  {
    return m_Results;
  }

private:
  GlobalLevels &                              m_Levels;
  int                                         m_Count = 1;
  double                                      m_Unit = 1;
  std::function<void(const GlobalProgress &)> m_Report;
  std::vector<GlobalStageResult>              m_Results;
  GlobalStageResult                           m_Stage;
  Clock::time_point                           m_Start;
};

} // namespace gpureg

#endif
