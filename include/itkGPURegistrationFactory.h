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
/** \class GPUStandIn
 * \brief An override that a program gets in the place of a class that it asked for.
 *
 * It goes by that class' name, which programs, ITK's own tests among them, look at; Print() tells the device. It does not
 * fail where that class works: if a device fails, it warns once and has its parent class do the work. And it sees what
 * that class sees: nothing on a device is taken for the host's without proof, see GPUResampleImageFilter.
 *
 * \ingroup GPURegistration
 */
template <typename TBase, typename TOverride>
class GPUStandIn : public TOverride
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(GPUStandIn);

  using Self = GPUStandIn;
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
  GPUStandIn()
  {
    this->StandInForParent();
  }
  ~GPUStandIn() override = default;
};
#endif

/** \class GPURegistrationFactory
 * \brief Puts this module's filters and metrics in the place of ITK's in a program that knows nothing of them.
 *
 * After RegisterAll(), New() of itk::ResampleImageFilter and of the others in GetClassNames() gives this module's
 * class, on the default device (GPUDevice::GetDefault(), the environment variable ITK_GPU_DEVICE). It goes by the name
 * of ITK's class. If there is no such device, New() warns once for each class, and gives ITK's own class. The same
 * through a plugin, without a line of code: the environment variable ITK_AUTOLOAD_PATH with the folder of
 * GPURegistrationPlugin, in a program that is linked to ITK's shared libraries.
 *
 * A factory replaces one instance of a template at a time. These are, in two and three dimensions:
 * - of ResampleImageFilter, images of every scalar type but long double to the same, of unsigned char and short to
 *   float and back, of vectors of floats and doubles, of RGB pixels, and VectorImage of unsigned char and of float;
 * - of the metrics, images of float and of double, computed in double;
 * - of the other filters, images of float and double to the same, and of unsigned char, short, unsigned short, int and
 *   unsigned int to the same and to float; of BSplineDecompositionImageFilter, these to double, and float to float.
 *
 * New() of any other instance is ITK's own; a program may name this module's class for it.
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

  /** A factory of the class of this name; of all classes if it is empty. Not registered.
   * \throws itk::ExceptionObject if there is no such class; the message lists those there are. */
  static Pointer
  Create(const std::string & className);

  /** "ResampleImageFilter", … */
  static std::vector<std::string>
  GetClassNames();

  /** Registers the factories of all classes, before those that are registered already. A class that is
   * registered stays so. */
  static void
  RegisterAll();

  /** \throws itk::ExceptionObject if there is no such class; the message lists those there are. */
  static void
  RegisterClass(const std::string & className);

  /** Takes back what RegisterAll() and RegisterClass() did. Objects that exist stay what they are. */
  static void
  UnRegisterAll();

#ifndef ITK_WRAPPING_PARSER
  /** New() of TBase gives a TOverride. For the files that list the types. */
  template <typename TBase, typename TOverride>
  void
  Override()
  {
    this->RegisterOverride(typeid(TBase).name(),
                           typeid(TOverride).name(),
                           "computed by GPURegistration",
                           true,
                           CreateObjectFunction<GPUStandIn<TBase, TOverride>>::New());
  }
#endif

protected:
  GPURegistrationFactory() = default;
  ~GPURegistrationFactory() override = default;

  /** Null, after a warning, where ITK_GPU_DEVICE names a device that is not there: the program gets ITK's own class. */
  LightObject::Pointer
  CreateObject(const char * itkclassname) override;

private:
  std::atomic<bool> m_HasWarned{ false };
};

} // namespace itk

#endif
