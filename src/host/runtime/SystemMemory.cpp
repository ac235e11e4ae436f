// SPDX-License-Identifier: Apache-2.0
#include "host/runtime/SystemMemory.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <sstream>

namespace gpureg
{

namespace
{
using Bytes = std::optional<std::size_t>;

/** The files of a version of control groups. */
struct GroupFiles
{
  bool         isVersion2;
  const char * folder;
  const char * limit;
  const char * usage;
  /** Name pages that repeat files, in "memory.stat": of the group and those in it. */
  const char * active;
  const char * inactive;
};
constexpr GroupFiles Version1{ false,
                               "/sys/fs/cgroup/memory",
                               "memory.limit_in_bytes",
                               "memory.usage_in_bytes",
                               "total_active_file",
                               "total_inactive_file" };
constexpr GroupFiles Version2{ true, "/sys/fs/cgroup", "memory.max", "memory.current", "active_file", "inactive_file" };

/** Returns a whole number times a unit; nothing for other words, and for what is too large. */
Bytes
ReadNumber(const std::string & word, std::size_t unit = 1)
{
  constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
  std::size_t           number = 0;
  for (const char digit : word)
  {
    const auto value = static_cast<std::size_t>(digit - '0');
    if (digit < '0' || digit > '9' || number > (most - value) / 10)
    {
      return {};
    }
    number = 10 * number + value;
  }
  return word.empty() || number > most / unit ? Bytes{} : number * unit;
}

/** Returns the number that a file has alone. */
Bytes
ReadFile(const std::string & path)
{
  std::ifstream file(path);
  std::string   word;
  file >> word;
  return ReadNumber(word);
}

/** Returns the number that follows a name at the beginning of a file's line. */
Bytes
ReadNamed(const std::string & path, const std::string & name, std::size_t unit = 1)
{
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);)
  {
    std::istringstream words(line);
    std::string        first;
    std::string        second;
    if (words >> first >> second && first == name)
    {
      return ReadNumber(second, unit);
    }
  }
  return {};
}

/** Returns the path of the process's control group of version 1 that limits memory, or of that of version 2: empty, or from '/' on. */
std::string
FindGroup(const std::string & root, bool isVersion2)
{
  std::ifstream file(root + "/proc/self/cgroup");
  // A line is NUMBER:NAMES:PATH.
  for (std::string line; std::getline(file, line);)
  {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos)
    {
      continue;
    }
    const std::string names = "," + line.substr(first + 1, second - first - 1) + ",";
    const std::string path = line.substr(second + 1);
    const bool        isWanted = isVersion2 ? names == ",," : names.find(",memory,") != std::string::npos;
    // A group outside of those that the process sees has a path with "..".
    if (isWanted && path.rfind('/', 0) == 0 && path.find("..") == std::string::npos)
    {
      return path == "/" ? "" : path;
    }
  }
  return "";
}

/** Lowers what is known of the memory to what a group leaves. */
void
RegardGroup(const std::string & folder, const GroupFiles & files, SystemMemory & memory)
{
  const Bytes limit = ReadFile(folder + files.limit);
  // Without a limit there is no number, or one that is larger than all memory.
  if (!limit)
  {
    return;
  }
  memory.limit = std::min(memory.limit, *limit);
  const std::size_t usage = ReadFile(folder + files.usage).value_or(0);
  const std::string statistics = folder + "memory.stat";
  const std::size_t inactive = std::min(usage, ReadNamed(statistics, files.inactive).value_or(0));
  const std::size_t active = std::min(usage - inactive, ReadNamed(statistics, files.active).value_or(0));
  const std::size_t held = usage - inactive - active;
  memory.available = std::min(memory.available, *limit > held ? *limit - held : 0);
}
} // namespace

SystemMemory
ReadSystemMemory(const std::string & root, std::size_t physical)
{
  constexpr std::size_t kibibyte = 1024;
  SystemMemory          memory{ physical, physical };
  memory.available =
    std::min(physical, ReadNamed(root + "/proc/meminfo", "MemAvailable:", kibibyte).value_or(physical));
  for (const GroupFiles & files : { Version1, Version2 })
  {
    // In a container the group's own path may be unknown; its limit then stands in the first folder.
    std::string group = FindGroup(root, files.isVersion2);
    while (true)
    {
      RegardGroup(root + files.folder + group + "/", files, memory);
      if (group.empty())
      {
        break;
      }
      group.erase(group.rfind('/'));
    }
  }
  return memory;
}

} // namespace gpureg
