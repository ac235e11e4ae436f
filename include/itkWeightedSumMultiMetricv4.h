// SPDX-License-Identifier: Apache-2.0
#ifndef itkWeightedSumMultiMetricv4_h
#define itkWeightedSumMultiMetricv4_h

#include "itkObjectToObjectMultiMetricv4.h"

namespace itk
{

/** \class WeightedSumMultiMetricv4
 * \brief Computes the weighted sum C = Σ wₙ Cₙ of several metrics, and the derivative of -C.
 *
 * itk::ObjectToObjectMultiMetricv4 returns the first metric's value. Its derivative is the sum of all metrics' derivatives after they
 * were scaled to one length, which is the derivative of no function: it does not become 0 at the minimum of the weighted sum, and a
 * line search compares the values of another function than the one whose derivative it follows. This class computes the sum and its
 * derivative. A similarity S and a penalty P with weights 1 - α and α give C = (1 - α) S + α P (Modat 2010, equation 1).
 *
 * The class inherits everything else. itk::ImageRegistrationMethodv4 accepts it wherever it accepts the parent class, with a pair of
 * images for each metric. Initialize() divides the weights by their sum, or makes them equal if none are set. Weights that are set
 * after Initialize() are used as they are, from the next evaluation on.
 *
 * \throws itk::GPUBadInputError from Initialize() and evaluations, if a weight, or the sum of the weights, is negative or not finite.
 * \throws itk::ExceptionObject from Initialize(), if all weights are 0, or their number is not that of the metrics; from evaluations,
 * if Initialize() was not called after the last metric was added.
 *
 * \tparam VFixedDimension, VMovingDimension, TVirtualImage the dimensions and virtual image of the metrics.
 *
 * \sa GPUBSplinePenaltyMetric
 * \ingroup GPURegistration
 */
template <unsigned int VFixedDimension,
          unsigned int VMovingDimension,
          typename TVirtualImage = Image<double, VFixedDimension>>
class ITK_TEMPLATE_EXPORT WeightedSumMultiMetricv4
  : public ObjectToObjectMultiMetricv4<VFixedDimension, VMovingDimension, TVirtualImage, double>
{
public:
  itkGPUClassMacro(WeightedSumMultiMetricv4,
                   ObjectToObjectMultiMetricv4<VFixedDimension, VMovingDimension, TVirtualImage, double>);

  using MetricType = typename Superclass::MetricType;
  using MetricBaseType = ObjectToObjectMetricBaseTemplate<double>;
  using MeasureType = typename Superclass::MeasureType;
  using DerivativeType = typename Superclass::DerivativeType;
  using MetricValueArrayType = typename Superclass::MetricValueArrayType;
  using WeightsArrayType = typename Superclass::WeightsArrayType;

  /** Adds a metric to the queue. The parameter has the base class of all metrics, because ITK's Python has many names for the nearer
   * one.
   * \throws itk::ExceptionObject if metric has other dimensions or another virtual image. */
  void
  AddMetric(MetricBaseType * metric);

  void
  Initialize() override;

  /** Computes and returns the weighted sum. */
  MeasureType
  GetValue() const override;

  /** Computes the weighted sum C as value, and the weighted sum of the metrics' derivatives, the derivative of -C, as derivative. */
  void
  GetValueAndDerivative(MeasureType & value, DerivativeType & derivative) const override;

  /** Returns the value of each metric at the last evaluation. The parent's function of this name is not virtual: called through a
   *  pointer to the parent class, it does not return these values. */
  MetricValueArrayType
  GetValueArray() const
  {
    return m_Values;
  }

  /** Returns the weighted sum of the last evaluation. */
  MeasureType
  GetWeightedValue() const
  {
    return this->m_Value;
  }

protected:
  WeightedSumMultiMetricv4() = default;
  ~WeightedSumMultiMetricv4() override = default;

  void
  PrintSelf(std::ostream & os, Indent indent) const override;

private:
  /** Returns the current weights.
   * \throws itk::GPUBadInputError if a weight is negative or not finite, or the sum is not finite. */
  WeightsArrayType
  GetCheckedWeights() const;

  /** Stores each metric's value, evaluate(n, weight), and the weighted sum of the values; returns the sum. */
  template <typename TEvaluate>
  MeasureType
  StoreSum(const TEvaluate & evaluate) const;

  mutable MetricValueArrayType m_Values;
};

} // namespace itk

#ifndef ITK_MANUAL_INSTANTIATION
#  include "itkWeightedSumMultiMetricv4.hxx"
#endif

#endif
