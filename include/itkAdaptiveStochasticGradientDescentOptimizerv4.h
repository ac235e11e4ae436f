// SPDX-License-Identifier: Apache-2.0
#ifndef itkAdaptiveStochasticGradientDescentOptimizerv4_h
#define itkAdaptiveStochasticGradientDescentOptimizerv4_h

#include "GPURegistrationDetail/core/itkGPUMembers.h"
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
 * \brief Descends along derivatives that are computed from a few samples, drawn again at each iteration, by steps of adaptive length.
 *
 * The method is that of S. Klein, J.P.W. Pluim, M. Staring and M.A. Viergever, "Adaptive stochastic gradient descent optimisation for
 * image registration", International Journal of Computer Vision 81, 2009. With \f$ \tilde g_k \f$ the derivative that iteration k
 * computes, which differs from the exact one by a noise \f$ \varepsilon_k \f$:
 *
 * \f[ \mu_{k+1} = \mu_k - \gamma(t_k) \tilde g_k, \qquad \gamma(t) = \frac{a}{(t + A)^\alpha}, \f]
 * \f[ t_{k+1} = \max(0, t_k + f(-\tilde g_{k-1}^T \tilde g_k)), \qquad t_0 = t_1 = 0, \f]
 * \f[ f(x) = f_{min} + \frac{f_{max} - f_{min}}{1 - (f_{max}/f_{min}) e^{-x/\omega}}, \f]
 *
 * so that f(0) = 0. If two successive derivatives agree, time runs backwards and steps become longer; if they point in opposite
 * directions, steps become shorter. ITK's metrics return \f$ -\tilde g \f$, which the optimizer adds. The optimizer divides derivatives
 * by the scales and multiplies them by the weights before it steps along them. Inner products are taken in parameters whose scales are
 * 1.
 *
 * StartOptimization() estimates a and \f$ \omega \f$, where they are not set, from several derivatives at the initial position, each
 * from other samples (SetNumberOfGradientMeasurements); \f$ \bar g \f$ is their mean:
 * - a makes the largest displacement of voxels in the first step \f$ \delta \f$ (SetMaximumStepLength), averaged over these
 *   derivatives, times the share \f$ \eta \f$ of the derivatives that is not noise: \f$ a = \delta A^\alpha \eta / E d(\tilde g) \f$,
 *   \f$ \eta = |\bar g|^2 / (|\bar g|^2 + E |\varepsilon|^2) \f$. The paper computes displacements from the covariance of the
 *   derivatives and the transform's Jacobians. Here d is what OptimizerParameterScalesEstimator::EstimateStepScale returns, of the
 *   estimator that is set, or else of a RegistrationParameterScalesFromPhysicalShift at the first samples. \f$ \eta \f$ is at least 1
 *   over the number of derivatives, since so few derivatives cannot tell a smaller \f$ \eta \f$ from 0.
 * - \f$ \omega = \zeta \sqrt{E (\varepsilon_{k-1}^T \varepsilon_k)^2} \f$, where \f$ \zeta \f$ is 0.1 (SetSigmoidScaleFactor); without
 *   noise, \f$ \zeta |g|^2 \f$.
 *
 * With SetNewSamplesEveryIteration(true), each evaluation uses new random points as the metric's virtual sampled points. The points lie
 * in the metric's virtual domain, between voxels, inside its fixed mask. They are a function of seed, iteration and number
 * (Philox4x32-10), so one seed always gives the same steps. Initialise the metric beforehand with its own samples, best with all
 * voxels, so that the histogram of Mattes' metric covers all values; after the optimization the metric has its own samples again. In an
 * ImageRegistrationMethodv4 leave the sampling strategy at NONE. Without new samples, the optimizer uses the metric as it is.
 *
 * The optimization ends after its number of iterations, 500 by default. It does not monitor convergence, because values of different
 * samples cannot be compared.
 *
 * \note For a B-spline transform, ITK's scales estimators go through all voxels and all parameters. Set no estimator for B-splines, or
 * call DoEstimateScalesOff() and give the estimator a SetVirtualDomainPointSet().
 *
 * \tparam TInternalComputationValueType the type of parameters and derivatives.
 * \tparam TImageMetric the class of the metric whose samples are drawn: any ImageToImageMetricv4 of two or three dimensions. A metric
 * of another class can be optimised, but without new samples.
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
  itkGPUClassMacro(AdaptiveStochasticGradientDescentOptimizerv4Template,
                   GradientDescentOptimizerBasev4Template<TInternalComputationValueType>);

  using ImageMetricType = TImageMetric;
  using DerivativeType = typename Superclass::DerivativeType;
  using MeasureType = typename Superclass::MeasureType;
  using IndexRangeType = typename Superclass::IndexRangeType;
  using ParametersType = typename Superclass::ParametersType;
  using ScalesType = typename Superclass::ScalesType;

  /** Sets the gain a. 0, the default, estimates a. */
  itkSetMacro(Gain, double);
  itkGetConstMacro(Gain, double);

  /** Sets the offset A, in iterations: how long steps stay about as long as the first one. Default: 20. */
  itkSetMacro(GainOffset, double);
  itkGetConstMacro(GainOffset, double);

  /** Sets the exponent α. Default: 1. */
  itkSetMacro(GainExponent, double);
  itkGetConstMacro(GainExponent, double);

  /** Sets the largest displacement δ of voxels in the first step, in mm. 0, the default, takes the mean voxel spacing of the virtual
   * domain; if the metric is of another class than TImageMetric, it takes the maximum step size that the scales estimator returns. */
  itkSetMacro(MaximumStepLength, double);
  itkGetConstMacro(MaximumStepLength, double);

  /** Lets time adapt to the derivatives (on, the default), or count iterations (off). */
  itkSetMacro(UseAdaptiveTime, bool);
  itkGetConstMacro(UseAdaptiveTime, bool);
  itkBooleanMacro(UseAdaptiveTime);

  /** Sets f_max, the largest advance of time in one iteration. Default: 1. */
  itkSetMacro(SigmoidMaximum, double);
  itkGetConstMacro(SigmoidMaximum, double);

  /** Sets f_min, the least advance of time in one iteration. Default: -0.8. */
  itkSetMacro(SigmoidMinimum, double);
  itkGetConstMacro(SigmoidMinimum, double);

  /** Sets ω, the width of the sigmoid f. 0, the default, estimates ω. */
  itkSetMacro(SigmoidScale, double);
  itkGetConstMacro(SigmoidScale, double);

  /** Sets ζ, the factor between ω and the noise of the derivatives. Default: 0.1. */
  itkSetMacro(SigmoidScaleFactor, double);
  itkGetConstMacro(SigmoidScaleFactor, double);

  /** Sets the number of derivatives from which a and ω are estimated. Default: 10. Without new samples the optimizer uses one
   * derivative, since all would be equal. */
  itkSetMacro(NumberOfGradientMeasurements, SizeValueType);
  itkGetConstMacro(NumberOfGradientMeasurements, SizeValueType);

  /** Draws new samples for each evaluation. Default: off. */
  itkSetMacro(NewSamplesEveryIteration, bool);
  itkGetConstMacro(NewSamplesEveryIteration, bool);
  itkBooleanMacro(NewSamplesEveryIteration);

  /** Sets the number of samples that are drawn for each evaluation. Default: 2000. */
  itkSetMacro(NumberOfSpatialSamples, SizeValueType);
  itkGetConstMacro(NumberOfSpatialSamples, SizeValueType);

  /** Sets the seed of the samples. Default: 1. */
  itkSetMacro(Seed, std::uint64_t);
  itkGetConstMacro(Seed, std::uint64_t);

  /** Returns the sigmoid f(x) with f_min = minimum, f_max = maximum and ω = scale. */
  static double
  Sigmoid(double x, double minimum, double maximum, double scale);

  /** Return t_k, a, ω and γ(t_k) of the current or the last optimization. An observer of iteration events gets the numbers of the step
   * that was just taken. */
  itkGetConstMacro(CurrentTime, double);
  itkGetConstMacro(CurrentGain, double);
  itkGetConstMacro(CurrentSigmoidScale, double);
  itkGetConstMacro(CurrentStepFactor, double);

  /** Returns the estimate of η; 1 if nothing was estimated. */
  itkGetConstMacro(NoiseFactor, double);

  /** Estimates what is not set, and optimises unless doOnlyInitialization.
   * \throws ExceptionObject if a setting is out of range, if there is no way to estimate a, or if new samples are requested for a
   * metric that is no TImageMetric or for a transform with parameters for each voxel. */
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

  /** Names the purposes that samples are drawn for: each has its own series of random numbers. */
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
  ComputeMaximumStepLength() const;
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

/** Optimises metrics of 3D images of floats. */
using AdaptiveStochasticGradientDescentOptimizerv4 = AdaptiveStochasticGradientDescentOptimizerv4Template<double>;

} // namespace itk

#ifndef ITK_MANUAL_INSTANTIATION
#  include "itkAdaptiveStochasticGradientDescentOptimizerv4.hxx"
#endif

#endif
