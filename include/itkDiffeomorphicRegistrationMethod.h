// SPDX-License-Identifier: Apache-2.0
#ifndef itkDiffeomorphicRegistrationMethod_h
#define itkDiffeomorphicRegistrationMethod_h

#include "GPURegistrationDetail/registration/itkGPUDiffeomorphicEngine.h"
#include "GPURegistrationDetail/registration/itkGPURegistrationMethod.h"
#include "itkDeformableRegistrationMethod.h"
#include "itkRegistrationImagePair.h"

#include "gpureg/registration/diffeomorphic/DiffeomorphicRegistration.h"
#include "gpureg/registration/free_form/FreeFormChoices.h"

#include "itkArray.h"

#include <memory>
#include <vector>

namespace itk
{

/** \class DiffeomorphicRegistrationMethod
 * \brief Registers two images by a displacement for each voxel, on one device from the images to the transform.
 *
 * By default the scheme is greedy (Avants 2008; Yushkevich 2016): each iteration computes the gradient of the similarity, smooths it to an
 * update v, scales v so that its longest vector has the length of a step, composes the field u with it,
 * \f[ u(x) \leftarrow v(x) + u(x + v(x)), \f]
 * and smooths the field. The default similarity, the local correlation, is the mean over the boxes around all voxels of \f$ c|c|/(F\,M)
 * \f$, with c the covariance of the fixed and the moving values in a box and F and M their variances; its gradient is exact. A composition
 * of small invertible steps is invertible: the field does not fold unless it is smoothed too little for its steps.
 *
 * The scheme "Velocity" finds a stationary velocity v, of which the exponential is the deformation, and the exponential of -v its inverse
 * (Arsigny 2006; Vercauteren 2008). Both images move to the middle, the fixed one along exp(-v/2) and the moving one along exp(v/2); the
 * derivatives of the similarity by the points of either image, as SyN has them (Avants 2008), are smoothed, scaled to half a step each, and
 * their difference d is added, \f$ v \leftarrow v + d \f$, and v is smoothed. Exchanged images have the inverse deformation. The local
 * correlation is the mean of \f$ c^2/(F\,M) \f$ here, which does not ask whether both images have the same contrast.
 *
 * \code
 * auto method = itk::DiffeomorphicRegistrationMethod<Image, Image>::New();
 * method->SetFixedImage(fixed);
 * method->SetMovingImage(moving);
 * method->SetInitialTransform(affine); // from points of the fixed image to those of the moving one
 * method->Update();
 * method->GetTransform();              // the deformation, followed by the initial transform
 * method->GetInverseTransform();
 * method->GetWarpedImage();
 * \endcode
 *
 * The initial transform follows the deformation: a linear transform, B-spline, displacement field, or composite of these. Without one,
 * GetTransform() is a DisplacementFieldTransform on the fixed image's grid; with one, it is a composite of that and the initial transform.
 *
 * AddImagePair() adds further images, which the one deformation aligns too. Each similarity's derivative is divided by its magnitude over
 * all voxels and multiplied by its weight, as in ObjectToObjectMultiMetricv4. Greedily the cost is the weighted mean of the similarities'
 * costs; of a velocity it is that of the method's own images.
 *
 * Images have scalar pixels of any type, in 2D or 3D; the method computes in float. Pixels of 8 and 16 bits stay so on the device, with
 * the results of floats, to the bit; GetMemoryPlans() says how much memory a registration takes. An iteration event precedes each
 * iteration; at that moment the device may not have finished the iterations of the last 40 ms, or the last two iterations. Progress
 * events give the share of the work that is done. AbortGenerateDataOn() ends the work with an itk::ProcessAborted.
 *
 * Large volumes can be registered on several devices together, greedily: see SetFurtherDevices().
 *
 * \throws itk::GPUBadInputError for settings out of range, constant images, values that are not finite, or if no voxel of the fixed
 * image maps into the moving image; itk::GPUUnsupportedError for an initial transform of another kind, and for what several devices do
 * not register together;
 * itk::GPUOutOfMemoryError if the device or the host has too little memory.
 *
 * \ingroup GPURegistration
 */
template <typename TFixedImage, typename TMovingImage>
class ITK_TEMPLATE_EXPORT DiffeomorphicRegistrationMethod
  : public DeformableRegistrationMethod<TFixedImage, TMovingImage>
{
public:
  itkGPUClassMacro(DiffeomorphicRegistrationMethod, DeformableRegistrationMethod<TFixedImage, TMovingImage>);

  using Superclass::ImageDimension;
  using typename Superclass::DisplacementFieldTransformType;
  using typename Superclass::FixedImageType;
  using typename Superclass::MovingImageType;
  using typename Superclass::TransformType;
  using IterationsType = Array<unsigned int>;
  using OptimizerWeightsType = Array<double>;
  using SimilarityEnum = gpureg::SimilarityKind;
  using ImagePairType = RegistrationImagePair<TFixedImage, TMovingImage>;
  using SchemeEnum = gpureg::DiffeomorphicScheme;
  using OptimizerEnum = gpureg::DiffeomorphicOptimizer;
  using SmoothingEnum = gpureg::DiffeomorphicSmoothing;

  /** Sets devices that register together with that of SetDevice(), the first one: for volumes that one device has too little memory for, or
   * takes too long for. Each device computes a slab of planes of the deformation, and holds both images; a level is cut if each device gets
   * 32 planes of it, or more with larger sigmas, radii or steps, and otherwise computed by every device. On devices of one kind the
   * deformation has the bits of one device by the neighborhood correlation. By other similarities, with added pairs, or if the initial
   * transform deforms, sums are rounded differently: by a correlation it may be 1e-2 voxels from it, else some 1e-5.
   *
   * Several devices register images of three dimensions by the greedy scheme with discrete Gaussians; with other settings Update() throws
   * itk::GPUUnsupportedError. The inverse and the warped image are computed by the first device. Statistics are those of the first device
   * and of the uploads to all; kernel times are measured where there is one device. Default: none, which means one device.
   * \sa gpureg::TeamRegistration */
  itkGPUFurtherDevicesMembersMacro(this->m_Use);

  /** Sets the scheme, as an enumerator or by its name: "Greedy" (the default) or "Velocity". Smoothing sigmas that nobody has set become
   * the scheme's own. SyN has a class of its own, and is refused here.
   * \throws itk::GPUBadInputError if no scheme has this name.
   * \sa GPUSyNImageRegistrationMethod */
  virtual void
  SetScheme(SchemeEnum scheme);
  void
  SetScheme(const std::string & choice);
  itkGetEnumMacro(Scheme, SchemeEnum);
  std::string
  GetSchemeName() const
  {
    return gpureg::GetName(m_Scheme);
  }

  /** Sets the similarity, as an enumerator or by its name: "NeighborhoodCorrelation" (the local correlation, the default),
   * "NormalizedMutualInformation", "MattesMutualInformation" or "CorrelationRatio" for two contrasts, "MeanSquares", "Correlation", or
   * "Demons" (mean squares, with the forces of Thirion 1998: greedily along the moving image's gradient, by a velocity along that of each
   * image in turn); see FreeFormDeformationRegistrationMethod::SetSimilarity().
   * \throws itk::GPUBadInputError if no similarity has this name. */
  itkGPUChoiceMacro(Similarity, SimilarityEnum, gpureg::GetFieldSimilarityKind);

  /** Sets the number of bins of a similarity that has bins. Default: 32. */
  itkSetMacro(NumberOfHistogramBins, unsigned int);
  itkGetConstMacro(NumberOfHistogramBins, unsigned int);

  /** Sets the number of iterations at each level, the coarsest first: one number a level, 1 to 6 of them. The finest level has the fixed
   * image's voxels, and voxels are twice as long from level to level. Default: 100, 100, 100, 50. */
  itkSetMacro(NumberOfIterationsPerLevel, IterationsType);
  itkGetConstReferenceMacro(NumberOfIterationsPerLevel, IterationsType);

  /** Sets the radius of the neighborhoods, in a level's voxels, 32 at most: the default, 2, makes them 5 voxels wide along each axis. */
  itkSetMacro(NeighborhoodRadius, unsigned int);
  itkGetConstMacro(NeighborhoodRadius, unsigned int);

  /** Set the standard deviations, in a level's voxels, of the Gaussians that smooth each update, and the field, or the velocity, after it.
   * 0: none; 20 at most. Default: 1.732 and 0.6 greedily, 1.414 and 0.4 by a velocity, whether the scheme is set before or after. A larger
   * one makes the deformation smoother. */
  virtual void
  SetUpdateSmoothingSigma(double sigma);
  itkGetConstMacro(UpdateSmoothingSigma, double);
  virtual void
  SetFieldSmoothingSigma(double sigma);
  itkGetConstMacro(FieldSmoothingSigma, double);

  /** Sets how these Gaussians are computed, as an enumerator or by its name: "Discrete" (the default), with ITK's weights of a discrete
   * Gaussian, or "Recursive", as RecursiveGaussianImageFilter, which takes the same time for any sigma.
   * \throws itk::GPUBadInputError if no smoothing has this name. */
  itkGPUChoiceMacro(Smoothing, SmoothingEnum, gpureg::GetDiffeomorphicSmoothing);

  /** Sets the length of the longest vector of each update, in a level's voxels: above 0, and 5 at most. Default: 1. */
  itkSetMacro(Step, double);
  itkGetConstMacro(Step, double);

  /** Sets how long a step is, as an enumerator or by its name: "LongestVector" (the default: the longest vector of each update has the
   * length Step) or "Adam" (Kingma & Ba 2015: each component's step follows from its past, and is of the length Step at most). Adam is for
   * the greedy scheme.
   * \throws itk::GPUBadInputError if no optimizer has this name. */
  itkGPUChoiceMacro(Optimizer, OptimizerEnum, gpureg::GetDiffeomorphicOptimizer);

  /** Sets the standard deviation of the images' noise, of values scaled from 0 to 1: greedily structure below it counts little in the local
   * correlation. From 0.001 to 1; default: 0.01. It has no effect on a velocity, and on other similarities. */
  itkSetMacro(Noise, double);
  itkGetConstMacro(Noise, double);

  /** Set when a level ends before its last iteration: when the change of its last ConvergenceWindowSize costs, as
   * Function::WindowConvergenceMonitoringFunction has it, is less than ConvergenceThreshold. Window 0, the default: never, and no iteration
   * waits for its cost. Default threshold: 1e-6. */
  itkSetMacro(ConvergenceThreshold, double);
  itkGetConstMacro(ConvergenceThreshold, double);
  itkSetMacro(ConvergenceWindowSize, unsigned int);
  itkGetConstMacro(ConvergenceWindowSize, unsigned int);

  /** Sets factors of each update's components along the physical axes, one an axis: 0 for an axis along which nothing is to move. Empty,
   * the default: 1 each. Adam takes 0 and 1 alone. */
  itkSetMacro(OptimizerWeights, OptimizerWeightsType);
  itkGetConstReferenceMacro(OptimizerWeights, OptimizerWeightsType);

  /** Sets the share that the method's own images have in each update, relative to the weights of further pairs. 0: they change nothing, and
   * give the grid alone. Default: 1. */
  itkSetMacro(Weight, double);
  itkGetConstMacro(Weight, double);

  /** Adds a pair of images that is compared beside the method's own; Update() reads what it then holds. Messages count the method's own
   * images as pair 1, and those that were added from 2 on. */
  void
  AddImagePair(ImagePairType * pair);

  /** Forgets the pairs that were added. */
  void
  ClearImagePairs();

  /** Returns the number of pairs that were added. */
  unsigned int
  GetNumberOfAddedImagePairs() const
  {
    return static_cast<unsigned int>(m_ImagePairs.size());
  }

  /** Connects the images of all pairs to the pipeline. */
  void
  UpdateOutputInformation() override;

  /** Returns the latest modification time of this object and the pairs. */
  ModifiedTimeType
  GetMTime() const override;

  /** Returns the deformation without the initial transform. */
  const DisplacementFieldTransformType *
  GetDeformation() const
  {
    return m_Deformation;
  }

  /** Return what the deformation, without the initial transform, does to volumes: the least determinant of its Jacobian over the fixed
   * image's voxels, the number of voxels at which it is 0 or less, and the standard deviation of the determinants' logarithms. */
  double
  GetSmallestJacobianDeterminant() const
  {
    return m_Result.smallestDeterminant;
  }
  SizeValueType
  GetNumberOfFoldedVoxels() const
  {
    return static_cast<SizeValueType>(m_Result.foldedVoxels);
  }
  double
  GetLogJacobianDeviation() const
  {
    return m_Result.logDeterminantDeviation;
  }

  /** Returns the cost before each iteration of a level; the coarsest level has the number 0.
   *  \throws itk::GPUBadInputError if the last registration had no such level. */
  const std::vector<double> &
  GetCosts(unsigned int level) const;

  /** Returns the seconds of the last registration, without the upload of the images. */
  double
  GetElapsedSeconds() const
  {
    return 1e-3 * m_Result.milliseconds;
  }

protected:
  DiffeomorphicRegistrationMethod();
  ~DiffeomorphicRegistrationMethod() override = default;

  void
  RegisterDeformation() override;
  std::vector<gpureg::MemoryPlan>
  PlanImages(GPURegistrationDetail::RegisteredImages & images) const override;
  void
  TakeDisplacements(const typename Superclass::Taker & take, const gpureg::ParallelFor & parallelFor) const override;
  gpureg::InverseErrors
  ComputeInverse(typename Superclass::DisplacementFieldType & field,
                 const gpureg::ParallelFor &                  parallelFor) const override;
  void
  PrintSelf(std::ostream & os, Indent indent) const override;

private:
  gpureg::DiffeomorphicSettings
  MakeSettings() const;

  /** Returns what the engine registers, for each device, without the method's own images. The images of the pairs that were added are added
   * to images. */
  std::vector<gpureg::DiffeomorphicProblem>
  MakeProblems(GPURegistrationDetail::RegisteredImages & images) const;

  SchemeEnum           m_Scheme;
  SimilarityEnum       m_Similarity;
  unsigned int         m_NumberOfHistogramBins;
  IterationsType       m_NumberOfIterationsPerLevel;
  unsigned int         m_NeighborhoodRadius;
  double               m_UpdateSmoothingSigma;
  double               m_FieldSmoothingSigma;
  bool                 m_HasOwnUpdateSigma = false; // whether somebody has set it
  bool                 m_HasOwnFieldSigma = false;
  double               m_Step;
  SmoothingEnum        m_Smoothing;
  OptimizerEnum        m_Optimizer;
  double               m_Noise;
  double               m_ConvergenceThreshold;
  unsigned int         m_ConvergenceWindowSize;
  OptimizerWeightsType m_OptimizerWeights;
  double               m_Weight;

  std::vector<typename ImagePairType::Pointer> m_ImagePairs;

  std::unique_ptr<GPURegistrationDetail::DiffeomorphicEngine> m_Engine;
  gpureg::DiffeomorphicResult                                 m_Result;
  SchemeEnum                                                  m_RegisteredScheme; // of the result
  typename DisplacementFieldTransformType::Pointer            m_Deformation;
};

} // namespace itk

#ifndef ITK_MANUAL_INSTANTIATION
#  include "itkDiffeomorphicRegistrationMethod.hxx"
#endif

#endif
