// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_GlobalLevel_h
#define gpureg_GlobalLevel_h

#include "gpureg/registration/global/GlobalRegistration.h"

#include "engine/registration/global/GlobalMeasure.h"
#include "engine/registration/global/GlobalPose.h"
#include "engine/filter/LevelImage.h"

#include <cstdint>
#include <functional>
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
  /** The share of the fixed image's voxels, inside its mask, that lie in the moving image. */
  double overlap = 0;
};

/** A pose with its cost, and the cost's derivative by steps along each direction, in 1/mm. */
struct PosedSlope : PosedCost
{
  std::vector<double> slope;
};

/** The images of a level on the device, and the cost of poses. */
class GlobalLevel
{
public:
  /** The voxels along each axis that a level keeps where its image has them: with fewer of them a search from far away fails. */
  static constexpr int LeastVoxels = 16;

  GlobalLevel(const std::string & deviceName, Queue & queue);

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

  /** Copies the ranges and the share of another level. */
  void
  TakeRanges(const GlobalLevel & other);

  /** Returns an image of this level as input of other levels. */
  RegisteredImage
  GetFixed() const;
  RegisteredImage
  GetMoving() const;

  /** Returns the longest edge of either image's voxels in mm. */
  double
  GetEdge() const;

  /** Returns the cost of unrelated images, which Begin() was given. */
  double
  GetUnrelatedCost() const
  {
    return m_Unrelated;
  }

  /** Returns the shortest edge in mm, of the image whose shortest edge is longer. A search ends at the resolution of this image. */
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

  /** Begins to evaluate poses, at every stride-th voxel of the fixed image along each axis.
   *  \param onRound called before each wait for the device; may throw
   *  \param unrelated the cost of unrelated images */
  void
  Begin(const PoseFrame &             frame,
        double                        leastOverlap,
        double                        unrelated,
        int                           stride,
        const ParallelFor &           parallelFor,
        const std::function<void()> & onRound);

  /** Evaluates every stride-th voxel from now on. */
  void
  Thin(int stride);

  const PoseFrame &
  GetFrame() const
  {
    return m_Frame;
  }

  /** Evaluates the poses in one batch. */
  std::vector<PosedCost>
  ComputeCosts(const std::vector<Pose> & poses);

  /** Evaluates the cost and its derivatives at base, moved by along, in mm, along the directions. */
  PosedSlope
  ComputeSlope(const Pose & base, const PoseDirections & directions, std::vector<double> along);

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
  /** Returns samples at every stride-th voxel of the fixed image along each axis. */
  FixedSamples
  MakeSamples(int stride);
  /** Adds the measure's last work to the statistics. */
  void
  Count();
  IndexMap
  MakeIndexMap(const Pose & pose) const;
  /** Sets the overlap and the cost of a pose. \return the weight of the value */
  double
  Weigh(const MeasuredValue & value, PosedCost & posed) const;

  Queue &                        m_Queue;
  std::string                    m_DeviceName;
  SimilaritySettings             m_Cost;
  std::unique_ptr<GlobalMeasure> m_Measure;
  Side                           m_Fixed;
  Side                           m_Moving;
  int                            m_Dimension = 3;
  PoseFrame                      m_Frame;
  IndexMap                       m_PointToMoving;
  IndexMap                       m_SampleToPoint;
  double                         m_Share = 1; // of the fixed image's voxels that lies inside its mask
  double                         m_Samples = 1;
  double                         m_LeastOverlap = 0;
  double                         m_Unrelated = 0;
  ParallelFor                    m_ParallelFor;
  std::function<void()>          m_OnRound;
  GlobalStageResult *            m_Stage = nullptr;
  EvaluationStatistics           m_Statistics;
};

} // namespace gpureg

#endif
