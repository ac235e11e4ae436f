// SPDX-License-Identifier: Apache-2.0
// Evaluates every metric of the module, and fails unless each has a finite value and derivative, equal to those of ITK's class of the same
// name if there is one, with any ITK version. Then registers two small images of different contrast rigidly, with itk::CudaMattesNMI in an
// unmodified itk::ImageRegistrationMethodv4, and fails unless it recovers the transform that moved one of them; deforms one of two images
// that are a shift apart, by control points, by a displacement for each voxel and by a velocity, and goes back; moves them by SyN, as ITK's
// class does; draws a registration's points as ITK's class does; and searches for a large rotation.
// RegisterTwoImages [device]: fails if another device computes, or if this machine has any other device.
#include "RegistrationSetUp.h"

#include "itkCudaCorrelationRatioMetric.h"
#include "itkCudaMattesNMI.h"
#include "itkCudaMeanAbsoluteDifferencesImageToImageMetricv4.h"
#include "itkCudaPartialVolumeMutualInformationImageToImageMetricv4.h"
#include "itkDiffeomorphicRegistrationMethod.h"
#include "itkFreeFormDeformationRegistrationMethod.h"
#include "itkGPUANTSNeighborhoodCorrelationImageToImageMetricv4.h"
#include "itkGPUCorrelationImageToImageMetricv4.h"
#include "itkGPUDemonsImageToImageMetricv4.h"
#include "itkGPUImageRegistrationMethodv4.h"
#include "itkGPUJointHistogramMutualInformationImageToImageMetricv4.h"
#include "itkGPUMeanSquaresImageToImageMetricv4.h"
#include "itkGPUSyNImageRegistrationMethod.h"
#include "itkGlobalAffineRegistrationMethod.h"

#include "itkAffineTransform.h"
#include "itkDisplacementFieldTransform.h"
#include "itkEuler3DTransform.h"
#include "itkImageRegionIteratorWithIndex.h"
#include "itkImageRegistrationMethodv4.h"
#include "itkRegistrationParameterScalesFromPhysicalShift.h"
#include "itkRegularStepGradientDescentOptimizerv4.h"
#include "itkVersion.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

namespace
{

using ImageType = itk::Image<float, 3>;
using PointType = ImageType::PointType;
using TransformType = itk::Euler3DTransform<double>;

constexpr double spacing = 2.0;
constexpr int    size = 40;

template <typename TArray>
TArray
Filled(double value)
{
  TArray array;
  array.Fill(value);
  return array;
}

/** Returns the value of an ellipsoid with two smaller ones inside, with soft edges: 0 outside, 1, 2 and 3 inside. */
double
Phantom(const PointType & point)
{
  const auto ellipsoid = [&](double x, double y, double z, double a, double b, double c) {
    const double r =
      std::sqrt(std::pow((point[0] - x) / a, 2) + std::pow((point[1] - y) / b, 2) + std::pow((point[2] - z) / c, 2));
    return 1.0 / (1.0 + std::exp(12.0 * (r - 1.0)));
  };
  return ellipsoid(0, 0, 0, 30, 24, 20) + ellipsoid(10, 6, 0, 10, 7, 9) + 2.0 * ellipsoid(-12, -4, 5, 8, 10, 6);
}

/** Returns the phantom seen through a transform; the value is 100 v for a phantom value v, or 300·sin(v) with the other contrast. */
ImageType::Pointer
MakeImage(const TransformType & transform, bool otherContrast)
{
  auto image = ImageType::New();
  image->SetRegions(ImageType::SizeType{ { size, size, size } });
  image->SetSpacing(Filled<ImageType::SpacingType>(spacing));
  image->SetOrigin(Filled<PointType>(-0.5 * spacing * (size - 1)));
  image->Allocate();
  for (itk::ImageRegionIteratorWithIndex<ImageType> it(image, image->GetBufferedRegion()); !it.IsAtEnd(); ++it)
  {
    PointType point;
    image->TransformIndexToPhysicalPoint(it.GetIndex(), point);
    const double value = Phantom(transform.TransformPoint(point));
    it.Set(static_cast<float>(otherContrast ? 300.0 * std::sin(value) : 100.0 * value));
  }
  return image;
}

/** Returns the largest distance between the phantom's ends mapped by two transforms. */
double
MaximumError(const TransformType & a, const TransformType & b)
{
  double error = 0;
  for (int axis = 0; axis < 3; ++axis)
  {
    for (const double end : { -25.0, 25.0 })
    {
      PointType point = Filled<PointType>(0.0);
      point[axis] = end;
      error = std::max(error, a.TransformPoint(point).EuclideanDistanceTo(b.TransformPoint(point)));
    }
  }
  return error;
}

/** Returns an image of a blob, this number of voxels beside the middle of a small image. */
template <typename TImage>
typename TImage::Pointer
MakeBlob(double shift)
{
  auto image = TImage::New();
  image->SetRegions(Filled<typename TImage::SizeType>(16));
  image->Allocate();
  for (itk::ImageRegionIteratorWithIndex<TImage> it(image, image->GetBufferedRegion()); !it.IsAtEnd(); ++it)
  {
    double squares = 0;
    for (unsigned int d = 0; d < TImage::ImageDimension; ++d)
    {
      squares += std::pow((static_cast<double>(it.GetIndex()[d]) - 7.5 - shift) / (3 + d), 2);
    }
    it.Set(static_cast<float>(100 * std::exp(-squares)));
  }
  return image;
}

struct Answer
{
  double             value = 0;
  itk::Array<double> derivative;
};

/** Initializes a metric of two blobs with a transform, and evaluates it. */
template <typename TMetric>
Answer
Ask(TMetric & metric, typename TMetric::MovingTransformType & transform)
{
  metric.SetFixedImage(MakeBlob<typename TMetric::FixedImageType>(0));
  metric.SetMovingImage(MakeBlob<typename TMetric::MovingImageType>(1));
  metric.SetMovingTransform(&transform);
  metric.Initialize();
  Answer answer;
  metric.GetValueAndDerivative(answer.value, answer.derivative);
  return answer;
}

/** Evaluates a metric on the default device, and ITK's own, if there is one.
 *  \returns true if the results are finite, not all 0, and equal to ITK's; otherwise prints the reason. */
template <typename TMetric, typename TNamesake>
bool
Evaluate(TMetric & metric, typename TMetric::MovingTransformType & transform, TNamesake * namesake)
{
  const auto complain = [&](const auto & what) {
    std::cerr << metric.GetNameOfClass() << " of " << TMetric::ImageDimension << " dimensions on " << metric.GetDevice()
              << ": " << what << '\n';
    return false;
  };
  try
  {
    const Answer ours = Ask(metric, transform);
    const double norm = ours.derivative.two_norm();
    if (!std::isfinite(ours.value) || !std::isfinite(norm) || norm == 0)
    {
      return complain("value " + std::to_string(ours.value) + ", norm of the derivative " + std::to_string(norm));
    }
    if (namesake == nullptr)
    {
      return true;
    }
    const Answer itk = Ask(*namesake, transform);
    const double ofValue = std::abs(ours.value - itk.value) / std::abs(itk.value);
    const double ofDerivative = (ours.derivative - itk.derivative).two_norm() / itk.derivative.two_norm();
    return (ofValue <= 1e-5 && ofDerivative <= 1e-4) ||
           complain("value " + std::to_string(1e5 * ofValue) + "e-5 and derivative " +
                    std::to_string(1e4 * ofDerivative) + "e-4 from ITK's");
  }
  catch (const itk::ExceptionObject & e)
  {
    return complain(e);
  }
}

/** Evaluates a metric that ITK does not have. */
template <typename TMetric>
bool
Evaluate(TMetric & metric, typename TMetric::MovingTransformType & transform)
{
  return Evaluate(metric, transform, static_cast<TMetric *>(nullptr));
}

/** Evaluates every metric of the module. */
template <unsigned int VDimension>
bool
EvaluateMetrics()
{
  using Image = itk::Image<float, VDimension>;
  using FieldTransform = itk::DisplacementFieldTransform<double, VDimension>;
  const auto affine = itk::AffineTransform<double, VDimension>::New();
  affine->Translate(Filled<typename itk::AffineTransform<double, VDimension>::OutputVectorType>(0.3));
  const auto mattes = itk::CudaMattesNMI<Image, Image>::New();
  mattes->NormalizedOff();
  const auto field = FieldTransform::DisplacementFieldType::New();
  field->CopyInformation(MakeBlob<Image>(0));
  field->SetRegions(Filled<typename Image::SizeType>(16));
  field->Allocate();
  field->FillBuffer(Filled<typename FieldTransform::OutputVectorType>(0.5));
  const auto byField = FieldTransform::New();
  byField->SetDisplacementField(field);

  const bool each[] = {
    Evaluate(*itk::CudaMattesNMI<Image, Image>::New(), *affine),
    Evaluate(*itk::CudaCorrelationRatioMetric<Image, Image>::New(), *affine),
    Evaluate(*itk::CudaMeanAbsoluteDifferencesImageToImageMetricv4<Image, Image>::New(), *affine),
    Evaluate(*itk::CudaPartialVolumeMutualInformationImageToImageMetricv4<Image, Image>::New(), *affine),
    Evaluate(*mattes, *affine, itk::MattesMutualInformationImageToImageMetricv4<Image, Image>::New().GetPointer()),
    Evaluate(*itk::GPUMeanSquaresImageToImageMetricv4<Image, Image>::New(),
             *affine,
             itk::MeanSquaresImageToImageMetricv4<Image, Image>::New().GetPointer()),
    Evaluate(*itk::GPUCorrelationImageToImageMetricv4<Image, Image>::New(),
             *affine,
             itk::CorrelationImageToImageMetricv4<Image, Image>::New().GetPointer()),
    Evaluate(*itk::GPUANTSNeighborhoodCorrelationImageToImageMetricv4<Image, Image>::New(),
             *affine,
             itk::ANTSNeighborhoodCorrelationImageToImageMetricv4<Image, Image>::New().GetPointer()),
    Evaluate(*itk::GPUDemonsImageToImageMetricv4<Image, Image>::New(),
             *byField,
             itk::DemonsImageToImageMetricv4<Image, Image>::New().GetPointer()),
    Evaluate(*itk::GPUJointHistogramMutualInformationImageToImageMetricv4<Image, Image>::New(),
             *affine,
             itk::JointHistogramMutualInformationImageToImageMetricv4<Image, Image>::New().GetPointer()),
  };
  return std::all_of(std::begin(each), std::end(each), [](bool isFine) { return isFine; });
}

/** Returns true if free-form deformation finds, inside of the phantom, the shift of a moving image of another contrast. */
bool
DeformImages(const ImageType * fixed)
{
  const auto back = TransformType::New();
  back->SetTranslation(Filled<TransformType::OutputVectorType>(-2.5));
  const auto method = itk::FreeFormDeformationRegistrationMethod<ImageType, ImageType>::New();
  method->SetFixedImage(fixed);
  method->SetMovingImage(MakeImage(*back, true));
  method->SetNumberOfLevels(2);
  method->SetControlPointSpacing(12);
  method->SetNumberOfIterations(40);
  method->Update();
  PointType point = Filled<PointType>(0.0);
  point[0] = 10;
  point[1] = 6;
  const auto   moved = method->GetTransform()->TransformPoint(point);
  const double error = (moved - point - Filled<PointType::VectorType>(2.5)).GetNorm();
  std::cout << "Free-form deformation on " << method->GetDevice() << ": error " << error << " mm, smallest determinant "
            << method->GetSmallestJacobianDeterminant() << '\n';
  return error < 0.5 && method->GetSmallestJacobianDeterminant() > 0;
}

/** Returns true if a scheme of dense registration finds, inside of the phantom, the shift of a moving image behind a part of it, and the
 *  inverse leads back. */
bool
DeformDensely(const ImageType * fixed, const char * scheme)
{
  const auto back = TransformType::New();
  back->SetTranslation(Filled<TransformType::OutputVectorType>(-2.5));
  const auto half = itk::AffineTransform<double, 3>::New();
  half->Translate(Filled<itk::AffineTransform<double, 3>::OutputVectorType>(1.25));
  const auto method = itk::DiffeomorphicRegistrationMethod<ImageType, ImageType>::New();
  itk::DiffeomorphicRegistrationMethod<ImageType, ImageType>::IterationsType iterations(2);
  iterations.Fill(30);
  method->SetFixedImage(fixed);
  method->SetMovingImage(MakeImage(*back, false));
  method->SetInitialTransform(half);
  method->SetScheme(scheme);
  method->SetNumberOfIterationsPerLevel(iterations);
  method->SetStep(0.25);
  method->Update();
  PointType point = Filled<PointType>(0.0);
  point[0] = -12;
  point[1] = -4;
  point[2] = 5;
  const auto   moved = method->GetTransform()->TransformPoint(point);
  const double error = (moved - point - Filled<PointType::VectorType>(2.5)).GetNorm();
  const double there = (method->GetInverseTransform()->TransformPoint(moved) - point).GetNorm();
  std::cout << scheme << " on " << method->GetDevice() << ": error " << error << " mm, there and back " << there
            << " mm, " << method->GetInverseErrors().offVoxels << " voxels without an inverse\n";
  return error < 0.5 && there < 0.1 * spacing && method->GetInverseErrors().offVoxels == 0 &&
         method->GetNumberOfFoldedVoxels() == 0;
}

/** Returns the end of a point's way by SyN, of two images of one contrast.
 *  \param method ITK's class, or ours */
PointType
DeformBySyN(itk::SyNImageRegistrationMethod<ImageType, ImageType> & method, const PointType & point)
{
  const auto back = TransformType::New();
  back->SetTranslation(Filled<TransformType::OutputVectorType>(-2.5));
  const auto metric = itk::GPUANTSNeighborhoodCorrelationImageToImageMetricv4<ImageType, ImageType>::New();
  metric->SetRadius(Filled<ImageType::SizeType>(2));
  metric->SetUseFixedImageGradientFilter(false);
  metric->SetUseMovingImageGradientFilter(false);
  itk::SyNImageRegistrationMethod<ImageType, ImageType>::NumberOfIterationsArrayType iterations(1);
  iterations.Fill(4);
  method.SetFixedImage(MakeImage(*TransformType::New(), false));
  method.SetMovingImage(MakeImage(*back, false));
  method.SetMetric(metric);
  method.SetNumberOfLevels(1);
  method.SetNumberOfIterationsPerLevel(iterations);
  method.Update();
  return method.GetTransform()->TransformPoint(point);
}

/** Returns true if SyN moves a point as ITK's class does, and its inverse leads back. */
bool
CompareSyN()
{
  PointType point = Filled<PointType>(0.0);
  point[0] = 18;
  const auto   ours = itk::GPUSyNImageRegistrationMethod<ImageType, ImageType>::New();
  const auto   itks = itk::SyNImageRegistrationMethod<ImageType, ImageType>::New();
  const auto   moved = DeformBySyN(*ours, point);
  const double moves = (moved - point).GetNorm();
  const double apart = (moved - DeformBySyN(*itks, point)).GetNorm();
  const double back = (ours->GetTransform()->GetInverseTransform()->TransformPoint(moved) - point).GetNorm();
  std::cout << "SyN on " << ours->GetDevice() << ": " << moves << " mm, " << apart << " mm from ITK's, there and back "
            << back << " mm\n";
  return moves > 0.2 && apart < 1e-3 * spacing && back < 0.1 * spacing && ours->GetEvaluationStatistics().launches > 0;
}

/** Draws the points of a registration's level. */
template <typename TMethod>
class Sampler : public TMethod
{
public:
  using Self = Sampler;
  using Pointer = itk::SmartPointer<Self>;
  itkFactorylessNewMacro(Self);

  /** Returns the coordinates of regular or random points, of a seed. */
  std::vector<float>
  Draw(itk::ImageRegistrationMethodv4Enums::MetricSamplingStrategy strategy)
  {
    const auto metric = itk::GPUMeanSquaresImageToImageMetricv4<ImageType, ImageType>::New();
    metric->SetVirtualDomainFromImage(MakeImage(*TransformType::New(), false));
    this->SetMetric(metric);
    this->SetMetricSamplingStrategy(strategy);
    this->SetMetricSamplingPercentage(0.3);
    this->m_CurrentLevel = 0;
    this->m_CurrentRandomSeed = 11;
    this->SetMetricSamplePoints();
    std::vector<float> coordinates;
    for (const auto & point : metric->GetVirtualSampledPointSet()->GetPoints()->CastToSTLConstContainer())
    {
      coordinates.insert(coordinates.end(), point.Begin(), point.End());
    }
    return coordinates;
  }
};

/** Returns true if a registration draws its points as ITK's class does, to the last bit. */
bool
CompareSamplePoints()
{
  using Strategy = itk::ImageRegistrationMethodv4Enums::MetricSamplingStrategy;
  const auto ours = Sampler<itk::GPUImageRegistrationMethodv4<ImageType, ImageType, TransformType>>::New();
  const auto itks = Sampler<itk::ImageRegistrationMethodv4<ImageType, ImageType, TransformType>>::New();
  bool       areSame = true;
  for (const Strategy strategy : { Strategy::REGULAR, Strategy::RANDOM })
  {
    const auto points = ours->Draw(strategy);
    areSame = areSame && points.size() > 20000 && points == itks->Draw(strategy);
  }
  std::cout << "A registration's points are " << (areSame ? "" : "not ") << "ITK's\n";
  return areSame;
}

/** Returns true if a global search finds the phantom, rotated by 80 degrees and with the other contrast. */
bool
SearchGlobally(const ImageType * fixed)
{
  const auto truth = TransformType::New();
  truth->SetRotation(0.4, -0.6, 1.2);
  const auto back = TransformType::New();
  truth->GetInverse(back);
  const auto method = itk::GlobalAffineRegistrationMethod<ImageType, ImageType>::New();
  method->SetFixedImage(fixed);
  method->SetMovingImage(MakeImage(*back, true));
  method->SetDegreesOfFreedom(6);
  method->Update();
  const double error = MaximumError(dynamic_cast<const TransformType &>(*method->GetTransform()), *truth);
  std::cout << "Global search on " << method->GetDevice() << ": error " << error << " mm\n";
  return error < 0.25 * spacing;
}

/** Returns true if ITK's registration method with CudaMattesNMI recovers the transform by which the phantom was moved. */
bool
RegisterRigidly(const ImageType::Pointer & fixed)
{
  // The moving image at T(x) equals the phantom at x.
  auto truth = TransformType::New();
  truth->SetRotation(0.05, -0.03, 0.08);
  truth->SetTranslation(Filled<TransformType::OutputVectorType>(2.5));
  auto inverse = TransformType::New();
  truth->GetInverse(inverse);
  const auto moving = MakeImage(*inverse, true);

  using MetricType = itk::CudaMattesNMI<ImageType, ImageType>;
  auto metric = MetricType::New();
  metric->SetNumberOfHistogramBins(32);

  using ScalesType = itk::RegistrationParameterScalesFromPhysicalShift<MetricType>;
  auto scales = ScalesType::New();
  scales->SetMetric(metric);

  using OptimizerType = itk::RegularStepGradientDescentOptimizerv4<double>;
  auto optimizer = OptimizerType::New();
  optimizer->SetScalesEstimator(scales);
  optimizer->SetLearningRate(1.0);
  optimizer->SetMinimumStepLength(1e-5);
  optimizer->SetRelaxationFactor(0.8);
  optimizer->SetGradientMagnitudeTolerance(1e-8);
  optimizer->SetNumberOfIterations(200);

  using RegistrationType = itk::ImageRegistrationMethodv4<ImageType, ImageType, TransformType>;
  auto transform = TransformType::New();
  auto registration = RegistrationType::New();
  gpuregtest::SetUpRegistration(*registration, fixed, moving, transform, metric, { { 2, 1.0 }, { 1, 0.0 } });
  registration->SetOptimizer(optimizer);
  registration->Update();

  const double before = MaximumError(*TransformType::New(), *truth);
  const double after = MaximumError(*transform, *truth);
  std::cout << "ITK " << itk::Version::GetITKVersion() << " on " << metric->GetDevice() << ": error " << before
            << " mm before, " << after << " mm after, value " << metric->GetCurrentValue() << '\n'
            << optimizer->GetStopConditionDescription() << '\n';
  return after < 0.05 * spacing; // a twentieth of a voxel
}

/** Registers the phantom in each way, and prints the failures. */
bool
RegisterPhantom()
{
  const auto fixed = MakeImage(*TransformType::New(), false);
  const auto complainUnless = [](bool isFound, const char * what) {
    std::cerr << (isFound ? "" : what);
    return isFound;
  };
  return complainUnless(RegisterRigidly(fixed), "The transform was not recovered.\n") &&
         complainUnless(DeformImages(fixed), "The deformation was not found.\n") &&
         complainUnless(DeformDensely(fixed, "Greedy"), "The greedy scheme did not find the deformation.\n") &&
         complainUnless(DeformDensely(fixed, "Velocity"), "The velocity was not found.\n") &&
         complainUnless(CompareSyN(), "SyN is not ITK's.\n") &&
         complainUnless(CompareSamplePoints(), "A registration's points are not ITK's.\n") &&
         complainUnless(SearchGlobally(fixed), "The rotation was not found.\n");
}

} // namespace

int
main(int argc, char * argv[])
{
  if (argc > 1)
  {
    const auto devices = itk::GPUDevice::GetAvailable();
    if (devices.size() != 1 || devices.front().GetName() != argv[1])
    {
      std::cerr << "There are other devices than " << argv[1] << ", such as " << devices.front() << ".\n";
      return EXIT_FAILURE;
    }
  }
  // Evaluates both dimensions, so that all failures are printed.
  const bool isFineIn2D = EvaluateMetrics<2>();
  const bool isFineIn3D = EvaluateMetrics<3>();
  if (!isFineIn2D || !isFineIn3D)
  {
    return EXIT_FAILURE;
  }
  try
  {
    return RegisterPhantom() ? EXIT_SUCCESS : EXIT_FAILURE;
  }
  catch (const itk::ExceptionObject & e)
  {
    std::cerr << e << '\n';
    return EXIT_FAILURE;
  }
}
