// SPDX-License-Identifier: Apache-2.0
// The declaration of group kernels. In C++ and CUDA C++ it makes of a function a type that LaunchGroups() of
// src/engine/runtime/LaunchGroups.h takes. Both preludes include this. In OpenCL C the declaration is empty.
#ifndef gpureg_kernels_GroupKernel_h
#define gpureg_kernels_GroupKernel_h

/** Declares that the lanes of a group work together in a GPUREG_GROUP_FUNCTION: LaunchGroups<FUNCTIONKernel>() runs it in many groups, on
 *  every device but the host, whose passes are plain loops. The function returns nothing. Its first parameters may point to constant
 *  structures, which are passed by value. Each other pointer points to memory of the device; the first of these may not point to constant
 *  structures. If elementsOfRow is not 0, the last parameter points to local memory (GPUREG_LOCAL), which no group shares with another.
 *  lanesOfGroup: the lanes of a group, a power of two and at least 32, unless the device has one number for all kernels; elementsOfRow: the
 *  elements of local memory for each 32 lanes, or GPUREG_LOCAL_OF_LAUNCH; doing: what the groups are doing, for errors. */
#define GPUREG_GROUP_KERNEL(function, lanesOfGroup, elementsOfRow, doing) \
  GPUREG_DEFINE_GROUP_KERNEL(function, function, false, OneVariant, lanesOfGroup, elementsOfRow, doing)

/** Declares the same of a function whose first parameters, int, are constants for the compiler. variants: a structure that says which
 *  values these may have; see OneVariant. In OpenCL C its name is not read. */
#define GPUREG_VARIED_GROUP_KERNEL(function, variants, lanesOfGroup, elementsOfRow, doing) \
  GPUREG_DEFINE_GROUP_KERNEL(function, function, false, variants, lanesOfGroup, elementsOfRow, doing)

/** Declares the same of a GPUREG_REAL_GROUP_FUNCTION whose first parameters are constants. */
#define GPUREG_REAL_GROUP_KERNEL(function, variants, lanesOfGroup, elementsOfRow, doing) \
  GPUREG_DEFINE_GROUP_KERNEL(function, function<real>, true, variants, lanesOfGroup, elementsOfRow, doing)

/** Says that each launch has its own size of local memory; see GroupNumbers. */
#define GPUREG_LOCAL_OF_LAUNCH -1

/** Is defined by a device's source that defines the entry points of all kernels that it includes. */
#ifndef GPUREG_GROUP_ENTRY
#  define GPUREG_GROUP_ENTRY(kernel)
#endif

#define GPUREG_DEFINE_GROUP_KERNEL(function, instance, isReal, variants, lanesOfGroup, elementsOfRow, what) \
  struct function##Kernel                                                                                   \
  {                                                                                                         \
    template <typename real>                                                                                \
    using Signature = decltype(&instance);                                                                  \
    template <typename real, typename... TArguments>                                                        \
    GPUREG_GROUP_MEMBER_FUNCTION void                                                                       \
    Run(TArguments... arguments)                                                                            \
    {                                                                                                       \
      instance(arguments...);                                                                               \
    }                                                                                                       \
    using Variants = variants;                                                                              \
    static constexpr const char * name = #function "Kernel";                                                \
    static constexpr const char * doing = what;                                                             \
    static constexpr int          lanes = lanesOfGroup;                                                     \
    static constexpr int          localElements = elementsOfRow;                                            \
    static constexpr bool         isOverReal = isReal;                                                      \
  };                                                                                                        \
  GPUREG_GROUP_ENTRY(function##Kernel)                                                                      \
  struct function##Kernel

GPUREG_NAMESPACE_BEGIN

/** Stands for the variants of a kernel that has no constants; other structures of variants have the same members. */
struct OneVariant
{
  /** The number of constants. */
  static constexpr int constants = 0;
  /** The constants of each variant that is compiled beforehand. AnyConstant fits all numbers that none of the variants before it has. */
  static constexpr int values[1][1] = { { 0 } };
  /** Says that on a processor one kernel, which looks the constants up at run time, serves all variants: compiling each would take longer
   *  than it ever saves. */
  static constexpr bool areLookedUp = false;
};

enum
{
  /** No kernel has it as a constant of its own. */
  AnyConstant = -1000
};

GPUREG_NAMESPACE_END

#endif
