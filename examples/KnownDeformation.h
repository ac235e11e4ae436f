// SPDX-License-Identifier: Apache-2.0
#ifndef KnownDeformation_h
#define KnownDeformation_h

#include "Volume.h"

#include <cstdint>
#include <ostream>

namespace example
{

enum class DeformationKind
{
  /** A cubic itk::BSplineTransform with control points some 45 mm apart. */
  BSpline,
  /** An itk::ThinPlateSplineKernelTransform of 45 landmarks in the head. */
  ThinPlate
};

/** A random smooth deformation, and its properties. Lengths are in mm. */
struct KnownDeformation
{
  /** From fixed to moving points. */
  Transform::Pointer transform;
  /** The seed with which it was drawn: the requested one, or a later one if that one's deformation folded. */
  std::uint32_t seed;
  /** The mean displacement of voxels that are not exactly 0. */
  double meanDisplacement;
  double largestDisplacement;
  /** The smallest determinant of its Jacobian on the image's grid, by central differences. */
  double smallestDeterminant;
};

/** Draws a deformation of an image's space, by ITK's own generator. Its random coefficients, or displacements of landmarks, are scaled
 *  so that the displacement has the requested mean length over the voxels that are not exactly 0; or by less, if one of them would move
 *  by more than the maximum. A deformation whose Jacobian's determinant is 0.1 or less somewhere is drawn again, with the next seed. The
 *  same seed gives the same deformation to the bit, on any number of threads.
 *  \param image of a head on a dark background that is to be deformed: it determines the positions of voxels and landmarks
 *  \throws std::runtime_error if all voxels are 0, or if thirty seeds gave no deformation that is smooth enough */
KnownDeformation
MakeKnownDeformation(
  const Volume * image, DeformationKind kind, std::uint32_t seed, double meanDisplacement = 8.0, double maximum = 15.0);

/** Prints seed, displacements and determinant in one line. */
std::ostream &
operator<<(std::ostream & os, const KnownDeformation & deformation);

/** Two images, and the true transform from fixed to moving points that a registration should find. */
struct DeformedPair
{
  Volume::Pointer         fixed;
  Volume::ConstPointer    moving;
  Transform::ConstPointer truth;
};

/** Makes a pair: the fixed image has the moving one's grid, and its values at the deformed points, linearly interpolated, so that a
 *  background that is exactly 0 stays so. */
DeformedPair
MakeDeformedPair(const Volume * moving, const Transform * deformation);

} // namespace example

#endif
