// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_PrivateFolder_h
#define gpureg_PrivateFolder_h

#include "opencl/runtime/FileDescriptor.h"

#include <cstddef>
#include <optional>
#include <string>

namespace gpureg
{

/** A folder to which only this process's user can have written, so that code may be read from it and run.
 *
 *  The folder must belong to that user, and neither the group nor others may write to it; the same holds for each file that is read.
 *  Others may read them. The checks are of the opened file itself, not of the path, which may name another one by then. The path of the
 *  folder may contain symbolic links; a file in it must be a regular file itself.
 *  No function throws because of the disk, or waits for another process. */
class PrivateFolder
{
public:
  /** Larger files count as absent. */
  static constexpr std::size_t LargestFile = std::size_t{ 1 } << 28;

  /** Makes a folder, and its missing parents, for this user alone (mode 0700). Existing folders do not change. Errors are not reported
   *  here: opening the folder reports them. */
  static void
  Make(const std::string & path);

  /** Opens a folder. If there is none, or if it is not private, nothing can be read or written. */
  explicit PrivateFolder(const std::string & path);

  /** Returns the content of a file; none if the file does not exist, is not private, or cannot be read to its end. */
  std::optional<std::string>
  Read(const std::string & name) const;

  /** Writes a file at once, replacing any of that name. Returns true if it succeeded. */
  bool
  Write(const std::string & name, const std::string & content) const;

private:
  FileDescriptor m_Folder;
};

} // namespace gpureg

#endif
