// SPDX-License-Identifier: Apache-2.0
#include "BenchmarkOptions.h"

#include "itkMultiThreaderBase.h"
#include "itkVersion.h"

#include <benchmark/benchmark.h>

#include <sstream>
#include <stdexcept>

namespace bench
{

example::CommandLine
ReadOptions(int                      argc,
            char **                  argv,
            std::vector<std::string> defaults,
            void (*printHelp)(),
            const std::set<std::string> & options,
            const std::set<std::string> & flags)
{
  // The last one of two options with the same name holds, so the user's options follow the defaults.
  std::vector<char *> arguments(argv, argv + argc);
  for (std::string & option : defaults)
  {
    arguments.insert(arguments.begin() + 1, option.data());
  }
  int count = static_cast<int>(arguments.size());
  benchmark::Initialize(&count, arguments.data(), printHelp);
  return example::CommandLine(count, arguments.data(), flags, options);
}

std::vector<std::string>
SplitAtCommas(const std::string & list)
{
  std::vector<std::string> parts;
  std::istringstream       stream(list);
  for (std::string part; std::getline(stream, part, ',');)
  {
    parts.push_back(part);
  }
  return parts;
}

Hardware
ChooseHardware(const example::CommandLine & line)
{
  Hardware hardware;
  hardware.threads = line.GetNumber("--threads", itk::MultiThreaderBase::GetGlobalDefaultNumberOfThreads());
  if (hardware.threads == 0)
  {
    throw std::invalid_argument("--threads wants a number of at least 1.");
  }
  itk::MultiThreaderBase::SetGlobalDefaultNumberOfThreads(hardware.threads);
  for (const std::string & name : SplitAtCommas(line.Get("--device", "")))
  {
    hardware.devices.push_back(itk::GPUDevice::FromName(name));
  }
  if (hardware.devices.empty())
  {
    hardware.devices = itk::GPUDevice::GetAvailable();
  }
  // Google Benchmark warns if it was itself built without optimization, as Debian's is. This says how the program was built.
#ifdef NDEBUG
  benchmark::AddCustomContext("this program", "built with optimisation");
#else
  benchmark::AddCustomContext("this program", "built WITHOUT optimisation");
#endif
  benchmark::AddCustomContext("ITK", itk::Version::GetITKVersion());
  benchmark::AddCustomContext("threads", std::to_string(hardware.threads));
  for (const itk::GPUDevice & device : hardware.devices)
  {
    benchmark::AddCustomContext(device.GetName(), device.GetDescription());
  }
  return hardware;
}

} // namespace bench
