// SPDX-License-Identifier: Apache-2.0
// Local searches of a global search. Line searches move all candidates side by side, so each batch has the work of all of them.
// Quasi-Newton searches, from 4 mm on, evaluate one candidate after another.
#ifndef gpureg_GlobalDescent_h
#define gpureg_GlobalDescent_h

#include "engine/registration/global/GlobalLevel.h"

#include <cstddef>
#include <vector>

namespace gpureg
{

/** Searches along each direction in turn, with one step length for each sweep over all directions (Powell 1964). One batch evaluates one
 *  and two steps to each side, and another batch evaluates the minima of the parabolas.
 *  \param steps step lengths in mm */
void
SearchLines(GlobalLevel &               level,
            const PoseDirections &      directions,
            const std::vector<double> & steps,
            std::vector<PosedCost> &    poses);

/** Searches along lines with step lengths in mm that are halved from firstStep down to lastStep, with two sweeps for each length. */
void
SearchLines(GlobalLevel &            level,
            const PoseDirections &   directions,
            double                   firstStep,
            double                   lastStep,
            std::vector<PosedCost> & poses);

/** Says when a quasi-Newton search of a candidate ends: after so many steps in a row that are shorter than the tolerance. One short step
 *  may be the first one after the curvature was lost, far from the minimum. */
struct SearchEnd
{
  double tolerance = 0; // mm
  int    shortSteps = 1;
};

/** Makes quasi-Newton steps (Broyden, Fletcher, Goldfarb & Shanno 1970; Nocedal & Wright 2006, section 6.1). A step that does not reduce
 *  the cost enough is tried again, shortened to the minimum of the parabola through the cost and slope before it and the cost after it.
 *  Where costs differ by their last digits only, slopes decide (Hager & Zhang 2005, equation 4.1). */
class QuasiNewtonSearch
{
public:
  /** \param firstStep mm; no step is longer than four times that length
   *  \param end of each candidate's search */
  QuasiNewtonSearch(GlobalLevel &            level,
                    const PoseDirections &   directions,
                    double                   firstStep,
                    const SearchEnd &        end,
                    std::vector<PosedCost> & poses);

  /** Takes, or tries to take, the given number of steps of each candidate that has not ended. */
  void
  Advance(int iterations);

  /** Continues candidates that have ended, with the curvature that they have learnt, after the level's samples have changed. */
  void
  Resume();

  /** Keeps the count best of the remaining candidates. */
  void
  KeepBest(std::size_t count);

private:
  struct Candidate
  {
    std::size_t         number;
    Pose                base; // the pose where along is 0
    std::vector<double> along;
    double              cost = 0;
    std::vector<double> slope;
    std::vector<double> inverseHessian; // row by row
    std::vector<double> direction;
    double              descent = 0; // slope along direction
    double              length = 1;  // of the next step, in multiples of direction
    bool                hasCurvature = false;
    bool hasLearnt = false; // inverseHessian is that of steps, though a failed step may have put it aside
    bool hasEnded = false;
    bool isLeftOut = false;
    int  shortSteps = 0; // accepted in a row
  };

  /** Moves a candidate to an evaluated pose. */
  void
  Arrive(Candidate & candidate, const PosedSlope & there);
  void
  ChooseDirection(Candidate & candidate) const;
  /** Returns true if a step leads to a lower cost, or to one that is as low but for rounding and less steep along the step. */
  bool
  IsLower(const Candidate & candidate, const PosedSlope & there) const;
  void
  Try(Candidate & candidate);
  void
  UpdateHessian(Candidate & candidate, const std::vector<double> & step, const std::vector<double> & change) const;

  GlobalLevel &            m_Level;
  const PoseDirections     m_Directions;
  double                   m_FirstStep;
  const SearchEnd          m_End;
  std::vector<PosedCost> & m_Poses;
  std::vector<Candidate>   m_Candidates;
};

/** Returns the poses' order by cost, the lowest first. Costs that are equal within rounding stay in their order, on every device. */
std::vector<std::size_t>
OrderByCost(const std::vector<PosedCost> & poses);

} // namespace gpureg

#endif
