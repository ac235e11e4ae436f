// SPDX-License-Identifier: Apache-2.0
#include "opencl/runtime/OpenCLProgramCache.h"

#include "opencl/runtime/PrivateFolder.h"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace gpureg
{

namespace
{
/** Returns the 64-bit FNV-1a hash of bytes, from a given state on. */
template <typename TBytes>
std::uint64_t
Fnv1a(const TBytes & bytes, std::uint64_t state)
{
  for (const auto byte : bytes)
  {
    state = (state ^ static_cast<unsigned char>(byte)) * 0x100000001b3u;
  }
  return state;
}

/** Returns 32 hexadecimal digits: two FNV-1a hashes, from the standard state and from its complement. */
template <typename TBytes>
std::string
HashOf(const TBytes & bytes)
{
  constexpr std::uint64_t start = 0xcbf29ce484222325u;
  char                    digits[33];
  std::snprintf(digits,
                sizeof(digits),
                "%016llx%016llx",
                static_cast<unsigned long long>(Fnv1a(bytes, start)),
                static_cast<unsigned long long>(Fnv1a(bytes, ~start)));
  return digits;
}

/** Returns the first bytes of an entry for a key. */
std::string
MakeKeyHeader(const std::string & key)
{
  return "GPURegistration OpenCL program, format 1\nkey " + std::to_string(key.size()) + "\n" + key + "\n";
}

/** Returns the line between the key and the binary. */
std::string
MakeBinaryHeader(const std::vector<unsigned char> & binary)
{
  return "binary " + std::to_string(binary.size()) + " " + HashOf(binary) + "\n";
}

std::string
GetEnvironment(const char * name)
{
  const char * value = std::getenv(name);
  return value ? value : "";
}

/** Returns the file name of a key's entry. */
std::string
MakeFileName(const std::string & key)
{
  return HashOf(key) + ".bin";
}
} // namespace

std::string
OpenCLProgramCache::FindFolder(const std::string & platform)
{
  const std::string chosen = GetEnvironment("GPUREG_OPENCL_CACHE");
  if (!chosen.empty())
  {
    return chosen == "off" ? "" : chosen;
  }
  if (platform == "Portable Computing Language")
  {
    return "";
  }
  // The XDG base directory specification demands that relative paths are ignored.
  const std::string cache = GetEnvironment("XDG_CACHE_HOME");
  if (!cache.empty() && cache.front() == '/')
  {
    return cache + "/gpuregistration/opencl";
  }
  const std::string home = GetEnvironment("HOME");
  return home.empty() ? "" : home + "/.cache/gpuregistration/opencl";
}

std::string
OpenCLProgramCache::GetPath(const std::string & key) const
{
  return m_Folder + "/" + MakeFileName(key);
}

std::vector<unsigned char>
OpenCLProgramCache::Load(const std::string & key) const
{
  if (m_Folder.empty())
  {
    return {};
  }
  const std::string content = PrivateFolder(m_Folder).Read(MakeFileName(key)).value_or("");
  const std::string keyHeader = MakeKeyHeader(key);
  if (content.compare(0, keyHeader.size(), keyHeader) != 0)
  {
    return {};
  }
  const std::size_t lineEnd = content.find('\n', keyHeader.size());
  if (lineEnd == std::string::npos)
  {
    return {};
  }
  const std::vector<unsigned char> binary(content.begin() + static_cast<std::ptrdiff_t>(lineEnd) + 1, content.end());
  const std::string                binaryHeader = content.substr(keyHeader.size(), lineEnd + 1 - keyHeader.size());
  return binaryHeader == MakeBinaryHeader(binary) ? binary : std::vector<unsigned char>();
}

bool
OpenCLProgramCache::Store(const std::string & key, const std::vector<unsigned char> & binary) const
{
  if (m_Folder.empty())
  {
    return false;
  }
  PrivateFolder::Make(m_Folder);
  const std::string content = MakeKeyHeader(key) + MakeBinaryHeader(binary) + std::string(binary.begin(), binary.end());
  return PrivateFolder(m_Folder).Write(MakeFileName(key), content);
}

} // namespace gpureg
