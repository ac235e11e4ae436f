// SPDX-License-Identifier: Apache-2.0
// What a metric's adapter does around its own part: Initialize(), and the choice of who evaluates.
#ifndef itkGPUMetricAdapter_h
#define itkGPUMetricAdapter_h

#include "GPURegistrationDetail/core/itkGPUDeviceUse.h"
#include "GPURegistrationDetail/core/itkGPUMembers.h"
#include "GPURegistrationDetail/metric/itkGPUMetricCandidates.h"
#include "GPURegistrationDetail/metric/itkGPUMetricDerivative.h"
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
#include <new>
#include <string>
#include <utility>
#include <vector>

namespace itk
{
namespace GPURegistrationDetail
{

/** A member of a metric that names it, and the other classes of these headers, friends: see itkGPUMetricFriendsMacro. The
 *  metric's m_Use is its DeviceUse.
 *  \tparam TEngine its gpureg::Metric. */
template <typename TMetric, typename TEngine>
class MetricAdapter
{
public:
  /** \param usesFixedGradient whether its forces may go along the fixed image's gradient instead of the moving image's.
   *  \param findOwnLack names what the device lacks for this metric alone, once it is initialised; empty if there is nothing. */
  explicit MetricAdapter(const TMetric &                      metric,
                         bool                                 usesFixedGradient = false,
                         const std::function<std::string()> & findOwnLack = {})
    : m_Metric(metric)
    , m_UsesFixedGradient(usesFixedGradient)
    , m_FindOwnLack(findOwnLack)
    , m_Images(metric)
    , m_Input(metric, m_Images)
  {}

  /** \param initialize the parent's Initialize(), and what is the metric's own to find out from the images.
   *  \param update sends the engine what initialize() has found: see UpdateEngine.
   *  \throws GPUBadInputError for images, gradient source or points that cannot be used, but not from a stand-in, for which
   *  its parent class deals with them. */
  template <typename TInitialize, typename TUpdate>
  void
  Initialize(const TInitialize & initialize, const TUpdate & update)
  {
    this->Initialize([] {}, initialize, update);
  }

  /** The same; before, check() throws for what else cannot be used. */
  template <typename TCheck, typename TInitialize, typename TUpdate>
  void
  Initialize(const TCheck & check, const TInitialize & initialize, const TUpdate & update)
  {
    m_IsInitialized = false;
    m_LeftToParent.clear();
    this->CheckInput([this] { m_Images.Update(); });
    const auto images = this->LookThroughImages();
    this->CheckInput([&] {
      m_Images.CheckAreFinite();
      this->CheckSettings();
      check();
    });
    this->InitializeWithoutGradients(initialize);
    m_Input.BeginInitialize();
    m_IsForITK = false;
    this->OnDevice([&] {
      m_IsForITK = !this->FindLack().empty();
      if (!m_IsForITK)
      {
        update();
        m_IsForITK =
          m_Metric.m_Use.StandsIn() && MetricMapping<TMetric>(m_Metric).ChooseRoute(true) == MetricRoute::ThroughITK;
      }
    });
    m_IsForITK = m_IsForITK || this->IsLeftToParent();
    m_IsInitialized = true;
    if (m_IsForITK)
    {
      this->MakeGradientImages();
    }
  }

  /** Whether Initialize() has found that ITK's classes will compute derivatives, or all: then what they need is to be made at
   *  once, of the voxels as they are. */
  bool
  IsForITK() const
  {
    return m_IsForITK;
  }

  /** As Initialize() or an evaluation after a change has looked through them. */
  const MetricImages<TMetric> &
  GetImages() const
  {
    return m_Images;
  }

  /** Calls onDevice(route), or, where the device lacks something, warns of that once and calls throughITK(). */
  template <typename TOnDevice, typename TThroughITK>
  void
  Evaluate(const TOnDevice & onDevice, const TThroughITK & throughITK)
  {
    this->CheckIsInitialized();
    std::string lack;
    this->OnDevice([&] {
      const MetricRoute route = MetricMapping<TMetric>(m_Metric).ChooseRoute();
      lack = this->FindLack();
      if (lack.empty() && route == MetricRoute::ThroughITK)
      {
        lack = std::string("This metric by a ") + m_Metric.m_MovingTransform->GetNameOfClass() +
               " of these parts, in this order,";
      }
      if (lack.empty())
      {
        onDevice(route);
      }
    });
    if (!m_LeftToParent.empty())
    {
      const WithoutDevices scope;
      this->CallITK(throughITK);
    }
    else if (!lack.empty())
    {
      if (!this->IsWithinITKs())
      {
        m_Metric.m_Use.WarnOnce(m_Metric,
                                lack + " is not computed on " + m_Metric.m_Use.GetDevice().GetName() +
                                  ": the host computes it through ITK's own classes, which is slower.");
      }
      this->CallITK(throughITK);
    }
  }

  /** What ImageToImageMetricv4 does before each evaluation. It clears the derivative on one thread: by a field of a whole head,
   *  for longer than all else takes. */
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

  /** The values of candidates, those of linear transforms together. Transform and value stay as they are.
   *  \param onDevice gives a value for each of some maps; NaN for one that is to be evaluated by itself. */
  template <typename TOnDevice>
  std::vector<MeasureType>
  EvaluateCandidates(const std::vector<ParametersType> & candidates, const TOnDevice & onDevice)
  {
    this->CheckIsInitialized();
    const MetricCandidates<TMetric> batch(m_Metric, candidates);
    batch.Check();
    std::vector<MeasureType> values(candidates.size(), std::numeric_limits<MeasureType>::quiet_NaN());
    this->OnDevice([&] {
      if (this->FindLack().empty() && GPURegistrationGeometry::IsLinear(*m_Metric.m_MovingTransform))
      {
        values = onDevice(batch.MakeMaps());
      }
    });
    batch.EvaluateRest(values);
    return values;
  }

  /** The same of a metric whose engine gives a result for each: \param evaluate gives those of some maps; \param valueOf the value of
   *  one that has valid samples. */
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

  /** The same of a metric whose engine gives the mutual information of each.
   *  \param updateEngine sends the engine what has changed. */
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

  /** Calls throughITK() with the images that ITK's classes want. */
  template <typename TThroughITK>
  void
  CallITK(const TThroughITK & throughITK)
  {
    this->MakeGradientImages();
    throughITK();
  }

  /** Whether a stand-in's parent class computes, until the next Initialize(). */
  bool
  IsLeftToParent() const
  {
    return !m_LeftToParent.empty();
  }

  /** Makes the images' gradient images if a device has made its own instead: of the voxels that there are now. */
  void
  MakeGradientImages() const
  {
    if (m_IsInitialized)
    {
      m_Input.MakeGradientImage();
      m_Input.MakeFixedGradientImage();
    }
  }

  /** See MetricInput, of both images. */
  void
  WarnIfRefilled(const std::string & what) const
  {
    m_Input.WarnIfRefilled(what, m_Input.HasFixedVoxelsOfInitialize() && m_Input.HasMovingVoxelsOfInitialize());
  }

  /** Of a metric whose engine says how many bins it can have, at Initialize().
   *  \throws GPUBadInputError if it cannot have so many. */
  void
  CheckNumberOfBins(SizeValueType bins) const
  {
    if (bins < SizeValueType{ TEngine::LeastBins } || bins > SizeValueType{ TEngine::MostBins })
    {
      ThrowBadInput(m_Metric,
                    "The number of histogram bins is ",
                    bins,
                    ". Set one from ",
                    TEngine::LeastBins,
                    " to ",
                    TEngine::MostBins,
                    ".");
    }
  }

  /** Of a metric with bins, before Evaluate.
   *  \throws GPUBadInputError if they are not those of Initialize(), but not from a stand-in: its parent class is asked. */
  void
  CheckBins(SizeValueType bins, SizeValueType initializedBins)
  {
    if (!m_IsInitialized || !m_LeftToParent.empty() || bins == initializedBins)
    {
      return;
    }
    this->CheckInput([&] {
      ThrowBadInput(m_Metric,
                    "The number of histogram bins is ",
                    bins,
                    ", and was ",
                    initializedBins,
                    " when Initialize() was called. Call it again.");
    });
  }

  /** \throws GPUNoOverlapError if no sample is valid. */
  void
  CheckHasValidPoints(SizeValueType validPoints) const
  {
    if (validPoints == 0)
    {
      ThrowNoOverlap(m_Metric,
                     "All samples map outside moving image buffer. The images do not sufficiently overlap, or a mask "
                     "leaves nothing of the overlap. Initialize the transform so that they do, for instance with "
                     "itk::CenteredTransformInitializer.");
    }
  }

  /** Makes the engine by makeEngine(name of the device) if the device has changed, or isOther(engine); and sends it what has
   *  changed since the last time: see MetricInput. */
  template <typename TIsOther, typename TMakeEngine, typename TFindScales, typename TDescribe>
  void
  UpdateEngine(const TIsOther &    isOther,
               const TMakeEngine & makeEngine,
               const TFindScales & findScales,
               const TDescribe &   describe,
               bool                isInitializing)
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
      m_Input.Initialize(*m_Engine, findScales, describe);
    }
    else
    {
      m_Input.Refresh(*m_Engine, findScales, describe);
    }
    m_Engine->SetTiming(m_Metric.m_Use.GetMeasuresKernelTime());
  }

  /** The scales of the values that the engine has. */
  const MetricScales &
  GetScales() const
  {
    return m_Input.GetScales();
  }

  /** Adds -1/divisor times the derivative, from the forces that an evaluation has brought. */
  void
  StoreDerivative(gpureg::Forces                forces,
                  const gpureg::ForceResult &   result,
                  const gpureg::SampleMapping & mapping,
                  double                        divisor)
  {
    if (forces == gpureg::Forces::None)
    {
      return;
    }
    const MetricDerivative<TMetric> store(m_Metric);
    if (forces == gpureg::Forces::Summed && mapping.chain.transform.steps.empty())
    {
      store.StoreGlobal(*m_Metric.m_MovingTransform, {}, result, divisor);
      return;
    }
    const MetricMapping<TMetric> transforms(m_Metric);
    const auto                   jacobian = transforms.GetJacobianBehindOptimized();
    if (forces == gpureg::Forces::Summed || mapping.preTransforms)
    {
      const gpureg::ForceResult sums = mapping.preTransforms ? m_Engine->SumForces(this->GetParallelFor()) : result;
      store.StoreGlobal(*transforms.GetOptimizedLinear(),
                        transforms.GetMapBeforeOptimized(),
                        store.FollowBack(sums, jacobian),
                        divisor);
    }
    else if (mapping.spline)
    {
      store.StoreByControlPoints(*m_Engine, jacobian, divisor);
    }
    else
    {
      store.StoreLocal(*m_Engine, jacobian, divisor);
    }
  }

  /** The same of a metric whose forces are its derivative by a displacement, whatever follows the field. */
  void
  StoreForces(gpureg::Forces forces, double divisor)
  {
    if (forces == gpureg::Forces::OfEachSample)
    {
      MetricDerivative<TMetric>(m_Metric).StoreLocal(*m_Engine, { 1, 0, 0, 0, 1, 0, 0, 0, 1 }, divisor);
    }
  }

  /** Which forces an evaluation is to bring. */
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

  /** nullptr before there is one. */
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

  /** For PrintSelf. */
  void
  Print(std::ostream & os, Indent indent) const
  {
    m_Metric.m_Use.Print(os, indent);
    os << indent << "TrustsTimeStamps: " << (m_Metric.m_Use.TrustsTimeStamps() ? "On" : "Off") << std::endl;
  }

private:
  /** Calls initialize(), the parent's, which makes no gradient that the device makes itself. */
  template <typename TInitialize>
  void
  InitializeWithoutGradients(const TInitialize & initialize)
  {
    const MetricGradient<TMetric> gradient(m_Metric);
    bool                          makesMoving = false;
    bool                          mayMakeFixed = false;
    this->OnDevice([&] {
      const std::string & device = m_Metric.m_Use.GetDevice().GetName();
      makesMoving = gradient.CanBeMadeOn(device);
      mayMakeFixed = m_Images.GetLoadedFixed() != nullptr && gradient.CanFixedBeMadeOn(device);
    });
    m_Input.SetMakesGradients(makesMoving, mayMakeFixed);
    {
      const WithoutGradientFilter<TMetric> scope(m_Metric, makesMoving, mayMakeFixed);
      initialize();
    }
    // What samples are is known only now.
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
    this->CheckPoints(m_Metric.m_UseSampledPointSet && m_Metric.GetNumberOfDomainPoints() < 1);
  }

  void
  CheckPoints(bool areMissing) const
  {
    if (areMissing)
    {
      ThrowBadInput(m_Metric, "VirtualSampledPointSet must have 1 or more points.");
    }
  }

  /** On the device, unless ITK's class is to compute. */
  std::unique_ptr<ImagesOnDevice<TMetric>>
  LookThroughImages()
  {
    std::unique_ptr<ImagesOnDevice<TMetric>> images;
    if (!this->IsWithinITKs())
    {
      this->OnDevice(
        [&] { images = std::make_unique<ImagesOnDevice<TMetric>>(m_Images, m_Metric.m_Use.GetDevice().GetName()); });
    }
    return images ? std::move(images) : std::make_unique<ImagesOnDevice<TMetric>>(m_Images, "");
  }

  /** Whether a metric that it is a part of is left to ITK's class, and has warned of that. */
  bool
  IsWithinITKs() const
  {
    return m_Metric.m_Use.StandsIn() && IsWithoutDevices();
  }

  /** What the device does not compute; empty if there is nothing. */
  std::string
  FindLack() const
  {
    if (!m_LeftToParent.empty())
    {
      return m_LeftToParent;
    }
    if (this->IsWithinITKs())
    {
      return "A metric that another one is made of, which is left to ITK's class,";
    }
    // Sums here depend on no number of threads: there is nothing to correct. But ITK's numbers are then rounded ones.
    if (m_Metric.m_Use.StandsIn() && m_Metric.GetUseFloatingPointCorrection())
    {
      return "Floating-point correction";
    }
    const std::string lack = m_Input.FindWhatTheDeviceLacks();
    return lack.empty() && m_FindOwnLack ? m_FindOwnLack() : lack;
  }

  /** Calls check(). What it throws of bad input, a stand-in leaves to its parent class. */
  template <typename TCheck>
  void
  CheckInput(const TCheck & check)
  {
    try
    {
      check();
    }
    catch (const GPUBadInputError & error)
    {
      this->LeaveToParent(error);
    }
  }

  /** Until the next Initialize(), after a warning. To be called where the error is caught.
   *  \throws it again unless the metric stands in. */
  void
  LeaveToParent(const GPUError & error)
  {
    if (!m_Metric.m_Use.StandsIn())
    {
      throw;
    }
    m_LeftToParent = error.GetDescription();
    m_Engine.reset();
    m_Input.Forget();
    const_cast<TMetric &>(m_Metric).m_Use.WarnOfFailure(
      m_Metric, m_LeftToParent + " Computed by itk::" + m_Metric.GetNameOfClass() + " on the host.");
  }

  void
  CheckSettings() const
  {
    const bool isFixed = m_Metric.GetGradientSourceIncludesFixed();
    const bool isMoving = m_Metric.GetGradientSourceIncludesMoving();
    if (m_UsesFixedGradient ? isFixed == isMoving : isFixed || !isMoving)
    {
      ThrowBadInput(m_Metric,
                    m_UsesFixedGradient ? "The gradient source is to be the fixed image or the moving image, not both."
                                        : "The gradient source is to be the moving image only. Call "
                                          "SetGradientSource(GRADIENT_SOURCE_MOVING), the default.");
    }
    if (m_Metric.m_UseSampledPointSet &&
        (m_Metric.m_UseVirtualSampledPointSet ? m_Metric.m_VirtualSampledPointSet.IsNull()
                                              : m_Metric.m_FixedSampledPointSet.IsNull()))
    {
      ThrowBadInput(m_Metric,
                    "UseSampledPointSet is on but there is no ",
                    m_Metric.m_UseVirtualSampledPointSet ? "virtual" : "fixed",
                    " sampled point set. Set one, or turn UseSampledPointSet off to sample every voxel.");
    }
    this->CheckPoints(m_Metric.m_UseSampledPointSet && m_Metric.m_UseVirtualSampledPointSet &&
                      m_Metric.m_VirtualSampledPointSet->GetNumberOfPoints() < 1);
  }

  /** Calls work() unless a stand-in's parent class computes.
   *  \throws the itk::GPUError of what work throws; but of a stand-in only that there is no overlap, which its parent class
   *  would say, too: see LeaveToParent. */
  template <typename TWork>
  void
  OnDevice(const TWork & work)
  {
    if (!m_LeftToParent.empty())
    {
      return;
    }
    try
    {
      try
      {
        work();
      }
      catch (const gpureg::Error & error)
      {
        ThrowGPUError(error, NameObject(m_Metric) + error.what());
      }
      catch (const std::bad_alloc &)
      {
        ThrowGPUError(gpureg::OutOfMemoryError(""),
                      NameObject(m_Metric) +
                        "Out of host memory. Use smaller images, fewer bins or a sampled point set.");
      }
    }
    catch (const GPUNoOverlapError &)
    {
      throw;
    }
    catch (const GPUError & error)
    {
      this->LeaveToParent(error);
    }
  }

  const TMetric &                    m_Metric;
  const bool                         m_UsesFixedGradient;
  const std::function<std::string()> m_FindOwnLack;
  MetricImages<TMetric>              m_Images;
  MetricInput<TMetric>               m_Input;
  std::unique_ptr<TEngine>           m_Engine;
  bool                               m_IsInitialized{ false };
  bool                               m_IsForITK{ false };
  std::string                        m_LeftToParent; // why; empty where the device computes
};

} // namespace GPURegistrationDetail
} // namespace itk

#endif
