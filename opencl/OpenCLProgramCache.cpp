// SPDX-License-Identifier: Apache-2.0
#include "OpenCLProgramCache.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include <unistd.h>

namespace gpureg
{

namespace
{
/** FNV-1a, 64 bits, from a given state. */
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

/** 32 hexadecimal digits: two FNV-1a hashes, from the usual start and from its complement. */
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

/** What an entry for this key begins with, to the byte. */
std::string
MakeKeyHeader(const std::string & key)
{
  return "GPURegistration OpenCL program, format 1\nkey " + std::to_string(key.size()) + "\n" + key + "\n";
}

/** The line between the key and the binary. */
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

/** A file of its own name in a folder, removed with the object unless it was moved away. */
class TemporaryFile
{
public:
  explicit TemporaryFile(const std::string & folder)
    : m_Path(folder + "/.new-XXXXXX")
    , m_Descriptor(mkstemp(m_Path.data()))
  {}

  ~TemporaryFile()
  {
    if (m_Descriptor >= 0)
    {
      close(m_Descriptor);
      unlink(m_Path.c_str());
    }
  }

  TemporaryFile(const TemporaryFile &) = delete;
  TemporaryFile &
  operator=(const TemporaryFile &) = delete;

  bool
  Write(const void * data, std::size_t bytes)
  {
    const char * from = static_cast<const char *>(data);
    while (m_Descriptor >= 0 && bytes > 0)
    {
      const ssize_t written = write(m_Descriptor, from, bytes);
      if (written <= 0)
      {
        return false;
      }
      from += written;
      bytes -= static_cast<std::size_t>(written);
    }
    return m_Descriptor >= 0;
  }

  /** Puts the file in the place of target, at once. */
  bool
  MoveTo(const std::string & target)
  {
    const bool isWritten = close(m_Descriptor) == 0;
    m_Descriptor = -1;
    if (isWritten && std::rename(m_Path.c_str(), target.c_str()) == 0)
    {
      return true;
    }
    unlink(m_Path.c_str());
    return false;
  }

private:
  std::string m_Path;
  int         m_Descriptor;
};
} // namespace

std::string
OpenCLProgramCache::FindFolder()
{
  const std::string chosen = GetEnvironment("GPUREG_OPENCL_CACHE");
  if (!chosen.empty())
  {
    return chosen == "off" ? "" : chosen;
  }
  // The XDG base directory specification has relative paths ignored.
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
  return m_Folder + "/" + HashOf(key) + ".bin";
}

std::vector<unsigned char>
OpenCLProgramCache::Load(const std::string & key) const
{
  if (m_Folder.empty())
  {
    return {};
  }
  std::ifstream     file(GetPath(key), std::ios::binary);
  const std::string content{ std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>() };
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
  std::error_code ignored; // a folder that could not be made is noticed when the file is
  std::filesystem::create_directories(m_Folder, ignored);
  const std::string header = MakeKeyHeader(key) + MakeBinaryHeader(binary);
  TemporaryFile     file(m_Folder);
  return file.Write(header.data(), header.size()) && file.Write(binary.data(), binary.size()) &&
         file.MoveTo(GetPath(key));
}

} // namespace gpureg
