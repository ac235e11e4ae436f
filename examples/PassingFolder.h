// SPDX-License-Identifier: Apache-2.0
#ifndef PassingFolder_h
#define PassingFolder_h

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <initializer_list>
#include <stdexcept>
#include <string>

namespace example
{

/** A temporary folder, which is deleted at the end with its content. */
class PassingFolder
{
public:
  /** \param names possible beginnings of its name: the first one is used for which a folder can be made.
   *  \param failure the beginning of the message if none can be made; the system's reason follows, and then advice.
   *  \throws std::runtime_error if none can be made. */
  PassingFolder(std::initializer_list<std::filesystem::path> names,
                const std::string &                          failure,
                const std::string &                          advice)
  {
    for (const std::filesystem::path & name : names)
    {
      std::string unique = name.string() + "XXXXXX";
      if (mkdtemp(unique.data()) != nullptr)
      {
        m_Path = unique;
        return;
      }
    }
    throw std::runtime_error(failure + ": " + std::strerror(errno) + ". " + advice);
  }
  ~PassingFolder()
  {
    std::error_code ignored;
    std::filesystem::remove_all(m_Path, ignored);
  }
  PassingFolder(const PassingFolder &) = delete;
  PassingFolder &
  operator=(const PassingFolder &) = delete;

  /** Returns the path of a file in the folder. */
  std::string
  operator/(const std::string & name) const
  {
    return (m_Path / name).string();
  }

private:
  std::filesystem::path m_Path;
};

} // namespace example

#endif
