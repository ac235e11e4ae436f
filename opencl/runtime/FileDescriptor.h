// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_FileDescriptor_h
#define gpureg_FileDescriptor_h

#include <utility>

#include <unistd.h>

namespace gpureg
{

/** Owns the descriptor of an open file or folder, or none, and closes it. */
class FileDescriptor
{
public:
  /** \param descriptor the result of open(): negative for none. */
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

  /** Closes the file. Returns true if all that was written is stored: some file systems report failures only here. */
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
