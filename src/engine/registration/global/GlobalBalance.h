// SPDX-License-Identifier: Apache-2.0
// What an image's gradients say of how much a map's changes show in it.
#ifndef gpureg_GlobalBalance_h
#define gpureg_GlobalBalance_h

#include "gpureg/core/ParallelFor.h"

#include "engine/registration/global/GlobalMass.h"
#include "engine/registration/global/GlobalPose.h"

#include <array>
#include <cstddef>

namespace gpureg
{

/** Holds sums over an image's voxels. At each voxel a component of the gradient times a coordinate of its place, which is x, y or z from a
 *  centre, in mm, or 1, makes twelve products; the sums are of each product times each other one. */
class GradientSums
{
public:
  GradientSums() = default;

  /** \param mass its image's. */
  GradientSums(const RegisteredImage & image, const ImageMass & mass, const ParallelFor & parallelFor);

  /** How two changes show together: the sum over voxels of the product of what each of them changes the voxel's value by.
   *  \param first, second of a place from the centre: matrix · x + offset is the way that it makes. */
  double
  FindProduct(const IndexMap & first, const IndexMap & second) const;

private:
  static constexpr std::size_t Coordinates = 4;
  static constexpr std::size_t Products = 3 * Coordinates;

  void
  AddSlice(const RegisteredImage & image, const ImageMass & mass, std::size_t slice);

  /** The lower triangle, for the sums are symmetrical. */
  std::array<std::array<double, Products>, Products> m_Sums{};
};

/** Directions that lead wherever a freedom's do from a pose, of which each shows as much in the fixed image as the freedom's do in the
 *  mean, and nothing of the others: so a cost is curved alike along all of them. A rotation and a skew of something long do nearly the
 *  same, and along short edges, or across what is thin, little is seen of either: along such directions a search ends before it is there.
 *  \param moments of the fixed image about the frame's centre. */
Freedom
BalanceFreedom(const PoseFrame & frame, const Freedom & freedom, const Pose & pose, const GradientSums & moments);

} // namespace gpureg

#endif
