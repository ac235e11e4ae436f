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

/** The images of a search with voxels that are 1, 2, 4 and 8 times as long as the finest ones, the finest level (index 0) first. The
 *  levels' names are those of a head. */
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
  /** \param levels must outlive this object */
  explicit GlobalStages(GlobalLevels & levels)
    : m_Levels(levels)
  {}

  /** Forgets the stages of the last search.
   *  \param count the number of stages, for the progress
   *  \param unit the length in mm that is the levels' unit of length
   *  \param report called while stages run; may be empty */
  void
  Restart(int count, double unit, std::function<void(const GlobalProgress &)> report);

  /** Begins a stage with a name. */
  void
  Begin(const std::string & name);

  /** Begins a stage at a level. Its name has the length of the level's voxels, and what. */
  void
  Begin(GlobalLevelNumber level, const std::string & what = "");

  /** Ends the stage. \param cost the lowest cost that the stage found */
  void
  End(double cost);

  /** Reports the progress of the search. */
  void
  Report() const;

  /** Stops reporting until Restart(), because further work belongs to no stage. */
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
