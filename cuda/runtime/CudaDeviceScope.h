// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_CudaDeviceScope_h
#define gpureg_CudaDeviceScope_h

namespace gpureg
{

/** Retains the device's primary context. Makes the context if there is none, or again after a reset of the device. It stays until the
 *  process ends, as it does if the CUDA runtime makes it.
 *  \throws Error if the device is not available. */
void
RetainCudaContext(int device);

/** Returns true if the device has a context, no matter which code of this process made it.
 *  \throws Error if the device is not available. */
bool
HasCudaContext(int device);

/** Makes a device current. At the end of the scope, makes current again what was current in the caller's thread before: a context or
 *  none. The driver pushes and pops the context, since the runtime's cudaSetDevice() cannot restore "none": it would make a context, of
 *  several hundred MiB, on the caller's device, which is 0 for a thread that never chose one. */
class CudaDeviceScope
{
public:
  /** \throws Error if the device is not available. */
  explicit CudaDeviceScope(int device);
  ~CudaDeviceScope();
  CudaDeviceScope(const CudaDeviceScope &) = delete;
  CudaDeviceScope &
  operator=(const CudaDeviceScope &) = delete;

private:
  bool m_IsPushed = false;
};

} // namespace gpureg

#endif
