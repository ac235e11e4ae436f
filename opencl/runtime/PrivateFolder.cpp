// SPDX-License-Identifier: Apache-2.0
#include "opencl/runtime/PrivateFolder.h"

#include <cerrno>
#include <cstdio>
#include <filesystem>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace gpureg
{

namespace
{
/** Returns the state of an open file or folder if it has the given type (S_IFREG, S_IFDIR), belongs to this process's user, and nobody
 *  else may write to it; none otherwise. */
std::optional<struct stat>
GetPrivateState(const FileDescriptor & opened, mode_t type)
{
  struct stat state = {};
  if (!opened.IsOpen() || fstat(opened.Get(), &state) != 0 || (state.st_mode & S_IFMT) != type ||
      state.st_uid != geteuid() || (state.st_mode & (S_IWGRP | S_IWOTH)) != 0)
  {
    return std::nullopt;
  }
  return state;
}

/** Makes a file with a new name, writes the name to `name`, and returns the descriptor, which is negative if that failed. */
int
MakeNewFile(int folder, std::string & name)
{
  int descriptor = -1;
  for (int attempt = 0; attempt < 1000; ++attempt)
  {
    name = ".new-" + std::to_string(getpid()) + "-" + std::to_string(attempt);
    descriptor = openat(folder, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (descriptor >= 0 || errno != EEXIST)
    {
      break;
    }
  }
  return descriptor;
}

bool
WriteAll(const FileDescriptor & file, const std::string & content)
{
  for (std::size_t done = 0; done < content.size();)
  {
    const ssize_t count = write(file.Get(), content.data() + done, content.size() - done);
    if (count <= 0)
    {
      return false;
    }
    done += static_cast<std::size_t>(count);
  }
  return true;
}
} // namespace

void
PrivateFolder::Make(const std::string & path)
{
  std::filesystem::path folder;
  for (const std::filesystem::path & part : std::filesystem::path(path))
  {
    folder /= part;
    mkdir(folder.c_str(), S_IRWXU);
  }
}

PrivateFolder::PrivateFolder(const std::string & path)
  : m_Folder(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC))
{
  if (!GetPrivateState(m_Folder, S_IFDIR))
  {
    m_Folder.Close();
  }
}

std::optional<std::string>
PrivateFolder::Read(const std::string & name) const
{
  // Without O_NONBLOCK, opening a FIFO would wait until somebody writes to it.
  const FileDescriptor file(openat(m_Folder.Get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  const auto           state = GetPrivateState(file, S_IFREG);
  if (!state || static_cast<std::size_t>(state->st_size) > LargestFile)
  {
    return std::nullopt;
  }
  std::string content(static_cast<std::size_t>(state->st_size), '\0');
  for (std::size_t done = 0; done < content.size();)
  {
    const ssize_t count = read(file.Get(), content.data() + done, content.size() - done);
    if (count <= 0)
    {
      return std::nullopt;
    }
    done += static_cast<std::size_t>(count);
  }
  return content;
}

bool
PrivateFolder::Write(const std::string & name, const std::string & content) const
{
  if (!m_Folder.IsOpen() || content.size() > LargestFile)
  {
    return false;
  }
  std::string    newName;
  FileDescriptor file(MakeNewFile(m_Folder.Get(), newName));
  if (!file.IsOpen())
  {
    return false;
  }
  const bool isWritten = WriteAll(file, content) && file.Close() &&
                         renameat(m_Folder.Get(), newName.c_str(), m_Folder.Get(), name.c_str()) == 0;
  if (!isWritten)
  {
    unlinkat(m_Folder.Get(), newName.c_str(), 0);
  }
  return isWritten;
}

} // namespace gpureg
