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

/** A pose, and its cost once it has been looked at. */
struct PosedCost
{
  Pose   pose;
  double cost = 0;
  /** Share of the fixed image's voxels, of those in its mask, that lie in the moving image. */
  double overlap = 0;
};

/** The same, with the derivative by steps along each of a freedom's directions, 1/mm. */
struct PosedSlope : PosedCost
{
  std::vector<double> slope;
};

/** A level's images on the device, and the cost of poses there. */
class GlobalLevel
{
public:
  GlobalLevel(const std::string & deviceName, Queue & queue);

  /** Makes its images of others, whose voxels become as long as an edge, and waits for them.
   *  \throws BadInputError if one has no two values. */
  void
  MakeImages(const LevelMaker &      maker,
             const RegisteredImage & fixed,
             const RegisteredImage & moving,
             int                     dimension,
             double                  edge);

  /** Inside of the images' masks, if they have any, values are counted over what they are there, not over those of all voxels; and how
   *  much overlaps is of what is inside. */
  void
  NarrowRanges();

  /** The same, as they are at another level. */
  void
  TakeRanges(const GlobalLevel & other);

  /** As something that other levels are made of. */
  RegisteredImage
  GetFixed() const;
  RegisteredImage
  GetMoving() const;

  /** mm: the longest edge of either image's voxels. */
  double
  GetEdge() const;

  /** mm: the shortest one, of the image where that is longer. A search ends by what that shows. */
  double
  GetShortEdge() const;

  /** Of the fixed image. */
  std::int64_t
  GetVoxelCount() const
  {
    return m_Fixed.image.GetCount();
  }

  /** What its cost is; that of the last registration stays if it is the same. What it costs is counted anew.
   *  \param isTimed whether kernels are timed. */
  void
  SetCost(GlobalCost cost, int bins, bool isTimed);

  /** Has the cost look at the images, at every so-manieth voxel of the fixed one along each axis.
   *  \param onRound called before each wait for the device; may throw.
   *  \param unrelated the cost of images that have nothing to do with each other. */
  void
  Begin(const PoseFrame &             frame,
        double                        leastOverlap,
        double                        unrelated,
        int                           stride,
        const ParallelFor &           parallelFor,
        const std::function<void()> & onRound);

  /** Looks at every so-manieth voxel from now on. */
  void
  Thin(int stride);

  double
  FindUnrelated(const std::vector<double> & fixed, const std::vector<double> & moving) const
  {
    return m_Measure->FindUnrelated(fixed, moving);
  }

  const PoseFrame &
  GetFrame() const
  {
    return m_Frame;
  }

  /** In one batch. */
  std::vector<PosedCost>
  FindCosts(const std::vector<Pose> & poses);

  /** At base, moved along a freedom's directions, mm; by steps that are made there. */
  PosedSlope
  FindSlope(const Pose & base, const Freedom & freedom, std::vector<double> along);

  /** Counts, from now on, into a stage. */
  void
  CountInto(GlobalStageResult & stage)
  {
    m_Stage = &stage;
  }

  /** What its cost has cost, and what all of it has on the device. */
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
    /** They as similarities are given them. */
    LevelImage level;
  };

  /** \return the share of all voxels that are inside of the mask. */
  double
  NarrowRange(LevelImage & level);
  static RegisteredImage
  AsRegistered(const LevelImage & level);
  /** Every so-manieth voxel of the fixed image along each axis, and where these are. */
  FixedSamples
  MakeSamples(int stride);
  /** Adds what the measure has just done to the statistics. */
  void
  Count();
  IndexMap
  MakeIndexMap(const Pose & pose) const;
  /** \return how much the value counts. */
  double
  Weigh(const MeasuredValue & value, PosedCost & posed) const;

  Queue &                        m_Queue;
  std::string                    m_DeviceName;
  GlobalCost                     m_Cost = GlobalCost::CorrelationRatio;
  int                            m_Bins = 0;
  std::unique_ptr<GlobalMeasure> m_Measure;
  Side                           m_Fixed;
  Side                           m_Moving;
  int                            m_Dimension = 3;
  PoseFrame                      m_Frame;
  IndexMap                       m_PointToMoving;
  IndexMap                       m_SampleToPoint;
  double                         m_Share = 1; // of the fixed image's voxels, in its mask
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
