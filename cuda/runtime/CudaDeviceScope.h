// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_CudaDeviceScope_h
#define gpureg_CudaDeviceScope_h

namespace gpureg
{

/** Makes the device's context for the first time, or anew after somebody has reset the device; joins it where
 *  there is one. It stays until the process ends, as the CUDA runtime's own use of it does.
 *  \throws Error where the device can't be had. */
void
RetainCudaContext(int device);

/** Returns true if the device has a context, whoever in this process made it.
 *  \throws Error if the device is not available. */
bool
HasCudaContext(int device);

/** Makes a device current, and what the caller's thread had before current again at the end of the scope: the
 *  context that it was, or none. The context is pushed and popped through the driver, since the runtime's
 *  cudaSetDevice() can't put none back: it would make a context on the caller's device, 0 for a thread that
 *  never chose, and take several hundred MiB there. */
class CudaDeviceScope
{
public:
  /** \throws Error where the device can't be had. */
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
