// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_StartTransform_h
#define gpureg_StartTransform_h

#include "engine/core/Matrix3.h"
#include "engine/field/FieldKernels.h"
#include "engine/field/FieldPart.h"
#include "engine/field/StartKernels.h"
#include "engine/runtime/Queue.h"
#include "engine/transform/ChainOnDevice.h"

#include "gpureg/core/Geometry.h"
#include "gpureg/transform/TransformChain.h"

#include <cstddef>
#include <cstdint>

namespace gpureg
{

/** Maps a point x with a displacement u to ofPoints(x) + ofDisplacements·u. */
struct DisplacedMap
{
  IndexMap ofPoints;
  Matrix3  ofDisplacements{ 1, 0, 0, 0, 1, 0, 0, 0, 1 };
};

/** Returns the map of x and u to map(x + u). */
inline DisplacedMap
MakeDisplacedMap(const IndexMap & map)
{
  return { map, map.matrix };
}

/** Returns the map of x and u to outer(inner(x, u)). */
DisplacedMap
Compose(const IndexMap & outer, const DisplacedMap & inner);

/** A transform behind the fields of a grid, such as that which a registration begins with. A linear one is a map of points. Any other one
 *  is the product A of its affine maps, and a field: it leads x + u(x) to A·x + w(x), and w takes the place of u for whatever reads an
 *  image there. Where A is 1, w is the error of u as its inverse. */
class StartTransform
{
public:
  /** queue must outlive this object. */
  explicit StartTransform(Queue & queue);

  /** Sets the chain, and the grid of the fields. Uploads the chain's vectors, unless they are those of the last chain.
   *  \param chain is not read later
   *  \param toPoint maps the grid's indices to points */
  void
  Set(const TransformChain & chain, const kernels::FieldGrid & grid, const IndexMap & toPoint);

  /** Says whether w is u. */
  bool
  IsLinear() const
  {
    return m_Start.partCount == 0;
  }

  /** Returns the map of x and w(x) to points of the image. */
  DisplacedMap
  GetMap() const;

  /** Enqueues the computation of w from a field u, both float[3] a voxel, mm, unless the chain is linear. moved: gets it, and is not u;
   *  null where it is not needed.
   *  \return w: moved, or u itself */
  FieldPart
  Move(const FieldPart & field, Memory * moved);

  /** Turns derivatives by w(x) into those by u(x), float[3] a voxel; nothing is to be done if the chain is linear. */
  void
  PullForces(const Memory & field, Memory & forces);

  /** Improves an inverse of a deformation, whose affine maps together are 1, by Newton's steps with the transform itself.
   *  \param field what Move() makes of zeros: the transform's displacements
   *  \param inverse float[3] a voxel, mm: almost the inverse, where there is one */
  void
  RefineInverse(const kernels::NewtonRule & rule, const Memory & field, Memory & inverse);

  /** Writes kernels::InverseNumbers of such an inverse for so many voxels from the first one on: see kernels::DescribeInverse(). */
  void
  DescribeInverse(float          smallError,
                  float          tolerance,
                  std::int64_t   first,
                  std::int64_t   voxels,
                  const Memory & inverse,
                  Memory &       numbers);

  std::size_t
  GetDeviceBytes() const
  {
    return m_Chain.GetSize();
  }

private:
  Queue &             m_Queue;
  ChainArrays         m_Arrays;
  ChainOnDevice       m_Chain;
  IndexMap            m_Affine;
  kernels::FieldStart m_Start{};
};

} // namespace gpureg

#endif
