// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_OpenCLProgramCache_h
#define gpureg_OpenCLProgramCache_h

#include <string>
#include <vector>

namespace gpureg
{

/** Stores compiled programs on disk, one in a file, by a key: a text that contains all that the binary depends on.
 *
 *  A file's name is a hash of the key; the file repeats the key in full and contains a checksum of the binary, so an entry of another
 *  key, or one that is truncated or damaged, counts as absent. An entry gets its name only when it is complete: several processes may
 *  write the same one at once.
 *  On a CPU a binary is native code that this process runs. So the folder is made for this process's user alone (mode 0700). Nothing is
 *  read from or stored in a folder, nor read from a file, that belongs to somebody else or to which the group or others may write
 *  (PrivateFolder); this holds for a folder named by GPUREG_OPENCL_CACHE, too.
 *  No function throws because of the disk: without a usable folder there are no entries. */
class OpenCLProgramCache
{
public:
  /** \param folder made when a program is stored; empty to turn the cache off. */
  explicit OpenCLProgramCache(std::string folder)
    : m_Folder(std::move(folder))
  {}

  /** Returns the user's folder for compiled programs of a platform: the value of the environment variable GPUREG_OPENCL_CACHE ("off" for
   *  none), or gpuregistration/opencl in $XDG_CACHE_HOME or in ~/.cache. Empty for none. Only the variable gives PoCL a folder: PoCL
   *  stores each kernel that is launched in a cache of its own, and to return a program's binary it compiles every kernel of the program
   *  once more, for work-groups of any size, which doubles the compiler's time.
   *  \param platform CL_PLATFORM_NAME. */
  static std::string
  FindFolder(const std::string & platform);

  /** Returns the binary that was stored for a key; empty if there is none that can be trusted. */
  std::vector<unsigned char>
  Load(const std::string & key) const;

  /** Stores a binary for a key, replacing the present one. Returns true if it succeeded. */
  bool
  Store(const std::string & key, const std::vector<unsigned char> & binary) const;

  /** Returns the path of the file of a key's entry. */
  std::string
  GetPath(const std::string & key) const;

private:
  std::string m_Folder;
};

} // namespace gpureg

#endif
