// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_MovingImagePasses_h
#define gpureg_MovingImagePasses_h

#include "kernels/core/Prelude.h"
#include "kernels/core/Geometry.h"
#include "kernels/metric/samples/MovingVoxels.h"

#include "engine/runtime/MakePasses.h"

#include <array>
#include <cstdint>

namespace gpureg
{

/** Makes on one device what metrics read of a moving image, and the gradient of a fixed one. src/host, cuda and opencl each have it
 *  in a file of this name. Packed arrays hold x, y, z of a gradient and a value for each voxel. Every member throws Error where the
 *  device reports a failure. */
class MovingImagePasses
{
public:
  virtual ~MovingImagePasses() = default;

  /** values: float, one a voxel; quads: float4. */
  virtual void
  MakeQuads(const kernels::VolumeShape & shape, const Memory & values, Memory & quads) = 0;

  /** bins: u8, one a voxel; cells: u64. */
  virtual void
  MakeBinCells(const kernels::VolumeShape & shape, const Memory & bins, Memory & cells) = 0;

  /** Gives packed voxels other values, 0 where there are none, and multiplies their gradients: see kernels::ReplaceValue. */
  virtual void
  ReplaceValues(std::int64_t count, const Memory * values, float gradientFactor, Memory & packed) = 0;

  /** Adds a derivative along one axis, float, to packed gradients: see kernels::AddDerivative. */
  virtual void
  AddDerivatives(std::int64_t                 count,
                 const std::array<float, 3> & column,
                 const Memory &               derivative,
                 Memory &                     packed) = 0;

  /** Multiplies gradients, float[3], which a factor of 0 clears: see kernels::ScaleGradient. */
  virtual void
  ScaleGradients(std::int64_t count, float factor, Memory & gradients) = 0;

  /** AddDerivatives, to gradients, float[3]. */
  virtual void
  AddToGradients(std::int64_t                 count,
                 const std::array<float, 3> & column,
                 const Memory &               derivative,
                 Memory &                     gradients) = 0;
};

GPUREG_DECLARE_PASSES(MovingImagePasses);

} // namespace gpureg

#endif
