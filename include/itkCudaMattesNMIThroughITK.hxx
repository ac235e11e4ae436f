// SPDX-License-Identifier: Apache-2.0
// CudaMattesNMI for what no device does: the two passes, sample by sample, through ITK's own
// interpolators, transforms, masks and gradients, in double precision.
#ifndef itkCudaMattesNMIThroughITK_hxx
#define itkCudaMattesNMIThroughITK_hxx

#include "itkBSplineDerivativeKernelFunction.h"
#include "itkBSplineKernelFunction.h"

namespace itk
{

itkCudaMattesNMITemplate
void
itkCudaMattesNMIClass::EvaluateThroughITK() const
{
  const TVirtualImage & virtualImage = *this->GetVirtualImage();
  const auto            parallelFor = this->GetParallelFor();
  const auto            samples = static_cast<std::int64_t>(this->GetNumberOfDomainPoints());
  const auto            bins = static_cast<std::int64_t>(this->GetNumberOfHistogramBins());
  // Cut by the problem, not by the threads: partial sums join in order. Their histograms take 64 MiB at most.
  const std::int64_t tasks =
    std::min<std::int64_t>(samples, std::max<std::int64_t>(1, std::min<std::int64_t>(64, (1 << 23) / (bins * bins))));
  const auto window = BSplineKernelFunction<3, double>::New();
  const auto windowDerivative = BSplineDerivativeKernelFunction<3, double>::New();

  struct Sample
  {
    VirtualPointType                          virtualPoint;
    typename Superclass::MovingImagePointType movingPoint;
    OffsetValueType                           fixedBin;
    OffsetValueType                           firstMovingBin;
    double                                    firstArgument;
  };
  const auto evaluate = [&](std::int64_t n, Sample & sample) {
    typename Superclass::FixedImagePointType  fixedPoint;
    typename Superclass::FixedImagePixelType  fixedValue;
    typename Superclass::MovingImagePixelType movingValue;
    if (this->m_UseSampledPointSet)
    {
      sample.virtualPoint = this->GetVirtualSampledPointSet()->GetPoint(n);
    }
    else
    {
      virtualImage.TransformIndexToPhysicalPoint(virtualImage.ComputeIndex(n), sample.virtualPoint);
    }
    if (!this->TransformAndEvaluateFixedPoint(sample.virtualPoint, fixedPoint, fixedValue) ||
        !this->TransformAndEvaluateMovingPoint(sample.virtualPoint, sample.movingPoint, movingValue) ||
        !(movingValue >= this->m_MovingImageTrueMin && movingValue <= this->m_MovingImageTrueMax))
    {
      return false;
    }
    const double position = movingValue / this->m_MovingImageBinSize - this->m_MovingImageNormalizedMin;
    const auto   bin =
      std::min<OffsetValueType>(std::max<OffsetValueType>(static_cast<OffsetValueType>(position), 2), bins - 3);
    sample.fixedBin = this->ComputeSingleFixedImageParzenWindowIndex(fixedValue);
    sample.firstMovingBin = bin - 1;
    sample.firstArgument = static_cast<double>(bin - 1) - position;
    return true;
  };
  const auto forEachSample = [&](std::int64_t task, const auto & visit) {
    Sample sample;
    for (std::int64_t n = samples * task / tasks; n < samples * (task + 1) / tasks; ++n)
    {
      if (evaluate(n, sample))
      {
        visit(sample);
      }
    }
  };

  std::vector<std::vector<double>> histograms(tasks);
  std::vector<SizeValueType>       valid(tasks, 0);
  parallelFor(tasks, [&](std::int64_t task) {
    auto & histogram = histograms[task];
    histogram.assign(bins * bins, 0.0);
    forEachSample(task, [&](const Sample & sample) {
      ++valid[task];
      for (int k = 0; k < 4; ++k)
      {
        histogram[sample.fixedBin * bins + sample.firstMovingBin + k] += window->Evaluate(sample.firstArgument + k);
      }
    });
  });
  std::vector<double> counts(bins * bins, 0.0);
  SizeValueType       validPoints = 0;
  for (std::int64_t task = 0; task < tasks; ++task)
  {
    validPoints += valid[task];
    for (std::size_t cell = 0; cell < counts.size(); ++cell)
    {
      counts[cell] += histograms[task][cell];
    }
  }
  const gpureg::JointDensity density(counts, bins);
  this->StoreValue(density, validPoints);
  if (!this->GetComputeDerivative())
  {
    return;
  }

  const std::vector<double>        table = density.GetDerivativeTable(m_Normalized);
  const double                     factor = -1.0 / (this->m_MovingImageBinSize * static_cast<double>(validPoints));
  const auto                       parameters = this->GetNumberOfLocalParameters();
  const bool                       isLocal = this->HasLocalSupport();
  auto &                           derivative = *this->m_DerivativeResult;
  std::vector<std::vector<double>> sums(tasks);
  const auto                       differentiate = [&](std::int64_t task) {
    JacobianType jacobian(ImageDimension, parameters);
    JacobianType cache;
    sums[task].assign(isLocal ? 0 : parameters, 0.0);
    forEachSample(task, [&](const Sample & sample) {
      typename Superclass::MovingImageGradientType gradient;
      this->ComputeMovingImageGradientAtPoint(sample.movingPoint, gradient);
      typename MovingTransformType::InputPointType point;
      point.CastFrom(sample.virtualPoint);
      this->m_MovingTransform->ComputeJacobianWithRespectToParametersCachedTemporaries(point, jacobian, cache);
      double weight = 0;
      for (int k = 0; k < 4; ++k)
      {
        weight += windowDerivative->Evaluate(sample.firstArgument + k) *
                  table[sample.fixedBin * bins + sample.firstMovingBin + k];
      }
      OffsetValueType offset = 0;
      if (isLocal)
      {
        const auto index = virtualImage.TransformPhysicalPointToIndex(sample.virtualPoint);
        if (!this->GetVirtualRegion().IsInside(index))
        {
          return;
        }
        offset = this->ComputeParameterOffsetFromVirtualIndex(index, parameters);
      }
      for (unsigned int p = 0; p < parameters; ++p)
      {
        double product = 0;
        for (unsigned int d = 0; d < ImageDimension; ++d)
        {
          product += jacobian[d][p] * gradient[d];
        }
        if (isLocal)
        {
          derivative[offset + p] += static_cast<typename Superclass::DerivativeValueType>(factor * weight * product);
        }
        else
        {
          sums[task][p] += weight * product;
        }
      }
    });
  };
  if (isLocal && this->m_UseSampledPointSet)
  {
    // Points may share a voxel, and so a place in the derivative: one after the other.
    for (std::int64_t task = 0; task < tasks; ++task)
    {
      differentiate(task);
    }
  }
  else
  {
    parallelFor(tasks, differentiate);
  }
  for (std::int64_t task = 0; task < tasks; ++task)
  {
    for (std::size_t p = 0; p < sums[task].size(); ++p)
    {
      derivative[p] += static_cast<typename Superclass::DerivativeValueType>(factor * sums[task][p]);
    }
  }
}

} // namespace itk

#endif
