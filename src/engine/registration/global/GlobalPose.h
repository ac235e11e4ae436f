// SPDX-License-Identifier: Apache-2.0
// Poses of a global search: rotation, translation, scales and skews of an affine map about the images' centres of mass.
#ifndef gpureg_GlobalPose_h
#define gpureg_GlobalPose_h

#include "gpureg/core/Geometry.h"

#include "engine/core/Matrix3.h"

#include <array>
#include <cstddef>
#include <vector>

namespace gpureg
{

/** The coordinate frame of poses. */
struct PoseFrame
{
  /** 2 or 3. */
  int dimension = 3;
  /** The points that a translation of 0 maps onto each other. */
  Vector3 fixedCentre{};
  Vector3 movingCentre{};
  /** Columns: the orthonormal axes of scales and skews. */
  Matrix3 axes{ 1, 0, 0, 0, 1, 0, 0, 0, 1 };
  /** The root mean square distance of the registered object from its centre, in mm. */
  double radius = 1;
};

/** y = movingCentre + translation + rotation · axes · S · K · axesᵀ · (x - fixedCentre), with S the diagonal matrix of the scales and
 *  K = [1 k₀ k₁; 0 1 k₂; 0 0 1]. */
struct Pose
{
  Matrix3 rotation{ 1, 0, 0, 0, 1, 0, 0, 0, 1 };
  Vector3 translation{};
  Vector3 logScale{};
  Vector3 skew{};
};

/** A change of a pose: a rotation vector in radians, applied after the pose's rotation, and the numbers added to its translation, to the
 *  logarithms of its scales and to its skews. */
using PoseStep = std::array<double, 12>;

/** Directions in which a pose may move. A step of 1 along any direction moves the object by 1 mm, root mean square. */
using PoseDirections = std::vector<PoseStep>;

enum class PoseKind
{
  Translation,         // 3 in three dimensions, 2 in two
  TranslationAndScale, // 4, 3
  Rigid,               // 6, 3
  Similarity,          // 7, 4
  Scales,              // 9, 5
  Affine               // 12, 6
};

PoseDirections
MakePoseDirections(const PoseFrame & frame, PoseKind kind);

/** Returns the map from the fixed image's points to the moving image's points. */
IndexMap
MakePointMap(const PoseFrame & frame, const Pose & pose);

/** Returns a pose moved along directions. \param along one length per direction, in mm */
Pose
MovePose(const Pose & pose, const PoseDirections & directions, const double * along);

/** Returns the pose of a map. \throws BadInputError if the map is singular, or mirrors */
Pose
ComputePose(const PoseFrame & frame, const IndexMap & pointMap);

/** Returns the nearest pose that this kind reaches from a pose without scale and skew. */
Pose
RestrictPose(const PoseFrame & frame, Pose pose, PoseKind kind);

/** Returns the rotation about a vector's axis by the vector's length in radians, right-handed. */
Matrix3
MakeRotation(const Vector3 & vector);

/** Returns true if the angle between two rotations is smaller than the angle of the given cosine. */
inline bool
IsNearer(const Matrix3 & a, const Matrix3 & b, double cosine)
{
  return TraceOfProduct(a, b) > 1.0 + 2.0 * cosine;
}

} // namespace gpureg

#endif
