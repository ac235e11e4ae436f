// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_GlobalLevel_h
#define gpureg_GlobalLevel_h

#include "gpureg/registration/global/GlobalRegistration.h"

#include "engine/registration/ImagePairs.h"
#include "engine/registration/global/GlobalPairLevel.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace gpureg
{

/** The images of a level on the device, and the cost of poses: the sum of the costs of all pairs. */
class GlobalLevel
{
public:
  GlobalLevel(const std::string & deviceName, Queue & queue);

  /** Makes the level's images, with voxels of about the given edge, and waits for them.
   *  \throws BadInputError if an image is constant; the message names its pair */
  void
  MakeImages(const LevelMaker & maker, const std::vector<WeighedPair> & pairs, int dimension, double edge);

  /** Returns a pair of the last images that were made, by its place among them. */
  GlobalPairLevel &
  GetPair(std::size_t place) const
  {
    return *m_Pairs[place];
  }

  /** Returns the longest edge of any image's voxels in mm. */
  double
  GetEdge() const;

  /** Returns the cost of unrelated images; of several pairs 0, since their costs are in nats. */
  double
  GetUnrelatedCost() const
  {
    return m_UnrelatedCost;
  }

  /** Returns the shortest edge in mm, in each pair of the image whose shortest edge is longer. A search ends at the resolution of that
   *  image of the finest pair. */
  double
  GetShortEdge() const;

  /** Begins to evaluate poses, at every stride-th voxel of the fixed images along each axis.
   *  \param shares describes how much each pair counts, in the order of the pairs
   *  \param onBatch called before each wait for the device; may throw */
  void
  Begin(const PoseFrame &              frame,
        const std::vector<PairShare> & shares,
        int                            stride,
        const ParallelFor &            parallelFor,
        const std::function<void()> &  onBatch);

  /** Returns true if thinning leaves out voxels of some pair. */
  bool
  CanBeThinned() const;

  /** Evaluates every stride-th voxel from now on. */
  void
  Thin(int stride);

  /** Evaluates the poses in one batch of each pair. */
  std::vector<PosedCost>
  ComputeCosts(const std::vector<Pose> & poses);

  /** Evaluates the cost and its derivatives at base, moved by along, in mm, along the directions. */
  PosedSlope
  ComputeSlope(const Pose & base, const PoseDirections & directions, const std::vector<double> & along);

  /** Counts the following evaluations in a stage. */
  void
  CountInto(GlobalStageResult & stage)
  {
    m_Stage = &stage;
  }

  /** Returns the statistics of the evaluations, and the bytes of the level on the device. */
  EvaluationStatistics
  GetStatistics() const;

private:
  Queue &                                       m_Queue;
  std::string                                   m_DeviceName;
  std::vector<std::unique_ptr<GlobalPairLevel>> m_Pairs;
  PoseFrame                                     m_Frame;
  double                                        m_UnrelatedCost = 0;
  ParallelFor                                   m_ParallelFor;
  std::function<void()>                         m_OnBatch;
  GlobalStageResult *                           m_Stage = nullptr;
};

} // namespace gpureg

#endif
