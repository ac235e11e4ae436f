// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_ForceSum_h
#define gpureg_ForceSum_h

#include "engine/core/Range.h"
#include "engine/field/FieldReducer.h"
#include "engine/runtime/Queue.h"

#include <cstddef>
#include <cstdint>

namespace gpureg
{

class TeamMember;
struct LevelGrid;

/** Adds up the forces of several similarities on the device, as itk::ObjectToObjectMultiMetricv4 does: see kernels/field/ForceSum.h. A
 *  common factor, the mean magnitude, is left out, since every scheme scales the sum to a step. */
class ForceSum
{
public:
  /** queue must outlive this object. */
  explicit ForceSum(Queue & queue)
    : m_Queue(queue)
  {}

  /** Sets the level whose forces are added up.
   *  \param member joins the devices of a level that is cut; null for a whole level */
  void
  SetLevel(const LevelGrid & level, TeamMember * member);

  /** Enqueues the addition of forces to a sum, float[3] for each voxel that the device holds.
   *  \param weight the weight of these forces; negative for forces that point the other way
   *  \param isFirst true if the sum begins with these forces, which then may lie in sum */
  void
  Add(FieldReducer & reducer, const Memory & forces, double weight, bool isFirst, Memory & sum);

  /** Writes down the arrays of the reducer that sums of so many elements need. */
  static void
  Plan(std::int64_t elements, MemoryLedger & ledger)
  {
    FieldReducer::Plan(CutIntoStrips(elements).number, "scratch: ", ledger);
  }

  std::size_t
  GetDeviceBytes() const
  {
    return SizeOf(m_Numbers);
  }

private:
  Queue &       m_Queue;
  std::int64_t  m_Elements = 0;
  Range         m_Own; // those of the device's own planes
  TeamMember *  m_Member = nullptr;
  MemoryPointer m_Numbers; // float[kernels::ForceNumbers]
};

} // namespace gpureg

#endif
