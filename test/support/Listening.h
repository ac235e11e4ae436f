// SPDX-License-Identifier: Apache-2.0
// What ITK says, kept to be asked about.
#ifndef Listening_h
#define Listening_h

#include "itkOutputWindow.h"

#include <string>
#include <vector>

namespace gpuregtest
{

/** Keeps what is said instead of showing it. */
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

/** While it lives, ITK's messages go to the window. */
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
