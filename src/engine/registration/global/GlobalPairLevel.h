// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_GlobalPairLevel_h
#define gpureg_GlobalPairLevel_h

#include "engine/registration/global/GlobalMeasure.h"
#include "engine/registration/global/GlobalPose.h"
#include "engine/filter/LevelImage.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace gpureg
{

/** A pose, and its cost once it has been evaluated. */
struct PosedCost
{
  Pose   pose;
  double cost = 0;
  /** The share of the first fixed image's voxels, inside its mask, that lie in the first moving image; 0 if no voxel of another pair
   *  does. */
  double overlap = 0;
};

/** A pose with its cost, and the cost's derivative by steps along each direction, in 1/mm. */
struct PosedSlope : PosedCost
{
  std::vector<double> slope;
};

/** Describes how much a pair counts in a search. */
struct PairShare
{
  /** The pair's weight; those of all pairs add up to 1. */
  double weight = 1;
  /** True if there are other pairs: then the cost is in nats, see ComputeInformation(). */
  bool isOfSeveral = false;
  /** The pair's cost where its images are unrelated. */
  double unrelated = 0;
  /** The share of the pair's fixed image that should overlap. */
  double leastOverlap = 0;
};

/** A pair of images at a level, on the device, and its cost along poses. */
class GlobalPairLevel
{
public:
  /** The voxels along each axis that a level keeps where its image has them: with fewer of them a search from far away fails. */
  static constexpr int LeastVoxels = 16;

  GlobalPairLevel(const std::string & deviceName, Queue & queue);

  /** Makes the level's images, with voxels of about the given edge, and waits for them.
   *  \throws BadInputError if an image is constant */
  void
  MakeImages(const LevelMaker &      maker,
             const RegisteredImage & fixed,
             const RegisteredImage & moving,
             int                     dimension,
             double                  edge);

  /** Limits the range of values to the values inside the images' masks, if they have any, and computes the overlap of the voxels inside. */
  void
  NarrowRanges();

  /** Copies the ranges and the share of the same pair at another level. */
  void
  TakeRanges(const GlobalPairLevel & other);

  /** Returns an image of this level as input of other levels. */
  RegisteredImage
  GetFixed() const;
  RegisteredImage
  GetMoving() const;

  /** Returns the longest edge of either image's voxels in mm. */
  double
  GetEdge() const;

  /** Returns the shortest edge in mm, of the image whose shortest edge is longer. */
  double
  GetShortEdge() const;

  /** Returns the number of the fixed image's voxels. */
  std::int64_t
  GetVoxelCount() const
  {
    return m_Fixed.image.GetCount();
  }

  /** Sets the cost, and resets the statistics. Keeps the measure of the last registration if the cost is unchanged.
   *  \param isTimed true: measures the time of kernels */
  void
  SetCost(const SimilaritySettings & cost, bool isTimed);

  /** Begins to evaluate poses, at every stride-th voxel of the fixed image along each axis; at every voxel if the cost has
   *  neighborhoods. */
  void
  Begin(const PairShare & share, int stride, const ParallelFor & parallelFor);

  /** Returns true if fewer voxels than all can be evaluated: neighborhoods have all of theirs. */
  bool
  CanBeThinned() const
  {
    return !Describe(m_Cost.kind).HasNeighborhoods();
  }

  /** Evaluates every stride-th voxel from now on. */
  void
  Thin(int stride, const ParallelFor & parallelFor);

  /** Evaluates poses in one batch. Returns their costs, times the pair's weight. */
  std::vector<PosedCost>
  ComputeCosts(const PoseFrame & frame, const std::vector<Pose> & poses, const ParallelFor & parallelFor);

  /** Evaluates the cost and its derivatives, times the pair's weight, at base, moved by along, in mm, along the directions of
   *  directions. */
  PosedSlope
  ComputeSlope(const PoseFrame &      frame,
               const Pose &           base,
               const PoseDirections & directions,
               std::vector<double>    along,
               const ParallelFor &    parallelFor);

  /** Returns the statistics of the evaluations, and the bytes of the level on the device. */
  EvaluationStatistics
  GetStatistics() const;

private:
  struct Side
  {
    Side(Queue & queue, const std::string & deviceName)
      : image(queue, deviceName)
      , mask(queue, deviceName)
    {}

    ImageLevel image;
    ImageLevel mask;
    /** The image and the mask in the form that similarities use. */
    LevelImage level;
  };

  /** Limits a level's range to the values inside its mask. \return the share of all voxels that lies inside the mask */
  double
  NarrowRange(LevelImage & level);
  /** Returns samples at every thinning-th voxel of the fixed image along each axis; at every voxel if the cost has neighborhoods. */
  FixedSamples
  MakeSamples(int thinning);
  /** Adds the measure's last work to the statistics. */
  void
  Count();
  IndexMap
  MakeIndexMap(const PoseFrame & frame, const Pose & pose) const;
  /** Returns the map from samples to what the cost's forces are derivatives by: indices or points of the moving image. */
  IndexMap
  MakeForcedMap(const PoseFrame & frame, const Pose & pose) const;
  /** Sets the overlap and the cost of a pose. \return the weight of the value's derivative */
  double
  Weigh(const MeasuredValue & value, PosedCost & posed) const;

  Queue &                        m_Queue;
  std::string                    m_DeviceName;
  SimilaritySettings             m_Cost;
  std::unique_ptr<GlobalMeasure> m_Measure;
  Side                           m_Fixed;
  Side                           m_Moving;
  int                            m_Dimension = 3;
  IndexMap                       m_PointToMoving;
  IndexMap                       m_SampleToPoint;
  double                         m_Inside = 1; // share of the fixed image's voxels that lies inside its mask
  double                         m_Samples = 1;
  PairShare                      m_Share;
  EvaluationStatistics           m_Statistics;
};

} // namespace gpureg

#endif
