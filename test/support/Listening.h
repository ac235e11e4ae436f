// SPDX-License-Identifier: Apache-2.0
// Records ITK's messages, so that tests can examine them.
#ifndef Listening_h
#define Listening_h

#include "itkOutputWindow.h"

#include <string>
#include <vector>

namespace gpuregtest
{

/** Records messages instead of displaying them. */
class ListeningWindow : public itk::OutputWindow
{
public:
  using Self = ListeningWindow;
  using Pointer = itk::SmartPointer<Self>;
  itkFactorylessNewMacro(Self);
  void
  DisplayText(const char * text) override
  {
    said.emplace_back(text);
  }
  std::vector<std::string> said;

  std::size_t
  Count(const std::string & word) const
  {
    std::size_t count = 0;
    for (const std::string & line : said)
    {
      count += line.find(word) != std::string::npos;
    }
    return count;
  }
};

/** Redirects ITK's messages to the window, as long as it lives. */
class Listening
{
public:
  Listening()
  {
    itk::OutputWindow::SetInstance(window);
  }
  ~Listening()
  {
    itk::OutputWindow::SetInstance(m_Before);
  }
  ListeningWindow::Pointer window = ListeningWindow::New();

private:
  itk::OutputWindow::Pointer m_Before = itk::OutputWindow::GetInstance();
};

} // namespace gpuregtest

#endif
