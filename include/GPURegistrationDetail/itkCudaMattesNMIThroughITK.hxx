// SPDX-License-Identifier: Apache-2.0
// CudaMattesNMI for what no device does: the two passes, sample by sample, through ITK's own
// interpolators, transforms, masks and gradients, in double precision.
#ifndef itkCudaMattesNMIThroughITK_hxx
#define itkCudaMattesNMIThroughITK_hxx

#include "itkBSplineDerivativeKernelFunction.h"
#include "itkBSplineKernelFunction.h"

#include <algorithm>
#include <functional>

namespace itk
{

itkCudaMattesNMITemplate
class itkCudaMattesNMIClass::ThroughITK
{
public:
  explicit ThroughITK(const Self & metric)
    : m_Metric(metric)
    , m_Samples(static_cast<std::int64_t>(metric.GetNumberOfDomainPoints()))
    , m_Bins(static_cast<std::int64_t>(metric.GetNumberOfHistogramBins()))
    , m_Tasks(
        std::min<std::int64_t>(m_Samples,
                               std::max<std::int64_t>(1, std::min<std::int64_t>(64, (1 << 23) / (m_Bins * m_Bins)))))
  {}

  /** Leaves value and derivative where the metric keeps them. */
  void
  Evaluate() const
  {
    SizeValueType              validPoints = 0;
    const gpureg::JointDensity density(this->Count(validPoints), m_Bins);
    m_Metric.StoreValue(density, validPoints);
    if (m_Metric.GetComputeDerivative())
    {
      this->Differentiate(density.GetDerivativeTable(m_Metric.m_Normalized),
                          -1.0 / (m_Metric.m_MovingImageBinSize * static_cast<double>(validPoints)));
    }
  }

private:
  using DerivativeValueType = typename Superclass::DerivativeValueType;

  struct Sample
  {
    VirtualPointType                          virtualPoint;
    typename Superclass::MovingImagePointType movingPoint;
    OffsetValueType                           fixedBin;
    OffsetValueType                           firstMovingBin;
    double                                    firstArgument;
  };

  /** Whether the n-th sample is valid, and then what it touches. */
  bool
  MakeSample(std::int64_t n, Sample & sample) const
  {
    typename Superclass::FixedImagePointType  fixedPoint;
    typename Superclass::FixedImagePixelType  fixedValue;
    typename Superclass::MovingImagePixelType movingValue;
    if (m_Metric.m_UseSampledPointSet)
    {
      sample.virtualPoint = m_Metric.GetVirtualSampledPointSet()->GetPoint(n);
    }
    else
    {
      const TVirtualImage & virtualImage = *m_Metric.GetVirtualImage();
      virtualImage.TransformIndexToPhysicalPoint(virtualImage.ComputeIndex(n), sample.virtualPoint);
    }
    if (!m_Metric.TransformAndEvaluateFixedPoint(sample.virtualPoint, fixedPoint, fixedValue) ||
        !m_Metric.TransformAndEvaluateMovingPoint(sample.virtualPoint, sample.movingPoint, movingValue) ||
        !(movingValue >= m_Metric.m_MovingImageTrueMin && movingValue <= m_Metric.m_MovingImageTrueMax))
    {
      return false;
    }
    const double position = movingValue / m_Metric.m_MovingImageBinSize - m_Metric.m_MovingImageNormalizedMin;
    const auto   bin =
      std::min<OffsetValueType>(std::max<OffsetValueType>(static_cast<OffsetValueType>(position), 2), m_Bins - 3);
    sample.fixedBin = m_Metric.ComputeSingleFixedImageParzenWindowIndex(fixedValue);
    sample.firstMovingBin = bin - 1;
    sample.firstArgument = static_cast<double>(bin - 1) - position;
    return true;
  }

  /** Calls visit with a task's valid samples. */
  template <typename TVisit>
  void
  ForEachSample(std::int64_t task, const TVisit & visit) const
  {
    Sample sample;
    for (std::int64_t n = m_Samples * task / m_Tasks; n < m_Samples * (task + 1) / m_Tasks; ++n)
    {
      if (this->MakeSample(n, sample))
      {
        visit(sample);
      }
    }
  }

  /** Σ_k kernel(argument_k)·row[k], over the four bins of a sample's window. */
  template <typename TKernel>
  static double
  SumOverWindow(const TKernel & kernel, const Sample & sample, const double * row)
  {
    double sum = 0;
    for (int k = 0; k < 4; ++k)
    {
      sum += kernel.Evaluate(sample.firstArgument + k) * row[sample.firstMovingBin + k];
    }
    return sum;
  }

  /** The joint histogram. */
  std::vector<double>
  Count(SizeValueType & validPoints) const
  {
    const auto                       window = BSplineKernelFunction<3, double>::New();
    std::vector<std::vector<double>> histograms(m_Tasks);
    std::vector<SizeValueType>       valid(m_Tasks, 0);
    m_Metric.m_Face.GetParallelFor()(m_Tasks, [&](std::int64_t task) {
      auto & histogram = histograms[task];
      histogram.assign(m_Bins * m_Bins, 0.0);
      this->ForEachSample(task, [&](const Sample & sample) {
        ++valid[task];
        for (int k = 0; k < 4; ++k)
        {
          histogram[sample.fixedBin * m_Bins + sample.firstMovingBin + k] += window->Evaluate(sample.firstArgument + k);
        }
      });
    });
    std::vector<double> counts(m_Bins * m_Bins, 0.0);
    validPoints = 0;
    for (std::int64_t task = 0; task < m_Tasks; ++task)
    {
      validPoints += valid[task];
      std::transform(counts.begin(), counts.end(), histograms[task].begin(), counts.begin(), std::plus<double>());
    }
    return counts;
  }

  /** Σ J(x)ᵀ f(x), of a transform of global support; f(x) at its place, of one of local support. */
  void
  Differentiate(const std::vector<double> & table, double factor) const
  {
    const bool                       isLocal = m_Metric.HasLocalSupport();
    std::vector<std::vector<double>> sums(m_Tasks);
    const auto                       differentiate = [&](std::int64_t task) {
      sums[task].assign(isLocal ? 0 : m_Metric.GetNumberOfLocalParameters(), 0.0);
      this->AddForces(task, table, factor, sums[task]);
    };
    if (isLocal && m_Metric.m_UseSampledPointSet)
    {
      // Points may share a voxel, and so a place in the derivative: one after the other.
      for (std::int64_t task = 0; task < m_Tasks; ++task)
      {
        differentiate(task);
      }
    }
    else
    {
      m_Metric.m_Face.GetParallelFor()(m_Tasks, differentiate);
    }
    auto & derivative = *m_Metric.m_DerivativeResult;
    for (const std::vector<double> & part : sums)
    {
      for (std::size_t p = 0; p < part.size(); ++p)
      {
        derivative[p] += static_cast<DerivativeValueType>(factor * part[p]);
      }
    }
  }

  /** Adds the forces of a task's samples to its sums, or, of a transform of local support, to the derivative itself. */
  void
  AddForces(std::int64_t task, const std::vector<double> & table, double factor, std::vector<double> & sums) const
  {
    const auto   windowDerivative = BSplineDerivativeKernelFunction<3, double>::New();
    const auto   parameters = m_Metric.GetNumberOfLocalParameters();
    JacobianType jacobian(ImageDimension, parameters);
    JacobianType cache;
    this->ForEachSample(task, [&](const Sample & sample) {
      const double weight = this->SumOverWindow(*windowDerivative, sample, table.data() + sample.fixedBin * m_Bins);
      typename Superclass::MovingImageGradientType gradient;
      m_Metric.ComputeMovingImageGradientAtPoint(sample.movingPoint, gradient);
      typename MovingTransformType::InputPointType point;
      point.CastFrom(sample.virtualPoint);
      m_Metric.m_MovingTransform->ComputeJacobianWithRespectToParametersCachedTemporaries(point, jacobian, cache);
      const auto pull = [&](unsigned int p) {
        double product = 0;
        for (unsigned int d = 0; d < ImageDimension; ++d)
        {
          product += jacobian[d][p] * gradient[d];
        }
        return product;
      };
      if (!m_Metric.HasLocalSupport())
      {
        for (unsigned int p = 0; p < parameters; ++p)
        {
          sums[p] += weight * pull(p);
        }
        return;
      }
      const auto index = m_Metric.GetVirtualImage()->TransformPhysicalPointToIndex(sample.virtualPoint);
      if (m_Metric.GetVirtualRegion().IsInside(index))
      {
        const auto offset = m_Metric.ComputeParameterOffsetFromVirtualIndex(index, parameters);
        for (unsigned int p = 0; p < parameters; ++p)
        {
          (*m_Metric.m_DerivativeResult)[offset + p] += static_cast<DerivativeValueType>(factor * weight * pull(p));
        }
      }
    });
  }

  const Self & m_Metric;
  std::int64_t m_Samples;
  std::int64_t m_Bins;
  /** Cut by the problem, not by the threads: partial sums join in order. Their histograms take 64 MiB at most. */
  std::int64_t m_Tasks;
};

itkCudaMattesNMITemplate
void
itkCudaMattesNMIClass::EvaluateThroughITK() const
{
  ThroughITK(*this).Evaluate();
}

} // namespace itk

#endif
