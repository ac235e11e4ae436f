// SPDX-License-Identifier: Apache-2.0
#ifndef BenchmarkOptions_h
#define BenchmarkOptions_h

#include "CommandLine.h"

#include "itkGPUDevice.h"

#include <set>
#include <string>
#include <vector>

namespace bench
{

/** Gives Google Benchmark its options, and returns the program's own.
 * \param defaults are options of Google Benchmark's; where the user gives one, that one holds.
 * \param printHelp is what --help does.
 * \param options that the program has besides, with a value each, \param flags without; any other is an error. */
example::CommandLine
ReadOptions(int                      argc,
            char **                  argv,
            std::vector<std::string> defaults,
            void (*printHelp)(),
            const std::set<std::string> & options,
            const std::set<std::string> & flags = {});

/** The parts of a list such as 1,2,3. */
std::vector<std::string>
SplitAtCommas(const std::string & list);

/** What to measure on. */
struct Hardware
{
  /** Of ITK, and of the host device. */
  unsigned int                threads;
  std::vector<itk::GPUDevice> devices;
};

/** As --threads N and --device A,B,… say; else all there is. Makes it ITK's setting and tells it with the results. */
Hardware
ChooseHardware(const example::CommandLine & line);

} // namespace bench

#endif
