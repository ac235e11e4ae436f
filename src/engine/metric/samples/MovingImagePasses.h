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

/** Computes on one device what metrics read from a moving image, and the gradient of a fixed image. src/host, cuda and opencl each
 *  implement the passes in a file of this name. Packed arrays store x, y, z of the gradient and the value of each voxel. Every member
 *  throws Error where the device reports a failure. */
class MovingImagePasses
{
public:
  virtual ~MovingImagePasses() = default;

  /** Makes quads of neighbouring values. values: float, one per voxel; quads: float4. */
  virtual void
  MakeQuads(const kernels::VolumeShape & shape, const Memory & values, Memory & quads) = 0;

  /** Makes cells of neighbouring bins. bins: u8, one per voxel; cells: u64. */
  virtual void
  MakeBinCells(const kernels::VolumeShape & shape, const Memory & bins, Memory & cells) = 0;

  /** Replaces the values of packed voxels, by 0 if values is null, and multiplies their gradients by a factor; see
   *  kernels::ReplaceValue. */
  virtual void
  ReplaceValues(std::int64_t count, const Memory * values, float gradientFactor, Memory & packed) = 0;

  /** Adds a derivative along one axis, float, to packed gradients; see kernels::AddDerivative. */
  virtual void
  AddDerivatives(std::int64_t                 count,
                 const std::array<float, 3> & column,
                 const Memory &               derivative,
                 Memory &                     packed) = 0;

  /** Multiplies gradients, float[3], by a factor; a factor of 0 sets them to 0. See kernels::ScaleGradient. */
  virtual void
  ScaleGradients(std::int64_t count, float factor, Memory & gradients) = 0;

  /** Adds a derivative along one axis, float, to gradients, float[3]; see kernels::AddToGradient. */
  virtual void
  AddToGradients(std::int64_t                 count,
                 const std::array<float, 3> & column,
                 const Memory &               derivative,
                 Memory &                     gradients) = 0;
};

GPUREG_DECLARE_PASSES(MovingImagePasses);

} // namespace gpureg

#endif
