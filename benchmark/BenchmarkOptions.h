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
 *  \param defaults options of Google Benchmark, which the user's override.
 *  \param printHelp is called for --help.
 *  \param options that the program has besides, with a value each; \param flags without; any other is an error. */
example::CommandLine
ReadOptions(int                      argc,
            char **                  argv,
            std::vector<std::string> defaults,
            void (*printHelp)(),
            const std::set<std::string> & options,
            const std::set<std::string> & flags = {});

/** Returns the parts of a list such as 1,2,3. */
std::vector<std::string>
SplitAtCommas(const std::string & list);

/** The devices and the number of threads for the measurements. */
struct Hardware
{
  /** Number of threads of ITK and of the host device. */
  unsigned int                threads;
  std::vector<itk::GPUDevice> devices;
};

/** Returns the hardware of --threads N and --device A,B,…, by default all devices and threads. Sets ITK's number of threads, and prints
 *  the hardware with the results. */
Hardware
ChooseHardware(const example::CommandLine & line);

} // namespace bench

#endif
