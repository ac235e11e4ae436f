// SPDX-License-Identifier: Apache-2.0
// Sums of an image's gradients, from which follows how strongly a change of a map changes the image.
#ifndef gpureg_GlobalBalance_h
#define gpureg_GlobalBalance_h

#include "gpureg/core/ParallelFor.h"

#include "engine/registration/global/GlobalMass.h"
#include "engine/registration/global/GlobalPose.h"

#include <array>
#include <cstddef>

namespace gpureg
{

/** Sums over an image's voxels. At each voxel, the components of the gradient times 1 and times the coordinates x, y and z of its place,
 *  relative to a centre, in mm, give twelve products. The sums are those of each product times each other product. */
class GradientSums
{
public:
  GradientSums() = default;

  /** \param mass the mass of the image */
  GradientSums(const RegisteredImage & image, const ImageMass & mass, const ParallelFor & parallelFor);

  /** Returns how two changes show together: the sum over voxels of the product of the changes of the voxel's value.
   *  \param first, second matrix · x + offset is the displacement of a place x relative to the centre */
  double
  ComputeProduct(const IndexMap & first, const IndexMap & second) const;

private:
  static constexpr std::size_t Coordinates = 4;
  static constexpr std::size_t Products = 3 * Coordinates;

  void
  AddSlice(const RegisteredImage & image, const ImageMass & mass, std::size_t slice);

  /** The lower triangle, for the sums are symmetrical. */
  std::array<std::array<double, Products>, Products> m_Sums{};
};

/** Returns directions that span the given degrees of freedom at a pose. A step along each direction shows equally in the fixed image,
 *  namely as much as those of the given directions do on average, and independently of the others, so that a cost has equal curvature along
 *  all of them. Without it, a search would end early: a rotation and a skew of an elongated object act in nearly the same way, and along
 *  short edges, or across thin objects, either hardly shows.
 *  \param gradients sums of the fixed image about the frame's centre */
PoseDirections
BalanceDirections(const PoseFrame &      frame,
                  const PoseDirections & directions,
                  const Pose &           pose,
                  const GradientSums &   gradients);

} // namespace gpureg

#endif
