// SPDX-License-Identifier: Apache-2.0
#ifndef itkGPURegistrationFactory_h
#define itkGPURegistrationFactory_h

#include "GPURegistrationExport.h"

#include "itkObjectFactoryBase.h"
#include "itkVersion.h"

#include <atomic>
#include <string>
#include <typeinfo>
#include <vector>

namespace itk
{

#ifndef ITK_WRAPPING_PARSER
/** \class GPUOverride
 * \brief Overrides ITK's class TBase: the object that a program gets when it asks for a TBase.
 *
 * The override has ITK's class name, which programs, such as ITK's own tests, read; Print() shows the device. It does not fail where
 * ITK's class would work: if a device fails, it warns once and lets its parent class do the work. It also sees every change that ITK's
 * class would see, as it uses data on a device only after a proof that the host's is unchanged: see GPUResampleImageFilter. Two throw
 * instead: that of ImageRegistrationMethodv4, if a program changes smoothed images or drawn points, which ITK has as constant; and a filter
 * that runs in place, if the device fails while it writes, since its input is lost then.
 *
 * \ingroup GPURegistration
 */
template <typename TBase, typename TOverride>
class GPUOverride : public TOverride
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(GPUOverride);

  using Self = GPUOverride;
  using Superclass = TOverride;
  using Pointer = SmartPointer<Self>;
  using ConstPointer = SmartPointer<const Self>;

  itkFactorylessNewMacro(Self);

  const char *
  GetNameOfClass() const override
  {
    return this->TBase::GetNameOfClass();
  }

protected:
  GPUOverride()
  {
    this->OverrideParent();
  }
  ~GPUOverride() override = default;
};
#endif

/** \class GPURegistrationFactory
 * \brief Replaces ITK's filters, metrics and registration methods by this module's, in a program that does not name this module.
 *
 * After RegisterAll(), New() of itk::ResampleImageFilter and of the other classes in GetClassNames() returns this module's class, on
 * the default device (GPUDevice::GetDefault(), the environment variable ITK_GPU_DEVICE), under the name of ITK's class. If there is no
 * such device, each class warns once, and New() returns ITK's own class. A plugin does the same without a line of code: set the
 * environment variable ITK_AUTOLOAD_PATH to the folder of GPURegistrationPlugin, in a program that is linked to ITK's shared libraries.
 *
 * A factory replaces one instance of a template at a time. In two and three dimensions the factories replace:
 * - for ResampleImageFilter, images of every scalar type but long double to the same type, of unsigned char and short to float and
 *   back, of vectors of floats and doubles, of RGB pixels, and VectorImage of unsigned char and of float; with transforms of float,
 *   images of float, of unsigned char and of vectors of floats;
 * - for the metrics, images of float and of double with double as TInternalComputationValueType, and images of float with float; either
 *   is computed in double;
 * - for SyNImageRegistrationMethod, images of float and of double with displacement fields of double, and images of float with those of
 *   float;
 * - for ImageRegistrationMethodv4, the same images with transforms of the same numbers: Euler2DTransform, Euler3DTransform,
 *   Similarity2DTransform, Similarity3DTransform, AffineTransform, TranslationTransform, and Transform, the default;
 * - for the other filters, images of float and double to the same type, and of unsigned char, short, unsigned short, int and unsigned
 *   int to the same type and to float; for BSplineDecompositionImageFilter, these integer types to double, and float to float.
 *
 * New() of any other instance returns ITK's own class; a program can name this module's class to get it.
 *
 * \code
 * itk::GPURegistrationFactory::RegisterAll();
 * itk::GPURegistrationFactory::RegisterClass("ResampleImageFilter"); // or one of them alone
 * \endcode
 *
 * \ingroup GPURegistration
 */
class GPURegistration_EXPORT GPURegistrationFactory : public ObjectFactoryBase
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(GPURegistrationFactory);

  using Self = GPURegistrationFactory;
  using Superclass = ObjectFactoryBase;
  using Pointer = SmartPointer<Self>;
  using ConstPointer = SmartPointer<const Self>;

  const char *
  GetNameOfClass() const override
  {
    return "GPURegistrationFactory";
  }

  const char *
  GetITKSourceVersion() const override
  {
    return ITK_SOURCE_VERSION;
  }

  const char *
  GetDescription() const override;

  /** Creates a factory for one class, or for all classes if className is empty, without registering it.
   * \throws itk::ExceptionObject if there is no such class; the message lists the classes. */
  static Pointer
  Create(const std::string & className);

  /** Returns the names of the replaced classes: "ResampleImageFilter", … */
  static std::vector<std::string>
  GetClassNames();

  /** Registers the factories of all classes, before all factories that are registered already. A class that is registered stays
   * registered. */
  static void
  RegisterAll();

  /** Registers the factory of one class, before all factories that are registered already.
   * \throws itk::ExceptionObject if there is no such class; the message lists the classes. */
  static void
  RegisterClass(const std::string & className);

  /** Unregisters all that RegisterAll() and RegisterClass() registered. Existing objects do not change. */
  static void
  UnRegisterAll();

#ifndef ITK_WRAPPING_PARSER
  /** Makes New() of TBase return a TOverride. The files that list the types call this function. */
  template <typename TBase, typename TOverride>
  void
  Override()
  {
    this->RegisterOverride(typeid(TBase).name(),
                           typeid(TOverride).name(),
                           "computed by GPURegistration",
                           true,
                           CreateObjectFunction<GPUOverride<TBase, TOverride>>::New());
  }
#endif

protected:
  GPURegistrationFactory() = default;
  ~GPURegistrationFactory() override = default;

  /** Creates an override. Returns null, after a warning, if ITK_GPU_DEVICE names a device that does not exist: the program then gets
   * ITK's own class. */
  LightObject::Pointer
  CreateObject(const char * itkclassname) override;

private:
  std::atomic<bool> m_HasWarned{ false };
};

} // namespace itk

#endif
