// SPDX-License-Identifier: Apache-2.0
#ifndef OneAtATime_h
#define OneAtATime_h

#include <memory>
#include <string>

namespace bench
{

/** Holds an object that several benchmarks in a row share and that is too large to have twice, such as images. It is made when it is
 *  first requested, and released when one of another name is. */
class OneAtATime
{
public:
  /** Returns the object of a name, which always has the same type. */
  template <typename TMake>
  auto &
  Get(const std::string & name, const TMake & make)
  {
    using ThingType = decltype(make());
    if (!m_Thing || name != m_Name)
    {
      m_Thing.reset();
      m_Thing = std::make_shared<ThingType>(make());
      m_Name = name;
    }
    return *static_cast<ThingType *>(m_Thing.get());
  }

private:
  std::string           m_Name;
  std::shared_ptr<void> m_Thing;
};

} // namespace bench

#endif
