// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_MiddleForces_h
#define gpureg_MiddleForces_h

#include "engine/registration/LevelSimilarity.h"
#include "engine/registration/diffeomorphic/MiddleImage.h"
#include "engine/registration/diffeomorphic/SchemeSteps.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace gpureg
{

/** The similarity of a level's images in the middle, and its derivative by the points of either of them, as itk::SyNImageRegistrationMethod
 *  computes them: from central differences of the resampled image. Each iteration has two evaluations, with exchanged roles. */
class MiddleForces
{
public:
  /** workspace must outlive it. */
  explicit MiddleForces(SchemeWorkspace & workspace)
    : m_Workspace(workspace)
  {}

  /** Begins a level of a number, whose images have begun it. */
  void
  BeginLevel(const DiffeomorphicSettings & settings,
             int                           number,
             int                           dimension,
             const MiddleImage &           fixed,
             const MiddleImage &           moving);

  /** Enqueues an evaluation. slot: 2t and 2t + 1 in iteration t. */
  void
  Enqueue(const LevelImage & fixed, const LevelImage & moving, std::int64_t slot);

  /** Returns the last evaluation's derivative by moving's points, float[3] a voxel, times a factor whose sign is GetSign(). */
  const Memory &
  GetDerivative() const
  {
    return m_Similarity->GetForces();
  }

  /** Returns 1 if the derivative points to more similar images, and -1 if it points to less similar ones. */
  int
  GetSign() const
  {
    return m_Similarity->GetForceUnit() > 0 ? -1 : 1;
  }

  /** Returns true if the similarity counts the images' values in bins. */
  bool
  HasBins() const
  {
    return m_Similarity->GetDescription().HasJointHistogram();
  }

  /** Waits, and returns the costs of the level's first count iterations: the mean of both evaluations.
   *  \throws BadInputError if they say that there is nothing to register, or that the fields have grown beyond all numbers */
  std::vector<double>
  DownloadCosts(int count);

  std::size_t
  GetDeviceBytes() const;

private:
  SchemeWorkspace & m_Workspace;
  // The core is of the similarity, which is made again where its settings change.
  std::unique_ptr<MetricCore>      m_Core;
  std::unique_ptr<LevelSimilarity> m_Similarity;
  SimilaritySettings               m_SimilaritySettings;
  SampleMapping                    m_Mapping = MakeLinearMapping({});
  int                              m_Dimension = 0;
  int                              m_Number = 0; // of the level
  double                           m_CostUnit = 1;
  MemoryPointer                    m_Values; // float: two similarities an iteration
};

} // namespace gpureg

#endif
