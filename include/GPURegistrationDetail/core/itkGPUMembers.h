// SPDX-License-Identifier: Apache-2.0
// Members that classes of this module have in common. Macros, as ITK's own for members: a base class between ours and
// ITK's would cost Python what ours inherit, since SWIG leaves out a base that is not wrapped.
#ifndef itkGPUMembers_h
#define itkGPUMembers_h

#include "GPURegistrationDetail/core/itkGPUDeviceUse.h"

/** How often a device was asked for something, and for how long, is not for Python: its types are not wrapped. */
#ifdef ITK_WRAPPING_PARSER
#  define itkGPUStatisticsMembersMacro(use, statistics)
#else
#  define itkGPUStatisticsMembersMacro(use, statistics)                         \
    /** Launches, copies, allocations and times of the last work on a device */ \
    gpureg::EvaluationStatistics GetEvaluationStatistics() const                \
    {                                                                           \
      return statistics;                                                        \
    }                                                                           \
    /** Kernel times are measured from the next work on */                      \
    void SetMeasuresKernelTime(bool on)                                         \
    {                                                                           \
      use.SetMeasuresKernelTime(on);                                            \
    }
#endif

/** Public members of a class that computes on a device, of which use is its GPURegistrationDetail::DeviceUse, and statistics
 *  an expression for what its last work took. */
#define itkGPUDeviceMembersMacro(use, statistics)                                            \
  /** Where to compute; from the next work on. Default: GPUDevice::GetDefault() when made */ \
  void SetDevice(const GPUDevice & device)                                                   \
  {                                                                                          \
    use.SetDevice(*this, device);                                                            \
  }                                                                                          \
  const GPUDevice & GetDevice() const                                                        \
  {                                                                                          \
    return use.GetDevice();                                                                  \
  }                                                                                          \
  itkGPUStatisticsMembersMacro(use, statistics)

/** Of one that may keep what it was given, SetTrustsTimeStamps(bool), GetTrustsTimeStamps(), TrustsTimeStampsOn() and Off():
 *  whether what lies on the device is taken to be what the host holds for as long as no time stamp tells of a change. On, the
 *  default, whoever changes pixels in place calls Modified() on the image. Off, their bytes are hashed before what lies there
 *  is used again. A class that stands in for ITK's has it off. */
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

/** Of a filter that works on volumes, whose engine is its GPUVolume::Engine: the public members above, and the protected
 *  StandInForParent() (see GPUStandIn), PrintSelf() and GenerateData(), which is declared. Ends as protected. */
// clang-format off
#define itkGPUVolumeFilterMembersMacro(engine)                    \
  itkGPUDeviceMembersMacro(engine, engine.GetStatistics())        \
protected:                                                        \
  void StandInForParent()                                         \
  {                                                               \
    engine.StandInForParent();                                    \
  }                                                               \
  void PrintSelf(std::ostream & os, Indent indent) const override \
  {                                                               \
    Superclass::PrintSelf(os, indent);                            \
    engine.Print(os, indent);                                     \
  }                                                               \
  void GenerateData() override
// clang-format on

#endif
