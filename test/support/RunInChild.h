// SPDX-License-Identifier: Apache-2.0
#ifndef RunInChild_h
#define RunInChild_h

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <exception>
#include <functional>
#include <string>

#include <sys/wait.h>
#include <unistd.h>

namespace gpuregtest
{

enum class ChildsEnd
{
  AtOnce,
  ByExit // static objects are destroyed, and drivers shut down
};

/** Returns the message of a child at the end of some work, or the way in which it ended if there is none. */
inline std::string
RunInChild(const std::function<std::string()> & work, ChildsEnd childsEnd = ChildsEnd::AtOnce)
{
  int ends[2] = {};
  EXPECT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0)
  {
    // Ends the child if it hangs.
    alarm(60);
    std::string said;
    try
    {
      said = work();
    }
    catch (const std::exception & error)
    {
      said = std::string("threw ") + error.what();
    }
    const ssize_t written = write(ends[1], said.data(), said.size());
    const int     status = written == static_cast<ssize_t>(said.size()) ? 0 : 1;
    if (childsEnd == ChildsEnd::ByExit)
    {
      std::exit(status);
    }
    _exit(status);
  }
  close(ends[1]);
  std::string said;
  char        part[256];
  for (ssize_t count = 0; (count = read(ends[0], part, sizeof(part))) > 0;)
  {
    said.append(part, static_cast<std::size_t>(count));
  }
  close(ends[0]);
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  if (WIFSIGNALED(status))
  {
    said += WTERMSIG(status) == SIGALRM ? " and hung" : " and died of signal " + std::to_string(WTERMSIG(status));
  }
  return said;
}

} // namespace gpuregtest

#endif
