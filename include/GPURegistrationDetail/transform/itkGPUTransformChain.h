// SPDX-License-Identifier: Apache-2.0
#ifndef itkGPUTransformChain_h
#define itkGPUTransformChain_h

#include "gpureg/transform/TransformChain.h"

#include "itkBSplineDeformableTransform.h"
#include "itkBSplineExponentialDiffeomorphicTransform.h"
#include "itkBSplineSmoothingOnUpdateDisplacementFieldTransform.h"
#include "itkBSplineTransform.h"
#include "itkCompositeTransform.h"
#include "itkConstantVelocityFieldTransform.h"
#include "itkDisplacementFieldTransform.h"
#include "GPURegistrationDetail/core/itkGPUIsExactly.h"
#include "GPURegistrationDetail/core/itkGPUKey.h"
#include "GPURegistrationDetail/core/itkGPURegistrationGeometry.h"
#include "GPURegistrationDetail/transform/itkGPULinearMap.h"
#include "itkGaussianExponentialDiffeomorphicTransform.h"
#include "itkGaussianSmoothingOnUpdateDisplacementFieldTransform.h"
#include "itkGaussianSmoothingOnUpdateTimeVaryingVelocityFieldTransform.h"
#include "itkTimeVaryingBSplineVelocityFieldTransform.h"
#include "itkTimeVaryingVelocityFieldTransform.h"
#include "itkVectorLinearInterpolateImageFunction.h"
#include "itkVelocityFieldTransform.h"

namespace itk
{
/** Converts ITK's transforms to the engine's chains. A chain reads the transforms' parameters when it is used: the parameters must not
 * change until then. */
namespace GPUTransformChain
{

using GPURegistrationDetail::IsExactly;
using GPURegistrationDetail::IsExactlyOneOf;

/** Returns true if the transform has coefficients. A transform without coefficients is sampled, and reports the error itself. */
template <typename TTransform>
bool
HasCoefficients(const TTransform & transform)
{
  const auto images = transform.GetCoefficientImages();
  return images[0] && images[0]->GetBufferPointer() != nullptr;
}

template <typename TTransform>
gpureg::DisplacementGrid
MakeSplineGrid(const TTransform & transform)
{
  constexpr unsigned int dimension = TTransform::SpaceDimension;
  using CoefficientType = typename TTransform::ImageType::PixelType;
  const auto                             images = transform.GetCoefficientImages();
  const typename TTransform::ImageType & first = *images[0];
  std::array<const CoefficientType *, 3> coefficients{};
  for (unsigned int d = 0; d < dimension; ++d)
  {
    coefficients[d] = images[d]->GetBufferPointer();
  }
  gpureg::DisplacementGrid grid;
  grid.order = static_cast<int>(TTransform::SplineOrder);
  grid.size = GPURegistrationGeometry::SizeOf(first.GetBufferedRegion().GetSize());
  grid.toGrid = GPURegistrationGeometry::GetPointToIndexMap(first, first.GetBufferedRegion());
  GPURegistrationDetail::AddToKey(grid.source.key, &transform);
  for (unsigned int d = 0; d < dimension; ++d)
  {
    GPURegistrationDetail::AddVoxelsToKey(grid.source.key, *images[d]);
    grid.source.memory.push_back(GPURegistrationDetail::GetBuffer(*images[d]));
  }
  // The captured images keep the coefficients alive.
  grid.vectors = [images, coefficients](std::int64_t begin, std::int64_t count, double * out) {
    for (std::int64_t i = 0; i < count; ++i)
    {
      for (unsigned int d = 0; d < 3; ++d)
      {
        out[3 * i + d] = d < dimension ? static_cast<double>(coefficients[d][begin + i]) : 0.0;
      }
    }
  };
  return grid;
}

template <typename TField>
gpureg::DisplacementGrid
MakeFieldGrid(const TField & field)
{
  constexpr unsigned int   dimension = TField::ImageDimension;
  gpureg::DisplacementGrid grid;
  grid.kind = gpureg::GridKind::Field;
  grid.size = GPURegistrationGeometry::SizeOf(field.GetBufferedRegion().GetSize());
  grid.toGrid = GPURegistrationGeometry::GetPointToIndexMap(field, field.GetBufferedRegion());
  grid.source = GPURegistrationDetail::MakeSource(field);
  const typename TField::ConstPointer keep = &field;
  grid.vectors = [keep](std::int64_t begin, std::int64_t count, double * out) {
    const auto * const vectors = keep->GetBufferPointer();
    for (std::int64_t i = 0; i < count; ++i)
    {
      for (unsigned int d = 0; d < 3; ++d)
      {
        out[3 * i + d] = d < dimension ? static_cast<double>(vectors[begin + i][d]) : 0.0;
      }
    }
  };
  return grid;
}

/** Returns a filler of the Jacobians that ITK's own transform gives at its field's voxels. Returns none if the field's first voxel does
 *  not have index 0, because ITK then reads outside the buffer. */
template <typename TScalar, unsigned int VDimension>
gpureg::MatrixFiller
MakeJacobians(const DisplacementFieldTransform<TScalar, VDimension> & transform)
{
  using TransformType = DisplacementFieldTransform<TScalar, VDimension>;
  const auto & region = transform.GetDisplacementField()->GetBufferedRegion();
  if (region.GetIndex() != ImageRegion<VDimension>().GetIndex() ||
      region != transform.GetDisplacementField()->GetLargestPossibleRegion())
  {
    return {};
  }
  const typename TransformType::ConstPointer keep = &transform;
  return [keep](std::int64_t begin, std::int64_t count, double * out) {
    const auto &                                 field = *keep->GetDisplacementField();
    typename TransformType::JacobianPositionType jacobian;
    for (std::int64_t i = 0; i < count; ++i, out += 9)
    {
      keep->ComputeJacobianWithRespectToPosition(field.ComputeIndex(begin + i), jacobian);
      for (unsigned int r = 0; r < 3; ++r)
      {
        for (unsigned int c = 0; c < 3; ++c)
        {
          out[3 * r + c] = r < VDimension && c < VDimension ? static_cast<double>(jacobian(r, c)) : r == c;
        }
      }
    }
  };
}

template <typename TScalar, unsigned int VDimension, unsigned int VOrder>
bool
AppendSpline(const Transform<TScalar, VDimension, VDimension> & transform, gpureg::TransformChain & chain)
{
  using SplineType = BSplineTransform<TScalar, VDimension, VOrder>;
  using DeformableType = BSplineDeformableTransform<TScalar, VDimension, VOrder>;
  // For order 0, ITK's spline (up to 6.0) has no valid region and so moves nothing, because it computes -1 without a sign. Sampling it
  // reproduces that, and whatever ITK does once that is fixed.
  if (VOrder > 0 && IsExactly<SplineType>(&transform))
  {
    const auto & spline = static_cast<const SplineType &>(transform);
    if (!HasCoefficients(spline))
    {
      return false;
    }
    chain.Append(MakeSplineGrid(spline));
    return true;
  }
  if (IsExactly<DeformableType>(&transform))
  {
    const auto & deformable = static_cast<const DeformableType &>(transform);
    const auto   bulk = deformable.GetBulkTransform();
    if (!HasCoefficients(deformable) || (bulk && !GPURegistrationGeometry::IsLinear(*bulk)))
    {
      return false;
    }
    // The bulk transform moves the point; the spline's displacement, at the original point, is added.
    gpureg::DisplacementGrid grid = MakeSplineGrid(deformable);
    grid.isOpen = true;
    chain.Append(std::move(grid));
    if (bulk)
    {
      chain.steps.back().map = FitAffine<TScalar, VDimension>(*bulk);
    }
    return true;
  }
  return false;
}

template <typename TScalar, unsigned int VDimension>
bool
AppendField(const Transform<TScalar, VDimension, VDimension> & transform, gpureg::TransformChain & chain)
{
  using FieldTransformType = DisplacementFieldTransform<TScalar, VDimension>;
  using FieldType = typename FieldTransformType::DisplacementFieldType;
  using LinearType = VectorLinearInterpolateImageFunction<FieldType, TScalar>;
  // Only classes that are known to move points as their parent class does: a velocity field by the displacement field that it was
  // integrated to.
  if (!IsExactlyOneOf<FieldTransformType,
                      GaussianSmoothingOnUpdateDisplacementFieldTransform<TScalar, VDimension>,
                      BSplineSmoothingOnUpdateDisplacementFieldTransform<TScalar, VDimension>,
                      ConstantVelocityFieldTransform<TScalar, VDimension>,
                      GaussianExponentialDiffeomorphicTransform<TScalar, VDimension>,
                      BSplineExponentialDiffeomorphicTransform<TScalar, VDimension>,
                      VelocityFieldTransform<TScalar, VDimension>,
                      TimeVaryingVelocityFieldTransform<TScalar, VDimension>,
                      GaussianSmoothingOnUpdateTimeVaryingVelocityFieldTransform<TScalar, VDimension>,
                      TimeVaryingBSplineVelocityFieldTransform<TScalar, VDimension>>(&transform))
  {
    return false;
  }
  const auto & fieldTransform = static_cast<const FieldTransformType &>(transform);
  if (!fieldTransform.GetDisplacementField() || !IsExactly<LinearType>(fieldTransform.GetInterpolator()))
  {
    return false;
  }
  // A velocity field's transform leaves it to the caller to set the field in the interpolator, too. If the interpolator has another
  // field, ITK mixes both; if it has none, ITK follows a null pointer.
  const auto * const field = fieldTransform.GetDisplacementField();
  const auto * const interpolated = fieldTransform.GetInterpolator()->GetInputImage();
  if (interpolated && interpolated != field)
  {
    return false;
  }
  gpureg::DisplacementGrid grid = MakeFieldGrid(*field);
  // SetParameters() writes into the field's buffer, and changes only the transform's time stamp. CopyInParameters() changes none.
  GPURegistrationDetail::AddToKey(grid.source.key, &transform);
  grid.jacobians = MakeJacobians(fieldTransform);
  chain.Append(std::move(grid));
  return true;
}

/** Appends a transform to a chain. Returns false for an unknown kind of transform; the chain is then unusable. */
template <typename TScalar, unsigned int VDimension>
bool
Append(const Transform<TScalar, VDimension, VDimension> & transform, gpureg::TransformChain & chain)
{
  using CompositeType = CompositeTransform<TScalar, VDimension>;
  if (IsExactly<CompositeType>(&transform))
  {
    // The transform that was added last is applied first.
    const auto & composite = static_cast<const CompositeType &>(transform);
    const GPURegistrationDetail::CompositeParameters<TScalar, VDimension> parameters(composite);
    for (SizeValueType n = composite.GetNumberOfTransforms(); n > 0; --n)
    {
      if (!Append<TScalar, VDimension>(*composite.GetNthTransformConstPointer(n - 1), chain))
      {
        return false;
      }
      if (parameters.OverwriteFieldOf(n - 1))
      {
        // If no time stamp reveals a change, the vectors are uploaded each time.
        gpureg::Key & key = chain.steps.back().grid.source.key;
        parameters.ChangeTimeStamp() ? GPURegistrationDetail::AddTransformToKey<TScalar, VDimension>(key, &composite)
                                     : key.clear();
      }
    }
    return true;
  }
  if (GPURegistrationGeometry::IsLinear(transform))
  {
    chain.Append(FitAffine<TScalar, VDimension>(transform));
    return true;
  }
  return AppendField<TScalar, VDimension>(transform, chain) || AppendSpline<TScalar, VDimension, 3>(transform, chain) ||
         AppendSpline<TScalar, VDimension, 2>(transform, chain) ||
         AppendSpline<TScalar, VDimension, 1>(transform, chain) ||
         AppendSpline<TScalar, VDimension, 0>(transform, chain);
}

} // namespace GPUTransformChain
} // namespace itk

#endif
