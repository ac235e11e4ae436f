// SPDX-License-Identifier: Apache-2.0
#ifndef itkGPUSyNImageRegistrationMethod_h
#define itkGPUSyNImageRegistrationMethod_h

#include "GPURegistrationDetail/core/itkGPUMembers.h"
#include "GPURegistrationDetail/registration/itkGPUDiffeomorphicEngine.h"
#include "GPURegistrationDetail/registration/itkGPURegistrationMethod.h"
#include "itkGPUDevice.h"

#include "gpureg/core/EvaluationStatistics.h"
#include "gpureg/field/FieldInverter.h"
#include "gpureg/image/Source.h"
#include "gpureg/registration/diffeomorphic/DiffeomorphicRegistration.h"

#include "itkSyNImageRegistrationMethod.h"
#include "itkWindowConvergenceMonitoringFunction.h"

#include <array>
#include <memory>
#include <string>
#include <vector>

namespace itk
{
namespace GPURegistrationDetail
{
class RegisteredImages;
}

/** \class GPUSyNImageRegistrationMethod
 * \brief Computes itk::SyNImageRegistrationMethod on a GPU or on host threads, from the images to the transform.
 *
 * The class replaces itk::SyNImageRegistrationMethod (Avants 2008), from which it is derived: it has the same interface, invokes the same
 * events, at which the same values can be read, and computes the same step by step, in float. Images, fields and derivatives stay on the
 * device from the first iteration to the last one. The device computes:
 * - one pair of images, by MeanSquaresImageToImageMetricv4, DemonsImageToImageMetricv4, MattesMutualInformationImageToImageMetricv4,
 *   CudaMattesNMI, CudaCorrelationRatioMetric without border weights, or ANTSNeighborhoodCorrelationImageToImageMetricv4 of any radius,
 *   without gradient filters and sampled points; or several pairs, each by one of these in an ObjectToObjectMultiMetricv4, with its weights
 *   and each metric's masks;
 * - registrations that continue from FixedToMiddleTransform and MovingToMiddleTransform;
 * - initial transforms on both sides that are made of linear transforms, B-splines and displacement fields, masks that have their image's
 *   voxels, all of SyN's own settings but SetDownsampleImagesForMetricDerivatives(false), and levels whose
 *   DisplacementFieldTransformParametersAdaptors follow the shrink factors;
 * - all of this on two devices together, and a part of it on more: see SetFurtherDevices().
 *
 * ITK's code computes everything else, after a warning that says why, once; its metrics, resampling and smoothing may be this module's
 * all the same. Input that would crash that code is an error: no metric, levels without settings, images without pixels, masks that are no
 * ImageMaskSpatialObject. Values below about 1e-5, among which ITK's correlation over neighborhoods finds nothing, are registered.
 *
 * Middle transforms hold the result of the last Update(), and the next one continues from there, as in ITK: for a new beginning, make a new
 * object, or set none.
 *
 * The metric and the optimizer are read, and not changed, where ITK leaves the last level's images, masks and domain in the metric. On a
 * device AbortGenerateDataOn() ends the work with an itk::ProcessAborted. The middle transforms stay on the device until somebody asks for
 * them, or holds one. An observer may change settings that the device computes; what follows goes by them, but a level takes no more
 * iterations than it began with. At the first event it may also change images, masks and transforms. Another change is an error, seen by
 * pointers and time stamps; an override with observers looks at values, too: those of images and masks when a level ends, and those of
 * middle fields after each event at which the host has them. It then warns, and ITK's code begins again, as where a device fails.
 *
 * \code
 * auto method = itk::GPUSyNImageRegistrationMethod<Image, Image>::New();
 * method->SetFixedImage(fixed);
 * method->SetMovingImage(moving);
 * method->SetMetric(metric);
 * method->Update();
 * method->GetTransform(); // has its inverse
 * \endcode
 *
 * That inverse has ITK's numbers, as the whole output has, since programs that use ITK's class expect them: it is the composition of
 * the inverses of both halves, each of which ITK iterates to a mean error of 0.001 voxels or a largest one of 0.1. There and back, points
 * miss by more than a hundredth of a voxel. GetRefinedInverse() computes a better inverse, and GetInverseErrors() says how good that is.
 *
 * \tparam TFixedImage, TMovingImage images of float or double, of 2 or 3 dimensions.
 * \tparam TOutputTransform a DisplacementFieldTransform of float or double.
 *
 * \sa DiffeomorphicRegistrationMethod, GPUDevice
 * \ingroup GPURegistration
 */
template <typename TFixedImage,
          typename TMovingImage,
          typename TOutputTransform = DisplacementFieldTransform<double, TFixedImage::ImageDimension>,
          typename TVirtualImage = TFixedImage,
          typename TPointSet = PointSet<unsigned int, TFixedImage::ImageDimension>>
class ITK_TEMPLATE_EXPORT GPUSyNImageRegistrationMethod
  : public SyNImageRegistrationMethod<TFixedImage, TMovingImage, TOutputTransform, TVirtualImage, TPointSet>
{
public:
  itkGPUClassMacro(GPUSyNImageRegistrationMethod,
                   SyNImageRegistrationMethod<TFixedImage, TMovingImage, TOutputTransform, TVirtualImage, TPointSet>);

  using Superclass::ImageDimension;
  using typename Superclass::DisplacementFieldType;
  using typename Superclass::ImageMetricType;
  using typename Superclass::InitialTransformType;
  using typename Superclass::OutputTransformType;
  using typename Superclass::RealType;

  /* The statistics include the upload of the images. */
  itkGPUDeviceMembersMacro(m_Use, m_Statistics);

  /** Sets devices that register together with that of SetDevice(), the first one, for volumes that one device takes too long for, or that
   * it does not hold. The first device holds about three quarters of what one would, and the others two thirds. Of two devices each moves
   * one of the images and holds the fields of its side, and the first one has all fields in the end. Of four devices, or six, and so on,
   * half of them move one image each, and cut its fields into slabs of planes: they take one pair of images of three dimensions with the
   * correlation over neighborhoods. On devices of one kind the fields have the bits of one device; on four and more, sums over
   * neighborhoods may differ by a last digit. Where fewer devices register something together, the first ones do, after a warning: two of
   * three, and of four with another metric.
   *
   * Middle transforms can be read before and after Update(), and not at its events, where programs that hold them find them as they were;
   * an observer changes settings at the first event of Update() alone, before the first level. A getter that is called at an event throws a
   * GPUUnsupportedError, and so does Update() where settings change later; an override warns, and ITK's code begins again. Statistics are
   * those of the first device and of the uploads to all; kernel times are measured where there is one device. Default: none, which means
   * one device.
   * \sa gpureg::TeamRegistration */
  itkGPUFurtherDevicesMembersMacro(m_Use);

#ifndef ITK_WRAPPING_PARSER
  /** Plans what Update() would hold on each device, that of SetDevice() first, as DeviceRegistrationMethod::GetMemoryPlans() does, for
   * images that have their pixels. Update() throws itk::GPUOutOfMemoryError before it uploads anything if a device has no room for it; an
   * override warns, and ITK's code registers. C++ only.
   * \throws itk::GPUUnsupportedError if ITK's code would register; itk::GPUBadInputError if an observer of Update() calls this;
   * itk::GPUError as Update() does for settings. */
  std::vector<gpureg::MemoryPlan>
  GetMemoryPlans();
#endif

  /** Returns the most bytes that Update() would hold at once on each device: see DeviceRegistrationMethod::GetPlannedBytes(). */
  std::vector<SizeValueType>
  GetPlannedBytes()
  {
    return GPURegistrationDetail::GetBytes(this->GetMemoryPlans());
  }

  /** Returns the inverse of the deformation that the last Update() has found, on the grid of GetTransform()'s field, as good as it
   * becomes: it undoes the deformation to 1e-4 voxels at each voxel at which that does not fold. The device computes it, by Newton's
   * method, from the inverse that GetTransform() has, which stays as it is: ITK's. Each call computes it again.
   * \throws itk::GPUBadInputError before Update(), or where ITK's code has computed the last one. */
  typename DisplacementFieldType::Pointer
  GetRefinedInverse() const;

  /** Returns how well the last GetRefinedInverse() undoes the deformation, in voxels; zeros if there was none since Update(). */
  const gpureg::InverseErrors &
  GetInverseErrors() const
  {
    return m_InverseErrors;
  }

  OutputTransformType *
  GetModifiableFixedToMiddleTransform() override
  {
    this->DownloadMiddle();
    return Superclass::GetModifiableFixedToMiddleTransform();
  }
  const OutputTransformType *
  GetFixedToMiddleTransform() const override
  {
    this->DownloadMiddle();
    return Superclass::GetFixedToMiddleTransform();
  }
  OutputTransformType *
  GetModifiableMovingToMiddleTransform() override
  {
    this->DownloadMiddle();
    return Superclass::GetModifiableMovingToMiddleTransform();
  }
  const OutputTransformType *
  GetMovingToMiddleTransform() const override
  {
    this->DownloadMiddle();
    return Superclass::GetMovingToMiddleTransform();
  }
#ifndef ITK_FUTURE_LEGACY_REMOVE
  OutputTransformType *
  GetFixedToMiddleTransform() override
  {
    return this->GetModifiableFixedToMiddleTransform();
  }
  OutputTransformType *
  GetMovingToMiddleTransform() override
  {
    return this->GetModifiableMovingToMiddleTransform();
  }
#endif
  void
  SetFixedToMiddleTransform(OutputTransformType * transform) override
  {
    this->DownloadMiddle();
    Superclass::SetFixedToMiddleTransform(transform);
  }
  void
  SetMovingToMiddleTransform(OutputTransformType * transform) override
  {
    this->DownloadMiddle();
    Superclass::SetMovingToMiddleTransform(transform);
  }

protected:
  GPUSyNImageRegistrationMethod() = default;
  ~GPUSyNImageRegistrationMethod() override = default;

  /** Makes this object replace ITK's class: see GPUOverride. */
  void
  OverrideParent()
  {
    m_Use.OverrideParent();
  }

  void
  PrintSelf(std::ostream & os, Indent indent) const override;

  void
  GenerateData() override;

private:
  static constexpr char NoMiddleYet[] =
    "an observer asks for a middle transform, which several devices have when Update() "
    "returns. Ask for it then, or set no further devices";

  using ImageBaseType = ImageBase<ImageDimension>;
  /** From fixed to middle, back, from moving to middle, and back. */
  using MiddleFields = std::array<typename DisplacementFieldType::Pointer, 4>;
  using ConvergenceType = Function::WindowConvergenceMonitoringFunction<RealType>;

  /** Returns the metric, or the metrics of a multi-metric, one for each pair of images; none if one is not a metric of images. */
  std::vector<ImageMetricType *>
  FindImageMetrics() const;

  /** Returns the weights of the metrics as they are given, which are equal by default. */
  std::vector<double>
  GetWeights() const;

  /** Returns the settings of all metrics as the engine takes them, without images. */
  std::vector<gpureg::FurtherPair>
  MakePairs() const;

  /** Returns what the engine registers, for each device.
   *  \param pairs what MakePairs() returns.
   *  \param images none yet; the images of all pairs are added. */
  std::vector<gpureg::DiffeomorphicProblem>
  MakeProblems(const std::vector<gpureg::FurtherPair> & pairs, GPURegistrationDetail::RegisteredImages & images) const;

  /** Returns true if the weights, and the metrics beside the first one, are those that the registration began with. */
  bool
  HasFurtherPairs() const;

  /** Return a sentence on what a device does not compute, or an empty text: of all, of the inputs, and of the levels. */
  std::string
  FindUnsupportedFeature();
  std::string
  FindUnsupportedInput() const;
  std::string
  FindUnsupportedLevel() const;

  /** Returns the names of the devices to register on: the device and the further ones, or, after a warning, as many of these as register
   *  together. */
  std::vector<std::string>
  ChooseDevices() const;

  /** Returns a middle transform as the engine takes it. */
  static gpureg::MiddleState
  MakeState(const OutputTransformType & transform);

  /** Throws GPUBadInputError for what ITK's code would crash on: a metric, a mask, pixels or a level's settings that are missing. */
  void
  CheckInputs() const;

  /** Throws GPUBadInputError unless there is a metric, and its masks are images. */
  void
  CheckMetrics() const;

  /** Throws GPUBadInputError unless there are levels, and each of them has its settings. */
  void
  CheckLevels() const;

  /** Throws GPUBadInputError unless a registration that continues has fields to continue from. */
  void
  CheckState() const;

  /** Returns an initial transform as the engine takes it, the identity if transform is null; false in isKnown if the engine has no such
   *  transform. */
  static gpureg::TransformChain
  MakeChain(const InitialTransformType * transform, bool & isKnown);

  /** Returns an image without pixels that has the virtual domain's grid at a level. */
  typename ImageBaseType::Pointer
  MakeLevelGrid(SizeValueType level) const;

  gpureg::DiffeomorphicSettings
  MakeSettings() const;

  void
  RegisterOnDevice();

  /** Begin a level as ITK does, and end an iteration with a value of the metric. Read the settings again if an observer has changed
   *  them. */
  void
  BeginLevel(SizeValueType level, gpureg::DiffeomorphicSettings & settings);
  void
  EndIteration(SizeValueType iteration, double value, gpureg::DiffeomorphicSettings & settings);

  /** Invokes an event; reads the settings again if an observer has changed them.
   *  \throws ProcessAborted if an observer aborts.
   *  \throws gpureg::UnsupportedError if an observer has changed what the device does not read again. */
  void
  Invoke(const EventObject & event, gpureg::DiffeomorphicSettings & settings);

  /** Return what the device has read: images, masks and initial transforms; and the middle transforms as the host has them. */
  gpureg::Source
  MakeInputSource() const;
  gpureg::Source
  MakeMiddleSource() const;

  /** Remembers a source, with a hash if its key is not trusted. */
  void
  Remember(gpureg::ResidentSource & resident, const gpureg::Source & source) const;

  /** Throws gpureg::UnsupportedError if an observer has changed what the device has read. Time stamps reveal it, and hashes if they are not
   *  trusted.
   *  \param looksAtImages false to look at the images' time stamps alone. */
  void
  CheckUnchanged(bool looksAtImages) const;

  /** Allocates a field on the grid of the current level. */
  typename DisplacementFieldType::Pointer
  MakeField() const;

  /** Downloads a field, which has the grid of the current level. */
  typename DisplacementFieldType::Pointer
  Download(gpureg::DeformationField field) const;

  /** Returns the middle transforms' fields; null if there are no transforms. */
  MiddleFields
  GetMiddleFields() const;
  void
  SetMiddleFields(const MiddleFields & fields) const;

  /** Downloads the fields of the middle transforms, unless they have them.
   *  \throws GPUUnsupportedError while several devices are at work. */
  void
  DownloadMiddle() const;

  /** Downloads them if somebody else holds a middle transform, which ITK would fill at each iteration, unless several devices are at
   *  work. */
  void
  DownloadMiddleIfHeld() const;

  GPURegistrationDetail::DeviceUse                            m_Use;
  gpureg::EvaluationStatistics                                m_Statistics;
  std::unique_ptr<GPURegistrationDetail::DiffeomorphicEngine> m_Engine;
  std::vector<gpureg::FurtherPair>  m_Pairs; // that the registration began with, without images
  typename ConvergenceType::Pointer m_Convergence;
  typename ImageBaseType::Pointer   m_Grid; // of the engine's fields
  mutable bool                      m_IsMiddleOnDevice{ false };
  gpureg::ResidentSource            m_Inputs;                // that the device has read; none before the first event
  mutable gpureg::ResidentSource    m_Middle;                // the middle transforms as the host has got them last
  bool                              m_IsObserved{ false };   // an observer may change something at an event
  bool                              m_Continues{ false };    // from middle transforms
  bool                              m_HasResult{ false };    // the engine has that of the last Update()
  bool                              m_IsTeamAtWork{ false }; // several devices register
  bool                              m_IsUpdating{ false };   // GenerateData() is at work
  mutable gpureg::InverseErrors     m_InverseErrors;
};

} // namespace itk

#ifndef ITK_MANUAL_INSTANTIATION
#  include "itkGPUSyNImageRegistrationMethod.hxx"
#endif

#endif
