// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_OpenCLProgramCache_h
#define gpureg_OpenCLProgramCache_h

#include <string>
#include <vector>

namespace gpureg
{

/** Compiled programs on disk, one a file, found by a text that says all that the binary depends on.
 *
 *  A file's name is a hash of that key; the file repeats the key in full and carries a checksum of the
 *  binary, so an entry that belongs to something else, is cut off or was damaged counts as absent.
 *  Entries appear under their name only when complete: several processes may write the same one at once.
 *  On a CPU a binary is native code that this process runs. So the folder is made for this process's user alone (0700),
 *  and nothing is read from or stored in a folder, nor read from a file, that belongs to somebody else or that the group
 *  or others may write to (PrivateFolder). That holds for a folder that GPUREG_OPENCL_CACHE names, too.
 *  No function throws on account of the disk: without a usable folder there simply are no entries. */
class OpenCLProgramCache
{
public:
  /** \param folder made when something is stored; empty for a cache that is off. */
  explicit OpenCLProgramCache(std::string folder)
    : m_Folder(std::move(folder))
  {}

  /** The user's folder for compiled programs: what the environment variable GPUREG_OPENCL_CACHE names
   *  ("off" for none), else gpuregistration/opencl in $XDG_CACHE_HOME or in ~/.cache. Empty for none. */
  static std::string
  FindFolder();

  /** The binary that was stored for this key; empty if there is none that can be trusted. */
  std::vector<unsigned char>
  Load(const std::string & key) const;

  /** Keeps a binary, in place of any that is there. Returns whether it could. */
  bool
  Store(const std::string & key, const std::vector<unsigned char> & binary) const;

  /** The file of a key's entry. */
  std::string
  GetPath(const std::string & key) const;

private:
  std::string m_Folder;
};

} // namespace gpureg

#endif
