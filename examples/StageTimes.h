// SPDX-License-Identifier: Apache-2.0
#ifndef StageTimes_h
#define StageTimes_h

#include "Stopwatch.h"

#include <string>

namespace example
{

/** The times of a program's stages, which follow each other. */
class StageTimes
{
public:
  /** Ends a stage. \param name of the stage. */
  void
  End(const std::string & name)
  {
    m_Text += (m_Text.empty() ? "" : ", ") + name + ' ' + std::to_string(m_Watch.GetSeconds()) + " s";
    m_Watch = Stopwatch();
  }

  const std::string &
  GetText() const
  {
    return m_Text;
  }

private:
  Stopwatch   m_Watch;
  std::string m_Text;
};

} // namespace example

#endif
