// SPDX-License-Identifier: Apache-2.0
#include "CommandLine.h"

#include <algorithm>
#include <iostream>
#include <map>
#include <sstream>
#include <stdexcept>

namespace example
{

CommandLine::CommandLine(int                           argc,
                         const char * const *          argv,
                         const std::set<std::string> & flags,
                         const std::set<std::string> & options)
{
  for (int i = 1; i < argc; ++i)
  {
    const std::string argument = argv[i];
    if (argument.rfind("--", 0) != 0)
    {
      m_Words.push_back(argument);
    }
    else if (flags.count(argument) != 0)
    {
      m_Options[argument];
    }
    else if (options.count(argument) == 0)
    {
      throw std::invalid_argument("There is no option " + argument + '.');
    }
    else if (i + 1 == argc)
    {
      throw std::invalid_argument(argument + " wants a value after it.");
    }
    else
    {
      m_Options[argument] = argv[++i];
    }
  }
}

std::string
CommandLine::Get(const std::string & option, const std::string & otherwise) const
{
  const auto found = m_Options.find(option);
  return found != m_Options.end() ? found->second : otherwise;
}

std::uint32_t
CommandLine::GetNumber(const std::string & option, std::uint32_t otherwise) const
{
  const std::string digits = this->Get(option, std::to_string(otherwise));
  if (digits.empty() || digits.size() > 9 || digits.find_first_not_of("0123456789") != std::string::npos)
  {
    throw std::invalid_argument(option + " wants a whole number of at most nine digits, not " + digits + '.');
  }
  return static_cast<std::uint32_t>(std::stoul(digits));
}

double
CommandLine::GetLength(const std::string & option, double otherwise) const
{
  if (!this->Has(option))
  {
    return otherwise;
  }
  const std::string  text = this->Get(option, "");
  std::istringstream stream(text);
  double             length = 0;
  if (!(stream >> length) || !stream.eof() || !(length > 0))
  {
    throw std::invalid_argument(option + " wants a length in mm above 0, not " + text + '.');
  }
  return length;
}

RegistrationSettings
CommandLine::GetRegistrationSettings() const
{
  static const std::map<std::string, Measure> measures{ { "ours", Measure::NormalizedMutualInformation },
                                                        { "mi", Measure::MutualInformation },
                                                        { "itk", Measure::ITKMattes },
                                                        { "mean-squares", Measure::MeanSquares },
                                                        { "correlation", Measure::Correlation },
                                                        { "sad", Measure::MeanAbsoluteDifferences } };
  const std::string                           metric = this->Get("--metric", "ours");
  const auto                                  measure = measures.find(metric);
  if (measure == measures.end())
  {
    throw std::invalid_argument("--metric is ours, mi, itk, mean-squares, correlation or sad, not " + metric + '.');
  }
  RegistrationSettings settings;
  settings.model = this->Has("--rigid") ? Model::Rigid : Model::Affine;
  settings.measure = measure->second;
  settings.search = this->Has("--simplex") ? Search::Simplex : Search::Gradient;
  if (this->Has("--device"))
  {
    settings.device = itk::GPUDevice::FromName(this->Get("--device", ""));
  }
  return settings;
}

int
RunProgram(const std::function<int()> & body, const std::string & usage)
{
  try
  {
    return body();
  }
  catch (const std::invalid_argument & error)
  {
    std::cerr << error.what() << '\n' << usage;
  }
  catch (const itk::ExceptionObject & error)
  {
    std::cerr << error.GetDescription() << '\n';
  }
  catch (const std::exception & error)
  {
    std::cerr << error.what() << '\n';
  }
  return EXIT_FAILURE;
}

} // namespace example
