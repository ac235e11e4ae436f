// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaMattesNMI_hxx
#define itkCudaMattesNMI_hxx

#include "itkCudaMattesNMI.h"

#include "GPURegistrationDetail/itkGPURegistrationGeometry.h"
#include "GPURegistrationDetail/itkGPURegistrationThreads.h"

#include <new>
#include <stdexcept>

// One definition of a member of CudaMattesNMI; every one has the same five parameters.
#define itkCudaMattesNMITemplate                    \
  template <typename TFixedImage,                   \
            typename TMovingImage,                  \
            typename TVirtualImage,                 \
            typename TInternalComputationValueType, \
            typename TMetricTraits>
#define itkCudaMattesNMIClass \
  CudaMattesNMI<TFixedImage, TMovingImage, TVirtualImage, TInternalComputationValueType, TMetricTraits>

namespace itk
{

itkCudaMattesNMITemplate
gpureg::ParallelFor
itkCudaMattesNMIClass::GetParallelFor() const
{
  return GPURegistrationDetail::MakeParallelFor(this->GetMaximumNumberOfWorkUnits());
}

itkCudaMattesNMITemplate
void
itkCudaMattesNMIClass::GetValueAndDerivativeExecute() const
{
  if (!m_IsInitialized)
  {
    GPURegistrationDetail::ThrowBadInput(
      *this, "Initialize() has not been called, or it failed. Call it before asking for a value.");
  }
  if (this->GetNumberOfHistogramBins() != m_InitializedBins)
  {
    GPURegistrationDetail::ThrowBadInput(*this,
                                         "The number of histogram bins is ",
                                         this->GetNumberOfHistogramBins(),
                                         ", and was ",
                                         m_InitializedBins,
                                         " when Initialize() was called. Call it again.");
  }
  if (this->m_UseSampledPointSet && this->GetNumberOfDomainPoints() < 1)
  {
    GPURegistrationDetail::ThrowBadInput(*this, "VirtualSampledPointSet must have 1 or more points.");
  }
  const Route       route = this->ChooseRoute();
  const std::string lacking = this->FindWhatTheDeviceLacks();
  if (route == Route::ThroughITK || !lacking.empty())
  {
    m_Use.WarnOnce(*this,
                   (lacking.empty()
                      ? std::string(this->m_MovingTransform->GetNameOfClass()) + " with parts that are not linear"
                      : lacking) +
                     " is not computed on " + m_Use.GetDevice().GetName() +
                     ": the host computes it through ITK's own classes, which is slower.");
    this->EvaluateThroughITK();
    return;
  }
  try
  {
    this->UpdateEngine(false);
    const auto derivative = !this->GetComputeDerivative()       ? gpureg::MattesDerivative::None
                            : route == Route::DisplacementField ? gpureg::MattesDerivative::Forces
                                                                : gpureg::MattesDerivative::ForceSums;
    m_Engine->SetTiming(m_Use.GetMeasuresKernelTime());
    const gpureg::MattesMapping mapping = this->MakeMapping(route);
    const gpureg::MattesResult  result = m_Engine->Evaluate(mapping, derivative, m_Normalized, this->GetParallelFor());
    const gpureg::JointDensity  density = this->MakeDensity(result);
    const double                validPoints = density.GetCountSum() / result.countUnit;
    this->StoreValue(density, static_cast<SizeValueType>(validPoints + 0.5));
    if (derivative == gpureg::MattesDerivative::ForceSums)
    {
      this->StoreGlobalDerivative(result, validPoints);
    }
    else if (derivative == gpureg::MattesDerivative::Forces)
    {
      this->StoreLocalDerivative(result, mapping, validPoints);
      m_Engine->ReleaseForces();
    }
  }
  catch (const gpureg::Error & error)
  {
    GPURegistrationDetail::ThrowGPUError(error, GPURegistrationDetail::NameObject(*this) + error.what());
  }
  catch (const std::bad_alloc &)
  {
    itkSpecializedMessageExceptionMacro(
      GPUOutOfMemoryError,
      << GPURegistrationDetail::NameObject(*this)
      << "Out of host memory. Use smaller images, fewer histogram bins or a sampled point set.");
  }
}

itkCudaMattesNMITemplate
gpureg::MattesMapping
itkCudaMattesNMIClass::MakeMapping(Route route) const
{
  namespace Geometry = GPURegistrationGeometry;
  using PointType = Point<double, ImageDimension>;
  const TVirtualImage & virtualImage = *this->GetVirtualImage();
  const TMovingImage &  movingImage = *this->m_MovingImage;
  gpureg::MattesMapping mapping;
  const auto *          field = this->GetMovingDisplacementFieldTransform();
  const auto * const    composite =
    dynamic_cast<const CompositeTransform<typename Superclass::CoordinateRepresentationType, ImageDimension> *>(
      this->m_MovingTransform.GetPointer());

  // All of the transform, or what follows the displacement field.
  const auto apply = [&](const PointType & point) {
    typename MovingTransformType::InputPointType moved;
    moved.CastFrom(point);
    if (route == Route::Linear)
    {
      moved = this->m_MovingTransform->TransformPoint(moved);
    }
    else if (composite != nullptr)
    {
      for (auto n = static_cast<OffsetValueType>(composite->GetNumberOfTransforms()) - 2; n >= 0; --n)
      {
        moved = composite->GetNthTransformConstPointer(n)->TransformPoint(moved);
      }
    }
    PointType result;
    result.CastFrom(moved);
    return result;
  };
  mapping.toMoving = Geometry::FitIndexMap<ImageDimension>(virtualImage, [&](const Geometry::IndexArray & index) {
    return Geometry::PointToIndex<ImageDimension>(movingImage,
                                                  apply(Geometry::IndexToPoint<ImageDimension>(virtualImage, index)));
  });

  if (route == Route::DisplacementField)
  {
    // M maps virtual index to moving index, V a vector to virtual index: M·V maps a vector to moving index.
    const std::array<double, 9> toVirtual = Geometry::GetVectorToIndexMatrix<ImageDimension>(virtualImage);
    for (unsigned int r = 0; r < 3; ++r)
    {
      for (unsigned int c = 0; c < 3; ++c)
      {
        for (unsigned int k = 0; k < ImageDimension; ++k)
        {
          mapping.displacementToIndex[3 * r + c] += mapping.toMoving.matrix[3 * r + k] * toVirtual[3 * k + c];
        }
      }
    }
    const auto * const displacements = field->GetDisplacementField();
    if (displacements->GetBufferedRegion().GetSize() != this->GetVirtualRegion().GetSize())
    {
      GPURegistrationDetail::ThrowBadInput(*this,
                                           "The displacement field has size ",
                                           displacements->GetBufferedRegion().GetSize(),
                                           " but the virtual domain has ",
                                           this->GetVirtualRegion().GetSize(),
                                           ". Call Initialize() after changing either.");
    }
    const auto * const buffer = displacements->GetBufferPointer();
    mapping.displacement = [buffer](std::int64_t first, std::int64_t count, void * out) {
      auto * vectors = static_cast<float *>(out);
      for (std::int64_t i = 0; i < count; ++i)
      {
        for (unsigned int d = 0; d < 3; ++d)
        {
          vectors[3 * i + d] = d < ImageDimension ? static_cast<float>(buffer[first + i][d]) : 0.0f;
        }
      }
    };
  }
  return mapping;
}

itkCudaMattesNMITemplate
gpureg::JointDensity
itkCudaMattesNMIClass::MakeDensity(const gpureg::MattesResult & result) const
{
  std::vector<double> counts(result.histogram.begin(), result.histogram.end());
  return gpureg::JointDensity(std::move(counts), this->GetNumberOfHistogramBins());
}

/** Leaves value, histogram and marginals where ITK's metric leaves them. */
itkCudaMattesNMITemplate
void
itkCudaMattesNMIClass::StoreValue(const gpureg::JointDensity & density, SizeValueType validPoints) const
{
  // ITK's own threaders write to these through a const_cast: an evaluation is const, its results are not.
  auto * const self = const_cast<Self *>(this);
  self->m_NumberOfValidPoints = validPoints;
  if (validPoints == 0)
  {
    GPURegistrationDetail::ThrowBadInput(
      *this,
      "All samples map outside moving image buffer. The images do not sufficiently overlap, or a mask "
      "leaves nothing of the overlap. Initialize the transform so that they do, for instance with "
      "itk::CenteredTransformInitializer.");
  }
  self->m_Value = static_cast<typename Superclass::MeasureType>(m_Normalized ? -density.GetNormalizedMutualInformation()
                                                                             : -density.GetMutualInformation());
  self->m_JointPDFSum = static_cast<typename Superclass::PDFValueType>(validPoints);

  const SizeValueType                           bins = this->GetNumberOfHistogramBins();
  typename Superclass::JointPDFType::RegionType region;
  region.SetSize(0, bins);
  region.SetSize(1, bins);
  auto & joint = self->m_ThreaderJointPDF;
  joint.resize(1);
  if (joint[0].IsNull() || joint[0]->GetBufferedRegion() != region)
  {
    joint[0] = Superclass::JointPDFType::New();
    joint[0]->SetRegions(region);
    joint[0]->Allocate();
  }
  typename Superclass::JointPDFType::PointType origin;
  origin[0] = this->m_FixedImageTrueMin;
  origin[1] = this->m_MovingImageTrueMin;
  typename Superclass::JointPDFType::SpacingType spacing;
  spacing[0] = this->m_FixedImageBinSize;
  spacing[1] = this->m_MovingImageBinSize;
  joint[0]->SetOrigin(origin);
  joint[0]->SetSpacing(spacing);
  std::copy(density.GetJoint().begin(), density.GetJoint().end(), joint[0]->GetBufferPointer());
  self->m_ThreaderFixedImageMarginalPDF.resize(1);
  self->m_ThreaderFixedImageMarginalPDF[0].assign(density.GetFixedMarginal().begin(), density.GetFixedMarginal().end());
  self->m_MovingImageMarginalPDF.assign(density.GetMovingMarginal().begin(), density.GetMovingMarginal().end());
}

/** Σ J(x)ᵀ f(x) from Σ f and Σ f ⊗ x, see src/kernels/ForceSums.h: the transform's own Jacobian at the
 * domain's centre and one step from it along each axis. */
itkCudaMattesNMITemplate
void
itkCudaMattesNMIClass::StoreGlobalDerivative(const gpureg::MattesResult & result, double validPoints) const
{
  namespace Geometry = GPURegistrationGeometry;
  const TVirtualImage & virtualImage = *this->GetVirtualImage();
  auto &                derivative = *this->m_DerivativeResult;
  const auto            parameters = this->GetNumberOfParameters();
  const auto            jacobianAt = [&](const Geometry::IndexArray & index) {
    JacobianType                                 jacobian;
    typename MovingTransformType::InputPointType point;
    point.CastFrom(Geometry::IndexToPoint<ImageDimension>(virtualImage, index));
    this->m_MovingTransform->ComputeJacobianWithRespectToParameters(point, jacobian);
    return jacobian;
  };
  const JacobianType  middle = jacobianAt(result.centre);
  std::vector<double> sums(parameters, 0.0);
  for (unsigned int p = 0; p < parameters; ++p)
  {
    for (unsigned int c = 0; c < ImageDimension; ++c)
    {
      sums[p] += middle[c][p] * result.forceSums[c];
    }
  }
  for (unsigned int d = 0; d < ImageDimension; ++d)
  {
    Geometry::IndexArray index = result.centre;
    const double         step = std::max<double>(1.0, static_cast<double>(this->GetVirtualRegion().GetSize(d)));
    index[d] += step;
    const JacobianType there = jacobianAt(index);
    for (unsigned int p = 0; p < parameters; ++p)
    {
      for (unsigned int c = 0; c < ImageDimension; ++c)
      {
        sums[p] += (there[c][p] - middle[c][p]) / step * result.forceSums[3 + 3 * d + c];
      }
    }
  }
  for (unsigned int p = 0; p < parameters; ++p)
  {
    derivative[p] += static_cast<typename Superclass::DerivativeValueType>(-sums[p] / validPoints);
  }
}

/** A displacement's derivative is its sample's force, by the Jacobian of what follows the field. */
itkCudaMattesNMITemplate
void
itkCudaMattesNMIClass::StoreLocalDerivative(const gpureg::MattesResult &  result,
                                            const gpureg::MattesMapping & mapping,
                                            double                        validPoints) const
{
  namespace Geometry = GPURegistrationGeometry;
  const TVirtualImage & virtualImage = *this->GetVirtualImage();
  auto &                derivative = *this->m_DerivativeResult;

  // The map u ↦ moving point is affine: index map, back to physical space.
  std::array<double, 9> jacobian{};
  const auto            origin = Geometry::IndexToPoint<ImageDimension>(*this->m_MovingImage, { 0, 0, 0 });
  for (unsigned int r = 0; r < ImageDimension; ++r)
  {
    Geometry::IndexArray unit{ 0, 0, 0 };
    unit[r] = 1.0;
    const auto axis = Geometry::IndexToPoint<ImageDimension>(*this->m_MovingImage, unit) - origin;
    for (unsigned int c = 0; c < ImageDimension; ++c)
    {
      for (unsigned int row = 0; row < ImageDimension; ++row)
      {
        jacobian[3 * row + c] += axis[row] * mapping.displacementToIndex[3 * r + c];
      }
    }
  }

  const auto store = [&](SizeValueType sample, SizeValueType offset) {
    for (unsigned int d = 0; d < ImageDimension; ++d)
    {
      double sum = 0;
      for (unsigned int r = 0; r < ImageDimension; ++r)
      {
        sum += jacobian[3 * r + d] * result.forces[3 * sample + r];
      }
      derivative[offset + d] += static_cast<typename Superclass::DerivativeValueType>(-sum / validPoints);
    }
  };
  if (this->m_UseSampledPointSet)
  {
    // Points may share a voxel: one after the other.
    for (SizeValueType sample = 0; sample < this->GetNumberOfDomainPoints(); ++sample)
    {
      const auto index =
        virtualImage.TransformPhysicalPointToIndex(this->GetVirtualSampledPointSet()->GetPoint(sample));
      // A point outside of the virtual domain has no place in the derivative.
      if (this->GetVirtualRegion().IsInside(index))
      {
        store(sample, this->ComputeParameterOffsetFromVirtualIndex(index, ImageDimension));
      }
    }
    return;
  }
  const auto         samples = static_cast<std::int64_t>(this->GetVirtualRegion().GetNumberOfPixels());
  const std::int64_t perTask = 65536;
  this->GetParallelFor()((samples + perTask - 1) / perTask, [&](std::int64_t task) {
    const std::int64_t end = std::min(samples, (task + 1) * perTask);
    for (std::int64_t sample = task * perTask; sample < end; ++sample)
    {
      store(sample, sample * ImageDimension);
    }
  });
}

itkCudaMattesNMITemplate
void
itkCudaMattesNMIClass::PrintSelf(std::ostream & os, Indent indent) const
{
  Superclass::PrintSelf(os, indent);
  m_Use.Print(os, indent);
  os << indent << "TrustsTimeStamps: " << (m_Use.TrustsTimeStamps() ? "On" : "Off") << std::endl;
  os << indent << "Normalized: " << (m_Normalized ? "On" : "Off") << std::endl;
}

} // namespace itk

#include "GPURegistrationDetail/itkCudaMattesNMIInput.hxx"
#include "GPURegistrationDetail/itkCudaMattesNMIThroughITK.hxx"

#undef itkCudaMattesNMITemplate
#undef itkCudaMattesNMIClass

#endif
