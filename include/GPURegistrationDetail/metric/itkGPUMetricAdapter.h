// SPDX-License-Identifier: Apache-2.0
// Does what all metrics' adapters have in common: Initialize(), and the choice between the device and ITK's classes.
#ifndef itkGPUMetricAdapter_h
#define itkGPUMetricAdapter_h

#include "GPURegistrationDetail/core/itkGPUDeviceUse.h"
#include "GPURegistrationDetail/core/itkGPUMembers.h"
#include "GPURegistrationDetail/metric/itkGPUMetricCandidates.h"
#include "GPURegistrationDetail/metric/itkGPUMetricChecks.h"
#include "GPURegistrationDetail/metric/itkGPUMetricDerivative.h"
#include "GPURegistrationDetail/metric/itkGPUMetricFallback.h"
#include "GPURegistrationDetail/metric/itkGPUMetricFixedGrid.h"
#include "GPURegistrationDetail/metric/itkGPUMetricFixedSamples.h"
#include "GPURegistrationDetail/metric/itkGPUMetricGradient.h"
#include "GPURegistrationDetail/metric/itkGPUMetricImages.h"
#include "GPURegistrationDetail/metric/itkGPUMetricInput.h"
#include "GPURegistrationDetail/metric/itkGPUMetricMapping.h"
#include "GPURegistrationDetail/metric/itkGPUMetricThroughITK.h"
#include "GPURegistrationDetail/core/itkGPURegistrationThreads.h"

#include "gpureg/metric/Metric.h"

#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace itk
{
namespace GPURegistrationDetail
{

/** Connects an ITK metric with its engine. It is a member of the metric, which names it and the other classes of these headers friends:
 *  see itkGPUMetricFriendsMacro. The metric's member m_Use is its DeviceUse.
 *  \tparam TMetric the ITK metric.
 *  \tparam TEngine its gpureg::Metric. */
template <typename TMetric, typename TEngine>
class MetricAdapter
{
public:
  /** Makes the adapter of a metric.
   *  \param metric the metric.
   *  \param usesFixedGradient true if its forces may follow the fixed image's gradient instead of the moving image's.
   *  \param findOwnUnsupported names what the device lacks for this metric alone, once the metric is initialised; empty if it lacks
   *  nothing. */
  explicit MetricAdapter(const TMetric &                      metric,
                         bool                                 usesFixedGradient = false,
                         const std::function<std::string()> & findOwnUnsupported = {})
    : m_Metric(metric)
    , m_UsesFixedGradient(usesFixedGradient)
    , m_FindOwnUnsupported(findOwnUnsupported)
    , m_Images(metric)
    , m_Input(metric, m_Images)
    , m_Fallback(metric, [this] {
      m_Engine.reset();
      m_Input.Forget();
    })
  {}

  /** Initialises the metric.
   *  \param initialize calls the parent's Initialize(), and computes what the metric needs from the images.
   *  \param update uploads the results to the engine: see UpdateEngine().
   *  \throws GPUBadInputError for images, gradient sources or points that cannot be used. An override does not throw, since its parent
   *  class deals with them. */
  template <typename TInitialize, typename TUpdate>
  void
  Initialize(const TInitialize & initialize, const TUpdate & update)
  {
    this->Initialize([] {}, initialize, update);
  }

  /** Initialises the metric, after check(), which throws for other input that cannot be used. */
  template <typename TCheck, typename TInitialize, typename TUpdate>
  void
  Initialize(const TCheck & check, const TInitialize & initialize, const TUpdate & update)
  {
    m_IsInitialized = false;
    m_Fallback.Begin();
    m_Fallback.CheckInput([this] { m_Images.Update(); });
    const auto images = this->LookThroughImages();
    m_Fallback.CheckInput([&] {
      m_Images.CheckAreFinite();
      MetricChecks<TMetric>(m_Metric).CheckSettings(m_UsesFixedGradient);
      check();
    });
    this->InitializeWithoutGradients(initialize);
    m_Input.BeginInitialize();
    m_IsForITK = false;
    m_Fallback.OnDevice([&] {
      m_IsForITK = !this->FindUnsupported().empty();
      if (!m_IsForITK)
      {
        update();
        m_IsForITK = m_Metric.m_Use.OverridesParent() &&
                     MetricMapping<TMetric>(m_Metric).ChooseRoute(true) == MetricRoute::ThroughITK;
      }
    });
    m_IsForITK = m_IsForITK || this->IsLeftToParent();
    m_IsInitialized = true;
    if (m_IsForITK)
    {
      this->MakeGradientImages();
    }
  }

  /** Returns true if Initialize() has found that ITK's classes will compute derivatives, or everything. Their input is then
   *  made at once, from the current voxels. */
  bool
  IsForITK() const
  {
    return m_IsForITK;
  }

  /** Returns the images' summaries, from Initialize() or from an evaluation after a change. */
  const MetricImages<TMetric> &
  GetImages() const
  {
    return m_Images;
  }

  /** Calls onDevice(route). If the device lacks something, warns once of that, and calls throughITK() instead. */
  template <typename TOnDevice, typename TThroughITK>
  void
  Evaluate(const TOnDevice & onDevice, const TThroughITK & throughITK)
  {
    this->CheckIsInitialized();
    std::string unsupported;
    bool        hasBegun = false;
    m_Fallback.OnDevice([&] {
      const MetricRoute route = MetricMapping<TMetric>(m_Metric).ChooseRoute();
      unsupported = this->FindUnsupported();
      if (unsupported.empty() && route == MetricRoute::ThroughITK)
      {
        unsupported = std::string("This metric by a ") + m_Metric.m_MovingTransform->GetNameOfClass() +
                      " of these parts, in this order,";
      }
      if (unsupported.empty())
      {
        hasBegun = true;
        onDevice(route);
      }
    });
    if (this->IsLeftToParent())
    {
      const WithoutDevices scope;
      if (hasBegun)
      {
        // A part of the derivative may be there already, and ITK adds to it.
        this->InitializeForIteration();
      }
      this->CallITK(throughITK);
    }
    else if (!unsupported.empty())
    {
      if (!m_Fallback.IsWithinITKs())
      {
        m_Metric.m_Use.WarnOnce(m_Metric,
                                unsupported + " is not computed on " + m_Metric.m_Use.GetDevice().GetName() +
                                  ": the host computes it through ITK's own classes, which is slower.");
      }
      this->CallITK(throughITK);
    }
  }

  /** Does what ImageToImageMetricv4 does before each evaluation, which is to clear the derivative. ITK clears it on one thread, which
   *  for a displacement field of a whole head takes longer than everything else. */
  void
  InitializeForIteration() const
  {
    if (m_Metric.GetComputeDerivative())
    {
      MetricDerivative<TMetric>(m_Metric).Clear();
    }
  }

  using ParametersType = typename TMetric::MovingTransformType::ParametersType;
  using MeasureType = typename TMetric::MeasureType;

  /** Returns the values of candidates; those of linear transforms are computed in batches. The transform and the metric's value do not
   *  change.
   *  \param candidates the parameters of each candidate.
   *  \param onDevice returns the values for some maps; NaN for a candidate that is to be evaluated by itself. */
  template <typename TOnDevice>
  std::vector<MeasureType>
  EvaluateCandidates(const std::vector<ParametersType> & candidates, const TOnDevice & onDevice)
  {
    this->CheckIsInitialized();
    const MetricCandidates<TMetric> batch(m_Metric, candidates);
    batch.Check();
    std::vector<MeasureType> values(candidates.size(), std::numeric_limits<MeasureType>::quiet_NaN());
    m_Fallback.OnDevice([&] {
      if (this->FindUnsupported().empty() && GPURegistrationGeometry::IsLinear(*m_Metric.m_MovingTransform))
      {
        values = onDevice(batch.MakeMaps());
      }
    });
    batch.EvaluateRest(values);
    return values;
  }

  /** Returns the values of candidates, for a metric whose engine returns a result for each.
   *  \param candidates the parameters of each candidate.
   *  \param evaluate returns the results for some maps.
   *  \param valueOf returns the value of a result that has valid samples. */
  template <typename TEvaluate, typename TValueOf>
  std::vector<MeasureType>
  EvaluateResults(const std::vector<ParametersType> & candidates, const TEvaluate & evaluate, const TValueOf & valueOf)
  {
    return this->EvaluateCandidates(candidates, [&](const gpureg::CandidateMaps & maps) {
      std::vector<MeasureType> values;
      for (const auto & result : evaluate(maps))
      {
        values.push_back(result.count > 0 ? valueOf(result) : MetricCandidates<TMetric>::GetWorst());
      }
      return values;
    });
  }

  /** Returns the values of candidates, for a metric whose engine returns the mutual information of each.
   *  \param candidates the parameters of each candidate.
   *  \param normalized true for the normalised mutual information.
   *  \param updateEngine uploads to the engine what has changed. */
  template <typename TUpdateEngine>
  std::vector<MeasureType>
  EvaluateInformation(const std::vector<ParametersType> & candidates,
                      bool                                normalized,
                      const TUpdateEngine &               updateEngine)
  {
    return this->EvaluateCandidates(candidates, [&](const gpureg::CandidateMaps & maps) {
      updateEngine();
      std::vector<MeasureType> values;
      for (const auto & information : m_Engine->EvaluateBatch(maps, this->GetParallelFor()))
      {
        const double value = normalized ? information.normalized : information.mutualInformation;
        values.push_back(information.count < 0.5 ? MetricCandidates<TMetric>::GetWorst()
                                                 : static_cast<MeasureType>(-value));
      }
      return values;
    });
  }

  /** Calls throughITK(), after making the gradient images that ITK's classes need. */
  template <typename TThroughITK>
  void
  CallITK(const TThroughITK & throughITK)
  {
    this->MakeGradientImages();
    throughITK();
  }

  /** Returns true if the parent class of an override computes, until the next Initialize(). */
  bool
  IsLeftToParent() const
  {
    return m_Fallback.IsLeftToParent();
  }

  /** Makes ITK's gradient images from the current voxels, if a device has computed its own gradients instead. */
  void
  MakeGradientImages() const
  {
    if (m_IsInitialized)
    {
      m_Input.MakeGradientImage();
      m_Input.MakeFixedGradientImage();
    }
  }

  /** Warns if an image has changed since Initialize(): see MetricInput::WarnIfRefilled(). */
  void
  WarnIfRefilled(const std::string & what) const
  {
    m_Input.WarnIfRefilled(what, m_Input.HasFixedVoxelsOfInitialize() && m_Input.HasMovingVoxelsOfInitialize());
  }

  /** Checks the number of bins at Initialize(), for a metric whose engine limits it: see MetricChecks::CheckNumberOfBins(). */
  void
  CheckNumberOfBins(SizeValueType bins) const
  {
    MetricChecks<TMetric>(m_Metric).CheckNumberOfBins(bins, TEngine::LeastBins, TEngine::MostBins);
  }

  /** Checks before Evaluate() that the number of bins is that of Initialize().
   *  \throws GPUBadInputError if it is not. An override does not throw, since its parent class computes then. */
  void
  CheckBins(SizeValueType bins, SizeValueType initializedBins)
  {
    if (!m_IsInitialized || this->IsLeftToParent() || bins == initializedBins)
    {
      return;
    }
    m_Fallback.CheckInput([&] {
      ThrowBadInput(m_Metric,
                    "The number of histogram bins is ",
                    bins,
                    ", and was ",
                    initializedBins,
                    " when Initialize() was called. Call it again.");
    });
  }

  /** Checks that some samples are valid: see MetricChecks::CheckHasValidPoints(). */
  void
  CheckHasValidPoints(SizeValueType validPoints) const
  {
    MetricChecks<TMetric>(m_Metric).CheckHasValidPoints(validPoints);
  }

  /** Makes a new engine by makeEngine(device name) if the device has changed, or if isOther(engine) is true; then uploads what has
   *  changed since the last call: see MetricInput. */
  template <typename TIsOther, typename TMakeEngine, typename TComputeScales, typename TDescribe>
  void
  UpdateEngine(const TIsOther &       isOther,
               const TMakeEngine &    makeEngine,
               const TComputeScales & computeScales,
               const TDescribe &      describe,
               bool                   isInitializing)
  {
    const std::string & device = m_Metric.m_Use.GetDevice().GetName();
    if (!m_Engine || m_Engine->GetDeviceName() != device || isOther(*m_Engine))
    {
      m_Engine.reset();
      m_Input.Forget();
      m_Engine = makeEngine(device);
    }
    if (isInitializing)
    {
      m_Input.Initialize(*m_Engine, computeScales, describe);
    }
    else
    {
      m_Input.Refresh(*m_Engine, computeScales, describe);
    }
    m_Engine->SetTiming(m_Metric.m_Use.GetMeasuresKernelTime());
  }

  /** Returns the scales of the values that the engine has. */
  const MetricScales &
  GetScales() const
  {
    return m_Input.GetScales();
  }

  /** Adds -1/divisor times the derivative, which it computes from the forces of an evaluation. */
  void
  StoreDerivative(gpureg::Forces                forces,
                  const gpureg::ForceResult &   result,
                  const gpureg::SampleMapping & mapping,
                  double                        divisor)
  {
    MetricDerivative<TMetric>(m_Metric).Store(*m_Engine, forces, result, mapping, divisor);
  }

  /** Adds -1/divisor times the forces, for a metric whose forces are its derivative with respect to a displacement, whatever follows the
   * field. */
  void
  StoreForces(gpureg::Forces forces, double divisor)
  {
    if (forces == gpureg::Forces::OfEachSample)
    {
      MetricDerivative<TMetric>(m_Metric).StoreLocal(*m_Engine, { 1, 0, 0, 0, 1, 0, 0, 0, 1 }, divisor);
    }
  }

  /** Returns what an evaluation along a route should do with the forces. */
  gpureg::Forces
  ChooseForces(MetricRoute route) const
  {
    const bool areKept = route == MetricRoute::DisplacementField || route == MetricRoute::Spline ||
                         route == MetricRoute::LinearBehindGrids;
    return !m_Metric.GetComputeDerivative() ? gpureg::Forces::None
           : areKept                        ? gpureg::Forces::OfEachSample
                                            : gpureg::Forces::Summed;
  }

  gpureg::ParallelFor
  GetParallelFor() const
  {
    return MakeParallelFor(m_Metric.GetMaximumNumberOfWorkUnits());
  }

  TEngine &
  GetEngine()
  {
    return *m_Engine;
  }

  /** Returns the engine; nullptr before there is one. */
  const TEngine *
  FindEngine() const
  {
    return m_Engine.get();
  }

  gpureg::EvaluationStatistics
  GetStatistics() const
  {
    return m_Engine ? m_Engine->GetStatistics() : gpureg::EvaluationStatistics();
  }

  /** Prints the device and its use, for PrintSelf(). */
  void
  Print(std::ostream & os, Indent indent) const
  {
    m_Metric.m_Use.Print(os, indent);
    os << indent << "TrustsTimeStamps: " << (m_Metric.m_Use.TrustsTimeStamps() ? "On" : "Off") << std::endl;
  }

private:
  /** Calls initialize(), that is the parent's Initialize(), without ITK's gradients if the device computes them itself. */
  template <typename TInitialize>
  void
  InitializeWithoutGradients(const TInitialize & initialize)
  {
    const MetricGradient<TMetric> gradient(m_Metric);
    bool                          makesMoving = false;
    bool                          mayMakeFixed = false;
    m_Fallback.OnDevice([&] {
      const std::string & device = m_Metric.m_Use.GetDevice().GetName();
      makesMoving = gradient.CanBeMadeOn(device);
      mayMakeFixed = m_Images.GetLoadedFixed() != nullptr && gradient.CanFixedBeMadeOn(device);
    });
    m_Input.SetMakesGradients(makesMoving, mayMakeFixed);
    {
      const WithoutGradientFilter<TMetric> scope(m_Metric, makesMoving, mayMakeFixed);
      initialize();
    }
    // Only now is it known whether samples are voxels of the fixed image.
    if (mayMakeFixed && !MetricFixedGrid<TMetric>(m_Metric).IsOneGrid())
    {
      m_Input.SetMakesGradients(makesMoving, false);
      gradient.MakeFixedImage();
    }
  }

  void
  CheckIsInitialized() const
  {
    if (!m_IsInitialized)
    {
      ThrowBadInput(m_Metric, "Initialize() has not been called, or it failed. Call it before asking for a value.");
    }
    MetricChecks<TMetric>(m_Metric).CheckHasPoints();
  }

  /** Summarises the images: on the device, unless ITK's class is to compute. */
  std::unique_ptr<ImagesOnDevice<TMetric>>
  LookThroughImages()
  {
    std::unique_ptr<ImagesOnDevice<TMetric>> images;
    if (!m_Fallback.IsWithinITKs())
    {
      m_Fallback.OnDevice(
        [&] { images = std::make_unique<ImagesOnDevice<TMetric>>(m_Images, m_Metric.m_Use.GetDevice().GetName()); });
    }
    return images ? std::move(images) : std::make_unique<ImagesOnDevice<TMetric>>(m_Images, "");
  }

  /** Returns what the device does not compute; empty if there is nothing. */
  std::string
  FindUnsupported() const
  {
    if (this->IsLeftToParent())
    {
      return m_Fallback.GetReason();
    }
    if (m_Fallback.IsWithinITKs())
    {
      return "A metric that another one is made of, which is left to ITK's class,";
    }
    // No sum depends on the number of threads here, so that nothing needs a correction. But ITK's class would round its numbers.
    if (m_Metric.m_Use.OverridesParent() && m_Metric.GetUseFloatingPointCorrection())
    {
      return "Floating-point correction";
    }
    const std::string unsupported = m_Input.FindUnsupportedFeature();
    return unsupported.empty() && m_FindOwnUnsupported ? m_FindOwnUnsupported() : unsupported;
  }

  const TMetric &                    m_Metric;
  const bool                         m_UsesFixedGradient;
  const std::function<std::string()> m_FindOwnUnsupported;
  MetricImages<TMetric>              m_Images;
  MetricInput<TMetric>               m_Input;
  MetricFallback<TMetric>            m_Fallback;
  std::unique_ptr<TEngine>           m_Engine;
  bool                               m_IsInitialized{ false };
  bool                               m_IsForITK{ false };
};

} // namespace GPURegistrationDetail
} // namespace itk

#endif
