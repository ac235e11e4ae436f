// SPDX-License-Identifier: Apache-2.0
// Computes a metric's values for many candidate parameters of its moving transform in one call.
#ifndef itkGPUMetricCandidates_h
#define itkGPUMetricCandidates_h

#include "GPURegistrationDetail/core/itkGPUDeviceUse.h"
#include "GPURegistrationDetail/core/itkGPUFinally.h"
#include "GPURegistrationDetail/metric/itkGPUMetricMapping.h"
#include "GPURegistrationDetail/core/itkGPURegistrationThreads.h"

#include "itkGPUError.h"

#include "gpureg/metric/samples/Samples.h"

#include "itkNumericTraits.h"

#include "vnl/vnl_matrix.h"
#include "vnl/vnl_vector.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace itk
{
namespace GPURegistrationDetail
{

/** Evaluates many candidate parameters of a metric's moving transform. The metric names this class a friend. */
template <typename TMetric>
class MetricCandidates
{
public:
  using ParametersType = typename TMetric::MovingTransformType::ParametersType;
  using MeasureType = typename TMetric::MeasureType;

  /** Returns the value of a candidate without one: no sample is valid, or values do not vary. */
  static constexpr MeasureType
  GetWorst()
  {
    return NumericTraits<MeasureType>::max();
  }

  MetricCandidates(const TMetric & metric, const std::vector<ParametersType> & candidates)
    : m_Metric(metric)
    , m_Candidates(candidates)
  {}

  /** Checks the number of parameters.
   * \throws GPUBadInputError unless each candidate has as many parameters as the transform. */
  void
  Check() const
  {
    const SizeValueType wanted = m_Metric.m_MovingTransform->GetNumberOfParameters();
    for (std::size_t n = 0; n < m_Candidates.size(); ++n)
    {
      if (m_Candidates[n].GetSize() != wanted)
      {
        ThrowBadInput(m_Metric,
                      "Candidate ",
                      n,
                      " has ",
                      m_Candidates[n].GetSize(),
                      " parameters, and the moving transform has ",
                      wanted,
                      ".");
      }
    }
  }

  /** Describes where the candidates' linear transforms map the samples to. */
  gpureg::CandidateMaps
  MakeMaps() const
  {
    const MetricMapping<TMetric> mapping(m_Metric);
    return { static_cast<std::int64_t>(m_Candidates.size()),
             [this, mapping, points = mapping.GetFitPoints()](std::int64_t       first,
                                                              std::int64_t       number,
                                                              gpureg::IndexMap * maps) {
               // Each range clones the transform, which costs as much as some candidates.
               const auto transform = m_Metric.m_MovingTransform->Clone();
               for (std::int64_t n = 0; n < number; ++n)
               {
                 transform->SetParameters(m_Candidates[first + n]);
                 maps[n] = mapping.FitLinearMap(points, *transform);
               }
             } };
  }

  /** Evaluates candidates one by one, with the values of GetValue(); values that are computed already stay.
   *  \param values one per candidate; NaN if it is not computed yet. */
  void
  EvaluateRest(std::vector<MeasureType> & values) const
  {
    const auto hasNone = [](MeasureType value) { return std::isnan(value); };
    if (std::none_of(values.begin(), values.end(), hasNone))
    {
      return;
    }
    auto &      transform = *m_Metric.m_MovingTransform;
    const State state(const_cast<TMetric &>(m_Metric));
    for (std::size_t n = 0; n < m_Candidates.size(); ++n)
    {
      if (hasNone(values[n]))
      {
        transform.SetParameters(m_Candidates[n]);
        values[n] = this->EvaluateOne();
      }
    }
  }

private:
  /** Saves what an evaluation changes, and restores it at the end. */
  class State
  {
  public:
    explicit State(TMetric & metric)
      : m_Metric(metric)
      , m_Parameters(metric.m_MovingTransform->GetParameters())
      , m_Value(metric.m_Value)
      , m_ValidPoints(metric.m_NumberOfValidPoints)
    {}
    ~State()
    {
      Finally([this] { m_Metric.m_MovingTransform->SetParameters(m_Parameters); });
      m_Metric.m_Value = m_Value;
      m_Metric.m_NumberOfValidPoints = m_ValidPoints;
    }
    State(const State &) = delete;
    State &
    operator=(const State &) = delete;

  private:
    TMetric &            m_Metric;
    const ParametersType m_Parameters;
    const MeasureType    m_Value;
    const SizeValueType  m_ValidPoints;
  };

  MeasureType
  EvaluateOne() const
  {
    // The evaluation sets this count. If it were still 0 from the candidate before, any exception would be taken for a lack of overlap.
    const_cast<TMetric &>(m_Metric).m_NumberOfValidPoints = 1;
    try
    {
      return m_Metric.GetValue();
    }
    catch (const GPUBadInputError &)
    {
      return GetWorst();
    }
    catch (const ExceptionObject &)
    {
      // ITK's own class throws if all samples are outside.
      if (m_Metric.m_NumberOfValidPoints > 0)
      {
        throw;
      }
      return GetWorst();
    }
  }

  const TMetric &                     m_Metric;
  const std::vector<ParametersType> & m_Candidates;
};

/** Returns a metric's GetValues() for the rows of a matrix. */
template <typename TMetric>
vnl_vector<double>
EvaluateRows(const TMetric & metric, const vnl_matrix<double> & candidates)
{
  using ParametersType = typename TMetric::MovingTransformType::ParametersType;
  std::vector<ParametersType> rows;
  for (unsigned int n = 0; n < candidates.rows(); ++n)
  {
    ParametersType row(candidates.columns());
    std::copy_n(candidates[n], candidates.columns(), row.begin());
    rows.push_back(row);
  }
  const auto         values = metric.GetValues(rows);
  vnl_vector<double> result(static_cast<unsigned int>(values.size()));
  std::copy(values.begin(), values.end(), result.begin());
  return result;
}

} // namespace GPURegistrationDetail
} // namespace itk

#endif
