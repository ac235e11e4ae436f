// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_MiddlePair_h
#define gpureg_MiddlePair_h

#include "engine/registration/LevelSimilarity.h"
#include "engine/registration/diffeomorphic/DiffeomorphicPairs.h"
#include "engine/registration/diffeomorphic/MiddleImage.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace gpureg
{

/** Begins the names of all arrays of pairs in plans. */
constexpr char MiddlePairArrays[] = "compared: ";

/** Says by which image's points a pair's derivative is taken. */
enum class MiddleRole
{
  /** The derivative is by points of the moving image, as in any registration. */
  AsGiven,
  /** The derivative is by points of the fixed image, since the images have exchanged their roles. */
  Exchanged
};

/** Describes an image of a pair at a level, and how it is prepared for the comparison in the middle. */
struct MiddleSource
{
  RegisteredImage image;
  /** Standard deviations by which it is smoothed first, in its voxels; 0 for none. */
  std::array<double, 3> sigmas{};
  /** The value outside of the image, which is subtracted from all values. */
  double outside = 0;
};

/** Describes a pair at a level. */
struct MiddleSources
{
  WeighedPair  pair;
  MiddleSource fixed;
  MiddleSource moving;
  /** The neighborhoods that are flat, of a correlation over neighborhoods. */
  FlatNeighborhoods flat{};
};

/** Compares one pair of images in the middle of a level, by one similarity. */
class MiddlePair
{
public:
  /** workspace must outlive this object. */
  explicit MiddlePair(SchemeWorkspace & workspace);

  /** Smooths the images of a level, and makes the similarity.
   *  \param fixedInitial, initial map points of the level's grid, and their displacements, to points of the fixed and the moving image
   *  \param number the level's */
  void
  BeginLevel(RecursiveFilter &     filter,
             const MiddleSources & sources,
             const DisplacedMap &  fixedInitial,
             const DisplacedMap &  initial,
             int                   number,
             const LevelGrid &     level);

  MiddleImage &
  GetFixed()
  {
    return m_Fixed;
  }

  MiddleImage &
  GetMoving()
  {
    return m_Moving;
  }

  /** Finds the range of the images in the middle where the similarity has bins of it: on the device, which then finds no valid sample if an
   *  image is constant. Checks the first ones of a level. Overwrites the workspace's first array. remedy: see CheckImages() */
  void
  SetRanges(bool isFirst, const char * remedy);

  /** Checks that both images vary in the middle. Overwrites the workspace's first array.
   *  \param remedy what to do if one does not
   *  \throws BadInputError if one does not */
  void
  CheckImages(const char * remedy);

  /** Enqueues the similarity of the images in the middle, which goes to values[slot], float, and its derivative. */
  void
  EnqueueForces(MiddleRole role, Memory & values, std::int64_t slot);

  /** Returns the derivative: float[3] a voxel, until the next evaluation. Other work may overwrite it. */
  Memory &
  GetForces() const
  {
    return m_Similarity->GetForces();
  }

  /** Returns 1 if the derivative points to where the images are more similar, otherwise -1. */
  int
  GetSign() const
  {
    const int sign = m_Similarity->GetForceUnit() > 0 ? -1 : 1;
    return this->ReadsFixedGradient() ? -sign : sign;
  }

  /** Returns the pair's weight; the weights of all pairs add up to 1. */
  double
  GetWeight() const
  {
    return m_Weight;
  }

  /** Returns the pair's number among all pairs, from 0 on. */
  std::size_t
  GetNumber() const
  {
    return m_PairNumber;
  }

  /** Returns what a value of the similarity is multiplied by to have ITK's value of the metric. */
  double
  GetCostUnit() const
  {
    return m_CostUnit;
  }

  std::size_t
  GetDeviceBytes() const;

  /** Writes down the arrays that BeginLevel() and EnqueueForces() reserve. Their names begin with MiddlePairArrays. */
  void
  Plan(const RecursiveFilter & filter, const MiddleSources & sources, const LevelGrid & level, MemoryLedger & ledger);

private:
  /** Makes the similarity if there is none yet. */
  void
  MakeSimilarity(const MiddleSources & sources);

  /** Makes values means over the device's own planes of a level. */
  void
  CountOwnPlanes(const LevelGrid & level);

  /** Enqueues the computation of the ranges of both images in the middle. Overwrites the workspace's first array. */
  void
  EnqueueRanges();

  /** Waits for these ranges. \throws BadInputError if an image does not vary */
  void
  CheckRanges(const char * remedy) const;

  /** Writes the mean over all slabs of the similarity's value, which is a mean over one slab, to values[slot]. */
  void
  JoinValues(Memory & values, std::int64_t slot);

  /** Says whether the gradient in the forces is the fixed image's, as itk::DemonsImageToImageMetricv4 has it by default. Then the forces
   *  are minus those of the exchanged images, whose moving image is the fixed one. */
  bool
  ReadsFixedGradient() const
  {
    return m_Settings.kind == SimilarityKind::Demons;
  }

  SchemeWorkspace & m_Workspace;
  MiddleImage       m_Fixed;
  MiddleImage       m_Moving;
  // The core is of the similarity, which is made again where its settings change.
  std::unique_ptr<MetricCore>      m_Core;
  std::unique_ptr<LevelSimilarity> m_Similarity;
  SimilaritySettings               m_Settings; // of the similarity
  FlatNeighborhoods                m_Flat;     // of the similarity
  SampleMapping                    m_Mapping = MakeLinearMapping({});
  double                           m_Weight = 1;
  std::size_t                      m_PairNumber = 0;
  double                           m_CostUnit = 1;
  TeamMember *                     m_Slabs = nullptr; // see GetMemberOf()
  int                              m_Dimension = 3;
  int                              m_Level = 0; // its number
};

} // namespace gpureg

#endif
