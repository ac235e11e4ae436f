// SPDX-License-Identifier: Apache-2.0
// The values of many candidates, parameters of a metric's moving transform, in one call.
#ifndef itkGPUMetricCandidates_h
#define itkGPUMetricCandidates_h

#include "GPURegistrationDetail/core/itkGPUDeviceUse.h"
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

/** Of a metric that names it a friend. */
template <typename TMetric>
class MetricCandidates
{
public:
  using ParametersType = typename TMetric::MovingTransformType::ParametersType;
  using MeasureType = typename TMetric::MeasureType;

  /** The value of a candidate that has none: no sample is valid, or they do not vary. */
  static constexpr MeasureType
  GetWorst()
  {
    return NumericTraits<MeasureType>::max();
  }

  MetricCandidates(const TMetric & metric, const std::vector<ParametersType> & candidates)
    : m_Metric(metric)
    , m_Candidates(candidates)
  {}

  /** \throws GPUBadInputError unless each has as many parameters as the transform. */
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

  /** Where their samples map to, by linear transforms. */
  gpureg::CandidateMaps
  MakeMaps() const
  {
    const MetricMapping<TMetric> mapping(m_Metric);
    return { static_cast<std::int64_t>(m_Candidates.size()),
             [this, mapping, points = mapping.GetFitPoints()](std::int64_t       first,
                                                              std::int64_t       number,
                                                              gpureg::IndexMap * maps) {
               // Each range has a transform of its own, which costs as much as some candidates.
               const auto transform = m_Metric.m_MovingTransform->Clone();
               for (std::int64_t n = 0; n < number; ++n)
               {
                 transform->SetParameters(m_Candidates[first + n]);
                 maps[n] = mapping.FitLinearMap(points, *transform);
               }
             } };
  }

  /** One by one, as GetValue() gives them; those that have a value already stay.
   *  \param values as many as candidates; NaN where there is none yet. */
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
  /** What an evaluation leaves behind, put back at the end. */
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
      m_Metric.m_MovingTransform->SetParameters(m_Parameters);
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
    // The evaluation counts them. Were it still 0 of the candidate before, any exception would be taken for a lack of overlap.
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
      // ITK's own class says so of samples that are all outside.
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

/** A metric's GetValues() of the rows of a matrix. */
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
