// SPDX-License-Identifier: Apache-2.0
#ifndef itkDeformableRegistrationMethod_h
#define itkDeformableRegistrationMethod_h

#include "itkDeviceRegistrationMethod.h"

#include "gpureg/core/Key.h"
#include "gpureg/core/ParallelFor.h"
#include "gpureg/field/FieldInverter.h"
#include "gpureg/image/LoadedImage.h"
#include "gpureg/runtime/EngineUser.h"
#include "gpureg/transform/TransformChain.h"

#include "itkCompositeTransform.h"
#include "itkDisplacementFieldTransform.h"
#include "itkImage.h"
#include "itkVector.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace itk
{

/** \class DeformableRegistrationMethod
 * \brief Base class of the methods of which the result is a deformation, in front of the initial transform.
 *
 * The output maps points of the fixed image first by the deformation and then by the initial transform, if there is one: a
 * CompositeTransform of both.
 *
 * \sa FreeFormDeformationRegistrationMethod, DiffeomorphicRegistrationMethod
 * \ingroup GPURegistration
 */
template <typename TFixedImage, typename TMovingImage>
class ITK_TEMPLATE_EXPORT DeformableRegistrationMethod : public DeviceRegistrationMethod<TFixedImage, TMovingImage>
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(DeformableRegistrationMethod);

  using Self = DeformableRegistrationMethod;
  using Superclass = DeviceRegistrationMethod<TFixedImage, TMovingImage>;
  using Pointer = SmartPointer<Self>;
  using ConstPointer = SmartPointer<const Self>;

  const char *
  GetNameOfClass() const override
  {
    return "DeformableRegistrationMethod";
  }

  using Superclass::ImageDimension;
  using typename Superclass::FixedImageType;
  using typename Superclass::MovingImageType;
  using typename Superclass::TransformType;
  using CompositeType = CompositeTransform<double, ImageDimension>;
  using DisplacementFieldType = Image<Vector<double, ImageDimension>, ImageDimension>;
  using DisplacementFieldTransformType = DisplacementFieldTransform<double, ImageDimension>;

  /** Returns the moving image in the fixed image's space, interpolated linearly, and 0 outside the moving image. A moving image of
   * floats or doubles is still on the device, and is not uploaded again unless a time stamp has changed.
   * \throws itk::GPUBadInputError before Update(). */
  typename MovingImageType::Pointer
  GetWarpedImage() const;

  /** Returns the displacement in mm of each voxel of the fixed image by GetTransform().
   * \throws itk::GPUBadInputError before Update(). */
  typename DisplacementFieldType::Pointer
  GetDisplacementField() const;

  /** Returns the inverse of GetTransform(): it maps points of the moving image to points of the fixed image. The deformation's part of it
   * is a DisplacementFieldTransform on the fixed image's grid, computed by Newton's method at each voxel, which begins with the inverse
   * that the registration has found, if it has. Behind it stands the initial transform's own inverse, if it has one. B-splines and
   * displacement fields without one are inverted in the same way, a B-spline in steps of a fifth of its control points' distance. Each call
   * computes all again.
   * \throws itk::GPUBadInputError before Update().
   * \throws itk::GPUUnsupportedError if the initial transform has a singular matrix, or a B-spline with a bulk transform. */
  typename TransformType::Pointer
  GetInverseTransform() const;

  /** Returns how well the last GetInverseTransform() undoes the deformation, in voxels of the fixed image. */
  const gpureg::InverseErrors &
  GetInverseErrors() const
  {
    return m_InverseErrors;
  }

  /** Returns how well the last GetInverseTransform() undoes each deformation in the initial transform that knows no inverse, in voxels of
   * the inverse's own grid, in the order in which their inverses are applied. */
  const std::vector<gpureg::InverseErrors> &
  GetInitialInverseErrors() const
  {
    return m_InitialInverseErrors;
  }

  /** Return the level, 0 being the coarsest, and the iteration of the current registration, for observers of iteration events. */
  itkGetConstMacro(CurrentLevel, unsigned int);
  itkGetConstMacro(CurrentIteration, unsigned int);

protected:
  DeformableRegistrationMethod() = default;
  ~DeformableRegistrationMethod() override = default;

  /** Takes displacements in mm, float[3] a voxel of the fixed image, from several threads at once. */
  using Taker = std::function<void(std::int64_t first, std::int64_t count, const float * in)>;

  /** Passes the deformation, without the initial transform, to take. */
  virtual void
  TakeDisplacements(const Taker & take, const gpureg::ParallelFor & parallelFor) const = 0;

  /** Computes the inverse of the deformation, without the initial transform, on a field's grid, which is the fixed image's, and returns how
   * well it undoes the deformation. Newton's method computes it from the deformation, unless a derived class has another way. */
  virtual gpureg::InverseErrors
  ComputeInverse(DisplacementFieldType & field, const gpureg::ParallelFor & parallelFor) const;

  /** Forgets the last result, remembers what is registered, and calls RegisterDeformation(). */
  void
  RegisterImages() override;

  /** Registers the images by RegisterOnDevice(), and sets the result by SetDeformation(). */
  virtual void
  RegisterDeformation() = 0;

  /** Registers the images as RegisterBy() does, stores the level and the iteration before each event, and keeps the moving image on the
   * device for GetWarpedImage(). */
  template <typename TEngine, typename TProblem, typename TSettings, typename TOnProgress>
  auto
  RegisterOnDevice(std::unique_ptr<TEngine> &                engine,
                   GPURegistrationDetail::RegisteredImages & images,
                   TProblem &                                problem,
                   const TSettings &                         settings,
                   const TOnProgress &                       onProgress);

  /** Returns the initial transform as the engine takes it; empty if there is none.
   * \throws itk::GPUUnsupportedError if it is not made of linear transforms, B-splines and displacement fields. */
  gpureg::TransformChain
  MakeInitialChain() const;

  /** Sets the output: the deformation, and behind it the initial transform. */
  void
  SetDeformation(TransformType * deformation);

  /** Throws itk::GPUBadInputError unless there is a result for the fixed image, on the grid that it has. */
  void
  CheckIsRegistered() const;

  /** Allocates a field on the registered image's grid. */
  typename DisplacementFieldType::Pointer
  MakeField() const;

  /** Returns the result of a level.
   * \throws itk::GPUBadInputError if there is no such level. */
  template <typename TLevelResult>
  const TLevelResult &
  GetLevelResult(const std::vector<TLevelResult> & levels, unsigned int level) const;

  void
  PrintSelf(std::ostream & os, Indent indent) const override;

  gpureg::ParallelFor
  MakeParallelFor() const;

private:
  using GridType = ImageBase<ImageDimension>;

  /** Holds the registered moving image on the device, if it is of floats or doubles; m_MovingKey identifies its voxels. */
  std::unique_ptr<gpureg::LoadedImage>              m_Moving;
  gpureg::Key                                       m_MovingKey;
  typename FixedImageType::ConstPointer             m_Registered;            // the fixed image of the result
  typename GridType::Pointer                        m_RegisteredGrid;        // its grid, since a program may move it
  typename TransformType::ConstPointer              m_RegisteredDeformation; // the result without the initial transform
  typename TransformType::ConstPointer              m_RegisteredFrom;        // the initial transform of the result
  mutable gpureg::EngineUser<gpureg::FieldInverter> m_Inverter;
  mutable gpureg::InverseErrors                     m_InverseErrors;
  mutable std::vector<gpureg::InverseErrors>        m_InitialInverseErrors;
  unsigned int                                      m_CurrentLevel{ 0 };
  unsigned int                                      m_CurrentIteration{ 0 };
};

} // namespace itk

#ifndef ITK_MANUAL_INSTANTIATION
#  include "itkDeformableRegistrationMethod.hxx"
#endif

#endif
