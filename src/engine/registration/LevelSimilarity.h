// SPDX-License-Identifier: Apache-2.0
// The similarities that deformations optimise, with one class for each kind of evaluation.
#ifndef gpureg_LevelSimilarity_h
#define gpureg_LevelSimilarity_h

#include "gpureg/metric/Similarity.h"
#include "gpureg/metric/neighborhood/FlatNeighborhoods.h"

#include "engine/core/Range.h"
#include "engine/registration/LevelSamples.h"
#include "engine/metric/MetricCore.h"
#include "engine/metric/samples/RegularSubsample.h"
#include "engine/runtime/MemoryLedger.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace gpureg
{

/** Describes which voxels of the fixed image an iteration uses. */
struct SampleDraws
{
  /** Largest number of voxels of a regular subsample; 0: all voxels. */
  std::int64_t  samples = 0;
  std::uint64_t seed = 1;
};

/** Says which forces a similarity computes. */
enum class LevelForces
{
  /** The forces are the derivatives of the value. */
  OfValue,
  /** The forces are those of ITK's metrics for displacement fields: by points, from central differences of the moving image's voxels. The
   *  forces of demons are a direction, and no derivative. */
  OfITK
};

/** The similarity of a level's images along a deformation. The results of an evaluation stay on the device. */
class LevelSimilarity
{
public:
  LevelSimilarity(MetricCore & core, const SimilaritySettings & settings, const SampleDraws & draws, LevelForces forces)
    : m_Core(core)
    , m_Settings(settings)
    , m_Draws(draws)
    , m_Forces(forces)
  {}
  virtual ~LevelSimilarity() = default;
  LevelSimilarity(const LevelSimilarity &) = delete;
  LevelSimilarity &
  operator=(const LevelSimilarity &) = delete;

  /** Takes voxels of these planes of the fixed image alone as samples, or of all if there are none, from the next SetImages() or
   *  PlanImages() on. For similarities without neighborhoods that draw no samples. */
  void
  SetPlanes(const std::optional<Range> & planes)
  {
    m_Planes = planes;
  }

  /** Sets the images of the samples. \param level each level has its own random numbers */
  void
  SetImages(
    const LevelImage & fixed, const LevelImage & moving, int dimension, int level, const ParallelFor & parallelFor);

  /** Returns true if each iteration draws its own samples, because fewer samples than voxels are requested. */
  bool
  DrawsSamples() const
  {
    return !m_Subsample.TakesAll();
  }

  /** Uses the samples of an iteration. Prepare() must be called again. */
  void
  Draw(std::uint32_t iteration);
  void
  TakeAllVoxels();

  /** Returns the map from the samples' indices to the level's voxels. */
  const IndexMap &
  GetSampleToVoxel() const
  {
    return m_SampleToVoxel;
  }

  /** Makes values means over these planes of the fixed image alone, or over all if there are none, from the next Prepare() on. Forces are
   *  of all planes.
   *  \throws std::logic_error for planes if the similarity cannot leave others out */
  virtual void
  SetCountedPlanes(const std::optional<Range> & planes);

  /** Holds what a value is the mean of. */
  struct SumOfValues
  {
    double count = 0;
    double sum = 0;
  };
  /** Waits for the device, and returns the sum of the counted planes in the last evaluation.
   *  \throws std::logic_error if the similarity counts no planes */
  virtual SumOfValues
  DownloadCounted();

  /** Makes the arguments of evaluations along a mapping, and reserves their memory. */
  virtual void
  Prepare(const SampleMapping & mapping) = 0;

  /** Writes down the arrays that SetImages() makes of images which ImageLevel::Plan() has described.
   *  \param name what the arrays' names begin with */
  void
  PlanImages(const LevelImage &  fixed,
             const LevelImage &  moving,
             int                 dimension,
             const std::string & name,
             MemoryLedger &      ledger);

  /** Writes down the arrays that Prepare() reserves behind PlanImages(). */
  virtual void
  PlanEvaluation(const SampleMapping & mapping, const std::string & name, MemoryLedger & ledger) = 0;

  /** Enqueues an evaluation with forces; the samples must have been moved. */
  virtual void
  EnqueueForces() = 0;

  /** Enqueues an evaluation without forces; the samples must have been moved. */
  virtual void
  EnqueueValue() = 0;

  /** Returns the forces of the last evaluation. Other work may overwrite them. */
  virtual Memory &
  GetForces() const = 0;

  /** Returns the numbers of the last evaluation: float, from GetEvaluatedPlace() on; see kernels/core/Evaluated.h. */
  virtual const Memory &
  GetEvaluated() const = 0;
  virtual std::int64_t
  GetEvaluatedPlace() const
  {
    return 0;
  }

  const SimilarityDescription &
  GetDescription() const
  {
    return Describe(m_Settings.kind);
  }

  /** Returns the unit of forces: the derivative of the similarity's part of the cost by a sample's position is the unit times the
   *  evaluated factor times the sample's force. */
  double
  GetForceUnit() const
  {
    return this->GetDescription().forceFactor * this->GetSumUnit();
  }

protected:
  MetricCore &
  GetCore() const
  {
    return m_Core;
  }

  /** Returns the mean squared edge of the level's voxels, mm². */
  double
  GetMeanSquaredEdge() const
  {
    return m_MeanSquaredEdge;
  }

  bool
  HasForcesOfITK() const
  {
    return m_Forces == LevelForces::OfITK;
  }

  const SimilaritySettings &
  GetSettings() const
  {
    return m_Settings;
  }

  /** Returns the unit of the evaluation's sums. */
  virtual double
  GetSumUnit() const
  {
    return 1;
  }

private:
  /** Describes the images of the samples. */
  void
  DescribeImages(
    const LevelImage & fixed, const LevelImage & moving, int dimension, FixedSamples & samples, MovingImage & image);

  void
  SetFixed(const FixedSamples & samples);

  MetricCore &       m_Core;
  SimilaritySettings m_Settings;
  SampleDraws        m_Draws;
  LevelForces        m_Forces;
  int                m_Number = 0; // of the level
  double             m_MeanSquaredEdge = 1;
  // The samples are voxels of these planes of the fixed image.
  std::optional<Range> m_Planes;
  FixedSamples         m_All; // with all voxels
  RegularSubsample     m_Subsample;
  IndexMap             m_SampleToVoxel;
  ParallelFor          m_ParallelFor;
};

/** Makes a similarity that serves free-form deformations or fields (SimilarityDescription::isForFreeForm, isForFields).
 *  Demons have forces by points alone: LevelForces::OfITK.
 *  \param core the core of the level, which the similarity uses
 *  \param settings its settings, which CheckSettings() has checked
 *  \param flat the neighborhoods that are flat, of a correlation over neighborhoods */
std::unique_ptr<LevelSimilarity>
MakeLevelSimilarity(MetricCore &               core,
                    const SimilaritySettings & settings,
                    const SampleDraws &        draws,
                    LevelForces                forces = LevelForces::OfValue,
                    const FlatNeighborhoods &  flat = {});

} // namespace gpureg

#endif
