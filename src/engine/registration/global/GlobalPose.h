// SPDX-License-Identifier: Apache-2.0
// Where a global search is: rotation, translation, scales and skews of an affine map about the images' centres of mass.
#ifndef gpureg_GlobalPose_h
#define gpureg_GlobalPose_h

#include "gpureg/core/Geometry.h"

#include "engine/core/Matrix3.h"

#include <array>
#include <cstddef>
#include <vector>

namespace gpureg
{

/** What poses refer to. */
struct PoseFrame
{
  /** 2 or 3. */
  int dimension = 3;
  /** Points that a translation of 0 maps onto each other. */
  Vector3 fixedCentre{};
  Vector3 movingCentre{};
  /** Columns: the orthonormal axes that scales and skews are along. */
  Matrix3 axes{ 1, 0, 0, 0, 1, 0, 0, 0, 1 };
  /** mm: root mean square distance from the centre of what is registered. */
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

/** A change of a pose: a rotation vector, in radians, that is applied after its rotation; and what is added to its translation, to
 *  its scales' logarithms and to its skews. */
using PoseStep = std::array<double, 12>;

/** Directions that a pose may move in. A step of 1 along any of them moves what is registered by 1 mm, root mean square. */
using Freedom = std::vector<PoseStep>;

enum class FreedomKind
{
  Translation,         // 3 of three dimensions, 2 of two
  TranslationAndScale, // 4, 3
  Rigid,               // 6, 3
  Similarity,          // 7, 4
  Scales,              // 9, 5
  Affine               // 12, 6
};

Freedom
MakeFreedom(const PoseFrame & frame, FreedomKind kind);

/** From the fixed image's points to the moving one's. */
IndexMap
MakePointMap(const PoseFrame & frame, const Pose & pose);

/** \param along of freedom's directions, mm. */
Pose
MovePose(const Pose & pose, const Freedom & freedom, const double * along);

/** The pose of a map. \throws BadInputError if it is singular, or mirrors. */
Pose
FindPose(const PoseFrame & frame, const IndexMap & pointMap);

/** The nearest one that a freedom of this kind leads to from no scale and no skew. */
Pose
RestrictPose(const PoseFrame & frame, Pose pose, FreedomKind kind);

/** About an axis, by a right-handed angle in radians: a vector of its length. */
Matrix3
MakeRotation(const Vector3 & vector);

/** Whether the angle between two rotations is less than one of this cosine. */
inline bool
IsNearer(const Matrix3 & a, const Matrix3 & b, double cosine)
{
  return TraceOfProduct(a, b) > 1.0 + 2.0 * cosine;
}

/** Radians, from 0 to π, between two rotations. */
double
FindAngle(const Matrix3 & a, const Matrix3 & b);

} // namespace gpureg

#endif
