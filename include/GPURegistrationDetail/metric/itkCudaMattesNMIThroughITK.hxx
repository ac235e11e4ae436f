// SPDX-License-Identifier: Apache-2.0
// Computes CudaMattesNMI where no device can: its two passes, sample by sample.
#ifndef itkCudaMattesNMIThroughITK_hxx
#define itkCudaMattesNMIThroughITK_hxx

#include "itkBSplineDerivativeKernelFunction.h"
#include "itkBSplineKernelFunction.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace itk
{

itkGPUMetricTemplate
class itkCudaMattesNMIClass::ThroughITK
{
public:
  explicit ThroughITK(const Self & metric)
    : m_Metric(metric)
    , m_Bins(static_cast<std::int64_t>(metric.GetNumberOfHistogramBins()))
    // The number of tasks limits their histograms to 64 MiB.
    , m_Samples(metric, std::min<std::int64_t>(64, (1 << 23) / (m_Bins * m_Bins)))
  {}

  /** Computes value and derivative, and stores them in the metric's members. */
  void
  Evaluate() const
  {
    SizeValueType              validPoints = 0;
    const gpureg::JointDensity density(this->Count(validPoints), m_Bins);
    m_Metric.StoreValue(density, validPoints);
    if (m_Metric.GetComputeDerivative())
    {
      const std::vector<double> table = density.GetDerivativeTable(m_Metric.m_Normalized);
      const auto                window = BSplineDerivativeKernelFunction<3, double>::New();
      m_Samples.Differentiate(
        [&](const SampleType & sample) {
          return this->IsInRange(sample) ? this->SumOverWindow(*window, this->ComputeWindow(sample), table) : 0.0;
        },
        -1.0 / (m_Metric.m_MovingImageBinSize * static_cast<double>(validPoints)));
    }
  }

private:
  using SamplesType = GPURegistrationDetail::MetricThroughITK<Self>;
  using SampleType = typename SamplesType::Sample;

  struct Window
  {
    OffsetValueType fixedBin;
    OffsetValueType firstMovingBin;
    double          firstArgument;
  };

  bool
  IsInRange(const SampleType & sample) const
  {
    return sample.movingValue >= m_Metric.m_MovingImageTrueMin && sample.movingValue <= m_Metric.m_MovingImageTrueMax;
  }

  Window
  ComputeWindow(const SampleType & sample) const
  {
    const double position = sample.movingValue / m_Metric.m_MovingImageBinSize - m_Metric.m_MovingImageNormalizedMin;
    const auto   bin =
      std::min<OffsetValueType>(std::max<OffsetValueType>(static_cast<OffsetValueType>(position), 2), m_Bins - 3);
    return { m_Metric.ComputeSingleFixedImageParzenWindowIndex(sample.fixedValue),
             bin - 1,
             static_cast<double>(bin - 1) - position };
  }

  /** Returns Σ_k kernel(argument_k)·table[…][k] over the four bins of a sample's window. */
  template <typename TKernel>
  double
  SumOverWindow(const TKernel & kernel, const Window & window, const std::vector<double> & table) const
  {
    double sum = 0;
    for (int k = 0; k < 4; ++k)
    {
      sum += kernel.Evaluate(window.firstArgument + k) * table[window.fixedBin * m_Bins + window.firstMovingBin + k];
    }
    return sum;
  }

  /** Returns the joint histogram, and sets the number of valid points. */
  std::vector<double>
  Count(SizeValueType & validPoints) const
  {
    const auto kernel = BSplineKernelFunction<3, double>::New();
    auto       counts = m_Samples.SumUp(m_Bins * m_Bins, [&](const SampleType & sample, double * histogram) {
      if (!this->IsInRange(sample))
      {
        return false;
      }
      const Window window = this->ComputeWindow(sample);
      for (int k = 0; k < 4; ++k)
      {
        histogram[window.fixedBin * m_Bins + window.firstMovingBin + k] += kernel->Evaluate(window.firstArgument + k);
      }
      return true;
    });
    validPoints = counts.count;
    return std::move(counts.all);
  }

  const Self & m_Metric;
  std::int64_t m_Bins;
  SamplesType  m_Samples;
};

itkGPUMetricTemplate
void
itkCudaMattesNMIClass::EvaluateThroughITK() const
{
  ThroughITK(*this).Evaluate();
}

} // namespace itk

#endif
