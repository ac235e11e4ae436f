// SPDX-License-Identifier: Apache-2.0
#include "GzipFile.h"

#include "itkMultiThreaderBase.h"
#include "itk_zlib.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <vector>

namespace example
{
namespace
{

// Each member starts without the previous 32 KiB that zlib would know, which for this size costs next to nothing.
constexpr std::size_t MemberBytes = std::size_t{ 1 } << 20;

/** Returns one member, compressed with a window of 15 bits in gzip's format; empty if zlib has no memory. */
std::vector<unsigned char>
Compress(std::vector<unsigned char> & bytes, std::size_t first, std::size_t count)
{
  z_stream stream{};
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
  {
    return {};
  }
  std::vector<unsigned char> member(deflateBound(&stream, static_cast<uLong>(count)));
  stream.next_in = bytes.data() + first;
  stream.avail_in = static_cast<uInt>(count);
  stream.next_out = member.data();
  stream.avail_out = static_cast<uInt>(member.size());
  const bool isWhole = deflate(&stream, Z_FINISH) == Z_STREAM_END;
  member.resize(isWhole ? stream.total_out : 0);
  deflateEnd(&stream);
  return member;
}

std::vector<unsigned char>
ReadBytes(const std::string & fileName)
{
  std::ifstream              file(fileName, std::ios::binary | std::ios::ate);
  std::vector<unsigned char> bytes(file ? static_cast<std::size_t>(file.tellg()) : 0);
  file.seekg(0);
  if (!file.read(reinterpret_cast<char *>(bytes.data()), static_cast<std::streamsize>(bytes.size())))
  {
    throw std::runtime_error(fileName + " cannot be read.");
  }
  return bytes;
}

} // namespace

void
GzipFile(const std::string & from, const std::string & to)
{
  std::vector<unsigned char> bytes = ReadBytes(from);
  // At least one, since an empty file has a member, too.
  const std::size_t count = std::max<std::size_t>(1, (bytes.size() + MemberBytes - 1) / MemberBytes);

  std::vector<std::vector<unsigned char>> members(count);
  itk::MultiThreaderBase::New()->ParallelizeArray(
    0,
    count,
    [&](itk::SizeValueType n) {
      const std::size_t first = n * MemberBytes;
      members[n] = Compress(bytes, first, std::min(MemberBytes, bytes.size() - first));
    },
    nullptr);

  std::ofstream file(to, std::ios::binary);
  const bool    isOpen = file.is_open();
  for (const std::vector<unsigned char> & member : members)
  {
    file.write(reinterpret_cast<const char *>(member.data()), static_cast<std::streamsize>(member.size()));
  }
  file.close();
  const bool isWhole = std::none_of(members.begin(), members.end(), [](const auto & member) { return member.empty(); });
  if (!file || !isWhole)
  {
    // A name that could not be opened may be somebody's folder.
    if (isOpen)
    {
      std::remove(to.c_str());
    }
    throw std::runtime_error(to + " cannot be written. Check the folder, and that there is room on the disk.");
  }
}

} // namespace example
