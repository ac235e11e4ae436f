// SPDX-License-Identifier: Apache-2.0
// Declares the members that this module's classes have in common. They are macros, as ITK's own for members: SWIG leaves out a base
// class that is not wrapped, so that with such a class between ours and ITK's, Python would lose what ours inherit.
#ifndef itkGPUMembers_h
#define itkGPUMembers_h

#include "GPURegistrationDetail/core/itkGPUDeviceUse.h"

#include <vector>

/** Declares what each class declares about itself: Self, Superclass and their pointers, New() and GetNameOfClass(). Objects are not copied.
 *  Public.
 *  \param name the class; its parent class follows. */
#define itkGPUClassMacro(name, ...)              \
  ITK_DISALLOW_COPY_AND_MOVE(name);              \
  using Self = name;                             \
  using Superclass = __VA_ARGS__;                \
  using Pointer = SmartPointer<Self>;            \
  using ConstPointer = SmartPointer<const Self>; \
  itkNewMacro(Self);                             \
  const char * GetNameOfClass() const override   \
  {                                              \
    return #name;                                \
  }                                              \
  ITK_MACROEND_NOOP_STATEMENT

/** Declares the members for statistics, except for Python, where their types are not wrapped. */
#ifdef ITK_WRAPPING_PARSER
#  define itkGPUStatisticsMembersMacro(use, statistics)
#else
#  define itkGPUStatisticsMembersMacro(use, statistics)                                       \
    /** Returns launches, copies, allocations and times of the last operation on a device. */ \
    gpureg::EvaluationStatistics GetEvaluationStatistics() const                              \
    {                                                                                         \
      return statistics;                                                                      \
    }                                                                                         \
    /** Measures kernel times from the next operation on. */                                  \
    void SetMeasuresKernelTime(bool on)                                                       \
    {                                                                                         \
      use.SetMeasuresKernelTime(on);                                                          \
    }
#endif

/** Declares the public members of a class that computes on a device.
 *  \param use its GPURegistrationDetail::DeviceUse.
 *  \param statistics an expression for the statistics of its last operation. */
#define itkGPUDeviceMembersMacro(use, statistics)                                                                   \
  /** Sets the device, from the next operation on. Default: GPUDevice::GetDefault() of when the object was made. */ \
  void SetDevice(const GPUDevice & device)                                                                          \
  {                                                                                                                 \
    use.SetDevice(*this, device);                                                                                   \
  }                                                                                                                 \
  const GPUDevice & GetDevice() const                                                                               \
  {                                                                                                                 \
    return use.GetDevice();                                                                                         \
  }                                                                                                                 \
  itkGPUStatisticsMembersMacro(use, statistics)

/** Declares SetFurtherDevices(const std::vector<GPUDevice> &) and GetFurtherDevices(): the devices that compute together with GetDevice(),
 *  from the next operation on. The class documents them.
 *  \param use the class's GPURegistrationDetail::DeviceUse. */
#define itkGPUFurtherDevicesMembersMacro(use)                    \
  void SetFurtherDevices(const std::vector<GPUDevice> & devices) \
  {                                                              \
    use.SetFurtherDevices(*this, devices);                       \
  }                                                              \
  std::vector<GPUDevice> GetFurtherDevices() const               \
  {                                                              \
    return use.GetFurtherDevices();                              \
  }                                                              \
  ITK_MACROEND_NOOP_STATEMENT

/** Declares SetTrustsTimeStamps(bool), GetTrustsTimeStamps(), TrustsTimeStampsOn() and TrustsTimeStampsOff(): whether data on the
 *  device counts as unchanged as long as no time stamp of the host's objects changes. On, the default: a program that changes pixels in
 *  place must call Modified() on the image. Off: the host's bytes are hashed before the device's copy is used again. Overrides of ITK's
 *  classes have it off.
 *  \param use the class's GPURegistrationDetail::DeviceUse. */
#define itkGPUTimeStampMembersMacro(use) \
  void SetTrustsTimeStamps(bool on)      \
  {                                      \
    use.SetTrustsTimeStamps(on);         \
  }                                      \
  bool GetTrustsTimeStamps() const       \
  {                                      \
    return use.TrustsTimeStamps();       \
  }                                      \
  itkBooleanMacro(TrustsTimeStamps)

/** Declares the members of a filter on volumes: the public members above; the protected constructor and destructor, OverrideParent()
 *  (see GPUOverride), PrintSelf() and GenerateData(); and the private engine and GenerateDataOnDevice(), which the filter defines. The
 *  access is private afterwards.
 *  \param name the filter's class.
 *  \param engine the member that is the filter's GPUVolume::Engine.
 *  \param unsupported says that a device does not filter images of these types.
 *  \param advice says what to do if memory is short. */
// clang-format off
#define itkGPUVolumeFilterMembersMacro(name, engine, unsupported, advice) \
  itkGPUDeviceMembersMacro(engine, engine.GetStatistics())        \
protected:                                                        \
  name() = default;                                               \
  ~name() override = default;                                     \
  void OverrideParent()                                         \
  {                                                               \
    engine.OverrideParent();                                    \
  }                                                               \
  void PrintSelf(std::ostream & os, Indent indent) const override \
  {                                                               \
    Superclass::PrintSelf(os, indent);                            \
    engine.Print(os, indent);                                     \
  }                                                               \
  void GenerateData() override                                    \
  {                                                               \
    engine.Generate(*this, unsupported, advice, [this] {                 \
      Superclass::GenerateData();                                 \
    });                                                           \
  }                                                               \
                                                                  \
private:                                                          \
  friend class GPUVolume::Engine;                                 \
  void GenerateDataOnDevice();                                    \
  GPUVolume::Engine engine
// clang-format on

#endif
