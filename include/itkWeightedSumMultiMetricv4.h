// SPDX-License-Identifier: Apache-2.0
#ifndef itkWeightedSumMultiMetricv4_h
#define itkWeightedSumMultiMetricv4_h

#include "itkObjectToObjectMultiMetricv4.h"

namespace itk
{

/** \class WeightedSumMultiMetricv4
 * \brief C = Σ wₙ Cₙ of several metrics, with the derivative of -C, as ITK's metrics have it.
 *
 * itk::ObjectToObjectMultiMetricv4 gives the first metric's value, and for a derivative the sum of all metrics' after these were
 * scaled to one length. That is the derivative of nothing: near the least value of a weighted sum it does not become 0, and a line
 * search compares values of another function than it goes along. This class gives the sum: a similarity and a penalty by 1 - α and α
 * are C = (1 - α) S + α P (Modat 2010, equation 1).
 *
 * All else is the parent's: itk::ImageRegistrationMethodv4 takes it wherever it takes that, with a pair of images for each metric;
 * and Initialize() divides the weights by their sum, or makes them equal if none are set. Weights that are set after Initialize()
 * count from the next evaluation on, as they are.
 *
 * \throws itk::GPUBadInputError from Initialize() and evaluations, for weights that are negative or not finite, together too.
 * \throws itk::ExceptionObject from Initialize(), for weights that are all 0, or not as many as the metrics; from evaluations, unless
 * Initialize() was called after the last metric was added.
 *
 * \tparam VFixedDimension, VMovingDimension, TVirtualImage those of the metrics.
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
  ITK_DISALLOW_COPY_AND_MOVE(WeightedSumMultiMetricv4);

  using Self = WeightedSumMultiMetricv4;
  using Superclass = ObjectToObjectMultiMetricv4<VFixedDimension, VMovingDimension, TVirtualImage, double>;
  using Pointer = SmartPointer<Self>;
  using ConstPointer = SmartPointer<const Self>;

  using MetricType = typename Superclass::MetricType;
  using MetricBaseType = ObjectToObjectMetricBaseTemplate<double>;
  using MeasureType = typename Superclass::MeasureType;
  using DerivativeType = typename Superclass::DerivativeType;
  using MetricValueArrayType = typename Superclass::MetricValueArrayType;
  using WeightsArrayType = typename Superclass::WeightsArrayType;

  itkNewMacro(Self);

  const char *
  GetNameOfClass() const override
  {
    return "WeightedSumMultiMetricv4";
  }

  /** Adds a metric to the queue. By the base that all have: ITK's Python has many names for the nearer one.
   * \throws itk::ExceptionObject for one of other dimensions, or of another virtual image. */
  void
  AddMetric(MetricBaseType * metric);

  void
  Initialize() override;

  /** The weighted sum. */
  MeasureType
  GetValue() const override;

  /** The weighted sum C, and that of the metrics' derivatives, which is the derivative of -C. */
  void
  GetValueAndDerivative(MeasureType & value, DerivativeType & derivative) const override;

  /** Of each metric, as the last evaluation found them. They stand here, and not in the parent, which has no place for them that
   *  others may write to: asked through a pointer to that, they tell nothing. */
  MetricValueArrayType
  GetValueArray() const
  {
    return m_Values;
  }

  /** The last evaluation's sum. */
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
  /** Those of now.
   * \throws itk::GPUBadInputError for what no sum has. */
  WeightsArrayType
  GetCheckedWeights() const;

  /** Stores the sum of what evaluate(n, its weight) gives for each metric. */
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
