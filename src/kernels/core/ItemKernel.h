// SPDX-License-Identifier: Apache-2.0
// The declaration of item kernels. In C++ and CUDA C++ it makes of a function a type that ForEachItem() of
// src/engine/runtime/ForEachItem.h takes. Both preludes include this. In OpenCL C the declaration is empty.
#ifndef gpureg_kernels_ItemKernel_h
#define gpureg_kernels_ItemKernel_h

/** Declares that a function computes one item, whose number is its last parameter: ForEachItem<FUNCTIONKernel>() runs it for many, on every
 *  device. The function returns nothing. Its first parameters, up to two, may point to constant structures, which are passed by value. Each
 *  other pointer points to memory of the device; the first of these may not point to constant structures. itemsOfTask: the number of items
 *  that one thread of the host computes at a time; doing: what all of them are doing, for errors. */
#define GPUREG_ITEM_KERNEL(function, itemsOfTask, doing) \
  GPUREG_DEFINE_ITEM_KERNEL(function, function, false, itemsOfTask, doing)

/** Declares the same of a GPUREG_REAL_FUNCTION. */
#define GPUREG_REAL_ITEM_KERNEL(function, itemsOfTask, doing) \
  GPUREG_DEFINE_ITEM_KERNEL(function, function<real>, true, itemsOfTask, doing)

/** Is defined by a device's source that defines the entry points of all kernels that it includes. */
#ifndef GPUREG_ITEM_ENTRY
#  define GPUREG_ITEM_ENTRY(kernel)
#endif

#define GPUREG_DEFINE_ITEM_KERNEL(function, instance, isReal, items, what) \
  struct function##Kernel                                                  \
  {                                                                        \
    template <typename real>                                               \
    using Signature = decltype(&instance);                                 \
    template <typename real, typename... TArguments>                       \
    GPUREG_MEMBER_FUNCTION void                                            \
    Run(TArguments... arguments)                                           \
    {                                                                      \
      instance(arguments...);                                              \
    }                                                                      \
    static constexpr const char * name = #function "Kernel";               \
    static constexpr const char * doing = what;                            \
    static constexpr i64          itemsOfTask = items;                     \
    static constexpr bool         isOverReal = isReal;                     \
  };                                                                       \
  GPUREG_ITEM_ENTRY(function##Kernel)                                      \
  struct function##Kernel

#endif
