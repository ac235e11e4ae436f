// SPDX-License-Identifier: Apache-2.0
#ifndef itkGPUSampledTransform_h
#define itkGPUSampledTransform_h

#include "gpureg/transform/TransformChain.h"

#include "GPURegistrationDetail/core/itkGPUKey.h"
#include "GPURegistrationDetail/core/itkGPURegistrationGeometry.h"
#include "GPURegistrationDetail/transform/itkGPUTransformChain.h"
#include "itkKernelTransform.h"

#include <cmath>
#include <utility>

namespace itk
{
namespace GPUTransformChain
{

/** Appends to a key what a transform's points depend on, except for parameters that move all points. Returns false for an unknown
 *  class, which may depend on anything. */
template <typename TScalar, unsigned int VDimension>
bool
AddComponentsToKey(gpureg::Key & key, const Transform<TScalar, VDimension, VDimension> & transform)
{
  GPURegistrationDetail::AddToKey(key, &transform);
  using CompositeType = CompositeTransform<TScalar, VDimension>;
  if (IsExactly<CompositeType>(&transform))
  {
    const auto & composite = static_cast<const CompositeType &>(transform);
    const GPURegistrationDetail::CompositeParameters<TScalar, VDimension> parameters(composite);
    for (SizeValueType n = 0; n < composite.GetNumberOfTransforms(); ++n)
    {
      if ((parameters.OverwriteFieldOf(n) && !parameters.ChangeTimeStamp()) ||
          !AddComponentsToKey<TScalar, VDimension>(key, *composite.GetNthTransformConstPointer(n)))
      {
        return false;
      }
    }
    return true;
  }
  gpureg::TransformChain chain;
  if (Append<TScalar, VDimension>(transform, chain))
  {
    GPURegistrationDetail::AddToKey(key, chain.first);
    for (const gpureg::ChainStep & step : chain.steps)
    {
      key.insert(key.end(), step.grid.source.key.begin(), step.grid.source.key.end());
      GPURegistrationDetail::AddToKey(key, step.map);
    }
    return true;
  }
  // Each landmark and weight of a kernel transform moves all points, so that MakeSampleKey() notices a change.
  return dynamic_cast<const KernelTransform<TScalar, VDimension> *>(&transform) != nullptr;
}

/** Returns the displacement of a point of an image's grid by a transform. */
template <typename TScalar, typename TImage>
auto
GetDisplacement(const Transform<TScalar, TImage::ImageDimension, TImage::ImageDimension> & transform,
                const TImage &                                                             image,
                const typename TImage::IndexType &                                         index)
{
  typename Transform<TScalar, TImage::ImageDimension, TImage::ImageDimension>::InputPointType point;
  image.TransformIndexToPhysicalPoint(index, point);
  return transform.TransformPoint(point) - point;
}

/** Returns the key of the vectors that a transform is sampled to; they are valid while neither the transform nor the grid changes. The
 *  key includes the displacements of the corners, and the translation, that of the middle. These reveal landmarks that were moved in
 *  place, which changes no time stamp. The key is empty if it is unknown what the transform depends on. */
template <typename TScalar, typename TImage>
gpureg::Key
MakeSampleKey(const Transform<TScalar, TImage::ImageDimension, TImage::ImageDimension> & transform,
              const TImage &                                                             image,
              const gpureg::IndexMap &                                                   toGrid,
              const gpureg::IndexMap &                                                   translation)
{
  constexpr unsigned int dimension = TImage::ImageDimension;
  const auto             whole = image.GetLargestPossibleRegion();
  gpureg::Key            key;
  if (!AddComponentsToKey<TScalar, dimension>(key, transform))
  {
    return {};
  }
  GPURegistrationDetail::AddToKey(key, toGrid);
  GPURegistrationDetail::AddToKey(key, translation);
  for (unsigned int corner = 0; corner < 1u << dimension; ++corner)
  {
    auto index = whole.GetIndex();
    for (unsigned int d = 0; d < dimension; ++d)
    {
      index[d] += (corner >> d & 1) != 0 ? static_cast<IndexValueType>(whole.GetSize(d)) - 1 : 0;
    }
    const auto displacement = GetDisplacement<TScalar>(transform, image, index);
    for (unsigned int d = 0; d < dimension; ++d)
    {
      GPURegistrationDetail::AddToKey(key, static_cast<double>(displacement[d]));
    }
  }
  return key;
}

/** Describes any transform as a chain: a field on an image's grid, with one vector per buffered voxel, and a translation. The chain is
 *  valid only at the buffered voxels' points. It evaluates the transform when it is used. */
template <typename TScalar, typename TImage>
gpureg::TransformChain
Sample(const Transform<TScalar, TImage::ImageDimension, TImage::ImageDimension> & transform, const TImage & image)
{
  constexpr unsigned int dimension = TImage::ImageDimension;
  // A field's vectors are floats, so that the common part of all displacements goes into the translation. The translation is that of
  // the whole image's middle, so that all regions have the same bits.
  const auto whole = image.GetLargestPossibleRegion();
  auto       middle = whole.GetIndex();
  for (unsigned int d = 0; d < dimension; ++d)
  {
    middle[d] += static_cast<IndexValueType>(whole.GetSize(d) / 2);
  }
  auto             common = GetDisplacement<TScalar>(transform, image, middle);
  gpureg::IndexMap translation;
  for (unsigned int d = 0; d < dimension; ++d)
  {
    // If the middle maps to no finite point, other points need not.
    common[d] = std::isfinite(common[d]) ? common[d] : 0;
    translation.offset[d] = static_cast<double>(common[d]);
  }

  gpureg::DisplacementGrid grid;
  grid.kind = gpureg::GridKind::OfOutput;
  grid.size = GPURegistrationGeometry::SizeOf(image.GetBufferedRegion().GetSize());
  grid.toGrid = GPURegistrationGeometry::GetPointToIndexMap(image, image.GetBufferedRegion());
  grid.vectors = [=, &image, &transform](std::int64_t first, std::int64_t count, double * out) {
    const auto start = image.GetBufferedRegion().GetIndex();
    const auto last = image.GetBufferedRegion().GetUpperIndex();
    auto       index = image.ComputeIndex(static_cast<OffsetValueType>(first));
    for (std::int64_t i = 0; i < count; ++i)
    {
      const auto displacement = GetDisplacement<TScalar>(transform, image, index);
      for (unsigned int d = 0; d < 3; ++d)
      {
        out[3 * i + d] = d < dimension ? static_cast<double>(displacement[d] - common[d]) : 0.0;
      }
      // advances to the next voxel in memory
      for (unsigned int d = 0; d < dimension && ++index[d] > last[d]; ++d)
      {
        index[d] = start[d];
      }
    }
  };

  grid.source.key = MakeSampleKey<TScalar>(transform, image, grid.toGrid, translation);

  gpureg::TransformChain chain;
  chain.dimension = static_cast<int>(dimension);
  chain.Append(std::move(grid));
  chain.Append(translation);
  return chain;
}

} // namespace GPUTransformChain
} // namespace itk

#endif
