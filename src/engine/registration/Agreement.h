// SPDX-License-Identifier: Apache-2.0
// Tells whether two images show the same thing where a registration has laid them on each other.
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
#include <memory>
#include <string>
#include <vector>

namespace gpureg
{

/** An image of few voxels on the host. */
struct SmallImage
{
  std::vector<double> values;
  /** Each entry tells whether that voxel exists and lies inside of the mask. */
  std::vector<bool> isInside;
};

/** How the edges of two images agree: the mean squared cosine of the angle between their gradients, each weighted by both lengths
 *  (Haber & Modersitzki 2006; Pluim 2000). Of two contrasts, too, 1 where all edges lie on each other. */
struct Agreement
{
  /** Where the images lie. */
  double here = 0;
  /** The most that it is with an image moved by an eighth of the fixed one's mean length, along an axis or between them. */
  double beside = 0;
  /** True if enough voxels have edges, here and beside, to tell anything. */
  bool isKnown = false;
  /** Of the fixed image's voxels, in its mask, those that lie in the moving one's. */
  double overlap = 0;

  /** Returns whether the images agree here no better than beside. What is of the same thing, and in its place, agrees better by a fifth and
   *  more, unless it is so smooth that edges agree nearly everywhere. */
  bool
  IsDoubtful() const
  {
    return isKnown && here < 0.9 && here < 1.15 * beside;
  }
};

/** Compares the edges of two images on one grid.
 *  \param spacing of the grid. */
Agreement
FindAgreement(const Size &                  size,
              const std::array<double, 3> & spacing,
              const SmallImage &            fixed,
              const SmallImage &            moving,
              const ParallelFor &           parallelFor);

/** Makes two images small on a device, and compares their edges. What it makes there stays for the next images of that size. */
class AgreementCheck
{
public:
  /** Of the smaller image, inside of its mask. With less the result is told of, unless still less was asked for. */
  static constexpr double UsualOverlap = 0.5;

  AgreementCheck(Queue & queue, const std::string & deviceName);

  /** \param transform from points of the fixed image to those of the moving one. */
  Agreement
  Find(const LevelMaker &      maker,
       const RegisteredImage & fixed,
       const RegisteredImage & moving,
       const TransformChain &  transform,
       const ParallelFor &     parallelFor);

  /** The words for what it has found, where something may be wrong.
   *  \param leastOverlap of the fixed image, that is to overlap. */
  static void
  AddWarnings(const Agreement & agreement, double leastOverlap, std::vector<std::string> & warnings);

  std::size_t
  GetDeviceBytes() const;

private:
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
