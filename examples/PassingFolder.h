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

/** A folder of nobody else's that is deleted at the end, with what is in it. */
class PassingFolder
{
public:
  /** \param names what its name may begin with: the first one's of which a folder can be made.
   *  \param failure what to say if none can; the system's reason goes between it and advice.
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

  /** A file's path in it. */
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
