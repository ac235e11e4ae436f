// SPDX-License-Identifier: Apache-2.0
#ifndef TemporaryFolder_h
#define TemporaryFolder_h

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace gpuregtest
{

/** A folder of the test's own, removed at its end. */
class TemporaryFolder
{
public:
  TemporaryFolder()
  {
    std::string name = (std::filesystem::temp_directory_path() / "gpureg-test-XXXXXX").string();
    if (!mkdtemp(name.data()))
    {
      throw std::runtime_error("cannot make a folder " + name);
    }
    m_Path = name;
  }
  ~TemporaryFolder()
  {
    std::filesystem::remove_all(m_Path);
  }

  const std::filesystem::path &
  GetPath() const
  {
    return m_Path;
  }

private:
  std::filesystem::path m_Path;
};

inline std::string
ReadFile(const std::filesystem::path & path)
{
  std::ifstream file(path, std::ios::binary);
  return { std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>() };
}

inline void
WriteFile(const std::filesystem::path & path, const std::string & content)
{
  std::ofstream(path, std::ios::binary) << content;
}

inline std::vector<std::filesystem::path>
ListFiles(const std::filesystem::path & folder)
{
  std::vector<std::filesystem::path> files;
  for (const auto & entry : std::filesystem::directory_iterator(folder))
  {
    files.push_back(entry.path());
  }
  return files;
}

/** Returns ways to damage a file, by name. */
inline std::vector<std::pair<const char *, std::string>>
MakeBrokenCopies(const std::string & content)
{
  std::string flippedAtStart = content;
  flippedAtStart[60] ^= 1;
  std::string flippedAtEnd = content;
  flippedAtEnd[content.size() - 10] ^= 1;
  return { { "empty", "" },
           { "cut off", content.substr(0, content.size() / 2) },
           { "without its last byte", content.substr(0, content.size() - 1) },
           { "too long", content + "x" },
           { "another key", flippedAtStart },
           { "damaged", flippedAtEnd },
           { "garbage", std::string(5000, 'g') } };
}

} // namespace gpuregtest

#endif
