// SPDX-License-Identifier: Apache-2.0
// Local searches of a global one. Along lines all candidates go down side by side: a device has the work of all of them in each batch.
// Quasi-Newton searches, from 4 mm on, evaluate one candidate after the other.
#ifndef gpureg_GlobalDescent_h
#define gpureg_GlobalDescent_h

#include "engine/registration/global/GlobalLevel.h"

#include <cstddef>
#include <vector>

namespace gpureg
{

/** Along one direction of a freedom after the other, with a step for each sweep over all of them (Powell 1964): a batch has the values
 *  one and two steps to each side, another one those at the parabolas' ends.
 *  \param steps mm */
void
SearchLines(GlobalLevel &               level,
            const Freedom &             freedom,
            const std::vector<double> & steps,
            std::vector<PosedCost> &    poses);

/** The same with steps that are halved from one length down to another, mm: two sweeps with each. */
void
SearchLines(
  GlobalLevel & level, const Freedom & freedom, double firstStep, double lastStep, std::vector<PosedCost> & poses);

/** Quasi-Newton steps (Broyden, Fletcher, Goldfarb & Shanno 1970; Nocedal & Wright 2006, section 6.1). A step that does not download enough
 *  is tried again, shorter, at the end of the parabola that the cost and its slope before it and the cost behind it give. */
class QuasiNewtonSearch
{
public:
  /** \param firstStep mm; no step is longer than four of it.
   *  \param tolerance mm: a candidate ends with a step that is shorter. */
  QuasiNewtonSearch(
    GlobalLevel & level, const Freedom & freedom, double firstStep, double tolerance, std::vector<PosedCost> & poses);

  /** Each candidate that has not ended makes a step, or tries; for so many rounds. */
  void
  Advance(int rounds);

  /** Goes on where it has ended, with the curvature that it has found, where the level looks at other voxels. */
  void
  Resume();

  /** Leaves out all but the `count` best of those that are not yet. */
  void
  KeepBest(std::size_t count);

private:
  struct Candidate
  {
    std::size_t         number;
    Pose                base; // where along is 0
    std::vector<double> along;
    double              cost = 0;
    std::vector<double> slope;
    std::vector<double> inverseHessian; // by rows
    std::vector<double> direction;
    double              descent = 0; // slope along direction
    double              length = 1;  // of the next step, in terms of direction
    bool                hasCurvature = false;
    bool                hasEnded = false;
    bool                isLeftOut = false;
  };

  /** Takes a candidate to be there. */
  void
  Arrive(Candidate & candidate, const PosedSlope & there);
  void
  ChooseDirection(Candidate & candidate) const;
  void
  Try(Candidate & candidate);
  void
  UpdateHessian(Candidate & candidate, const std::vector<double> & step, const std::vector<double> & change) const;

  GlobalLevel &            m_Level;
  const Freedom            m_Freedom;
  double                   m_FirstStep;
  double                   m_Tolerance;
  std::vector<PosedCost> & m_Poses;
  std::vector<Candidate>   m_Candidates;
};

/** The order of costs, the least first; those that are the same to rounding stay in the order they have, on every device. */
std::vector<std::size_t>
OrderByCost(const std::vector<PosedCost> & poses);

} // namespace gpureg

#endif
