// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_PrivateFolder_h
#define gpureg_PrivateFolder_h

#include "opencl/runtime/FileDescriptor.h"

#include <cstddef>
#include <optional>
#include <string>

namespace gpureg
{

/** A folder that nobody but this process's user can have written to, so what is read from it may be run as code.
 *
 *  The folder must belong to that user, and neither the group nor others may write to it; the same holds for each file
 *  that is read. Others may read them. What was opened is asked, not what its path names by then. The path of the
 *  folder may lead through symbolic links; a file in it must be a regular file itself.
 *  No function throws on account of the disk, or waits for another process. */
class PrivateFolder
{
public:
  /** No file is larger: one that is counts as absent. */
  static constexpr std::size_t LargestFile = std::size_t{ 1 } << 28;

  /** Makes a folder, and those above it that are missing, for this user alone (mode 0700). What is there stays as it
   *  is. Says nothing of what it could not do: opening the folder tells. */
  static void
  Make(const std::string & path);

  /** Opens a folder. If there is none, or if it is not private, nothing can be read or written. */
  explicit PrivateFolder(const std::string & path);

  /** Returns the content of a file; none if the file does not exist, is not private, or cannot be read to its end. */
  std::optional<std::string>
  Read(const std::string & name) const;

  /** Puts a file in the place of any that has its name, all at once. Returns whether it could. */
  bool
  Write(const std::string & name, const std::string & content) const;

private:
  FileDescriptor m_Folder;
};

} // namespace gpureg

#endif
