// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_FileDescriptor_h
#define gpureg_FileDescriptor_h

#include <utility>

#include <unistd.h>

namespace gpureg
{

/** An open file or folder, or none. Closed with the object. */
class FileDescriptor
{
public:
  /** \param descriptor what open() returned: negative for none. */
  explicit FileDescriptor(int descriptor)
    : m_Descriptor(descriptor)
  {}
  ~FileDescriptor()
  {
    Close();
  }
  FileDescriptor(const FileDescriptor &) = delete;
  FileDescriptor &
  operator=(const FileDescriptor &) = delete;

  bool
  IsOpen() const
  {
    return m_Descriptor >= 0;
  }

  int
  Get() const
  {
    return m_Descriptor;
  }

  /** Returns whether all that was written is kept: some file systems say only here that it is not. */
  bool
  Close()
  {
    const int descriptor = std::exchange(m_Descriptor, -1);
    return descriptor >= 0 && close(descriptor) == 0;
  }

private:
  int m_Descriptor;
};

} // namespace gpureg

#endif
