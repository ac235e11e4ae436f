// SPDX-License-Identifier: Apache-2.0
// Checks whether two registered images show the same thing in the same place.
#ifndef gpureg_Agreement_h
#define gpureg_Agreement_h

#include "gpureg/core/Geometry.h"
#include "gpureg/core/ParallelFor.h"
#include "gpureg/image/RegisteredImage.h"
#include "gpureg/resample/Resampler.h"
#include "gpureg/transform/TransformChain.h"

#include "engine/filter/ImageLevel.h"
#include "engine/filter/LevelImage.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace gpureg
{

/** An image of few voxels on the host. */
struct SmallImage
{
  std::vector<double> values;
  /** Each entry is true if that voxel exists and lies inside of the mask. */
  std::vector<bool> isInside;
};

/** The agreement of two images' edges: the mean squared cosine of the angle between their gradients, weighted by the lengths of both
 *  gradients (Haber & Modersitzki 2006; Pluim 2000). It is 1 where all edges coincide, also for images of different contrast. */
struct Agreement
{
  /** The agreement of the images as they are registered. */
  double here = 0;
  /** The largest agreement with the moving image shifted by an eighth of the fixed image's mean length, along an axis or between axes. */
  double beside = 0;
  /** True if enough voxels have edges, here and beside, to judge the registration. */
  bool isKnown = false;
  /** The share of the fixed image's voxels, inside its mask, that lie in the moving image, inside its mask. */
  double overlap = 0;

  /** Returns true if the images agree no better here than beside. Images of the same thing in the same place agree better by a fifth or
   *  more, unless they are so smooth that edges agree nearly everywhere. */
  bool
  IsDoubtful() const
  {
    return isKnown && here < 0.9 && here < 1.15 * beside;
  }
};

/** Compares the edges of two images on one grid. \param spacing the grid's spacing */
Agreement
ComputeAgreement(const Size &                  size,
                 const std::array<double, 3> & spacing,
                 const SmallImage &            fixed,
                 const SmallImage &            moving,
                 const ParallelFor &           parallelFor);

/** Makes two images small on a device, and compares their edges. Keeps its arrays for the next images of the same size. */
class AgreementCheck
{
public:
  /** The usual least overlap, as a share of the smaller image inside its mask. A smaller overlap causes a warning, unless the caller asked
   *  for less. */
  static constexpr double UsualOverlap = 0.5;

  AgreementCheck(Queue & queue, const std::string & deviceName);

  /** Compares the edges of two registered images. \param transform maps points of the fixed image to points of the moving image */
  Agreement
  Find(const LevelMaker &      maker,
       const RegisteredImage & fixed,
       const RegisteredImage & moving,
       const TransformChain &  transform,
       const ParallelFor &     parallelFor);

  /** Adds warnings where something may be wrong. \param leastOverlap the least share of the fixed image that should overlap */
  static void
  AddWarnings(const Agreement & agreement, double leastOverlap, std::vector<std::string> & warnings);

  std::size_t
  GetDeviceBytes() const;

  /** Writes down the arrays of Find(). vectors: of the transform's grids */
  void
  Plan(const RegisteredImage & fixed,
       const RegisteredImage & moving,
       int                     dimension,
       std::int64_t            vectors,
       MemoryLedger &          ledger);

  /** Frees all arrays. */
  void
  Release();

private:
  /** Returns the shrink factors that leave few voxels in an image of the fixed image's extent. */
  static Size
  ComputeSmallFactors(const RegisteredImage & fixed, const RegisteredImage & image, int dimension);

  Queue &                    m_Queue;
  std::string                m_DeviceName;
  ImageLevel::Scratch        m_Scratch;
  ImageLevel                 m_Fixed;
  ImageLevel                 m_Moving;
  ImageLevel                 m_Mask;
  std::unique_ptr<Resampler> m_Resampler;
};

} // namespace gpureg

#endif
