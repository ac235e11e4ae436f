// SPDX-License-Identifier: Apache-2.0
#ifndef itkAdaptiveStochasticGradientDescentOptimizerv4_h
#define itkAdaptiveStochasticGradientDescentOptimizerv4_h

#include "GPURegistrationDetail/core/itkGPURandomSamples.h"

#include "itkGradientDescentOptimizerBasev4.h"
#include "itkImage.h"
#include "itkImageToImageMetricv4.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace itk
{

/** \class AdaptiveStochasticGradientDescentOptimizerv4Template
 * \brief Gradient descent along derivatives of few samples, which are drawn anew at each iteration, by steps that
 * adapt.
 *
 * After S. Klein, J.P.W. Pluim, M. Staring and M.A. Viergever, "Adaptive stochastic gradient descent optimisation for
 * image registration", International Journal of Computer Vision 81, 2009. With \f$ \tilde g_k \f$ the derivative that
 * is found at iteration k, which differs from the exact one by a noise \f$ \varepsilon_k \f$:
 *
 * \f[ \mu_{k+1} = \mu_k - \gamma(t_k) \tilde g_k, \qquad \gamma(t) = \frac{a}{(t + A)^\alpha}, \f]
 * \f[ t_{k+1} = \max(0, t_k + f(-\tilde g_{k-1}^T \tilde g_k)), \qquad t_0 = t_1 = 0, \f]
 * \f[ f(x) = f_{min} + \frac{f_{max} - f_{min}}{1 - (f_{max}/f_{min}) e^{-x/\omega}}, \f]
 *
 * so that f(0) = 0: where two derivatives in a row agree, time runs backwards and steps become longer; where they turn
 * round, steps become shorter. ITK's metrics return \f$ -\tilde g \f$, which is added. Derivatives are divided by the
 * scales, and multiplied by the weights, before they are stepped along; inner products are those of parameters whose
 * scales are 1.
 *
 * What is not set is estimated when optimization starts, from so many derivatives of other samples at the same position
 * (SetNumberOfGradientMeasurements), of which the mean is \f$ \bar g \f$:
 * - a, so that the largest displacement of voxels in the first step is \f$ \delta \f$ (SetMaximumStepLength), on
 *   average over these derivatives, times what they have in common:
 *   \f$ a = \delta A^\alpha \eta / E d(\tilde g) \f$, \f$ \eta = |\bar g|^2 / (|\bar g|^2 + E |\varepsilon|^2) \f$. The
 *   paper finds displacements from the covariance of the derivatives and the transform's Jacobians; here, d is what
 *   OptimizerParameterScalesEstimator::EstimateStepScale gives: of the estimator that is set, or else of a
 *   RegistrationParameterScalesFromPhysicalShift at the first samples. \f$ \eta \f$ is no less than one part in the
 *   number of derivatives, which could not tell it from 0.
 * - \f$ \omega = \zeta \sqrt{E (\varepsilon_{k-1}^T \varepsilon_k)^2} \f$, \f$ \zeta \f$ being 0.1
 *   (SetSigmoidScaleFactor); where there is no noise, \f$ \zeta |g|^2 \f$.
 *
 * Samples: with SetNewSamplesEveryIteration(true), random points of the metric's virtual domain, between voxels, inside
 * its fixed mask, are given to it as its virtual sampled points before each evaluation. They are a function of seed,
 * iteration and number (Philox4x32-10), so the same seed gives the same steps. The metric is initialised before as it
 * is set up, best with all voxels, so that Mattes' histogram spans all values; afterwards it has the samples again that
 * it had. In an ImageRegistrationMethodv4 leave the sampling strategy at NONE. Without, the optimizer takes the metric
 * as it is.
 *
 * It ends after its number of iterations, 500 unless it is set: values of different samples do not compare, so there is
 * no convergence monitoring.
 *
 * \note ITK's scales estimators go through all voxels, and all parameters, of a B-spline transform. Leave the estimator
 * away for these, or call DoEstimateScalesOff() and give it a SetVirtualDomainPointSet().
 *
 * \tparam TImageMetric of which class the metric is whose samples are drawn: any ImageToImageMetricv4 of two or three
 * dimensions. A metric of another class can be optimised, but not be given samples.
 *
 * \ingroup GPURegistration
 */
template <typename TInternalComputationValueType,
          typename TImageMetric =
            ImageToImageMetricv4<Image<float, 3>, Image<float, 3>, Image<float, 3>, TInternalComputationValueType>>
class ITK_TEMPLATE_EXPORT AdaptiveStochasticGradientDescentOptimizerv4Template
  : public GradientDescentOptimizerBasev4Template<TInternalComputationValueType>
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(AdaptiveStochasticGradientDescentOptimizerv4Template);

  using Self = AdaptiveStochasticGradientDescentOptimizerv4Template;
  using Superclass = GradientDescentOptimizerBasev4Template<TInternalComputationValueType>;
  using Pointer = SmartPointer<Self>;
  using ConstPointer = SmartPointer<const Self>;

  using ImageMetricType = TImageMetric;
  using DerivativeType = typename Superclass::DerivativeType;
  using MeasureType = typename Superclass::MeasureType;
  using IndexRangeType = typename Superclass::IndexRangeType;
  using ParametersType = typename Superclass::ParametersType;
  using ScalesType = typename Superclass::ScalesType;

  itkNewMacro(Self);

  const char *
  GetNameOfClass() const override
  {
    return "AdaptiveStochasticGradientDescentOptimizerv4Template";
  }

  /** a: 0, the default, to estimate it. */
  itkSetMacro(Gain, double);
  itkGetConstMacro(Gain, double);

  /** A, in iterations: how long steps stay about as long as the first. 20 as default. */
  itkSetMacro(GainOffset, double);
  itkGetConstMacro(GainOffset, double);

  /** α: 1 as default. */
  itkSetMacro(GainExponent, double);
  itkGetConstMacro(GainExponent, double);

  /** δ, in mm: 0, the default, for the mean voxel spacing of the virtual domain; or for what the scales estimator takes
   * for a step's maximum, where the metric is of another class than TImageMetric. */
  itkSetMacro(MaximumStepLength, double);
  itkGetConstMacro(MaximumStepLength, double);

  /** Time that adapts (on, the default), or counts iterations. */
  itkSetMacro(UseAdaptiveTime, bool);
  itkGetConstMacro(UseAdaptiveTime, bool);
  itkBooleanMacro(UseAdaptiveTime);

  /** f_max: 1 as default. */
  itkSetMacro(SigmoidMaximum, double);
  itkGetConstMacro(SigmoidMaximum, double);

  /** f_min: -0.8 as default. */
  itkSetMacro(SigmoidMinimum, double);
  itkGetConstMacro(SigmoidMinimum, double);

  /** ω: 0, the default, to estimate it. */
  itkSetMacro(SigmoidScale, double);
  itkGetConstMacro(SigmoidScale, double);

  /** ζ: 0.1 as default. */
  itkSetMacro(SigmoidScaleFactor, double);
  itkGetConstMacro(SigmoidScaleFactor, double);

  /** Derivatives that a and ω are estimated from: 10 as default. Without new samples one is enough, and is taken. */
  itkSetMacro(NumberOfGradientMeasurements, SizeValueType);
  itkGetConstMacro(NumberOfGradientMeasurements, SizeValueType);

  /** Off as default. */
  itkSetMacro(NewSamplesEveryIteration, bool);
  itkGetConstMacro(NewSamplesEveryIteration, bool);
  itkBooleanMacro(NewSamplesEveryIteration);

  /** Samples of each evaluation: 2000 as default. */
  itkSetMacro(NumberOfSpatialSamples, SizeValueType);
  itkGetConstMacro(NumberOfSpatialSamples, SizeValueType);

  /** Of the samples: 1 as default. */
  itkSetMacro(Seed, std::uint64_t);
  itkGetConstMacro(Seed, std::uint64_t);

  /** f of these settings. */
  static double
  Sigmoid(double x, double minimum, double maximum, double scale);

  /** t_k, a and ω as they are, or were last, and γ(t_k). In an observer of iterations, those of the step that was
   * taken. */
  itkGetConstMacro(CurrentTime, double);
  itkGetConstMacro(CurrentGain, double);
  itkGetConstMacro(CurrentSigmoidScale, double);
  itkGetConstMacro(CurrentStepFactor, double);

  /** η as it was estimated; 1 if it was not. */
  itkGetConstMacro(NoiseFactor, double);

  /** \throws ExceptionObject for settings that make no sense, if there is no way to find a, or if new samples are
   * wanted of a metric that is no TImageMetric or of a transform with a parameter for each voxel. */
  void
  StartOptimization(bool doOnlyInitialization = false) override;

  void
  ResumeOptimization() override;

  void
  ModifyGradientByScalesOverSubRange(const IndexRangeType & subrange) override;
  void
  ModifyGradientByLearningRateOverSubRange(const IndexRangeType & subrange) override;

protected:
  AdaptiveStochasticGradientDescentOptimizerv4Template();
  ~AdaptiveStochasticGradientDescentOptimizerv4Template() override = default;

  void
  PrintSelf(std::ostream & os, Indent indent) const override;

private:
  using SamplesType = GPURegistrationDetail::RandomSamples<TImageMetric>;

  /** What samples are drawn for. */
  enum class Series : std::uint32_t
  {
    Steps,
    Measurements
  };

  void
  CheckSettings() const;
  TImageMetric *
  FindImageMetric() const;
  std::unique_ptr<SamplesType>
  BeginSampling() const;
  void
  Evaluate(SamplesType * samples, Series series, SizeValueType iteration);
  std::vector<DerivativeType>
  MeasureGradients(SamplesType * samples, SizeValueType count);
  void
  EstimateSettings();
  void
  EstimateGain(const std::vector<DerivativeType> & gradients);
  typename Superclass::ScalesEstimatorType::Pointer
  MakeStepEstimator() const;
  double
  FindMaximumStepLength() const;
  void
  AdvanceOneStep();
  double
  GetFactor(SizeValueType parameter) const;
  double
  InnerProduct(const DerivativeType & a, const DerivativeType & b) const;

  double        m_Gain{ 0.0 };
  double        m_GainOffset{ 20.0 };
  double        m_GainExponent{ 1.0 };
  double        m_MaximumStepLength{ 0.0 };
  bool          m_UseAdaptiveTime{ true };
  double        m_SigmoidMaximum{ 1.0 };
  double        m_SigmoidMinimum{ -0.8 };
  double        m_SigmoidScale{ 0.0 };
  double        m_SigmoidScaleFactor{ 0.1 };
  SizeValueType m_NumberOfGradientMeasurements{ 10 };
  bool          m_NewSamplesEveryIteration{ false };
  SizeValueType m_NumberOfSpatialSamples{ 2000 };
  std::uint64_t m_Seed{ 1 };

  double         m_CurrentTime{ 0.0 };
  double         m_NextTime{ 0.0 };
  double         m_CurrentGain{ 0.0 };
  double         m_CurrentSigmoidScale{ 0.0 };
  double         m_CurrentStepFactor{ 0.0 };
  double         m_NoiseFactor{ 1.0 };
  DerivativeType m_PreviousGradient;
};

/** For metrics of volumes of float. */
using AdaptiveStochasticGradientDescentOptimizerv4 = AdaptiveStochasticGradientDescentOptimizerv4Template<double>;

} // namespace itk

#ifndef ITK_MANUAL_INSTANTIATION
#  include "itkAdaptiveStochasticGradientDescentOptimizerv4.hxx"
#endif

#endif
