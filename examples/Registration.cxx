// SPDX-License-Identifier: Apache-2.0
#include "Registration.h"

#include "RegisterRigidly/BestPosition.h"
#include "VolumeMetrics.h"

#include "itkAmoebaOptimizerv4.h"
#include "itkCenteredTransformInitializer.h"
#include "itkCudaMeanAbsoluteDifferencesImageToImageMetricv4.h"
#include "itkGPUCorrelationImageToImageMetricv4.h"
#include "itkGPUMeanSquaresImageToImageMetricv4.h"
#include "itkImageRegistrationMethodv4.h"
#include "itkRegistrationParameterScalesFromPhysicalShift.h"
#include "itkVersorRigid3DTransform.h"

#include "vnl/algo/vnl_determinant.h"
#include "vnl/algo/vnl_svd.h"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <limits>
#include <string>

namespace example
{
namespace
{

using Metric = itk::ImageToImageMetricv4<Volume, Volume>;
using Optimizer = BestPositionOptimizer;
using Rigid = itk::VersorRigid3DTransform<double>;
using Affine = itk::AffineTransform<double, 3>;

/** One level of the pyramid. Lengths are in voxels of the fixed image, along their shortest edge. */
struct Level
{
  /** Distance of the samples along each axis, in voxels. */
  double shrink;
  /** Standard deviation of the Gaussian that smooths both images, in voxels. */
  double sigma;
  /** The distance by which the first step moves the corners of the image. Steps become shorter whenever the gradient reverses. */
  double firstStep;
  /** The level ends when steps are shorter than this. */
  double lastStep;
  /** The level ends after this number of steps at the latest. */
  unsigned int iterations;
};

constexpr double relaxation = 0.7; // factor of the step's length when the gradient has reversed

// Before an affine stage, the rigid one need only come near.
const std::vector<Level> rigidLevels{ { 4, 2, 4.0, 0.2, 80 }, { 2, 1, 0.5, 0.2, 10 }, { 1, 0, 0.25, 0.2, 3 } };
const std::vector<Level> rigidAloneLevels{ { 4, 2, 4.0, 0.1, 80 }, { 2, 1, 0.5, 0.05, 30 }, { 1, 0, 0.1, 0.02, 15 } };
const std::vector<Level> affineLevels{ { 4, 2, 2.0, 0.1, 80 }, { 2, 1, 0.5, 0.05, 40 }, { 1, 0, 0.1, 0.02, 15 } };

double
GetShortestEdge(const Volume * image)
{
  const auto & spacing = image->GetSpacing();
  return *std::min_element(spacing.begin(), spacing.end());
}

/** Returns a new metric of this module. */
template <typename TMetric>
typename TimedMetric<TMetric>::Pointer
MakeOurs(const RegistrationSettings & settings, MetricTimes * times)
{
  const auto metric = TimedMetric<TMetric>::New();
  metric->SetDevice(settings.device);
  metric->SetTrustsTimeStamps(settings.trustsTimeStamps);
  metric->SetTimes(times);
  return metric;
}

Metric::Pointer
MakeMetric(const RegistrationSettings & settings, MetricTimes * times)
{
  switch (settings.measure)
  {
    case Measure::MeanSquares:
      return MakeOurs<itk::GPUMeanSquaresImageToImageMetricv4<Volume, Volume>>(settings, times).GetPointer();
    case Measure::Correlation:
      return MakeOurs<itk::GPUCorrelationImageToImageMetricv4<Volume, Volume>>(settings, times).GetPointer();
    case Measure::MeanAbsoluteDifferences:
      return MakeOurs<itk::CudaMeanAbsoluteDifferencesImageToImageMetricv4<Volume, Volume>>(settings, times)
        .GetPointer();
    case Measure::ITKMattes:
    {
      const auto metric = TimedMetric<itk::MattesMutualInformationImageToImageMetricv4<Volume, Volume>>::New();
      metric->SetTimes(times);
      return metric.GetPointer();
    }
    default:
    {
      const auto metric = MakeOurs<itk::CudaMattesNMI<Volume, Volume>>(settings, times);
      metric->SetNormalized(settings.measure == Measure::NormalizedMutualInformation);
      return metric.GetPointer();
    }
  }
}

Optimizer::Pointer
MakeOptimizer(Metric * metric)
{
  // Steps and scales are in mm, measured at the corners of the image, so that rotations and translations have the same weight.
  const auto scales = itk::RegistrationParameterScalesFromPhysicalShift<Metric>::New();
  scales->SetMetric(metric);
  const auto optimizer = Optimizer::New();
  optimizer->SetScalesEstimator(scales);
  optimizer->SetDoEstimateLearningRateAtEachIteration(true);
  optimizer->SetRelaxationFactor(relaxation);
  // Levels end by a length in mm; the optimizer's own criteria are in units of parameters.
  optimizer->SetMinimumStepLength(0);
  optimizer->SetGradientMagnitudeTolerance(1e-12);
  return optimizer;
}

/** Sets the pyramid so that samples have the same distance along each axis, even if voxels do not. */
template <typename TRegistration>
void
SetPyramid(TRegistration * registration, const Volume * fixed, const std::vector<Level> & levels)
{
  typename TRegistration::SmoothingSigmasArrayType sigmas(static_cast<itk::SizeValueType>(levels.size()));
  registration->SetNumberOfLevels(levels.size());
  for (unsigned int n = 0; n < levels.size(); ++n)
  {
    typename TRegistration::ShrinkFactorsPerDimensionContainerType shrink;
    for (unsigned int d = 0; d < 3; ++d)
    {
      const double voxels = levels[n].shrink * GetShortestEdge(fixed) / fixed->GetSpacing()[d];
      shrink[d] = static_cast<unsigned int>(std::max(1.0, std::round(voxels)));
    }
    registration->SetShrinkFactorsPerDimension(n, shrink);
    sigmas[n] = levels[n].sigma * GetShortestEdge(fixed);
  }
  registration->SetSmoothingSigmasPerLevel(sigmas);
  registration->SetSmoothingSigmasAreSpecifiedInPhysicalUnits(true);
}

/** Sets the optimizer's steps as each level begins. */
template <typename TRegistration>
void
SetSteps(TRegistration * registration, Optimizer * optimizer, const std::vector<Level> & levels, double edge)
{
  registration->AddObserver(itk::MultiResolutionIterationEvent(), [=](const itk::EventObject &) {
    const Level & level = levels[registration->GetCurrentLevel()];
    optimizer->SetMaximumStepSizeInPhysicalUnits(level.firstStep * edge);
    optimizer->SetNumberOfIterations(level.iterations);
  });
  optimizer->AddObserver(itk::IterationEvent(), [=](const itk::EventObject &) {
    const Level & level = levels[registration->GetCurrentLevel()];
    if (level.firstStep * optimizer->GetCurrentLearningRateRelaxation() < level.lastStep)
    {
      optimizer->StopOptimization();
    }
  });
}

/** Prints level, iteration and value. */
template <typename TRegistration>
void
ShowProgress(TRegistration *                    registration,
             itk::ObjectToObjectOptimizerBase * optimizer,
             const std::string &                stage,
             std::ostream &                     os)
{
  const auto print = [=, &os](const std::string & end) {
    os << std::left << std::setw(8) << stage << "level " << registration->GetCurrentLevel() + 1 << " of "
       << registration->GetNumberOfLevels() << "  iteration " << std::right << std::setw(3)
       << optimizer->GetCurrentIteration() << "  value " << std::fixed << std::setprecision(6)
       << optimizer->GetCurrentMetricValue() << end << std::endl;
  };
  optimizer->AddObserver(itk::IterationEvent(), [=, last = Stopwatch()](const itk::EventObject &) mutable {
    if (last.GetSeconds() > 0.1)
    {
      last = Stopwatch();
      print("");
    }
  });
  optimizer->AddObserver(itk::EndEvent(), [=](const itk::EventObject &) { print("  done"); });
}

/** Returns the downhill simplex: its corners are one step from the start, each along one parameter, and it ends when they are nearer to
 *  each other than its tolerance. Both are in mm, half-way between the image's centre and its corners, where a matrix' elements move
 *  points by that distance, and versors, which are half an angle, by twice that distance. */
itk::AmoebaOptimizerv4::Pointer
MakeSimplex(const Volume * fixed, unsigned int parameters)
{
  double squares = 0;
  for (unsigned int d = 0; d < 3; ++d)
  {
    squares += std::pow(fixed->GetSpacing()[d] * static_cast<double>(fixed->GetLargestPossibleRegion().GetSize(d)), 2);
  }
  const double radius = std::sqrt(squares) / 4;
  const double firstStep = radius / 16;
  const double tolerance = firstStep / 500;
  const bool   isVersor = parameters == 6;

  itk::AmoebaOptimizerv4::ScalesType     scales(parameters);
  itk::AmoebaOptimizerv4::ParametersType steps(parameters);
  for (unsigned int p = 0; p < parameters; ++p)
  {
    scales[p] = p + 3 >= parameters ? 1.0 : isVersor ? 2 * radius : radius;
    steps[p] = firstStep; // of a scaled parameter
  }
  const auto optimizer = itk::AmoebaOptimizerv4::New();
  optimizer->SetScales(scales);
  optimizer->SetInitialSimplexDelta(steps);
  optimizer->SetParametersConvergenceTolerance(tolerance);
  // Regardless of the change of the value.
  optimizer->SetFunctionConvergenceTolerance(std::numeric_limits<double>::max());
  optimizer->SetNumberOfIterations(3000);
  return optimizer;
}

void
CopyLinear(const LinearTransform & from, LinearTransform & to)
{
  to.SetCenter(from.GetCenter());
  to.SetMatrix(from.GetMatrix());
  to.SetTranslation(from.GetTranslation());
}

/** Returns the rotation that is nearest to a matrix. A file rounds a rotation's numbers, and ITK's rigid transforms take no rounded ones.
 *  \throws itk::ExceptionObject if the matrix is not a rotation, but for such an error. */
LinearTransform::MatrixType
MakeRotation(const LinearTransform::MatrixType & matrix)
{
  constexpr double         most = 1e-4;
  const vnl_svd<double>    parts(matrix.GetVnlMatrix().as_matrix());
  const vnl_matrix<double> rotation = parts.U() * parts.V().transpose();
  const double             error = (matrix.GetVnlMatrix().as_matrix() - rotation).absolute_value_max();
  const double             determinant = vnl_determinant(rotation);
  // The comparison is false for numbers that are not finite.
  if (!(error <= most && determinant > 0))
  {
    itkGenericExceptionMacro(
      "The transform to start from is not rigid: its matrix "
      << (determinant < 0 ? "mirrors" : "differs from the nearest rotation by " + std::to_string(error))
      << ". A rigid registration starts from a rotation to within " << most
      << "; start an affine one, or from a rigid transform.");
  }
  return LinearTransform::MatrixType(rotation);
}

/** Optimizes a transform in place. */
template <typename TTransform>
StageReport
RunStage(const std::string &          name,
         const Volume *               fixed,
         const Volume *               moving,
         TTransform *                 transform,
         const std::vector<Level> &   levels,
         const RegistrationSettings & settings,
         std::ostream &               progress)
{
  const Stopwatch watch;
  StageReport     report{ name, transform, 0, {} };
  const auto      metric = MakeMetric(settings, &report.metric);
  // The metric computes gradients by central differences where it needs them, instead of a gradient image.
  metric->SetUseMovingImageGradientFilter(false);

  const auto registration = itk::ImageRegistrationMethodv4<Volume, Volume, TTransform>::New();
  registration->SetFixedImage(fixed);
  registration->SetMovingImage(moving);
  registration->SetInitialTransform(transform);
  registration->InPlaceOn();
  registration->SetMetric(metric);
  if (settings.search == Search::Simplex)
  {
    const auto optimizer = MakeSimplex(fixed, transform->GetNumberOfParameters());
    registration->SetOptimizer(optimizer);
    SetPyramid(registration.GetPointer(), fixed, { { 1, 0, 0, 0, 0 } });
    ShowProgress(registration.GetPointer(), optimizer.GetPointer(), name, progress);
  }
  else
  {
    const auto optimizer = MakeOptimizer(metric);
    registration->SetOptimizer(optimizer);
    SetPyramid(registration.GetPointer(), fixed, levels);
    ShowProgress(registration.GetPointer(), optimizer.GetPointer(), name, progress);
    SetSteps(registration.GetPointer(), optimizer.GetPointer(), levels, GetShortestEdge(fixed));
  }
  registration->Update();

  report.seconds = watch.GetSeconds();
  return report;
}

} // namespace

std::string
Describe(const RegistrationSettings & settings)
{
  const auto onDevice = [&settings](const std::string & name) {
    return name + " on " + settings.device.GetName() + " (" + settings.device.GetDescription() + ')';
  };
  switch (settings.measure)
  {
    case Measure::MeanSquares:
      return onDevice("itk::GPUMeanSquaresImageToImageMetricv4");
    case Measure::Correlation:
      return onDevice("itk::GPUCorrelationImageToImageMetricv4");
    case Measure::MeanAbsoluteDifferences:
      return onDevice("itk::CudaMeanAbsoluteDifferencesImageToImageMetricv4");
    case Measure::ITKMattes:
      return "ITK's own Mattes metric, on the host's threads";
    case Measure::MutualInformation:
      return onDevice("itk::CudaMattesNMI with NormalizedOff()");
    default:
      return onDevice("itk::CudaMattesNMI");
  }
}

RegistrationResult
Register(const Volume *               fixed,
         const Volume *               moving,
         const RegistrationSettings & settings,
         std::ostream &               progress,
         const LinearTransform *      start)
{
  RegistrationResult result;
  const bool         rigidAlone = settings.model == Model::Rigid;
  const auto         rigid = Rigid::New();
  if (start == nullptr)
  {
    const auto initializer = itk::CenteredTransformInitializer<Rigid, Volume, Volume>::New();
    initializer->SetTransform(rigid);
    initializer->SetFixedImage(fixed);
    initializer->SetMovingImage(moving);
    initializer->GeometryOn();
    initializer->InitializeTransform();
    result.start = rigid->Clone();
  }
  else
  {
    result.start = start->Clone();
    if (rigidAlone)
    {
      rigid->SetCenter(start->GetCenter());
      rigid->SetMatrix(MakeRotation(start->GetMatrix()));
      rigid->SetTranslation(start->GetTranslation());
    }
  }

  if (rigidAlone || start == nullptr)
  {
    const auto & levels = rigidAlone ? rigidAloneLevels : rigidLevels;
    result.stages.push_back(RunStage("rigid", fixed, moving, rigid.GetPointer(), levels, settings, progress));
  }
  if (rigidAlone)
  {
    result.transform = rigid;
    return result;
  }

  const auto affine = Affine::New();
  CopyLinear(start != nullptr ? *start : *rigid, *affine);
  result.stages.push_back(RunStage("affine", fixed, moving, affine.GetPointer(), affineLevels, settings, progress));
  result.transform = affine;
  return result;
}

void
PrintTimes(const std::vector<StageReport> & stages, std::ostream & os)
{
  const auto print = [&](double seconds) {
    os << std::right << std::setw(12) << std::fixed << std::setprecision(3) << seconds;
  };
  os << "stage      whole [s]   metric: prepare   evaluate    number   ITK itself [s]\n";
  for (const auto & stage : stages)
  {
    const MetricTimes & metric = stage.metric;
    os << std::left << std::setw(8) << stage.name;
    print(stage.seconds);
    os << "      ";
    print(metric.initialization);
    print(metric.evaluation);
    os << std::setw(10) << metric.evaluations << "     ";
    print(stage.seconds - metric.initialization - metric.evaluation);
    os << '\n';
  }
}

} // namespace example
