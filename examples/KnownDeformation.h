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
  /** A cubic itk::BSplineTransform, its control points some 45 mm apart. */
  BSpline,
  /** An itk::ThinPlateSplineKernelTransform of 45 landmarks in the head. */
  ThinPlate
};

/** A random smooth deformation, and what it came to. Lengths are in mm. */
struct KnownDeformation
{
  /** From fixed to moving points. */
  Transform::Pointer transform;
  /** What it was drawn with: the seed that was asked for, or a later one if that one's folded. */
  std::uint32_t seed;
  /** How far it moves voxels that are not exactly 0. */
  double meanDisplacement;
  double largestDisplacement;
  /** Of its Jacobian on the image's grid, by central differences. */
  double smallestDeterminant;
};

/** Draws a deformation of an image's space, by ITK's own generator. Its random coefficients, or displacements of
 * landmarks, are scaled so that the displacement has the mean length that is asked for, over the voxels that are not
 * exactly 0; or by less, if one of them would move by more than the maximum. A deformation whose Jacobian's determinant
 * comes down to 0.1 somewhere is drawn again, with the next seed. The same seed gives the same deformation to the bit,
 * on any number of threads.
 * \param image of a head in the dark, the one that is to be deformed: it decides where voxels and landmarks are
 * \throws std::runtime_error if all voxels are 0, or if thirty seeds gave none that is smooth enough */
KnownDeformation
MakeKnownDeformation(
  const Volume * image, DeformationKind kind, std::uint32_t seed, double meanDisplacement = 8.0, double maximum = 15.0);

/** In one line: seed, displacements, determinant. */
std::ostream &
operator<<(std::ostream & os, const KnownDeformation & deformation);

/** Two images of which a registration should find the truth, which maps fixed to moving points. */
struct DeformedPair
{
  Volume::Pointer         fixed;
  Volume::ConstPointer    moving;
  Transform::ConstPointer truth;
};

/** The fixed image has the moving one's grid and its value where the deformation leads, linearly interpolated, so that
 * a background that is exactly 0 stays so. */
DeformedPair
MakeDeformedPair(const Volume * moving, const Transform * deformation);

} // namespace example

#endif
