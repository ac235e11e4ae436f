// SPDX-License-Identifier: Apache-2.0
#ifndef ChildProcess_h
#define ChildProcess_h

#include <cstddef>
#include <cstdlib>
#include <exception>
#include <functional>
#include <iostream>
#include <stdexcept>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

namespace bench
{

/** Returns the result of measure() in a process of its own, since ITK's pool of threads grows and never shrinks. The caller must not
 *  have started threads.
 *  \throws std::runtime_error if the process cannot be started, or fails; a failing process prints the reason itself. */
inline std::vector<double>
MeasureInChild(const std::function<std::vector<double>()> & measure)
{
  int ends[2];
  if (pipe(ends) != 0)
  {
    throw std::runtime_error("there is no pipe to a process that measures");
  }
  const pid_t child = fork();
  if (child < 0)
  {
    close(ends[0]);
    close(ends[1]);
    throw std::runtime_error("there is no process to measure in");
  }
  if (child == 0)
  {
    close(ends[0]);
    int status = EXIT_FAILURE;
    try
    {
      const std::vector<double> values = measure();
      const std::size_t         bytes = values.size() * sizeof(double);
      // Less than the capacity of a pipe, or the other end reads it.
      status = write(ends[1], values.data(), bytes) == static_cast<ssize_t>(bytes) ? EXIT_SUCCESS : EXIT_FAILURE;
    }
    catch (const std::exception & error)
    {
      std::cerr << error.what() << std::endl;
    }
    _exit(status);
  }
  close(ends[1]);
  std::vector<double> values;
  double              value = 0;
  while (read(ends[0], &value, sizeof value) == static_cast<ssize_t>(sizeof value))
  {
    values.push_back(value);
  }
  close(ends[0]);
  int status = 0;
  if (waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != EXIT_SUCCESS)
  {
    throw std::runtime_error("a process that measures has failed");
  }
  return values;
}

} // namespace bench

#endif
